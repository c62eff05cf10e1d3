"""Killed dreams: the store is as before the dream or as after it, and the lease of a dead process ends."""

from __future__ import annotations

import sys
from pathlib import Path
from shutil import copy
from typing import TYPE_CHECKING

import pytest
from night_world import BEDTIME, dreamer, exported, lived_in
from store_worker import Workshop, team

from recollect.domain.errors import Conflict

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [
    pytest.mark.usefixtures("real_stores"),
    pytest.mark.skipif(sys.platform == "win32", reason="Windows has neither SIGKILL nor fork"),
]


@pytest.fixture(scope="module")
def workshop() -> Iterator[Workshop]:
    workshop = Workshop()
    yield workshop
    workshop.close()


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return lived_in(tmp_path_factory.mktemp("day") / "store.db")


@pytest.fixture
def path(tmp_path: Path, day: Path) -> Path:
    return Path(copy(day, tmp_path / "store.db"))


@pytest.fixture(scope="module")
def outcomes(day: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Return the rows before the dream, and after it."""
    path = tmp_path_factory.mktemp("night") / "store.db"
    copy(day, path)
    before = exported(path)
    with dreamer(path, BEDTIME) as engine:
        report = engine.dream(gate=False).report
    # The dream writes every table that a dream can write.
    assert report.merged
    assert report.merged_observations
    assert report.corrected
    assert report.pruned
    assert report.links
    assert report.faded
    return before, exported(path)


def test_a_dream_killed_at_every_touch_of_the_disk_is_there_whole_or_not_at_all(
    tmp_path: Path, workshop: Workshop, day: Path, outcomes: tuple[str, str]
) -> None:
    before, after = outcomes
    seen = []
    die_at = 1
    while True:
        path = tmp_path / f"store{die_at}.db"
        copy(day, path)
        life = workshop.run("dream", str(path), "the dead", BEDTIME, die_at=die_at)
        now = exported(path)
        assert now in {before, after}
        if any(line.startswith("dreamt") for line in life.said):
            assert now == after
        seen.append(now == after)
        if not life.killed:
            break
        die_at += 2
    assert {True, False} == set(seen)
    # After the commit, a later kill changes nothing.
    assert seen == sorted(seen)
    assert seen.count(False) > 10


@pytest.mark.parametrize("stage", [1, 3, 5])
def test_a_dream_killed_while_it_thinks_has_changed_nothing(
    path: Path, workshop: Workshop, outcomes: tuple[str, str], stage: int
) -> None:
    life = workshop.run("dream", str(path), "the dead", BEDTIME, kill_after=stage)
    assert life.said[:stage] == tuple(f"stage {number}" for number in range(1, stage + 1))
    # It may have come further before the kill, but never half way.
    assert exported(path) in outcomes


def test_the_lease_of_the_dead_ends_by_itself(
    path: Path, workshop: Workshop, outcomes: tuple[str, str]
) -> None:
    # It ends itself right after it took the lease: at the first disk accesses.
    die_at = 1
    while True:
        workshop.run("dream", str(path), "the dead", BEDTIME, die_at=die_at)
        with dreamer(path, BEDTIME) as engine, engine._services.store.read() as view:
            lease = view.rows("lease", ("holder",))
        if lease:
            break
        die_at += 1
    assert lease[0][0].startswith("the dead")
    with dreamer(path, BEDTIME + 119, "an heir") as engine, pytest.raises(Conflict, match="try again"):
        engine.dream(gate=False)
    assert exported(path) == outcomes[0]
    with dreamer(path, BEDTIME + 120, "an heir") as engine:
        assert engine.dream(gate=False).id == 2
        with engine._services.store.read() as view:
            assert view.rows("lease", ("holder",)) == []


def test_of_two_processes_at_once_one_dreams_and_the_other_is_told(path: Path) -> None:
    with team("dream_together", [(path, "one", BEDTIME), (path, "two", BEDTIME)]) as both:
        both.meet()
        both.meet()  # one is halfway, and the other has been refused
        said = sorted(both.hear())
        assert both.end() == [0, 0]
    assert said == ["Another process holds the lease (dream); try again when it has finished.", "dreamt 2"]
    with dreamer(path, BEDTIME) as engine:
        assert [dream.id for dream in engine.dreams.history()] == [2, 1]
        assert list(engine.upkeep.verify()) == []


@pytest.mark.parametrize("late", [1, 2, 3, 4, 5])
def test_a_dreamer_who_was_too_slow_finds_its_lease_taken_and_writes_nothing(path: Path, late: int) -> None:
    def overtake(stage: int, _: int | None) -> None:
        # The other has ended before this one continues.
        if stage == late:
            with dreamer(path, BEDTIME + 500, "quick") as other:
                other.dream(gate=False)

    with dreamer(path, BEDTIME, "slow") as engine:
        with pytest.raises(Conflict, match=r"(?i)nothing was changed"):
            engine.dream(gate=False, progress=overtake)
        assert [(dream.id, dream.at == engine._services.clock()) for dream in engine.dreams.history()] == [
            (2, False),
            (1, False),
        ]
        assert list(engine.upkeep.verify()) == []


def test_a_dream_that_fails_gives_its_lease_back(path: Path) -> None:
    def stumble(stage: int, _: int | None) -> None:
        if stage == 4:
            raise RuntimeError("a bug of ours")

    with dreamer(path, BEDTIME, "clumsy") as engine:
        with pytest.raises(RuntimeError, match="a bug of ours"):
            engine.dream(gate=False, progress=stumble)
        assert len(engine.dreams.history()) == 1
    with dreamer(path, BEDTIME, "another") as engine:
        assert engine.dream(gate=False).id == 2
