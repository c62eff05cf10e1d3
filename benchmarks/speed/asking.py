"""What a caller waits for `context`, and what sessions, tags, times and the past add to a recall.

Most memories are turns of sessions, the rest are notes and a few entities. So that filling is quick and
likenesses are real, potion embeds, turned into the width of the model in use; the query goes through the
model in use, whose time counts, and then through potion, whose vector is sought.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sentences import SEED, Sentences
from timing import in_turn, tell

from recollect.changes import (
    Amend,
    Change,
    Forget,
    NewEntity,
    NewText,
    PutEntity,
    PutText,
    PutVectors,
    Supersede,
)
from recollect.embedders.choose import embedder_named
from recollect.engine.engine import Engine
from recollect.engine.repository import Repository
from recollect.engine.services import Services
from recollect.engine.usage import UsageRecorder
from recollect.ports import Embedder, Vector, Vectors
from recollect.ranking.pipeline import ByContext, ByLinks
from recollect.ranking.profiles import PROFILES, RECOLLECT
from recollect.ranking.steps.time import TimeFirst, TimeScore
from recollect.records import Kind, Model, Scope
from recollect.retrieval.contents import memory_page
from recollect.retrieval.passages import pending_passages
from recollect.stores.sqlite.store import SqliteStore
from recollect.vectors import pack_vector

MODEL = "arctic-s"
DIMS = 384
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
FIRST = NOW - timedelta(days=700)
BATCH = 1_000
QUERIES = 60
PAST_QUERIES = 20
BUDGET = 1_000
TURNS = 20
"""In each session."""
SHARE_OF_TURNS = 0.8
SHARE_TAGGED = 0.05
"""Of the notes."""
ENTITIES = 300
CHANGED = (0.01, 0.1)
# Our profile without what it does with the time that a query speaks of.
UNTIMED = replace(
    RECOLLECT,
    name="untimed",
    retrieve=tuple(
        retriever if isinstance(retriever, ByContext | ByLinks) else replace(retriever, then=False)
        for retriever in RECOLLECT.retrieve
    ),
    steps=tuple(step for step in RECOLLECT.steps if not isinstance(step, TimeScore | TimeFirst)),
)


class StandIn:
    """Potion's vectors in another width; a query costs what the model in use costs."""

    def __init__(self) -> None:
        slow, fast = embedder_named(MODEL), embedder_named("potion")
        assert slow is not None
        assert fast is not None
        self._slow, self._fast = slow, fast
        chance = np.random.default_rng(SEED)
        turned = np.linalg.qr(chance.standard_normal((DIMS, fast.model.dims)))[0]
        # Its columns are at right angles, so that likenesses stay what they are.
        self._turn = np.ascontiguousarray(turned.T, dtype=np.float32)
        centre = self.documents(Sentences().notes(1_000)).mean(axis=0)
        self._model = Model("stand-in", DIMS, centre=pack_vector(centre))

    @property
    def model(self) -> Model:
        return self._model

    def documents(self, texts: Sequence[str]) -> Vectors:
        rows: Vectors = self._fast.documents(texts) @ self._turn
        return rows

    def query(self, text: str) -> Vector:
        self._slow.query(text)
        vector: Vector = self._fast.query(text) @ self._turn
        return vector


def asking(size: int, folder: Path) -> Iterator[dict[str, Any]]:
    embedder = StandIn()
    made = Sentences(ENTITIES)
    store = Repository(SqliteStore(folder / "memory.db"))
    tell(f"asking: filling {size:,}")
    session = _fill(store, embedder, made, size)
    parts = Services(
        store,
        lambda: NOW,
        lambda _: embedder,
        embedder.model.name,
        Scope(),
        UsageRecorder(store, "bench"),
        zone=UTC,
    )
    queries = made.queries(QUERIES)
    with Engine(parts) as engine:
        tell(f"asking: {size:,}")
        yield _of(size, "context, beside recall") | in_turn(_contexts(engine, session), queries)
        yield _of(size, "recall, narrowed") | in_turn(_narrowed(engine, session), queries)
        there, changed = _shuffled(store), 0
        for share in CHANGED:
            tell(f"asking: {size:,}, {share:.0%} changed")
            _change(store, embedder, made, there[changed : round(share * size)])
            changed = round(share * size)
            yield _of(size, f"recall as of before {share:.0%} changed") | in_turn(
                _past(engine), queries[:PAST_QUERIES]
            )


def _of(size: int, what: str) -> dict[str, Any]:
    return {"what": what, "size": size, "model": MODEL, "filled_by": "potion, turned"}


