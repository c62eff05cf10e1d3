"""New files of a store are private, whatever the umask. Existing files keep their mode."""

from __future__ import annotations

import os
import stat
import sys
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from durable_world import found_by_meaning, thing_name, write_things
from store_worker import SHARED_FROM

import recollect
from recollect.stores.sqlite.copying import restore_copy
from recollect.stores.sqlite.store import SqliteStore
from recollect.stores.vectors import cache as vector_cache
from recollect.transfer import export_file
from recollect.write.repository import Repository

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [
    pytest.mark.usefixtures("real_stores"),
    pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes"),
]


@pytest.fixture(autouse=True)
def open_to_all(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Use an open umask, and share vectors from the first one on."""
    monkeypatch.setattr(vector_cache, "WORTH_SHARING", SHARED_FROM)
    before = os.umask(0)
    yield
    os.umask(before)


def modes(folder: Path) -> dict[str, int]:
    return {each.name: stat.S_IMODE(each.stat().st_mode) for each in folder.iterdir()}


def test_a_new_store_and_all_that_stands_beside_it_is_its_owners(tmp_path: Path) -> None:
    with closing(Repository(SqliteStore(tmp_path / "memory.db"))) as store:
        write_things(store, "a", 0, SHARED_FROM + 1)
        found_by_meaning(store, thing_name("a", 0))
        beside = {"-wal", "-shm", "-changes", "-vectors", "-vectors-lock"}
        assert modes(tmp_path) == {f"memory.db{each}": 0o600 for each in {"", *beside}}


def test_a_store_that_is_there_keeps_its_mode_and_what_is_new_beside_it_follows(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    Repository(SqliteStore(path)).close()
    path.chmod(0o660)
    with closing(Repository(SqliteStore(path))) as store:
        write_things(store, "a", 0, SHARED_FROM + 1)
        found_by_meaning(store, thing_name("a", 0))
        assert set(modes(tmp_path).values()) == {0o660}


def test_backups_and_what_is_put_back_are_their_owners(tmp_path: Path) -> None:
    with closing(Repository(SqliteStore(tmp_path / "memory.db"))) as store:
        store.backup(str(tmp_path / "backup.db"))
    restore_copy(tmp_path / "backup.db", tmp_path / "again.db", busy_ms=10_000)
    assert modes(tmp_path) == dict.fromkeys(("memory.db", "backup.db", "again.db"), 0o600)


def test_an_export_is_its_owners_unless_one_was_there(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs.jsonl"
    theirs.touch(0o644)
    with recollect.open(tmp_path / "memory.db", model="hashing") as memory:
        memory.remember("The kettle is red")
        export_file(memory, tmp_path / "mine.jsonl")
        export_file(memory, theirs, overwrite=True)
    found = modes(tmp_path)
    assert (found["mine.jsonl"], found["theirs.jsonl"]) == (0o600, 0o644)


def test_the_folder_that_is_made_for_a_store_is_its_owners(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "made" / "memory.db", model="hashing"):
        assert modes(tmp_path) == {"made": 0o700}
