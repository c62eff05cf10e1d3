"""Small worlds to rank: one row for each candidate, turned into the columns that the steps read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import combinations
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import strategies as st

from recollect.domain.records import Kind, Query, Status
from recollect.ranking.candidates import NEVER, NOBODY, Candidates, Cooccurrences, Facts, Source
from recollect.ranking.factors import microseconds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.ranking.candidates import Ints, Reason, Step
    from recollect.ranking.factors import Factor

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOURS, DAYS, SECONDS = timedelta(hours=1), timedelta(days=1), timedelta(seconds=1)
TODAY = timedelta()
STATUSES = tuple(Status)


@dataclass(frozen=True, slots=True)
class Row:
    """One candidate. Times are how long ago; below zero is ahead, and None is unknown."""

    id: int
    cosine: float | None = None
    """Missing if vector search did not find it."""
    bm25: float | None = None
    """Missing if word search did not find it."""
    created: timedelta | None = TODAY
    updated: timedelta | None = TODAY
    happened: timedelta | None = None
    seen: timedelta | None = None
    """The last access."""
    accesses: int = 0
    days: int = 0
    degree: int = 0
    status: Status = Status.ACTIVE
    importance: float = 0.5
    strength: float = 1.0
    depth: int = 2
    spread: int = 1
    stability: float = 1.0
    metadata: float = 0.0
    content: int | None = None
    """Missing if no other row has the same content."""
    echo: bool = False
    origin: int | None = None
    """Missing if it was not extracted from a message."""
    session: int = 0
    position: int = 0
    named: bool = False
    asks: bool = False
    kind: Kind = Kind.NOTE
    role: int = NOBODY
    informativeness: float = 1.0
    length: int = 0
    matched: float | None = None
    """The share of the query's words that it contains, if known."""
    tokens: float | None = None
    """How well its tokens match; None: it has none."""
    nearby: float | None = None
    conversation: float | None = None
    meaning_rank: int | None = None
    """Default: by cosine."""
    words_rank: int | None = None
    """Default: by BM25."""


Pairs = Mapping[tuple[int, int], tuple[int, timedelta | None]]
"""By ids: how often together, and how long ago the last time."""


_READ: dict[str, Callable[[Row], Any]] = {
    "ids": lambda row: row.id,
    "created_at": lambda row: _time(row.created),
    "updated_at": lambda row: _time(row.updated),
    "happened_at": lambda row: _time(row.happened),
    "last_access": lambda row: _time(row.seen),
    "access_count": lambda row: row.accesses,
    "access_days": lambda row: row.days,
    "status": lambda row: STATUSES.index(row.status),
    "metadata_share": lambda row: row.metadata,
    "content": lambda row: -row.id if row.content is None else row.content,
    "origin": lambda row: row.id if row.origin is None else row.origin,
    "kind": lambda row: tuple(Kind).index(row.kind),
}
"""Columns that are not called as the fields of a row."""
_TYPES = {"Ints": np.int64, "Floats": np.float64, "Flags": np.bool_}


def gathered(rows: Sequence[Row], when: Moment | None = None) -> Candidates:
    """The rows as candidates: by ascending id, with the ranks of both searches."""
    rows = sorted(rows, key=lambda row: row.id)
    columns: dict[str, Any] = {
        name: np.array([_READ.get(name, attrgetter(name))(row) for row in rows], _TYPES[kind])
        for name, kind in Facts.__annotations__.items()
    }
    names = {"meaning": "cosine", "words": "bm25", "held": "matched"}
    sources = {
        name: _source(
            {row.id: getattr(row, names.get(name, name)) for row in rows},
            {row.id: rank for row in rows if (rank := getattr(row, f"{name}_rank", None))},
        )
        for name in ("meaning", "words", "nearby", "conversation", "held", "tokens")
    }
    together = Cooccurrences.none() if when is None else when.cooccurrences
    return Candidates(Facts(**columns), sources, np.zeros(len(rows)), cooccurrences=together)


@dataclass(frozen=True, slots=True)
class Moment(Query):
    """A query, and which of the rows were seen together."""

    cooccurrences: Cooccurrences = field(default_factory=Cooccurrences.none)


def moment(
    rows: Sequence[Row] = (),
    pairs: Pairs | None = None,
    *,
    query: str = "one two three four",
    limit: int = 10,
    limit_given: bool = False,
    span: tuple[timedelta, timedelta] | None = None,
) -> Moment:
    """The moment of a query. `span` is two ages, the earlier time first."""
    place = {id_: at for at, id_ in enumerate(sorted(row.id for row in rows))}
    listed = sorted((pairs or {}).items())
    return Moment(
        now=microseconds(NOW),
        text=query,
        limit=limit,
        limit_given=limit_given,
        cooccurrences=Cooccurrences(
            first=_ints([place[first] for (first, _), _ in listed]),
            second=_ints([place[second] for (_, second), _ in listed]),
            count=_ints([count for _, (count, _) in listed]),
            last=_ints([_time(last) for _, (_, last) in listed]),
        ),
        span=None if span is None else (microseconds(NOW - span[0]), microseconds(NOW - span[1])),
    )


def stepped(steps: Sequence[Step], rows: Sequence[Row], when: Moment | None = None) -> Candidates:
    """The rows after these steps."""
    when = when or moment(rows)
    candidates = gathered(rows, when)
    for step in steps:
        candidates = step(candidates, when)
    return candidates


