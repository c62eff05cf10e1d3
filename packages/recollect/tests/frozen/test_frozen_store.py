"""A store of schema 5, written by an earlier version, still opens and gives the same answers.

It has a log with feedback, tuned numbers, a calibration, dreams, reworded and corrected notes, used keys,
several scopes, and texts that wait for a vector.
"""

from __future__ import annotations

import gzip
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import calls
import frozen_store
import pytest
from compare import HERE, SINGLE, assert_same, frozen

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from calls import Memory

SCHEMA = 5


def unpacked(folder: Path) -> Path:
    path = folder / "memory.db"
    path.write_bytes(gzip.decompress((HERE / frozen_store.FILE).read_bytes()))
    return path


@pytest.fixture
def old(tmp_path: Path) -> Path:
    return unpacked(tmp_path)


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """The old store, opened, for those that only read."""
    with frozen_store.opened(unpacked(tmp_path_factory.mktemp("old"))) as memory:
        yield memory


@pytest.mark.parametrize("name", frozen_store.FACTS)
def test_the_old_store_tells_the_same(memory: Memory, name: str) -> None:
    assert_same(frozen("store.json")["facts"][name], frozen_store.fact(memory, name), SINGLE)


def test_every_frozen_fact_is_tested() -> None:
    assert set(frozen("store.json")["facts"]) == set(frozen_store.FACTS)


def test_opening_the_old_store_keeps_every_row(old: Path) -> None:
    with frozen_store.opened(old) as memory:
        assert calls.verify(memory) == []
    assert_same(frozen("store.json")["rows"], calls.rows(old), SINGLE)


def test_a_store_that_gets_a_new_schema_is_backed_up_first(old: Path) -> None:
    with frozen_store.opened(old):
        pass
    schema = calls.schema_of(old)
    assert schema is not None
    assert schema > SCHEMA
    backups = [path for path in old.parent.rglob("*") if path.is_file() and calls.schema_of(path) == SCHEMA]
    assert len(backups) == 1
    with closing(sqlite3.connect(backups[0])) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        (count,) = connection.execute("SELECT count(*) FROM memory").fetchone()
    assert count == len(frozen("store.json")["rows"]["memory"])


def test_undoing_a_dream_of_the_old_store_is_equal_row_by_row(old: Path) -> None:
    expected = frozen("store.json")
    with frozen_store.opened(old) as memory:
        assert_same(expected["undo"], frozen_store.undo(memory))
        assert calls.verify(memory) == []
    changed = frozen_store.changed_rows(expected["rows"], calls.rows(old))
    assert_same(expected["rows changed by undo"], changed)


def test_keys_that_were_used_before_give_their_receipts(old: Path) -> None:
    expected = frozen("store.json")
    with frozen_store.opened(old) as memory:
        assert_same(expected["receipts"], frozen_store.receipts(memory))
        assert frozen_store.refused(memory)
    # Only pending vectors were written.
    assert set(frozen_store.changed_rows(expected["rows"], calls.rows(old))) <= {"waiting", "vector"}


def test_texts_that_waited_for_a_vector_get_one(old: Path) -> None:
    with frozen_store.opened(old) as memory:
        assert_same(frozen("store.json")["waked"], frozen_store.waked(memory), SINGLE)
