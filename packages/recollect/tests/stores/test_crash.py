"""Processes killed at any moment: every acknowledged write survives, and none is half done."""

from __future__ import annotations

import sys
from contextlib import closing
from itertools import count
from shutil import copy
from typing import TYPE_CHECKING

import numpy as np
import pytest
from durable_world import (
    Ack,
    apply,
    assert_whole,
    before,
    embed,
    entities,
    entity,
    found_by_meaning,
    number_of,
    read_acks,
    thing,
    thing_name,
    write_things,
)
from store_worker import SHARED_FROM, Workshop, team

from recollect.stores.sqlite.store import SqliteStore
from recollect.stores.vectors import cache as vector_cache
from recollect.write.repository import Repository

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from store_worker import Life

pytestmark = [
    pytest.mark.usefixtures("real_stores"),
    pytest.mark.skipif(sys.platform == "win32", reason="Windows has neither SIGKILL nor fork"),
]

KILLS = 15


@pytest.fixture(scope="module")
def workshop() -> Iterator[Workshop]:
    workshop = Workshop()
    yield workshop
    workshop.close()


@pytest.fixture(autouse=True)
def shared_early(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_cache, "WORTH_SHARING", SHARED_FROM)


@pytest.mark.parametrize("seed", [1, 2])
def test_a_writer_killed_at_random_moments_loses_nothing_it_acknowledged(
    tmp_path: Path, workshop: Workshop, seed: int
) -> None:
    path, chance = tmp_path / "store.db", np.random.default_rng(seed)
    acks: list[Ack] = []
    for _ in range(KILLS):
        kill_after, delay = int(chance.integers(0, 16)), float(chance.uniform(0, 0.02))
        # A writer resumes at its last write, which may not have been acknowledged.
        start = len({ack.name for ack in acks if ack.what == "thing"})
        life = workshop.run("write", str(path), "w", start, kill_after=kill_after, delay=delay)
        assert life.killed
        acks += life.acks
        assert_whole(path, acks[-20:])
    present = assert_whole(path, acks)
    # A resumed writer repeats its last write with the same key, which changes nothing.
    assert sorted(map(number_of, present)) == list(range(len(present)))
    assert {memory.duplicates for memory in present.values()} == {0}
    assert len(acks) > KILLS


def test_those_who_work_beside_a_writer_that_is_killed_notice_nothing(
    tmp_path: Path, workshop: Workshop
) -> None:
    path, chance = tmp_path / "store.db", np.random.default_rng(3)
    with closing(Repository(SqliteStore(path))) as store:
        apply(store, entity("meeting"))
    acks: list[Ack] = []
    with team("share", [(path, tmp_path, "w1", "w2", 30), (path, tmp_path, "w2", "w1", 30)]) as survivors:
        survivors.meet()
        for number in range(12):
            kill_after = int(chance.integers(1, 6))
            acks += workshop.run("write", str(path), f"k{number}", 0, kill_after=kill_after).acks
        assert survivors.end() == [0, 0]
    acks += read_acks(tmp_path / "w1") + read_acks(tmp_path / "w2")
    assert len(acks) > 2 * 30 * 2
    assert_whole(path, acks)


def test_a_killed_bulk_write_is_there_whole_or_not_at_all(tmp_path: Path, workshop: Workshop) -> None:
    size = 40
    for death in _deaths(lambda die_at: _bulk(tmp_path, workshop, size, die_at), step=83):
        path, life = death
        present = assert_whole(path)
        assert len(present) % size == 0
        assert len(present) >= max((int(line) for line in life.said), default=0)


def test_a_new_store_killed_at_every_touch_of_the_disk_can_be_opened(
    tmp_path: Path, workshop: Workshop
) -> None:
    def birth(die_at: int) -> tuple[Path, Life]:
        path = tmp_path / f"store{die_at}.db"
        return path, workshop.run("create", str(path), die_at=die_at)

    for path, _ in _deaths(birth, more_than=20):
        with closing(Repository(SqliteStore(path))) as store:
            apply(store, *thing("an0"))
        assert set(assert_whole(path)) == {"an0"}


def test_a_killed_backup_leaves_no_half_file_under_its_name(tmp_path: Path, workshop: Workshop) -> None:
    path = tmp_path / "store.db"
    acks = _filled(path, 20)

    def back_up(die_at: int) -> tuple[Path, Life]:
        target = tmp_path / f"backup{die_at}.db"
        return target, workshop.run("back_up", str(path), str(target), die_at=die_at)

    for target, life in _deaths(back_up, step=3, more_than=20):
        if target.exists():
            assert_whole(target, acks)
        else:
            assert life.said == ()
    assert_whole(path, acks)


