"""What many tests share: a clock that stands still, a store in a temporary folder, an engine on it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

import hypothesis_profiles
from recollect.embedders.choose import embedder_named
from recollect.engine.engine import Engine
from recollect.engine.repository import Repository
from recollect.engine.services import Services
from recollect.engine.usage import UsageRecorder
from recollect.records import Scope
from recollect.stores.sqlite.store import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from recollect.engine.services import EmbedderNamed

    MakeEngine = Callable[..., Engine]

hypothesis_profiles.load()

PATIENCE_SECONDS = 600
"""How long a test waits before it calls something hung. Nothing asserts how long anything took."""


@pytest.fixture(autouse=True)
def no_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine, too, whoever closes a small store waits until it has learnt."""
    monkeypatch.setattr(
        "recollect.engine.upkeep.calibration_scheduler._CLOSE_WITHIN_SECONDS", PATIENCE_SECONDS
    )


@dataclass
class FixedClock:
    """The time that it was told, until it is told another."""

    now: datetime = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def tick(self, seconds: float = 1) -> datetime:
        self.now += timedelta(seconds=seconds)
        return self.now


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Repository]:
    store = Repository(SqliteStore(tmp_path / "memory.db"))
    yield store
    store.close()


@pytest.fixture
def make_engine(store: Repository, clock: FixedClock) -> MakeEngine:
    """Engines on one store, with the embedders of the test."""

    def make(embedders: EmbedderNamed = embedder_named, model: str = "hashing") -> Engine:
        return Engine(
            Services(store, clock, embedders, model, Scope(), UsageRecorder(store, "test", PATIENCE_SECONDS))
        )

    return make


@pytest.fixture
def engine(make_engine: MakeEngine) -> Engine:
    """An engine whose model compares words."""
    return make_engine()
