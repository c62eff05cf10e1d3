"""The store's log: it stays small, its loss is noticed, and a foreign log is refused."""

from __future__ import annotations

import shutil
import subprocess
import sys
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING

import apsw
import pytest

import recollect
from recollect.domain.errors import StoreDamaged, StoreUnavailable
from recollect.stores.sqlite import store as sqlite_store
from recollect.stores.sqlite.store import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.usefixtures("real_stores")


def _killed_while_open(path: Path) -> None:
    """Make a store whose last write is only in the log."""
    script = """
        import os, sys, recollect
        memory = recollect.open(sys.argv[1], model="none")
        for number in range(3):
            memory.remember(f"Note {number}")
        os._exit(0)
    """
    subprocess.run([sys.executable, "-c", dedent(script), path], check=True)


def test_a_log_that_is_missing_after_a_crash_is_noticed_and_said(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with recollect.open(path, model="none") as memory:
        memory.remember("Before")
    _killed_while_open(path)
    path.with_name("memory.db-wal").unlink()
    path.with_name("memory.db-shm").unlink()
    for _ in range(2):  # until a repair deletes it
        with recollect.open(path, model="none") as memory:
            (lost,) = memory.upkeep.verify(quick=True)
            assert "3 changes are lost" in lost.what
            assert "-wal) was missing" in lost.what
            memory.remember("After")
    with recollect.open(path, model="none") as memory:
        assert list(memory.upkeep.repair()) == []
        assert memory.counts().notes == 2


def test_a_log_that_is_there_after_a_crash_is_no_reason_to_say_anything(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    _killed_while_open(path)
    with recollect.open(path, model="none") as memory:
        assert list(memory.upkeep.verify()) == []
        assert memory.counts().notes == 3
    assert [file.name for file in tmp_path.iterdir()] == ["memory.db"]


def test_a_copy_of_a_live_store_that_lacks_its_log_is_refused(tmp_path: Path) -> None:
    path, copy = tmp_path / "memory.db", tmp_path / "copy"
    copy.mkdir()
    with recollect.open(path, model="none") as memory:
        memory.remember("In the log alone")
        for name in ("memory.db", "memory.db-changes"):
            shutil.copy(tmp_path / name, copy / name)
    with pytest.raises(StoreDamaged, match=r"is a copy of a store that was in use.*`recollect backup`"):
        SqliteStore(copy / "memory.db")
    # An expert may use it.
    (copy / "memory.db-changes").unlink()
    SqliteStore(copy / "memory.db").close()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not remove a file that is open")
def test_a_log_that_is_removed_while_it_is_in_use_is_told_and_nothing_is_acknowledged(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with recollect.open(path, model="none") as memory:
        memory.remember("Before")
        path.with_name("memory.db-wal").unlink()
        acts: list[Callable[[], object]] = [lambda: memory.remember("After"), lambda: memory.recall("before")]
        for act in acts:
            with pytest.raises(
                StoreUnavailable, match=r"-wal, the log of the store, was removed or replaced"
            ):
                act()
    with recollect.open(path, model="none") as memory:
        assert memory.counts().notes == 1
        assert list(memory.upkeep.verify()) == []


def test_the_log_of_a_new_store_is_emptied_before_it_is_ten_times_as_large(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    log, sizes = path.with_name("memory.db-wal"), [0]
    with recollect.open(path, model="none") as memory:
        for number in range(60):
            memory.remember(f"Note {number} {'about the harbour ' * 2000}")
            sizes.append(log.stat().st_size)
            assert sizes[-1] < 10 * path.stat().st_size
    # It was emptied at least once.
    assert min(later - before for before, later in pairwise(sizes)) < 0


def test_readers_without_a_pause_do_not_let_the_log_grow_without_bounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_store, "_LOG_BYTES", 1 << 20)
    path = tmp_path / "memory.db"
    log, worst = path.with_name("memory.db-wal"), 0.0
    with recollect.open(path, model="none") as memory, closing(apsw.Connection(str(path))) as first:
        second = apsw.Connection(str(path))
        memory.remember("The first")
        readers = [first, second]
        first.execute("BEGIN")
        first.execute("SELECT count(*) FROM memory").fetchall()
        for number in range(120):
            # The readers overlap, so that there is always one.
            later, earlier = readers[number % 2 - 1], readers[number % 2]
            later.execute("BEGIN") if not later.in_transaction else None
            later.execute("SELECT count(*) FROM memory").fetchall()
            memory.remember(f"Note {number} {'about the harbour ' * 2000}")
            if earlier.in_transaction and number % 10 == 9:
                for each in readers:
                    if each.in_transaction:
                        each.execute("ROLLBACK")
            worst = max(worst, log.stat().st_size / max(path.stat().st_size, 1 << 20))
        second.close()
    assert worst < 10