def test_a_killed_restore_leaves_the_store_as_it_was_or_as_the_backup(
    tmp_path: Path, workshop: Workshop
) -> None:
    backup, original = tmp_path / "backup.db", tmp_path / "original.db"
    old = _filled(original, 20, backup=(backup, 8))
    before_backup = backup.read_bytes()
    copies: list[Path] = []

    def restore(die_at: int) -> tuple[Path, Life]:
        path = tmp_path / f"store{die_at}.db"
        copy(original, path)
        copies.append(path)
        return path, workshop.run("restore", str(backup), str(path), die_at=die_at)

    outcomes = set()
    for path, life in _deaths(restore, step=7):
        present = assert_whole(path, old[:16])  # the backup has it, too
        outcomes.add(len(present))
        assert len(present) in {8, 20}
        if len(present) == 20:
            assert_whole(path, old[16:])
        assert len(present) == 8 or life.said == ()
    # Some kills came before the change and some after it, and the backup is unchanged.
    assert outcomes == {8, 20}
    assert backup.read_bytes() == before_backup


def test_a_kill_while_the_cache_of_vectors_is_made_leaves_right_answers(
    tmp_path: Path, workshop: Workshop
) -> None:
    path = tmp_path / "store.db"
    acks = _filled(path, 20)
    text = f"{thing_name('a', 7)} (thing)"
    with closing(Repository(SqliteStore(path))) as store:
        memory = str(entities(store)[thing_name("a", 7)].id)

    def search(die_at: int) -> tuple[Path, Life]:
        for rest in ("-vectors", "-vectors-new"):
            path.with_name(path.name + rest).unlink(missing_ok=True)
        return path, workshop.run("search", str(path), text, die_at=die_at)

    for _ in _deaths(search, more_than=5):
        # Another process continues at once.
        assert workshop.run("search", str(path), text).said == (memory,)
    assert_whole(path, acks)


def test_a_kill_while_the_cache_of_vectors_grows_leaves_right_answers(
    tmp_path: Path, workshop: Workshop
) -> None:
    path, cache = tmp_path / "store.db", tmp_path / "store.db-vectors"
    _filled(path, 10)
    workshop.run("search", str(path), "anything")
    small = cache.read_bytes()
    with closing(Repository(SqliteStore(path))) as store:
        _write_without_searching(store, 10, 30)
        memory = str(entities(store)[thing_name("a", 25)].id)

    def search(die_at: int) -> tuple[Path, Life]:
        cache.write_bytes(small)
        return path, workshop.run("search", str(path), f"{thing_name('a', 25)} (thing)", die_at=die_at)

    for _ in _deaths(search, more_than=5):
        with closing(Repository(SqliteStore(path))) as store:
            assert found_by_meaning(store, thing_name("a", 3)) == thing_name("a", 3)
        assert workshop.run("search", str(path), f"{thing_name('a', 25)} (thing)").said == (memory,)
    assert cache.stat().st_size >= len(small)
    assert_whole(path)


def _deaths(
    live: Callable[[int], tuple[Path, Life]], step: int = 1, more_than: int = 0
) -> Iterator[tuple[Path, Life]]:
    """Run processes that end at the 1st, 2nd, … disk access, until one ends normally."""
    for deaths in count():
        path, life = live(1 + deaths * step)
        if not life.killed:
            assert deaths > more_than
            return
        yield path, life


def _bulk(folder: Path, workshop: Workshop, size: int, die_at: int) -> tuple[Path, Life]:
    path = folder / f"store{die_at}.db"
    if die_at > 1_500:
        return path, workshop.run("create", str(path))
    return path, workshop.run("write_in_bulk", str(path), "b", size, die_at=die_at)


def _filled(path: Path, things: int, backup: tuple[Path, int] | None = None) -> list[Ack]:
    with closing(Repository(SqliteStore(path))) as store:
        acks = write_things(store, "a", 0, backup[1] if backup else things)
        if backup:
            store.backup(str(backup[0]))
            acks += write_things(store, "a", backup[1], things)
        return acks


def _write_without_searching(store: Repository, start: int, stop: int) -> None:
    for number in range(start, stop):
        name = thing_name("a", number)
        embed(store, apply(store, *thing(name, before(name))).outcomes[0].ids)
