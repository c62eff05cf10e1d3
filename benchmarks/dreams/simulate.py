"""Run a simulated year on one store: write, ask, and dream at night."""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path

import numpy as np
from life import Life, Need, Telling

from recollect.admin import Internals
from recollect.domain.records import Kind, Model, Scope
from recollect.dreams.knobs import Knobs
from recollect.engine import Engine
from recollect.search.recording import UsageRecorder
from recollect.services import Services
from recollect.stores.port import Embedder, Vector, Vectors
from recollect.stores.sqlite.store import SqliteStore
from recollect.write.repository import Repository

FIRST_DAY = datetime(2026, 1, 1, tzinfo=UTC)
TOP = 10
MONTH_DAYS = 30
_BATCH = 50  # larger batches are not searched for near-duplicates


class CachedEmbedder:
    """An embedder that embeds each text once, and keeps the vectors in a file if a path is given."""

    def __init__(self, embedder: Embedder, path: Path | None = None) -> None:
        self._embedder = embedder
        self._path = path
        self._known: dict[str, Vector] = {}
        if path is not None and path.exists():
            with np.load(path) as kept:
                self._known = dict(zip(kept["keys"].tolist(), kept["rows"], strict=True))

    @property
    def model(self) -> Model:
        return self._embedder.model

    def documents(self, texts: Sequence[str]) -> Vectors:
        keys = [self._key("document", text) for text in texts]
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._known}
        if new:
            self._known |= zip(new, self._embedder.documents(list(new.values())), strict=True)
        rows: Vectors = np.array([self._known[key] for key in keys], np.float32)
        return rows.reshape(len(keys), self.model.dims)

    def query(self, text: str) -> Vector:
        key = self._key("query", text)
        if key not in self._known:
            self._known[key] = self._embedder.query(text)
        return self._known[key]

    def save(self) -> None:
        if self._path is not None:
            np.savez(self._path, keys=np.array(list(self._known)), rows=np.stack(list(self._known.values())))

    def _key(self, side: str, text: str) -> str:
        return hashlib.blake2b(f"{self.model.name}\0{side}\0{text}".encode(), digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True)
class Nights:
    """Settings for dreams: one every `every` nights, or none if it is 0."""

    every: int = 1
    gate: bool = True
    without: tuple[str, ...] = ("report",)
    """Phases to skip; the report changes nothing."""
    knobs: Knobs | None = None


@dataclass(slots=True)
class YearResult:
    """The results of one run."""

    ranks: dict[str, list[int]] = field(default_factory=dict)
    """By profile, the rank of the first answer to each need; 0 if it is not among the first ten."""
    months: list[dict[str, int]] = field(default_factory=list)
    done: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    dream_seconds: list[float] = field(default_factory=list)
    forgotten: set[int] = field(default_factory=set)
    """Memories that dreams pruned, merged or retired."""
    gone: Counter[str] = field(default_factory=Counter)
    """Number of needs that no current memory could answer, by sort."""


class Clock:
    def __init__(self) -> None:
        self.now = FIRST_DAY

    def __call__(self) -> datetime:
        return self.now


def live(
    made: Life,
    embedder: Embedder,
    folder: Path,
    profiles: Sequence[str],
    nights: Nights = Nights(),  # noqa: B008
) -> YearResult:
    """Run the year and ask each question with every profile. Only the last profile's hits are recorded."""
    clock = Clock()
    store = Repository(SqliteStore(folder / "memory.db"))
    signals = UsageRecorder(store, "day 0")
    parts = Services(
        store,
        clock,
        lambda _: embedder,
        embedder.model.name,
        Scope(),
        signals,
        zone=UTC,
        knobs=nights.knobs or Knobs(),
    )
    lived = YearResult({profile: [] for profile in profiles})
    told: dict[int, set[int]] = {}
    """Ids of the memories that state each fact."""
    with Engine(parts) as engine:
        for day in range(made.days):
            clock.now = FIRST_DAY + timedelta(days=day, hours=9)
            signals.settle(None)
            signals.session = f"day {day}"
            _tell(engine, day, made.tellings[day], told)
            clock.now += timedelta(hours=2)
            for need in made.needs[day]:
                clock.now += timedelta(minutes=7)
                _ask(engine, need, told[need.fact], lived, profiles)
            clock.now = FIRST_DAY + timedelta(days=day + 1, hours=3)
            if nights.every and day % nights.every == nights.every - 1:
                _dream(engine, nights, told, lived)
            if day == made.days - 1 or month_of(day, made.days) < month_of(day + 1, made.days):
                lived.months.append(_size(engine, lived))
    return lived


