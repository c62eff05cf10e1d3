"""The self-test: how well a store is found by questions made of itself. Nothing is written or sent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from recollect.engine.limits import MOST_HITS, SELF_TEST_HITS, SELF_TEST_SAMPLE
from recollect.engine.self_test.findings import advice_on, missed_memories
from recollect.engine.self_test.results import FoundShare, Latency, ProfileComparison, ProfileResult, SelfTest
from recollect.engine.self_test.sample import sample, sampled_questions, survey_of
from recollect.engine.self_test.trial import Timer, Trial
from recollect.engine.services import Services
from recollect.engine.shadow import tuned_in
from recollect.errors import InvalidInput
from recollect.lazy_dataclass import dataclass
from recollect.ports import Progress
from recollect.ranking.profiles import DEFAULT
from recollect.retrieval.passages import model_in_use
from recollect.statistics import sign_test, wilson_interval
from recollect.text.self_questions import QuestionKind, SelfQuestion

if TYPE_CHECKING:
    from recollect.ranking.pipeline import Profile


@dataclass(frozen=True, slots=True)
class SelfTestOptions:
    """What a caller wants to know."""

    sample: int = SELF_TEST_SAMPLE
    """Memories to ask for; 0: all."""
    limit: int = SELF_TEST_HITS
    """Hits that count."""
    seed: int = 0
    languages: tuple[str, ...] | None = None
    """Those that the model knows; None: nobody said."""
    at: datetime | None = None
    """The moment to ask at; None: the end of this day, so that all day long the answer is the same."""


def self_test(
    services: Services,
    profiles: Mapping[str, Profile],
    options: SelfTestOptions,
    progress: Progress | None = None,
    timer: Timer = perf_counter,
) -> SelfTest:
    _check(options)
    if not profiles:
        raise InvalidInput("Name at least one profile.")
    now = options.at or _end_of_day(services)
    with services.read() as view:
        model = model_in_use(view)
        # As people get them: with the numbers that each was tuned to.
        profiles = {name: tuned_in(services, view, profile)[1] for name, profile in profiles.items()}
        survey = survey_of(services, view)
        sampled = sample(survey, options.seed, options.sample)
        asked = sampled_questions(view, survey, sampled, options.seed, now)
    default = DEFAULT if DEFAULT in profiles else next(iter(profiles))
    trial = Trial(services, survey, now, options.limit, default, timer)
    _ask_all(trial, asked, profiles, progress)
    results = tuple(_result(name, asked, trial.ranks[name], options.limit) for name in profiles if asked)
    compared = _compared(asked, trial.ranks, default, options.limit)
    with services.read() as view:
        missed = missed_memories(view, survey, trial.missed, options.limit, options.languages)
        ours = [each for each in results if each.name == default]
        advice = advice_on(view, sampled, ours[0], compared, missed, options.languages) if ours else ()
    return SelfTest(
        seed=options.seed,
        at=now,
        limit=options.limit,
        model=None if model is None else model.name,
        note=trial.note,
        memories=survey.memories,
        sampled=len(sampled),
        questions={asks: sum(each.asks is asks for each in asked) for asks in _kinds(asked)},
        default=default,
        profiles=results,
        compared=compared,
        missed=missed,
        advice=advice,
        latency={name: _latency(trial.seconds[name]) for name in profiles if asked},
    )


def _ask_all(
    trial: Trial, asked: Sequence[SelfQuestion], profiles: Mapping[str, Profile], progress: Progress | None
) -> None:
    names = list(profiles)
    for name in names if asked else ():
        trial.warm(asked[0], profiles[name])
    for number, question in enumerate(asked):
        # Whoever comes first finds the store's pages cold, so each does in turn.
        turn = number % len(names)
        for name in (*names[turn:], *names[:turn]):
            trial.ask(question, name, profiles[name])
        if progress is not None:
            progress(number + 1, len(asked))


def _check(options: SelfTestOptions) -> None:
    for what, number in (("sample", options.sample), ("limit", options.limit), ("seed", options.seed)):
        if isinstance(number, bool) or not isinstance(number, int):
            raise InvalidInput(f"The {what} is a whole number, not {number!r}.")
    if options.sample < 0:
        raise InvalidInput(f"The sample is a number of memories, or 0 for all, not {options.sample}.")
    if not 1 <= options.limit <= MOST_HITS:
        raise InvalidInput(f"Of each answer, 1 to {MOST_HITS:,} hits can count, not {options.limit}.")


def _end_of_day(services: Services) -> datetime:
    today = services.clock().astimezone(services.zone).date()
    tomorrow = today + timedelta(days=1)
    return datetime(tomorrow.year, tomorrow.month, tomorrow.day, tzinfo=services.zone).astimezone(UTC)


def _kinds(asked: Sequence[SelfQuestion]) -> list[QuestionKind]:
    there = {question.asks for question in asked}
    return [asks for asks in QuestionKind if asks in there]


def _result(name: str, asked: Sequence[SelfQuestion], ranks: Sequence[int], limit: int) -> ProfileResult:
    by_kind = {
        asks: _share([rank for each, rank in zip(asked, ranks, strict=True) if each.asks is asks], limit)
        for asks in _kinds(asked)
    }
    return ProfileResult(name, _share(ranks, limit), by_kind)


def _share(ranks: Sequence[int], limit: int) -> FoundShare:
    found = sum(0 < rank <= limit for rank in ranks)
    mrr = sum(1 / rank for rank in ranks if rank) / len(ranks)
    return FoundShare(len(ranks), found, *wilson_interval(found, len(ranks)), mrr)


def _compared(
    asked: Sequence[SelfQuestion], ranks: Mapping[str, Sequence[int]], default: str, limit: int
) -> tuple[ProfileComparison, ...]:
    """Memory by memory: questions made of one memory are no independent witnesses.

    Chance has as many tries as there are profiles, so each p is multiplied by their number (Bonferroni).
    """
    others = [name for name in ranks if name != default]
    compared = []
    for name in others:
        gained: Counter[int] = Counter()
        for question, ours, theirs in zip(asked, ranks[default], ranks[name], strict=True):
            gained[question.memory] += (0 < theirs <= limit) - (0 < ours <= limit)
        better, worse = sum(gain > 0 for gain in gained.values()), sum(gain < 0 for gain in gained.values())
        compared.append(
            ProfileComparison(name, better, worse, min(1.0, len(others) * sign_test(better, worse)))
        )
    return tuple(compared)


def _latency(seconds: Sequence[float]) -> Latency:
    p50, p95 = np.percentile(np.array(seconds), [50, 95]) * 1000
    return Latency(round(float(p50), 2), round(float(p95), 2))
