"""Asks every question of every data set by every profile, over the same store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING

from recollect.errors import InvalidInput
from recollect_bench.datasets import Dataset, Question
from recollect_bench.haystack_store import open_haystack
from recollect_bench.measures import LIMITS, Found

if TYPE_CHECKING:
    from recollect.ports import Embedder, Progress, Reranker
    from recollect.ranking.pipeline import Profile
    from recollect_bench.haystack_store import StoredHaystack


@dataclass(frozen=True, slots=True)
class Contender:
    """A profile, under the name that its figures are reported by."""

    name: str
    profile: Profile
    rerank: bool = False
    """A model reads its first places again."""


@dataclass(frozen=True, slots=True)
class JudgedQuestion:
    """A question that has something to find."""

    category: str
    relevant: frozenset[str]
    names_time: bool
    """It speaks of a time, as far as we can tell."""


@dataclass(frozen=True, slots=True)
class Run:
    """What the contenders found in one data set."""

    dataset: Dataset
    questions: tuple[JudgedQuestion, ...]
    found: Mapping[str, Sequence[Found]]
    """By name, in the order of the questions."""
    milliseconds: Mapping[str, float]
    """By name: half of the answers took less, the query's embedding aside."""


@dataclass(frozen=True, slots=True)
class Monitors:
    """Whom to tell how far the work has come."""

    storing: Progress | None = None
    asking: Progress | None = None


def run(
    dataset: Dataset,
    contenders: Sequence[Contender],
    embedder: Embedder,
    *,
    reranker: Reranker | None = None,
    extract: bool = False,
    monitors: Monitors | None = None,
) -> Run:
    """Ask each question at each limit by each contender, as a caller would, leaving no trace."""
    monitors = monitors or Monitors()
    total = sum(len(haystack.judged_questions) for haystack in dataset.haystacks)
    if not total:
        raise InvalidInput(f"{dataset.name} has no question that points to a text in it.")
    questions: list[JudgedQuestion] = []
    found: dict[str, list[Found]] = {each.name: [] for each in contenders}
    times: dict[str, list[float]] = {each.name: [] for each in contenders}
    for haystack in dataset.haystacks:
        judged = haystack.judged_questions
        if not judged:
            continue
        with open_haystack(
            haystack, embedder, extract=extract, reranker=reranker, progress=monitors.storing
        ) as stored:
            for question in judged:
                embedder.query(question.text)  # kept, so that the first contender's time is without it
                names_time = False
                for contender in contenders:
                    lists, names_time, taken = _ask(stored, question, contender)
                    found[contender.name].append(lists)
                    times[contender.name].append(taken)
                questions.append(JudgedQuestion(question.category, question.relevant, names_time))
                if monitors.asking is not None:
                    monitors.asking(len(questions), total)
    return Run(dataset, tuple(questions), found, {name: median(taken) for name, taken in times.items()})


def _ask(stored: StoredHaystack, question: Question, contender: Contender) -> tuple[Found, bool, float]:
    """The documents at each limit, whether the question speaks of a time, and the milliseconds for ten."""
    lists: dict[int, Sequence[str]] = {}
    milliseconds: list[float] = []
    names_time = False
    for limit in LIMITS:
        started = perf_counter()
        answer = stored.engine.recall(
            question.text, limit=limit, profile=contender.profile, record=False, rerank=contender.rerank
        )
        milliseconds.append(1000 * (perf_counter() - started))
        # A note counts as the message that it was drawn from; whichever comes first.
        lists[limit] = tuple(dict.fromkeys(stored.document_of[hit.memory.id] for hit in answer.hits))
        names_time = answer.time is not None
    return lists, names_time, milliseconds[0]