def month_of(day: int, days: int) -> int:
    """Return the month of a day, from 0. A month has 30 days; the last one also has the remaining days."""
    return min(day // MONTH_DAYS, max(days // MONTH_DAYS, 1) - 1)


def _tell(engine: Engine, day: int, tellings: Iterable[Telling], told: dict[int, set[int]]) -> None:
    def add_id(telling: Telling, id_: int) -> None:
        told.setdefault(telling.fact, set()).add(id_)

    for way, group in groupby(sorted(tellings, key=_way), key=_way):
        same = list(group)
        match way:
            case "note":
                for start in range(0, len(same), _BATCH):
                    some = same[start : start + _BATCH]
                    for telling, note in zip(
                        some, engine.remember_many([one.text for one in some]).notes, strict=True
                    ):
                        add_id(telling, note.id)
            case "message":
                turns = [{"speaker": "me", "content": one.text} for one in same]
                for telling, id_ in zip(
                    same, engine.add_messages(f"day {day}", turns, extract=False).ids, strict=True
                ):
                    add_id(telling, id_)
            case "observation":
                for telling in same:
                    entity = {"name": telling.about, "entityType": "known", "observations": [telling.text]}
                    add_id(telling, engine.create_entities([entity]).entities[0].id)
            case _:
                for telling in same:
                    assert telling.corrects is not None
                    new = engine.remember(telling.text)
                    add_id(telling, new.id)
                    _supersede(engine, telling, new.id, told)


def _way(telling: Telling) -> str:
    return "correction" if telling.corrects is not None else telling.how


def _supersede(engine: Engine, telling: Telling, new: int, told: Mapping[int, set[int]]) -> None:
    assert telling.corrects is not None
    for old in sorted(told[telling.corrects]):
        memory = engine.get(old)
        if memory is not None and memory.deleted_at is None and memory.superseded_at is None and old != new:
            engine.supersede(old, new)


def _ask(engine: Engine, need: Need, answers: set[int], lived: YearResult, profiles: Sequence[str]) -> None:
    for profile in profiles:
        hits = engine.recall(need.query, limit=TOP, profile=profile, record=profile == profiles[-1]).hits
        shown = [hit.memory.id for hit in hits]
        place = next((place for place, id_ in enumerate(shown, 1) if id_ in answers), 0)
        lived.ranks[profile].append(place)
    if not lived.ranks[profiles[-1]][-1]:
        memories = engine.get_many(sorted(answers)).values()
        if all(memory.deleted_at is not None or memory.superseded_at is not None for memory in memories):
            lived.gone[need.sort] += 1


def _dream(engine: Engine, nights: Nights, told: Mapping[int, set[int]], lived: YearResult) -> None:
    start = time.perf_counter()
    report = engine.dream(gate=nights.gate, drop_failing=nights.gate, without=nights.without).report
    lived.dream_seconds.append(time.perf_counter() - start)
    facts: dict[int, set[int]] = {}
    for fact, ids in told.items():
        for id_ in ids:
            facts.setdefault(id_, set()).add(fact)
    lived.forgotten |= {*report.pruned, *(gone for gone, _ in (*report.merged, *report.corrected))}
    lived.done.update(
        dreams=1,
        pruned_the_last=sum(
            any(told[fact] <= lived.forgotten for fact in facts[gone]) for gone in report.pruned
        ),
        merged=len(report.merged),
        merged_wrongly=sum(not facts[gone] <= facts[into] for gone, into in report.merged),
        merged_observations=len(report.merged_observations),
        pruned=len(report.pruned),
        kept_as_unique=report.unique,
        archived=report.archived,
        revived=report.revived,
        corrected=len(report.corrected),
        promoted=len(report.deeper),
        linked=report.links,
        gate_closed=bool(report.skipped),
    )
    lived.skipped.update(report.skipped)


def _size(engine: Engine, lived: YearResult) -> dict[str, int]:
    counts = Internals(engine).count_memories()
    return {
        "in_force": sum(counts.values()),
        "entities": counts.get(Kind.ENTITY, 0),
        **{
            what: lived.done[what]
            for what in ("merged", "pruned", "archived", "corrected", "linked", "gate_closed")
        },
    }