def scores(steps: Sequence[Step], rows: Sequence[Row], when: Moment | None = None) -> dict[int, float]:
    """The score of each id, in the order that the steps leave."""
    candidates = stepped(steps, rows, when)
    return dict(zip(candidates.ids.tolist(), candidates.score.tolist(), strict=True))


def column(factor: Factor, rows: Sequence[Row], when: Moment | None = None) -> list[float]:
    """A factor's numbers, by ascending id."""
    numbers: list[float] = factor(gathered(rows, when), when or moment(rows)).tolist()
    return numbers


def kept_scores(candidates: Candidates, name: str) -> dict[int, float]:
    """A score that was kept under a name, of each id."""
    return dict(zip(candidates.ids.tolist(), candidates.named_values[name].tolist(), strict=True))


def worked_out(told: Sequence[Reason], skipped: int | None = None) -> float:
    """The score that reasons add up to, in plain arithmetic; without one of them, where it is named."""
    total = 0.0
    for place, reason in enumerate(told):
        if place == skipped:
            continue
        match reason.effect:
            case "plus":
                total += reason.value
            case "times":
                total *= reason.value
            case "set":
                total = reason.value
            case "rescale":
                low, high = reason.numbers
                total = 1.0 if low == high else (total - low) / (high - low)
            case "mix":
                total = reason.numbers[0] * reason.value + (1 - reason.numbers[0]) * total
    return total


def ranks(found: Mapping[int, float | None]) -> dict[int, int]:
    """The place of each id that has a score: best first, ties by id."""
    known = {id_: score for id_, score in found.items() if score is not None}
    ordered = sorted(known, key=lambda id_: (-known[id_], id_))
    return {id_: place for place, id_ in enumerate(ordered, start=1)}


def _source(found: Mapping[int, float | None], given: Mapping[int, int]) -> Source:
    placed = given or ranks(found)
    return Source(
        _ints([placed.get(id_, 0) for id_ in found]),
        np.array([np.nan if score is None else score for score in found.values()], np.float64),
    )


def _ints(numbers: Sequence[int]) -> Ints:
    return np.array(numbers, np.int64)


def _time(ago: timedelta | None) -> int:
    return NEVER if ago is None else microseconds(NOW - ago)


# Half of the ages are round, so that ties happen.
_AGES = st.one_of(
    st.none(),
    st.sampled_from([TODAY, DAYS, 30 * DAYS, -30 * DAYS]),
    st.timedeltas(min_value=-1_000 * DAYS, max_value=4_000 * DAYS),
)
_COSINES = st.one_of(st.none(), st.sampled_from([0.0, 0.3, 0.5]), st.floats(-1, 1))
_BM25 = st.one_of(st.none(), st.sampled_from([0.0, 2.0]), st.floats(0, 50))
_SHARES = st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0, 1))


@st.composite
def row_lists(draw: st.DrawFn, min_size: int = 0, max_size: int = 6) -> list[Row]:
    """Rows with anything that a store may hold, found by either search, by both or by none."""
    ids = draw(st.lists(st.integers(1, 60), unique=True, min_size=min_size, max_size=max_size))
    # Some rows are messages of two conversations, each at its own place; the others are of none.
    places = draw(st.permutations([(talk, place) for talk in (1, 2) for place in (1, 2, 3)] + 6 * [(0, 0)]))
    return [
        Row(
            id=id_,
            cosine=draw(_COSINES),
            bm25=draw(_BM25),
            created=draw(_AGES),
            updated=draw(_AGES),
            happened=draw(_AGES),
            seen=draw(_AGES),
            accesses=draw(st.integers(0, 200)),
            days=draw(st.integers(0, 40)),
            degree=draw(st.integers(0, 40)),
            status=draw(st.sampled_from(STATUSES)),
            importance=draw(_SHARES),
            strength=draw(_SHARES),
            depth=draw(st.integers(1, 3)),
            spread=draw(st.integers(1, 50)),
            stability=draw(st.one_of(st.just(1.0), st.floats(1e-3, 1e4))),
            metadata=draw(_SHARES),
            content=draw(st.one_of(st.none(), st.integers(1, 3))),
            echo=draw(st.booleans()),
            origin=draw(st.one_of(st.none(), st.sampled_from(sorted(ids)))),
            session=session,
            position=position,
            named=draw(st.booleans()),
            asks=draw(st.booleans()),
            nearby=draw(_BM25) if session else None,
            conversation=draw(_BM25) if session else None,
        )
        for id_, (session, position) in zip(ids, places, strict=False)
    ]


@st.composite
def pair_maps(draw: st.DrawFn, rows: Sequence[Row]) -> Pairs:
    """Some of the pairs of these rows, in canonical order."""
    every = list(combinations(sorted(row.id for row in rows), 2))
    if not every:
        return {}
    chosen = draw(st.lists(st.sampled_from(every), unique=True, max_size=6))
    return {pair: (draw(st.integers(1, 100)), draw(_AGES)) for pair in chosen}


@st.composite
def worlds(draw: st.DrawFn, min_size: int = 0) -> tuple[list[Row], Moment]:
    """Rows and a moment to rank them in."""
    rows = draw(row_lists(min_size=min_size))
    pairs = draw(pair_maps(rows))
    query = draw(
        st.sampled_from(["", "qué es SQLite", "one two three four", "tell me everything about kettles"])
    )
    span = draw(st.sampled_from([None, (8 * DAYS, DAYS), (TODAY, TODAY)]))
    limit = draw(st.sampled_from([0, 1, 3, 10, 1_000]))
    return rows, moment(rows, pairs, query=query, limit=limit, limit_given=draw(st.booleans()), span=span)
