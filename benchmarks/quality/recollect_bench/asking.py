"""Every profile over the same store: what each finds for each question, and how long an answer takes."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING

from recollect.engine.recall import Question as Recall
from recollect.engine.recall import asking
from recollect.engine.rerank import ranked_for
from recollect.errors import InvalidInput
from recollect.rank.pipeline import Profile
from recollect_bench.cached_reranker import ReadOnce
from recollect_bench.datasets import Dataset, Haystack, Question
from recollect_bench.haystack_store import open_haystack, unaided
from recollect_bench.measures import LIMITS, SHALLOW, Found
from recollect_bench.profiles import Reranked

if TYPE_CHECKING:
    from recollect.engine.engine import Engine
    from recollect.engine.parts import Parts
    from recollect.ports import Embedder, Progress

# Questions whose answers are timed, of the whole data set.
_TIMED = 40


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that has something to find."""

    category: str
    relevant: frozenset[str]
    timely: bool
    """It speaks of a time, as far as we can tell."""


@dataclass(frozen=True, slots=True)
class Answers:
    """What the profiles found in one data set."""

    dataset: Dataset
    questions: tuple[Asked, ...]
    found: Mapping[str, Sequence[Found]]
    """By name, in the order of the questions."""
    milliseconds: Mapping[str, float]
    """By name: half of the answers took less, the query's embedding aside."""


@dataclass(frozen=True, slots=True)
class Watching:
    """Whom to tell how far the work has come."""

    storing: Progress | None = None
    asking: Progress | None = None


@dataclass(frozen=True, slots=True)
class _Way:
    """To make a list."""

    name: str
    profile: Profile
    rerank: bool = False


def ask(
    dataset: Dataset,
    profiles: Sequence[Profile],
    embedder: Embedder,
    *,
    reranked: Reranked | None = None,
    extract: bool = False,
    watching: Watching | None = None,
) -> Answers:
    """Ask each question at each limit by each profile, as a caller would, leaving no trace.

    The re-ranked one is asked beside them, under its own name.
    """
    watching = watching or Watching()
    total = sum(question.judged for haystack in dataset.haystacks for question in haystack.questions)
    if not total:
        raise InvalidInput(f"{dataset.name} has no question that points to a text in it.")
    ways = [_Way(profile.name, profile) for profile in profiles]
    if reranked is not None:
        ways.append(_Way(reranked.name, reranked.profile, rerank=True))
    asked: list[Asked] = []
    found: dict[str, list[Found]] = {way.name: [] for way in ways}
    times: dict[str, list[float]] = {way.name: [] for way in ways}
    timed_each = -(-_TIMED // len(dataset.haystacks))
    for haystack in dataset.haystacks:
        judged = [question for question in haystack.questions if question.judged]
        if not judged:
            continue
        with _opened(haystack, embedder, reranked, watching, extract=extract) as (engine, document_of):
            parts = _reading_once(engine.parts, reranked)
            for question in judged:
                timely = False
                for way in ways:
                    lists, timely = _found(parts, question, way, document_of)
                    found[way.name].append(lists)
                asked.append(Asked(question.category, question.relevant, timely))
                if watching.asking is not None:
                    watching.asking(len(asked), total)
            left = _TIMED - max(map(len, times.values()))
            sample = judged[:: max(1, len(judged) // timed_each)][: min(timed_each, left)]
            for name, taken in _timed(unaided(engine), sample, ways).items():
                times[name] += taken
    middle = {name: median(taken) for name, taken in times.items()}
    return Answers(dataset, tuple(asked), found, middle)


@contextmanager
def _opened(
    haystack: Haystack, embedder: Embedder, reranked: Reranked | None, watching: Watching, *, extract: bool
) -> Iterator[tuple[Engine, Mapping[int, str]]]:
    with (
        tempfile.TemporaryDirectory(prefix="recollect-bench-") as folder,
        open_haystack(
            haystack,
            embedder,
            Path(folder),
            extract=extract,
            reranker=None if reranked is None else reranked.reranker,
            progress=watching.storing,
        ) as opened,
    ):
        yield opened


def _reading_once(parts: Parts, reranked: Reranked | None) -> Parts:
    """For the lists, which differ little from limit to limit; an answer that is timed is read anew."""
    if reranked is None:
        return parts
    reader = ReadOnce(reranked.reranker)
    return replace(parts, reranker=lambda: reader)


def _found(parts: Parts, question: Question, way: _Way, document_of: Mapping[int, str]) -> tuple[Found, bool]:
    """The documents at each limit, and whether the question speaks of a time."""
    lists: dict[int, Sequence[str]] = {}
    timely = False
    for limit in LIMITS:
        asked = Recall(question.text, way.profile, limit, record=False, rerank=way.rerank, tuned=False)
        ids, timely = _ranked(parts, asked)
        # A note counts as the message that it was drawn from; whichever comes first.
        lists[limit] = tuple(dict.fromkeys(document_of[id_] for id_ in ids))
    return lists, timely


def _ranked(parts: Parts, question: Recall) -> tuple[list[int], bool]:
    """The part of `recall` that makes the list; what it adds for a reader is not measured."""
    with asking(parts, question, parts.clock()) as (view, request, _):
        _, ranked, _ = ranked_for(parts, view, question, request)
        return ranked.ids.tolist(), request.time is not None


def _timed(engine: Engine, questions: Sequence[Question], ways: Sequence[_Way]) -> dict[str, list[float]]:
    """Milliseconds of each answer of ten, nothing being known from before but the query's vector."""
    taken: dict[str, list[float]] = {way.name: [] for way in ways}
    for question in questions:
        for way in ways:
            started = perf_counter()
            engine.recall(question.text, limit=SHALLOW, profile=way.profile, record=False, rerank=way.rerank)
            taken[way.name].append(1000 * (perf_counter() - started))
    return taken