def _contexts(engine: Engine, session: str) -> dict[str, Callable[[str], object]]:
    asked = partial(engine.context, budget_tokens=BUDGET)
    return {
        "recall": partial(engine.recall, record=False),
        "recall of 60": partial(engine.recall, record=False, limit=60),
        "context": asked,
        "context, in a session": partial(asked, session=session),
        **{f"context, {name}": partial(asked, profile=name) for name in PROFILES if name != RECOLLECT.name},
    }


def _narrowed(engine: Engine, session: str) -> dict[str, Callable[[str], object]]:
    recall = partial(engine.recall, record=False)
    return {
        "plain": recall,
        "again": recall,
        "in a session": partial(recall, session=session),
        "with a tag": partial(recall, tags=("errand",)),
        "with two tags": partial(recall, tags=("errand", "home")),
        "notes alone": partial(recall, kinds=("note",)),
        "a time in the query": lambda query: recall(_timed(query)),
        "a time in the query, not heeded": lambda query: recall(_timed(query), profile=UNTIMED),
    }


def _timed(query: str) -> str:
    return f"{query[:-1]} last week?"


def _past(engine: Engine) -> dict[str, Callable[[str], object]]:
    recall = partial(engine.recall, record=False)
    return {
        "now": recall,
        "as of before": partial(recall, as_of=NOW),
        "as of the middle": partial(recall, as_of=FIRST + (NOW - FIRST) / 2),
        "context as of before": partial(engine.context, budget_tokens=BUDGET, as_of=NOW),
        "with what was superseded": partial(recall, include_superseded=True),
    }


# Filling


def _fill(store: Repository, embedder: Embedder, made: Sentences, size: int) -> str:
    """Returns the name of a session in the middle."""
    entities = [PutEntity(Scope(), NewEntity(name, "person")) for name in made.people]
    store.apply(entities[: size // 10], at=FIRST)
    texts = made.notes(size)
    turns = round(size * SHARE_OF_TURNS)
    step = (NOW - FIRST) / size
    changes: list[Change] = []
    for place, text in enumerate(texts):
        at = FIRST + place * step
        # Notes among the turns, evenly, so that both are of all times.
        if int((place + 1) * SHARE_OF_TURNS) > int(place * SHARE_OF_TURNS):
            turn = int(place * SHARE_OF_TURNS)
            new = NewText(
                Kind.MESSAGE,
                text,
                session=f"session {turn // TURNS}",
                speaker=made.people[(turn // TURNS + turn % 2) % ENTITIES],
                created_at=at,
            )
        else:
            tags = ("errand", "home") if int(place * SHARE_TAGGED) > int((place - 5) * SHARE_TAGGED) else ()
            new = NewText(Kind.NOTE, text, created_at=at, tags=tags[: 1 + place % 2])
        changes.append(PutText(Scope(), new))
    for start in range(0, size, BATCH):
        store.apply(changes[start : start + BATCH], at=NOW)
        embed(store, embedder)
    return f"session {turns // TURNS // 2}"


def embed(store: Repository, embedder: Embedder) -> None:
    with store.read() as view:
        waiting = pending_passages(view, embedder.model, 0, 10 * BATCH)
    if waiting:
        rows = embedder.documents([passage.text for passage in waiting])
        vectors = tuple((passage.id, pack_vector(row)) for passage, row in zip(waiting, rows, strict=True))
        store.apply([PutVectors(embedder.model, vectors)], at=NOW)


def _shuffled(store: Repository) -> list[int]:
    """The texts that are there, in an order by chance."""
    with store.read() as view:
        ids = [memory.id for memory in memory_page(view, None, 0, 10**9) if memory.kind is not Kind.ENTITY]
    shuffled: list[int] = np.random.default_rng(SEED).permutation(ids).tolist()
    return shuffled


def _change(store: Repository, embedder: Embedder, made: Sentences, picked: Sequence[int]) -> None:
    """A third is rewritten, a third superseded, a third forgotten."""
    later = NOW + timedelta(minutes=1)
    texts = made.notes(len(picked))
    for start in range(0, len(picked), BATCH):
        changes: list[Change] = []
        for place in range(start, min(start + BATCH, len(picked))):
            id_, text = picked[place], texts[place]
            changes.append(
                (
                    Amend(Scope(), id_, text=text),
                    Supersede(Scope(), (id_,), NewText(Kind.NOTE, text)),
                    Forget(Scope(), (id_,)),
                )[place % 3]
            )
        store.apply(changes, at=later)
        embed(store, embedder)
