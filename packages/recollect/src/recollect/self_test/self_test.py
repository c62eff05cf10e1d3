"""The self-test: asks a store questions made from its memories. It writes and sends nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from shlex import quote
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from recollect.domain.errors import InvalidInput
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.limits import MOST_HITS, SELF_TEST_HITS, SELF_TEST_SAMPLE
from recollect.domain.numbers import sign_test, wilson_interval
from recollect.domain.records import Memory, Status
from recollect.language.questions import language_of, mostly_other_than_english
from recollect.language.self_questions import QuestionKind, SelfQuestion, is_in_spanish
from recollect.ranking.profiles import DEFAULT
from recollect.search.recall import memory_text, text_preview
from recollect.search.recording import tuned_in
from recollect.search.rows import memories_by_id
from recollect.search.texts import model_in_use, passages_of, vectors_of
from recollect.self_test.questions import (
    Advice,
    Cause,
    FoundShare,
    Latency,
    MissedMemory,
    ProfileComparison,
    ProfileResult,
    SelfTest,
    Timer,
    Trial,
    sample,
    sampled_questions,
    survey_of,
)
from recollect.services import Services
from recollect.stores.port import Progress, Snapshot
from recollect.text.near_duplicates import REWORDED_COSINE, is_paraphrase, usual_cosine
from recollect.text.passages import passage_spans
from recollect.text.phrases import memories_text
from recollect.text.tokens import distinctive_terms

if TYPE_CHECKING:
    from recollect.ranking.candidates import Profile
    from recollect.self_test.questions import MissedQuestion, Survey


# Causes of misses, and advice with commands.

_FEWEST_TERMS = 3
_COMMON_SHARE = 0.01
"""A word is common if a larger share of all memories contains it."""
_FEWEST_COMMON = 5
_MANY_OBSERVATIONS = 20


def missed_memories(
    view: Snapshot,
    survey: Survey,
    missed: Sequence[MissedQuestion],
    limit: int,
    languages: Collection[str] | None,
) -> tuple[MissedMemory, ...]:
    """Return the missed memories, ordered by cause and id."""
    first_of: dict[int, MissedQuestion] = {}
    for one in missed:
        first_of.setdefault(one.question.memory, one)
    ids = {id_ for one in first_of.values() for id_ in (one.question.memory, *one.hits[:limit])}
    memories = memories_by_id(view, sorted(ids))
    english_only = languages is not None and set(languages) == {"en"}
    misses = []
    for id_, one in first_of.items():
        before = [memories[hit] for hit in one.hits[:limit] if hit != id_]
        cause = _cause(view, survey, memories[id_], one, before, english_only=english_only)
        first = memories[one.hits[0]] if one.hits else None
        misses.append(
            MissedMemory(
                id=id_,
                kind=memories[id_].kind,
                text=text_preview(memory_text(memories[id_])),
                query=one.question.query,
                first=None if first is None else first.id,
                first_text="" if first is None else text_preview(memory_text(first)),
                place=one.place,
                cause=cause,
                why=one.why,
            )
        )
    order = list(Cause)
    return tuple(sorted(misses, key=lambda miss: (order.index(miss.cause), miss.id)))


def _cause(  # noqa: PLR0911  # one line for each cause
    view: Snapshot,
    survey: Survey,
    memory: Memory,
    missed: MissedQuestion,
    before: Sequence[Memory],
    *,
    english_only: bool,
) -> Cause:
    if model_in_use(view) is not None and waiting(view, [memory.id]):
        return Cause.NO_VECTOR
    if memory.status is not Status.ACTIVE:
        return Cause.SET_ASIDE
    if missed.dropped == "repeats":
        return Cause.REPEATED
    text = memory_text(memory)
    if len(distinctive_terms(text)) < _FEWEST_TERMS or _is_common(text, survey):
        return Cause.LITTLE
    if any(_nearly_the_same(view, memory, other) for other in before):
        return Cause.CROWDED
    if _is_common(missed.question.query, survey):
        return Cause.COMMON
    if english_only and language_of(text) == "other":
        return Cause.LANGUAGE
    if len(passage_spans(memory.text)) > 1 or len(memory.in_force) > _MANY_OBSERVATIONS:
        return Cause.LONG
    return Cause.OUTRANKED


def waiting(view: Snapshot, ids: Sequence[int]) -> set[int]:
    """Return the memories with a passage that has no vector yet."""
    passages = passages_of(view, ids)
    known = vectors_of(view, [passage.id for passage in passages])
    return {passage.memory for passage in passages if passage.id not in known}


def _is_common(text: str, survey: Survey) -> bool:
    common = max(_FEWEST_COMMON, _COMMON_SHARE * survey.memories)
    return all(survey.term_counts[token] > common for token in distinctive_terms(text))


def _nearly_the_same(view: Snapshot, one: Memory, other: Memory) -> bool:
    """Compare by words, or else by cosine, which must be very high: most messages are similar anyway."""
    by_words = is_paraphrase(memory_text(one), memory_text(other))
    if by_words is not None:
        return by_words
    rows = [
        np.array(list(vectors_of(view, [passage.id for passage in passages_of(view, [each.id])]).values()))
        for each in (one, other)
    ]
    model = model_in_use(view)
    if model is None or not all(map(len, rows)):
        return False
    return usual_cosine(float((rows[0] @ rows[1].T).max()), model.name) >= REWORDED_COSINE


_MULTILINGUAL = "e5-memory"
_LOW_RECALL = 0.5
"""Below this recall, advice is given."""
# For each cause: what is wrong, what to do, and the command.
_REMEDIES = (
    (
        {Cause.SET_ASIDE},
        "{is_} ranked lower because the status is not active; change it if that is wrong.",
        "recollect update NAME --status active",
    ),
    (
        {Cause.CROWDED, Cause.REPEATED},
        "{is_} hidden by others that say nearly the same; list what a dream would merge.",
        "recollect dream --dry-run",
    ),
    (
        {Cause.LITTLE},
        "{says} too little; name the people and things that are meant.",
        "recollect update ID --text TEXT",
    ),
    (
        {Cause.LANGUAGE},
        "{is_} in a language that the model does not know; a multilingual one would find more.",
        f"recollect reindex --model {_MULTILINGUAL}",
    ),
    (
        {Cause.LONG},
        "{is_} long and about several subjects; store a separate note for each.",
        "recollect remember TEXT",
    ),
)
_ONE = {"is_": "is", "says": "says"}
_SEVERAL = {"is_": "are", "says": "say"}


def advice_on(
    view: Snapshot,
    sampled: Sequence[int],
    default: ProfileResult,
    compared: Sequence[ProfileComparison],
    missed: Sequence[MissedMemory],
    languages: Collection[str] | None,
) -> Iterator[Advice]:
    unready = 0 if model_in_use(view) is None else len(waiting(view, sampled))
    if model_in_use(view) is None:
        said = "No model is in use, so only words are compared; choose one that is ready."
        yield Advice(said, "recollect reindex --list")
    elif unready:
        fact = f"Of {memories_text(len(sampled))}, {unready:,} still lack a vector"
        yield Advice(f"{fact}, so only words find {'it' if unready == 1 else 'them'}.", "recollect reindex")
    if languages is not None and set(languages) == {"en"} and model_in_use(view) is not None:
        texts = [memory_text(memory) for memory in memories_by_id(view, sampled).values()]
        if mostly_other_than_english(texts):
            spanish = sum(map(is_in_spanish, texts)) > len(texts) / 2
            mostly = "mostly Spanish" if spanish else "mostly not in English"
            fact = f"Your texts are {mostly}, and the model knows only English."
            yield Advice(fact, f"recollect reindex --model {_MULTILINGUAL}")
    yield from _on_results(default, compared, missed)


def _on_results(
    default: ProfileResult, compared: Sequence[ProfileComparison], missed: Sequence[MissedMemory]
) -> Iterator[Advice]:
    for causes, problem, command in _REMEDIES:
        count = sum(miss.cause in causes for miss in missed)
        if count:
            fact = problem.format_map(_ONE if count == 1 else _SEVERAL)
            yield Advice(f"{memories_text(count)} {fact}", command)
    outranked = [miss for miss in missed if miss.cause is Cause.OUTRANKED]
    if outranked:
        count, first = len(outranked), outranked[0]
        fact = f"Questions made from {memories_text(count)} found other memories first; see why."
        yield Advice(fact, f"recollect why-not {quote(first.query)} {first.id}")
    share = default.by_kind.get(QuestionKind.RELATION)
    if share is not None and share.high < _LOW_RECALL:
        fact = f"Only {share.recall:.0%} of the questions about relations find the other entity"
        yield Advice(f"{fact}; open an entity to list all its relations.", "recollect show NAME")
    better = [each for each in compared if each.is_better]
    if better:
        best = max(better, key=lambda each: (each.better - each.worse, each.name))
        fact = f"The profile {best.name!r} finds more in your store than {default.name!r}"
        figures = f"{best.better:,} memories better, {best.worse:,} worse, p = {best.p:.2g}"
        yield Advice(f"{fact} ({figures}); use it.", f"recollect recall QUERY --profile {best.name}")


@dataclass(frozen=True, slots=True)
class SelfTestOptions:
    sample: int = SELF_TEST_SAMPLE
    """Memories to ask for; 0: all."""
    limit: int = SELF_TEST_HITS
    """Hits that count."""
    seed: int = 0
    languages: tuple[str, ...] | None = None
    """Languages that the model knows, if known."""
    at: datetime | None = None
    """The time to ask at; None: the end of today, so that results are equal all day."""


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
    tomorrow = services.clock().astimezone(services.zone).date() + timedelta(days=1)
    end_of_day = datetime(tomorrow.year, tomorrow.month, tomorrow.day, tzinfo=services.zone)
    now = options.at or end_of_day.astimezone(UTC)
    with services.read() as view:
        model = model_in_use(view)
        # With their tuned numbers, as in normal use.
        profiles = {name: tuned_in(services, view, profile)[1] for name, profile in profiles.items()}
        survey = survey_of(services, view)
        sampled = sample(survey, options.seed, options.sample)
        asked = sampled_questions(view, survey, sampled, options.seed, now)
    default = DEFAULT if DEFAULT in profiles else next(iter(profiles))
    trial = Trial(services, survey, now, options.limit, default, timer)
    names = list(profiles)
    for name in names if asked else ():
        trial.search(asked[0], profiles[name])  # warm up: loads the model and the vectors
    for number, question in enumerate(asked):
        # The first profile reads cold pages, so the order rotates.
        turn = number % len(names)
        for name in (*names[turn:], *names[:turn]):
            trial.ask(question, name, profiles[name])
        if progress is not None:
            progress(number + 1, len(asked))
    places: dict[QuestionKind, list[int]] = {asks: [] for asks in QuestionKind}
    for place, question in enumerate(asked):
        places[question.asks].append(place)
    places = {asks: found for asks, found in places.items() if found}
    results = []
    for name, ranks in trial.ranks.items():
        by_kind = {asks: _share([ranks[at] for at in found], options.limit) for asks, found in places.items()}
        results.append(ProfileResult(name, _share(ranks, options.limit), by_kind))
    compared = _compare_profiles(asked, trial.ranks, default, options.limit)
    with services.read() as view:
        missed = missed_memories(view, survey, trial.missed, options.limit, options.languages)
        ours = [each for each in results if each.name == default]
        advice = tuple(advice_on(view, sampled, ours[0], compared, missed, options.languages)) if ours else ()
    return SelfTest(
        seed=options.seed,
        at=now,
        limit=options.limit,
        model=None if model is None else model.name,
        note=trial.note,
        memories=survey.memories,
        sampled=len(sampled),
        questions={asks: len(found) for asks, found in places.items()},
        default=default,
        profiles=tuple(results),
        compared=compared,
        missed=missed,
        advice=advice,
        latency={name: _latency(trial.seconds[name]) for name in profiles if asked},
    )


def _check(options: SelfTestOptions) -> None:
    for what, number in (("sample", options.sample), ("limit", options.limit), ("seed", options.seed)):
        if isinstance(number, bool) or not isinstance(number, int):
            raise InvalidInput(f"The {what} is a whole number, not {number!r}.")
    if options.sample < 0:
        raise InvalidInput(f"The sample is a number of memories, or 0 for all, not {options.sample}.")
    if not 1 <= options.limit <= MOST_HITS:
        raise InvalidInput(f"The limit is from 1 to {MOST_HITS:,} hits, not {options.limit}.")


def _share(ranks: Sequence[int], limit: int) -> FoundShare:
    found = sum(0 < rank <= limit for rank in ranks)
    mrr = sum(1 / rank for rank in ranks if rank) / len(ranks)
    return FoundShare(len(ranks), found, *wilson_interval(found, len(ranks)), mrr)


def _compare_profiles(
    asked: Sequence[SelfQuestion], ranks: Mapping[str, Sequence[int]], default: str, limit: int
) -> tuple[ProfileComparison, ...]:
    """Compare by memory, since questions made from one memory are not independent.

    Each p-value is multiplied by the number of profiles (Bonferroni).
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
