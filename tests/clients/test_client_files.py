"""Files are written whole or not at all, and what was there is kept."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

import pytest

from recollect.clients.change import Change
from recollect.clients.failures import NotEditable
from recollect.clients.files import content, kept, original, this_machine, write
from recollect.errors import Conflict


def test_what_was_there_is_kept_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_bytes(b"before\r\n")
    assert write(path, Change("before\r\n", "after\r\n")) == kept(path)
    assert path.read_bytes() == b"after\r\n"
    assert original(path) == "before\r\n"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["mcp.json", "mcp.json.before-recollect"]


def test_taken_back_no_copy_is_left(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_text("before")
    write(path, Change("before", "after"))
    assert write(path, Change("after", "before")) is None
    assert [each.name for each in tmp_path.iterdir()] == ["mcp.json"]


def test_a_file_that_was_not_there_is_made_with_its_folder_and_goes_again(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "er" / "mcp.json"
    assert write(path, Change(None, "new")) is None
    assert content(path) == "new"
    assert write(path, Change("new", None)) is None
    assert content(path) is None


def test_with_the_file_go_the_folders_that_are_empty_without_it(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "theirs").mkdir(parents=True)
    for folder in (home / "made" / "deep", home / "theirs" / "made"):
        write(folder / "mcp.json", Change(None, "new"))
    (home / "theirs" / "note").touch()
    for folder in (home / "made" / "deep", home / "theirs" / "made"):
        write(folder / "mcp.json", Change("new", None), home)
    assert [each.name for each in home.rglob("*")] == ["theirs", "note"]
    write(home / "mcp.json", Change(None, "new"))
    (home / "theirs" / "note").unlink()
    write(home / "mcp.json", Change("new", None), home)
    assert home.is_dir()


def test_what_our_own_change_made_is_not_copied(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_text("before")
    write(path, Change("before", "ours"))
    write(path, Change("ours", "ours again", worth_a_copy=False))
    assert original(path) == "before"


def test_what_another_program_wrote_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_text("theirs")
    with pytest.raises(Conflict, match="try again"):
        write(path, Change("before", "after"))
    assert [each.name for each in tmp_path.iterdir()] == ["mcp.json"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has neither such modes nor, for all, links")
def test_modes_and_links_stay(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles" / "mcp.json"
    real.parent.mkdir()
    real.write_text("before")
    real.chmod(0o640)
    path = tmp_path / "mcp.json"
    path.symlink_to(real)
    write(path, Change("before", "after"))
    assert path.is_symlink()
    assert real.read_text() == "after"
    for each in (real, kept(real)):
        assert stat.S_IMODE(each.stat().st_mode) == 0o640
    new = tmp_path / "new.json"
    write(new, Change(None, "keys"))
    assert stat.S_IMODE(new.stat().st_mode) == 0o600


def test_what_is_not_utf8_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_bytes(b"\xff\xfe{\x00}\x00")
    with pytest.raises(NotEditable, match="not UTF-8"):
        content(path)
    kept(path).write_bytes(b"\xff")
    assert original(path) is None


def test_this_machine_is_where_we_are() -> None:
    machine = this_machine({"CODEX_HOME": "/x"})
    assert (machine.system, machine.home) == (sys.platform, Path.home())
