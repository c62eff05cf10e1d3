"""A store named `:memory:` is an SQLite database in memory, which many threads can use."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

import recollect
from recollect.admin import Internals
from recollect.domain.records import Scope
from recollect.stores.sqlite.store import SqliteStore

if TYPE_CHECKING:
    from pathlib import Path

THREADS, NOTES = 4, 8


def test_many_threads_write_and_read_and_see_only_whole_writes() -> None:
    with recollect.open(":memory:", model="hashing") as memory:

        def use(thread: int) -> list[int]:
            torn = []
            for number in range(NOTES):
                memory.remember_many([f"left {thread} {number}", f"right {thread} {number}"])
                memory.recall(f"left {thread}")
                torn.append(memory.counts().notes % 2)
            return torn

        with ThreadPoolExecutor(THREADS) as threads:
            assert not any(map(any, threads.map(use, range(THREADS))))
        assert memory.counts().notes == 2 * THREADS * NOTES
        assert list(memory.upkeep.verify()) == []


def test_a_backup_is_a_store_in_a_file(tmp_path: Path) -> None:
    with recollect.open(":memory:", model="hashing") as memory:
        note = memory.remember("The kettle is in the garden")
        before = Internals(memory).version()
        memory.upkeep.backup(str(tmp_path / "copy.db"))
        assert memory.upkeep.store_state().kind == "memory"
        with pytest.raises(recollect.StoreUnavailable, match="is not a file"):
            memory.upkeep.backup()
        memory.remember("Later")
        assert Internals(memory).version() != before
        assert memory.counts().bytes > 0
    with recollect.open(tmp_path / "copy.db") as copy:
        assert [hit.memory.id for hit in copy.recall("kettle").hits] == [note.id]
        assert copy.counts().notes == 1


def test_the_memory_ends_when_its_store_is_closed_and_is_not_shared() -> None:
    with closing(SqliteStore(":memory:")) as one, closing(SqliteStore(":memory:")) as other:
        one.transact(lambda rows: rows.put("scope", [{"owner": "ana", "agent": ""}]), [Scope("ana")])
        with other.read() as view:
            assert view.count("scope") == {None: 0}
        one.close()
        with pytest.raises(recollect.StoreUnavailable, match="was closed"), one.read():
            pass
