"""A small store with something for every phase of a dream to do, and engines that dream on it."""

from __future__ import annotations

import io
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.admin import Internals
from recollect.domain.records import Scope
from recollect.engine import Engine
from recollect.models.hashing import HashingEmbedder
from recollect.search.recording import UsageRecorder
from recollect.services import Services
from recollect.stores.sqlite.store import SqliteStore
from recollect.transfer import export_file
from recollect.write.repository import Repository

if TYPE_CHECKING:
    from recollect.stores.port import Embedder

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = 86_400
BEDTIME = 400 * DAY
"""A time at which most of it is stale."""
MODEL = HashingEmbedder(64)


def dreamer(path: str | Path, second: float, holder: str = "me") -> closing[Engine]:
    """Return an engine whose clock is this many seconds after the start."""
    store = Repository(SqliteStore(path))
    now = START + timedelta(seconds=second)
    return closing(
        Engine(
            Services(
                store,
                lambda: now,
                _model,
                "hashing",
                Scope(),
                UsageRecorder(store, "test", 30),
                process_id=holder,
            )
        )
    )


def lived_in(path: Path) -> Path:
    """Make a store after one dream, with much for the next."""
    with dreamer(path, 0) as engine:
        engine.remember_many(
            [
                "Ada drinks tea in the garden",
                "Ada drinks the tea in the garden!",
                "the kettle stands in the blue kitchen",
                "Ada says that the kettle stands in the blue kitchen",
                "Alice works at Google",
            ]
        )
        engine.supersede(5, "Alice works at Microsoft")
        engine.create_entities(
            [{"name": "Ada", "observations": ["likes tea at noon", "likes the tea at noon!"]}, "Bob"]
        )
        engine.graph.create_relations([("Ada", "knows", "Bob")])
    with dreamer(path, DAY) as engine:
        engine.dream(phases=["downscale", "place"], gate=False)
    with dreamer(path, BEDTIME - DAY) as engine:
        engine.remember("Alice works for Google")
        for _ in range(3):
            engine.record_shown([1, 2, 7])
    return path


def exported(path: Path) -> str:
    with dreamer(path, BEDTIME) as engine:
        assert list(engine.upkeep.verify()) == []
        out = io.StringIO()
        export_file(engine, out, format="full", learning=False)
        links = [(memory.id, weight) for memory, weight in Internals(engine).links(1)]
        return f"{out.getvalue()}{links}{[dream.id for dream in engine.dreams.history()]}"


def _model(_: str) -> Embedder:
    return MODEL
