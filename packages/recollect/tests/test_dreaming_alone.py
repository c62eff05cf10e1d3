"""A memory that dreams by itself: when the settings say so, when it is due, and never without its backup."""

from __future__ import annotations

import logging
import stat
from dataclasses import replace
from datetime import date, timedelta
from typing import TYPE_CHECKING

import pytest

import recollect
from recollect.admin import Internals
from recollect.bootstrap import backup_folder, engine
from recollect.dreams.knobs import Knobs, Phase
from recollect.settings import Settings
from recollect.stores.sqlite.copying import keep_daily_backup

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import FixedClock

    from recollect.engine import Engine


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(tmp_path / "memory.db", model="hashing", time_zone="UTC", dream=True)


def ask_and_sleep(memory: Engine) -> list[int]:
    """One answer, and the dream that it may bring; the ids of all dreams so far."""
    memory.recall("tea")
    memory._services.usage.settle(None)
    memory._services.worker.settle_jobs()
    return [each.id for each in memory.dreams.history()]


def test_a_memory_dreams_after_an_answer_and_then_waits(settings: Settings, clock: FixedClock) -> None:
    settings = replace(settings, dream_every_minutes=60)
    with engine(settings, clock, dreams=True) as memory:
        memory.remember("Ana drinks tea")
        assert ask_and_sleep(memory) == [1]
        clock.tick(59 * 60)
        assert ask_and_sleep(memory) == [1]
        clock.tick(60)
        assert ask_and_sleep(memory) == [2, 1]


def test_off_means_off_and_so_does_a_process_that_does_not_stay(
    settings: Settings, clock: FixedClock
) -> None:
    for chosen, dreams in ((replace(settings, dream=False), True), (settings, False)):
        with engine(chosen, clock, dreams=dreams) as memory:
            assert memory._services.usage.after_recording == []


def test_the_library_dreams_where_the_settings_say_so(
    settings: Settings, clock: FixedClock, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("RECOLLECT_CONFIG", str(tmp_path / "config.toml"))
    (tmp_path / "config.toml").write_text("dream = true\ndream_backups = 0\n")
    with recollect.open(str(settings.store), model="hashing", clock=clock) as memory:
        memory.remember("Ana drinks tea")
        assert ask_and_sleep(memory) == [1]
    (tmp_path / "config.toml").write_text("")
    with recollect.open(str(settings.store), model="hashing", clock=clock) as memory:
        assert memory._services.usage.after_recording == []


def test_knobs_phases_and_a_name_of_its_own_come_from_the_settings(
    settings: Settings, clock: FixedClock
) -> None:
    knobs = Knobs(daily=0.5)
    chosen = replace(settings, dream_knobs=knobs, dream_without=(Phase.MERGE, Phase.REPORT))
    with engine(chosen, clock, dreams=True) as one, engine(chosen, clock) as other:
        assert one._services.knobs == knobs
        assert not {Phase.MERGE, Phase.REPORT} & set(one._services.phases)
        assert one._services.process_id != other._services.process_id
        one.remember("Ana drinks tea")
        ask_and_sleep(one)
        (dreamt,) = one.dreams.history()
        assert "merge" not in dreamt.phases
        assert dreamt.report["upkeep"] is None
        # A day leaves half of it.
        clock.tick(24 * 3600)
        one.dream()
        memory = one.get(1)
        assert memory is not None
        assert memory.strength == pytest.approx(0.5)


# Backups


def test_a_day_begins_with_a_backup_from_before_its_first_dream(
    settings: Settings, clock: FixedClock
) -> None:
    with engine(settings, clock, dreams=True) as memory:
        memory.remember("Ana drinks tea")
        ask_and_sleep(memory)
        clock.tick(6 * 3600)
        assert ask_and_sleep(memory) == [2, 1]
    folder = backup_folder(settings)
    assert str(folder) == f"{settings.store}-backups"
    (kept,) = folder.iterdir()
    assert kept.name == "2026-03-01.db"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    with engine(replace(settings, store=kept), clock) as before:
        assert before.dreams.history() == ()
        assert Internals(before).count_memories()


def test_only_the_newest_backups_are_kept(settings: Settings, clock: FixedClock) -> None:
    with engine(settings, clock, dreams=True) as memory:
        memory.remember("Ana drinks tea")
        for _ in range(5):
            ask_and_sleep(memory)
            clock.tick(24 * 3600)
    assert _names(backup_folder(settings)) == ["2026-03-03.db", "2026-03-04.db", "2026-03-05.db"]


def test_days_are_the_users(settings: Settings, clock: FixedClock) -> None:
    with engine(replace(settings, time_zone="Pacific/Auckland"), clock, dreams=True) as memory:
        memory.remember("Ana drinks tea")
        ask_and_sleep(memory)  # at noon in Greenwich
    assert _names(backup_folder(settings)) == ["2026-03-02.db"]


def test_no_backups_are_made_where_none_are_wanted(settings: Settings, clock: FixedClock) -> None:
    with engine(replace(settings, dream_backups=0), clock, dreams=True) as memory:
        memory.remember("Ana drinks tea")
        assert ask_and_sleep(memory) == [1]
    assert not backup_folder(settings).exists()


def test_without_a_backup_there_is_no_dream_and_the_next_one_tries_again(
    settings: Settings, clock: FixedClock, caplog: pytest.LogCaptureFixture
) -> None:
    backup_folder(settings).write_text("a file, where the folder should be")
    with engine(settings, clock, dreams=True) as memory, caplog.at_level(logging.WARNING):
        memory.remember("Ana drinks tea")
        assert ask_and_sleep(memory) == []
        assert "No backup could be made" in caplog.text
        backup_folder(settings).unlink()
        clock.tick(6 * 3600)
        assert ask_and_sleep(memory) == [1]
        assert _names(backup_folder(settings)) == ["2026-03-01.db"]


def test_what_is_no_backup_of_ours_stays(settings: Settings, clock: FixedClock, tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    folder.mkdir()
    today = date(2026, 3, 1)
    ours = [f"{today - timedelta(days=days)}.db" for days in (1, 2, 3)]
    unfinished = ["2026-02-28.db.0a1b.part", "2026-02-28.db.0a1b.part-journal", "2026-03-01.db.0a1b.part"]
    for name in (*ours, *unfinished, "mine.db", "2026.db"):
        (folder / name).touch()
    with engine(settings, clock) as memory:
        keep_daily_backup(memory._services.store, folder, today, 2)
        assert _names(folder) == [
            "2026-02-28.db",
            "2026-03-01.db",
            "2026-03-01.db.0a1b.part",  # another process may be writing it
            "2026.db",
            "mine.db",
        ]
        before = (folder / "2026-03-01.db").read_bytes()
        memory.remember("Ana drinks tea")
        keep_daily_backup(memory._services.store, folder, today, 2)
        assert (folder / "2026-03-01.db").read_bytes() == before


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())
