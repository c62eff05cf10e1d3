"""Golden rankings: a small world, a few queries, and the order that each profile gives.

`make bless` rewrites the files; the diff is reviewed like code.
"""

from __future__ import annotations

import os
import tomllib
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from recollect.domain.changes import (
    NewEntity,
    NewObservation,
    NewRelation,
    NewText,
    PutEntity,
    PutText,
    RecordUsage,
    Relate,
)
from recollect.domain.records import Kind, Scope, Status
from recollect.ranking.profiles import PROFILES
from recollect.search.entities import entities_named
from recollect.search.rows import scope_id

if TYPE_CHECKING:
    from datetime import datetime

    from conftest import FixedClock, MakeEngine

    from recollect.domain.changes import Change
    from recollect.domain.results import Hit
    from recollect.engine import Engine

HERE = Path(__file__).parent
ME = Scope()
SHOWN = 6


@pytest.fixture
def world(make_engine: MakeEngine, clock: FixedClock) -> Engine:
    """The store of `world.toml`, with the model that is the same on every machine; its session is `test`."""
    engine = make_engine(model="hashing")
    told = tomllib.loads((HERE / "world.toml").read_text(encoding="utf-8"))

    def before(row: dict[str, Any]) -> datetime:
        return clock() - timedelta(days=row["days_ago"])

    for row in told["memory"]:
        engine._services.store.apply([memory(row)], at=before(row))
    for row in told["relation"]:
        relation = NewRelation(row["from"], row["to"], row["type"])
        engine._services.store.apply([Relate(ME, relation)], at=clock())
    for row in told["opened"]:
        with engine._services.store.read() as view:
            ids = entities_named(view, scope_id(view, ME), row["names"])
        engine._services.store.apply(
            [RecordUsage(ME, tuple(ids[name] for name in row["names"]), "before")], at=before(row)
        )
    engine.reindex()
    return engine


def memory(row: dict[str, Any]) -> Change:
    if "note" in row:
        return PutText(ME, NewText(Kind.NOTE, row["note"], importance=row["importance"]))
    if "message" in row:
        session = "test" if row["session"] == "today" else row["session"]
        return PutText(ME, NewText(Kind.MESSAGE, row["message"], session=session))
    observations = tuple(
        NewObservation(seen) if isinstance(seen, str) else NewObservation(**seen)
        for seen in row["observations"]
    )
    status = Status.of(row.get("status", "active"))
    return PutEntity(ME, NewEntity(row["name"], row["type"], observations, status))


@pytest.mark.parametrize("profile", PROFILES)
def test_each_profile_ranks_the_small_world_as_its_golden_file_says(world: Engine, profile: str) -> None:
    ranked = "\n".join(ranking(world, query, profile) for query in queries())
    golden = HERE / f"{profile}.txt"
    if os.environ.get("RECOLLECT_BLESS"):
        golden.write_text(ranked, encoding="utf-8")
    assert ranked == golden.read_text(encoding="utf-8"), "if this is meant: make bless, and review the diff"


def queries() -> list[str]:
    return (HERE / "queries.txt").read_text(encoding="utf-8").splitlines()


def ranking(world: Engine, query: str, profile: str) -> str:
    """The query, how it was answered, and one line for each of the first hits."""
    answer = world.search(query, profile=profile, explain=True)
    lines = [f"{query}   [{answer.mode}, {answer.strategy}]"]
    for place, hit in enumerate(answer.hits[:SHOWN], start=1):
        lines.append(f"  {place}  {hit.score:.4f}  {called(hit)}")
    return "\n".join(lines) + "\n"


def called(hit: Hit) -> str:
    text = hit.memory.name or f"{hit.memory.kind}: {hit.memory.text}"
    return text if len(text) <= 60 else f"{text[:57]}..."
