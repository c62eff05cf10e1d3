"""Every profile over the same store: what each finds for each question, and how long an answer takes."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING

from recollect.bench.haystacks import Dataset, Haystack, Question
from recollect.bench.measures import LIMITS, SHALLOW, Found
from recollect.bench.stores import open_haystack, unaided
from recollect.engine.recall import Question as Recall
from recollect.engine.recall import asking
from recollect.engine.rerank import ranked_for
from recollect.errors import InvalidInput
from recollect.rank.pipeline import Profile

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
    """By profile, in the order of the questions."""
    milliseconds: Mapping[str, float]
    """By profile: half of the answers took less, the query's embedding aside."""


@dataclass(frozen=True, slots=True)
class Watching:
    """Whom to tell how far the work has come."""

    storing: Progress | None = None
    asking: Progress | None = None


def ask(
    dataset: Dataset,
    profiles: Sequence[Profile],
    embedder: Embedder,
    *,
    extract: bool = False,
    watching: Watching | None = None,
) -> Answers:
    """Ask each question at each limit by each profile, as a caller would, leaving no trace."""
    watching = watching or Watching()
    total = sum(question.judged for haystack in dataset.haystacks for question in haystack.questions)
    if not total:
        raise InvalidInput(f"{dataset.name} has no question that points to a text in it.")
    asked: list[Asked] = []
    found: dict[str, list[Found]] = {profile.name: [] for profile in profiles}
    times: dict[str, list[float]] = {profile.name: [] for profile in profiles}
    timed_each = -(-_TIMED // len(dataset.haystacks))
    for haystack in dataset.haystacks:
        judged = [question for question in haystack.questions if question.judged]
        if not judged:
            continue
        with _opened(haystack, embedder, watching, extract=extract) as (engine, document_of):
            for question in judged:
                timely = False
                for profile in profiles:
                    lists, timely = _found(engine, question, profile, document_of)
                    found[profile.name].append(lists)
                asked.append(Asked(question.category, question.relevant, timely))
                if watching.asking is not None:
                    watching.asking(len(asked), total)
            left = _TIMED - max(map(len, times.values()))
            sample = judged[:: max(1, len(judged) // timed_each)][: min(timed_each, left)]
            for name, taken in _timed(unaided(engine), sample, profiles).items():
                times[name] += taken
    middle = {name: median(taken) for name, taken in times.items()}
    return Answers(dataset, tuple(asked), found, middle)


@contextmanager
def _opened(
    haystack: Haystack, embedder: Embedder, watching: Watching, *, extract: bool
) -> Iterator[tuple[Engine, Mapping[int, str]]]:
    with (
        tempfile.TemporaryDirectory(prefix="recollect-bench-") as folder,
        open_haystack(haystack, embedder, Path(folder), extract=extract, progress=watching.storing) as opened,
    ):
        yield opened


def _found(
    engine: Engine, question: Question, profile: Profile, document_of: Mapping[int, str]
) -> tuple[Found, bool]:
    """The documents at each limit, and whether the question speaks of a time."""
    lists: dict[int, Sequence[str]] = {}
    timely = False
    for limit in LIMITS:
        ids, timely = _ranked(engine.parts, Recall(question.text, profile, limit, record=False, tuned=False))
        # A note counts as the message that it was drawn from; whichever comes first.
        lists[limit] = tuple(dict.fromkeys(document_of[id_] for id_ in ids))
    return lists, timely


def _ranked(parts: Parts, question: Recall) -> tuple[list[int], bool]:
    """The part of `recall` that makes the list; what it adds for a reader is not measured."""
    with asking(parts, question, parts.clock()) as (view, request, _):
        _, ranked, _ = ranked_for(parts, view, question, request)
        return ranked.ids.tolist(), request.time is not None


def _timed(
    engine: Engine, questions: Sequence[Question], profiles: Sequence[Profile]
) -> dict[str, list[float]]:
    """Milliseconds of each answer of ten, nothing being known from before but the query's vector."""
    taken: dict[str, list[float]] = {profile.name: [] for profile in profiles}
    for question in questions:
        for profile in profiles:
            started = perf_counter()
            engine.recall(question.text, limit=SHALLOW, profile=profile, record=False)
            taken[profile.name].append(1000 * (perf_counter() - started))
    return taken
