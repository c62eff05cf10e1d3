"""Files are written whole or not at all, and what was there is kept."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

import pytest

from recollect.clients.entry import NotEditable, SettingsEdit
from recollect.clients.files import apply_edit, backup_path, read_backup, read_settings, this_machine
from recollect.errors import Conflict


def test_what_was_there_is_kept_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_bytes(b"before\r\n")
    assert apply_edit(path, SettingsEdit("before\r\n", "after\r\n")) == backup_path(path)
    assert path.read_bytes() == b"after\r\n"
    assert read_backup(path) == "before\r\n"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["mcp.json", "mcp.json.before-recollect"]


def test_taken_back_no_copy_is_left(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_text("before")
    apply_edit(path, SettingsEdit("before", "after"))
    assert apply_edit(path, SettingsEdit("after", "before")) is None
    assert [each.name for each in tmp_path.iterdir()] == ["mcp.json"]


def test_a_file_that_was_not_there_is_made_with_its_folder_and_goes_again(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "er" / "mcp.json"
    assert apply_edit(path, SettingsEdit(None, "new")) is None
    assert read_settings(path) == "new"
    assert apply_edit(path, SettingsEdit("new", None)) is None
    assert read_settings(path) is None


def test_with_the_file_go_the_folders_that_are_empty_without_it(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "theirs").mkdir(parents=True)
    for folder in (home / "made" / "deep", home / "theirs" / "made"):
        apply_edit(folder / "mcp.json", SettingsEdit(None, "new"))
    (home / "theirs" / "note").touch()
    for folder in (home / "made" / "deep", home / "theirs" / "made"):
        apply_edit(folder / "mcp.json", SettingsEdit("new", None), home)
    assert [each.name for each in home.rglob("*")] == ["theirs", "note"]
    apply_edit(home / "mcp.json", SettingsEdit(None, "new"))
    (home / "theirs" / "note").unlink()
    apply_edit(home / "mcp.json", SettingsEdit("new", None), home)
    assert home.is_dir()


def test_what_our_own_change_made_is_not_copied(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_text("before")
    apply_edit(path, SettingsEdit("before", "ours"))
    apply_edit(path, SettingsEdit("ours", "ours again", needs_backup=False))
    assert read_backup(path) == "before"


def test_what_another_program_wrote_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_text("theirs")
    with pytest.raises(Conflict, match="try again"):
        apply_edit(path, SettingsEdit("before", "after"))
    assert [each.name for each in tmp_path.iterdir()] == ["mcp.json"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has neither such modes nor, for all, links")
def test_modes_and_links_stay(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles" / "mcp.json"
    real.parent.mkdir()
    real.write_text("before")
    real.chmod(0o640)
    path = tmp_path / "mcp.json"
    path.symlink_to(real)
    apply_edit(path, SettingsEdit("before", "after"))
    assert path.is_symlink()
    assert real.read_text() == "after"
    for each in (real, backup_path(real)):
        assert stat.S_IMODE(each.stat().st_mode) == 0o640
    new = tmp_path / "new.json"
    apply_edit(new, SettingsEdit(None, "keys"))
    assert stat.S_IMODE(new.stat().st_mode) == 0o600


def test_what_is_not_utf8_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_bytes(b"\xff\xfe{\x00}\x00")
    with pytest.raises(NotEditable, match="not UTF-8"):
        read_settings(path)
    backup_path(path).write_bytes(b"\xff")
    assert read_backup(path) is None


def test_this_machine_is_where_we_are() -> None:
    machine = this_machine({"CODEX_HOME": "/x"})
    assert (machine.system, machine.home) == (sys.platform, Path.home())


def test_a_read_only_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text("{}")
    path.chmod(0o444)
    for after in ('{"a": 1}', None):
        with pytest.raises(Conflict, match="read-only"):
            apply_edit(path, SettingsEdit("{}", after))
    assert [each.name for each in tmp_path.iterdir()] == ["settings.json"]
    assert path.read_text() == "{}"
