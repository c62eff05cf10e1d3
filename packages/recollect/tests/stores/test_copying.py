"""Backups are complete and consistent. Restoring one replaces the store at once, or not at all."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import pytest
from durable_world import (
    apply,
    assert_whole,
    entities,
    entity,
    found_by_meaning,
    found_by_words,
    number_of,
    thing_name,
    write_things,
)
from store_worker import SHARED_FROM, team
from test_migrations import FIRST, NOW, store_of

from recollect.domain.errors import (
    InvalidInput,
    NotAStore,
    NotFound,
    RecollectError,
    StoreDamaged,
    StoreUnavailable,
)
from recollect.stores.sqlite import copying
from recollect.stores.sqlite.connection import migrations, prepare
from recollect.stores.sqlite.copying import restore_copy
from recollect.stores.sqlite.store import SqliteStore
from recollect.stores.vectors import cache as vector_cache
from recollect.write.repository import Repository

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.usefixtures("real_stores")

BUSY_MS = 10_000


@pytest.fixture(autouse=True)
def shared_early(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_cache, "WORTH_SHARING", SHARED_FROM)


@pytest.fixture(scope="module")
def eight_then_twenty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of twenty entities, and a backup from when it had eight."""
    folder = tmp_path_factory.mktemp("two-states")
    with closing(Repository(SqliteStore(folder / "store.db"))) as store:
        write_things(store, "a", 0, 8)
        store.backup(str(folder / "backup.db"))
        write_things(store, "a", 8, 20)
    return folder


@pytest.fixture
def two_states(tmp_path: Path, eight_then_twenty: Path) -> tuple[Path, Path]:
    names = ("store.db", "backup.db")
    store, backup = (Path(shutil.copy(eight_then_twenty / name, tmp_path / name)) for name in names)
    return store, backup


def test_backups_taken_under_writes_are_whole_and_of_one_moment(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with closing(Repository(SqliteStore(path))) as store, team("write", [(path, "w", 0)]) as writer:
        sizes = []
        for number in range(6):
            # Ten more are acknowledged before each backup begins, so it must have them.
            told = [writer.hear()[0].split()[1] for _ in range(10)]
            copy = tmp_path / f"copy{number}.db"
            store.backup(str(copy))
            present = assert_whole(copy)
            # A prefix of what was written, in order: the writer writes w0, w1, w2, …
            assert sorted(map(number_of, present)) == list(range(len(present)))
            assert set(told) <= set(present)
            sizes.append(len(present))
        assert sizes == sorted(sizes)


def test_a_backup_under_steady_writes_comes_to_an_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copying, "_PAGES", 4)
    steps = 0
    with closing(Repository(SqliteStore(tmp_path / "store.db"))) as store:
        write_things(store, "a", 0, 10)

        def write_meanwhile(done: int, total: int | None) -> None:
            nonlocal steps
            steps += 1
            assert steps < 1_000, "the copy starts over with every write"
            apply(store, entity(f"meanwhile {steps}"))

        store.backup(str(tmp_path / "copy.db"), write_meanwhile)
        assert steps > 5
        # The copy has the state of the moment when it began.
        assert set(assert_whole(tmp_path / "copy.db")) == {thing_name("a", number) for number in range(10)}
        assert len(entities(store)) == 10 + steps


def test_a_backup_is_one_file_and_overwrites_none(tmp_path: Path) -> None:
    (tmp_path / "backups").mkdir()
    copy = tmp_path / "backups" / "copy.db"
    with closing(Repository(SqliteStore(tmp_path / "store.db"))) as store:
        write_things(store, "a", 0, 3)
        told: list[tuple[int, int | None]] = []
        store.backup(str(copy), lambda done, total: told.append((done, total)))
        assert told[-1][0] == told[-1][1]
        assert [file.name for file in copy.parent.iterdir()] == ["copy.db"]
        before = copy.read_bytes()
        with pytest.raises(InvalidInput, match="exists already"):
            store.backup(str(copy))
        assert copy.read_bytes() == before
        with pytest.raises(InvalidInput, match="create it first"):
            store.backup(str(tmp_path / "missing" / "copy.db"))


def test_a_backup_that_is_broken_off_leaves_nothing(tmp_path: Path) -> None:
    def interrupt(done: int, total: int | None) -> None:
        raise KeyboardInterrupt

    with closing(Repository(SqliteStore(tmp_path / "store.db"))) as store:
        write_things(store, "a", 0, 3)
        before = sorted(file.name for file in tmp_path.iterdir())
        with pytest.raises(KeyboardInterrupt):
            store.backup(str(tmp_path / "copy.db"), interrupt)
        assert sorted(file.name for file in tmp_path.iterdir()) == before
        store.backup(str(tmp_path / "copy.db"))
    assert_whole(tmp_path / "copy.db")


def test_a_backup_put_back_is_seen_at_once_by_a_store_that_is_open(two_states: tuple[Path, Path]) -> None:
    path, backup = two_states
    with closing(Repository(SqliteStore(path))) as store:
        assert found_by_meaning(store, thing_name("a", 15)) == thing_name("a", 15)
        restore_copy(backup, path, BUSY_MS)
        assert len(entities(store)) == 8
        assert found_by_words(store, thing_name("a", 15)) is None
        assert found_by_meaning(store, thing_name("a", 15)) is None
        assert found_by_meaning(store, thing_name("a", 5)) == thing_name("a", 5)
        # Counters were restored, too: new rows get ids that were used before.
        acks = write_things(store, "b", 0, 20)
        assert found_by_meaning(store, thing_name("b", 9)) == thing_name("b", 9)
        assert found_by_meaning(store, thing_name("a", 15)) is None
        assert store.verify() == []
    assert len(assert_whole(path, acks)) == 28


