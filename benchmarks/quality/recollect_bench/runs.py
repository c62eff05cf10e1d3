"""Ask every contender every question of every data set, over stores with the same texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from time import process_time
from typing import TYPE_CHECKING, Any

from recollect.domain.errors import InvalidInput
from recollect.domain.records import RecallOptions
from recollect_bench.halves import half_of
from recollect_bench.haystack_store import open_haystack
from recollect_bench.measures import LIMITS, Found, JudgedLists

if TYPE_CHECKING:
    from recollect.domain.results import Answer
    from recollect.ranking.candidates import Profile
    from recollect.stores.port import Progress, Reranker
    from recollect_bench.datasets import Dataset, Haystack, Question
    from recollect_bench.halves import Half
    from recollect_bench.haystack_store import StoredHaystack
    from recollect_bench.models import Models


@dataclass(frozen=True, slots=True)
class Contender:
    """A way to ask, with the name for its figures."""

    name: str
    profile: Profile | None = None
    """Profile (default: the engine's default profile)."""
    extract: bool = False
    """Search the store with extracted notes, rather than the messages alone."""
    rerank: bool | None = None
    """Whether a model re-ranks its first places (default: as in the settings)."""


@dataclass(frozen=True, slots=True)
class JudgedQuestion:
    """A question that has something to find."""

    category: str
    names_time: bool
    """Whether Recollect finds a time phrase in it."""
    half: Half


@dataclass(frozen=True, slots=True)
class Run:
    """The hits of every contender on one data set."""

    dataset: Dataset
    questions: tuple[JudgedQuestion, ...]
    found: Mapping[str, Sequence[JudgedLists]]
    """Lists by contender, in the order of the questions."""
    milliseconds: Mapping[str, float]
    """Median CPU time by contender, without embedding the query."""
    unlimited: Mapping[str, float]
    """Mean number of hits, precision and recall of the default path without a limit."""
    models: tuple[str, ...]
    """Models of the stores."""


@dataclass(frozen=True, slots=True)
class Monitors:
    """Progress callbacks."""

    storing: Progress | None = None
    asking: Progress | None = None


@dataclass(frozen=True, slots=True)
class _Reply:
    """One contender's lists for one question."""

    lists: JudgedLists
    names_time: bool
    milliseconds: float


def run(
    dataset: Dataset,
    contenders: Sequence[Contender],
    models: Models,
    *,
    reranker: Reranker | None = None,
    monitors: Monitors | None = None,
) -> Run:
    """Ask each contender each question at each limit, without recording."""
    monitors = monitors or Monitors()
    total = sum(len(haystack.judged_questions) for haystack in dataset.haystacks)
    if not total:
        raise InvalidInput(f"{dataset.name} has no question that points to a text in it.")
    questions: list[JudgedQuestion] = []
    replies: dict[str, list[_Reply]] = {each.name: [] for each in contenders}
    unlimited: list[tuple[float, float, float]] = []
    used: dict[str, None] = {}
    for haystack in dataset.haystacks:
        known = len(questions)
        for extract, asked in _passes(haystack, contenders):
            with open_haystack(
                haystack, models, extract=extract, reranker=reranker, progress=monitors.storing
            ) as stored:
                for place, question in enumerate(questions_in_order(haystack), known):
                    stored.advance(question)
                    found = _ask_all(stored, question, asked)
                    for name, reply in found.items():
                        replies[name].append(reply)
                    if extract and any(each.profile is None for each in asked):
                        unlimited.append(_ask_without_limit(stored, question))
                    if place == len(questions):
                        names_time = any(reply.names_time for reply in found.values())
                        half = half_of(haystack.name, question.id)
                        questions.append(JudgedQuestion(question.category, names_time, half))
                    if monitors.asking is not None:
                        monitors.asking(place + 1, total)
                used[stored.model] = None
    return Run(
        dataset,
        tuple(questions),
        {name: [reply.lists for reply in of] for name, of in replies.items()},
        {name: median(reply.milliseconds for reply in of) for name, of in replies.items()},
        {
            name: fmean(values)
            for name, values in zip(
                ("hits", "precision", "recall"), zip(*unlimited, strict=True), strict=False
            )
        },
        tuple(used),
    )


def _passes(
    haystack: Haystack, contenders: Sequence[Contender]
) -> Iterator[tuple[bool, Sequence[Contender]]]:
    """Yield each store, with or without extracted notes, and its contenders."""
    if not haystack.judged_questions:
        return
    if not haystack.has_messages:
        yield True, contenders  # no notes can be extracted, so one store serves all
        return
    for extract in (True, False):
        if asked := [each for each in contenders if each.extract is extract]:
            yield extract, asked


def questions_in_order(haystack: Haystack) -> list[Question]:
    """Return the questions with an expected answer, in the order of their times."""
    return sorted(haystack.judged_questions, key=haystack.asked_after)


def _ask_all(
    stored: StoredHaystack, question: Question, contenders: Sequence[Contender]
) -> dict[str, _Reply]:
    stored.embed_query(question.text)
    # Contenders that differ only by their store are equal on a store that serves both.
    known: dict[tuple[object, object], _Reply] = {}
    replies: dict[str, _Reply] = {}
    for contender in contenders:
        how = (contender.profile, contender.rerank)
        if how not in known:
            known[how] = _ask(stored, question, contender)
        replies[contender.name] = known[how]
    return replies


def _ask(stored: StoredHaystack, question: Question, contender: Contender) -> _Reply:
    options: dict[str, Any] = {} if contender.profile is None else {"profile": contender.profile}
    lists: dict[int, Sequence[str]] = {}
    milliseconds: list[float] = []
    names_time = False
    for limit in LIMITS:
        started = process_time()
        answer = stored.engine.recall(
            question.text,
            limit=limit,
            record=False,
            options=RecallOptions(rerank=contender.rerank),
            **options,
        )
        milliseconds.append(1000 * (process_time() - started))
        lists[limit] = _documents(stored, answer)
        names_time = answer.time is not None
    return _Reply(_judge_lists(stored, question, lists), names_time, milliseconds[0])


def _ask_without_limit(stored: StoredHaystack, question: Question) -> tuple[float, float, float]:
    """Return the number of hits without a limit, with their precision and recall."""
    found = _documents(stored, stored.engine.recall(question.text, record=False))
    relevant = stored.canonical(question.relevant)
    right = len(relevant.intersection(found))
    return float(len(found)), right / max(1, len(found)), right / len(relevant)


def _documents(stored: StoredHaystack, answer: Answer) -> tuple[str, ...]:
    return stored.documents(hit.memory for hit in answer.hits)


def _judge_lists(stored: StoredHaystack, question: Question, found: Found) -> JudgedLists:
    relevant = stored.canonical(question.relevant)
    return JudgedLists(found, relevant, stored.canonical(question.must_not) - relevant)