def test_a_backup_may_be_put_back_again_and_again(two_states: tuple[Path, Path]) -> None:
    path, backup = two_states
    with closing(Repository(SqliteStore(path))) as store:
        for round_ in range(3):
            restore_copy(backup, path, BUSY_MS)
            write_things(store, f"r{round_}", 0, 10)
            assert found_by_meaning(store, thing_name(f"r{round_}", 7)) == thing_name(f"r{round_}", 7)
            assert store.verify() == []
            assert len(entities(store)) == 18


def test_a_good_backup_stays_as_it_is_and_makes_a_store_where_there_was_none(
    two_states: tuple[Path, Path], tmp_path: Path
) -> None:
    path, backup = two_states
    before = backup.read_bytes()
    restore_copy(backup, tmp_path / "new.db", BUSY_MS)
    assert len(assert_whole(tmp_path / "new.db")) == 8
    assert [file.name for file in tmp_path.iterdir() if ".part" in file.name] == []
    # The store itself is not a backup.
    with pytest.raises(InvalidInput, match="the store itself"):
        restore_copy(path, path, BUSY_MS)
    assert len(assert_whole(path)) == 20
    restore_copy(backup, path, BUSY_MS)
    assert backup.read_bytes() == before
    assert sorted(file.name for file in tmp_path.iterdir() if file.name.startswith("backup")) == ["backup.db"]


def test_putting_back_waits_for_a_writer_and_writers_for_it(two_states: tuple[Path, Path]) -> None:
    path, backup = two_states
    with team("scribble", [(path,)]) as writer:
        for _ in range(5):
            for _ in range(10):
                assert writer.hear()[0]
            # Long, since SQLite does not queue waiters, and this writer leaves little time.
            restore_copy(backup, path, 6 * BUSY_MS)
    with closing(Repository(SqliteStore(path))) as store:
        assert store.verify() == []
        assert {thing_name("a", number) for number in range(8)} <= set(entities(store))


def _another_programs(backup: Path) -> None:
    backup.unlink()
    with closing(sqlite3.connect(backup)) as other:
        other.execute("CREATE TABLE memory(id)")


def _damaged(backup: Path) -> None:
    content = bytearray(backup.read_bytes())
    for page in range(8, len(content) // 4096, 5):
        content[page * 4096 : (page + 1) * 4096] = b"\xa5" * 4096
    backup.write_bytes(content)


def _damaged_in_one_place(backup: Path) -> None:
    with closing(apsw.Connection(str(backup))) as hand:
        page = hand.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'observation_by_memory'").get
    content = bytearray(backup.read_bytes())
    content[(page - 1) * 4096 : page * 4096] = b"\xa5" * 4096
    backup.write_bytes(content)


@pytest.mark.parametrize(
    ("spoil", "error"),
    [
        (Path.unlink, NotFound),
        (lambda backup: backup.write_bytes(b""), NotFound),
        (lambda backup: backup.write_text("not a backup at all\n" * 500), NotAStore),
        (_another_programs, NotAStore),
        # a backup of a newer version
        (lambda backup: prepare(backup, BUSY_MS, [*migrations(), "CREATE TABLE trail(step)"]), NotAStore),
        (_damaged, StoreDamaged),
        (_damaged_in_one_place, StoreDamaged),
        (lambda backup: os.truncate(backup, backup.stat().st_size // 2), StoreDamaged),
    ],
)
def test_what_is_no_good_backup_changes_neither_the_store_nor_itself(
    two_states: tuple[Path, Path], spoil: Callable[[Path], object], error: type[RecollectError]
) -> None:
    path, backup = two_states
    spoil(backup)
    before = backup.read_bytes() if backup.exists() else None
    with pytest.raises(error, match=r"backup\.db"):
        restore_copy(backup, path, BUSY_MS)
    assert (backup.read_bytes() if backup.exists() else None) == before
    assert len(assert_whole(path)) == 20


@pytest.mark.parametrize("version", [FIRST, NOW])
def test_a_backup_of_an_earlier_version_is_put_back_and_found_by_who_has_the_store_open(
    two_states: tuple[Path, Path], tmp_path: Path, version: int
) -> None:
    path, _ = two_states
    old = store_of(version, tmp_path / "old.db")
    before = old.read_bytes()
    with closing(Repository(SqliteStore(path))) as store:
        there = {file.name for file in tmp_path.iterdir()}
        restore_copy(old, path, BUSY_MS)
        left = {file.name for file in tmp_path.iterdir()} - there
        assert not [name for name in left if ".part" in name or "before" in name]
        assert old.read_bytes() == before
        assert found_by_words(store, "Watanabe") == "Jun Watanabe"
        apply(store, entity("late", "It came late."))
        assert store.verify() == []
    assert "Jun Watanabe" in assert_whole(path)


def test_putting_back_into_a_locked_store_says_so_and_changes_nothing(two_states: tuple[Path, Path]) -> None:
    path, backup = two_states
    with closing(apsw.Connection(str(path))) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable, match="locked by another program"):
            restore_copy(backup, path, 50)
        other.execute("ROLLBACK")
    assert len(assert_whole(path)) == 20
