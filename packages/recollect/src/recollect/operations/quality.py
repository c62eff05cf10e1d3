"""Operations that measure how well this memory is found, and tune its rankings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from recollect.domain.json_values import inlined, omitted
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.limits import SELF_TEST_HITS, SELF_TEST_SAMPLE
from recollect.domain.records import LoggedAnswer, Tuned
from recollect.operations.browse import Cursor, PageLimit
from recollect.operations.operation import Many, OperationCall, RowId, described, operation, optional
from recollect.operations.paging import PageEnd, page_end, page_of, place_of
from recollect.operations.rows import brief_text
from recollect.search.recall import memory_text
from recollect.self_test.questions import SelfTest
from recollect.tuning.answers import ConfidenceCurve
from recollect.tuning.tuning import AnswerLogStatus, ProfileNumbers, TuningAnalysis, TuningChange

if TYPE_CHECKING:
    from recollect.domain.records import Memory


@operation("Self-test", http="POST /quality/self-test", read_only=True)
def _self_test(
    call: OperationCall,
    profiles: Many[str] = Field(default=[], description="All if not given"),
    sample: int = Field(default=SELF_TEST_SAMPLE, ge=1, le=2_000, description="Memories to ask for"),
    limit: int = Field(default=SELF_TEST_HITS, ge=1, le=100, description="Hits that count"),
    seed: int = Field(default=0, ge=0, description="Another one asks for other memories"),
) -> SelfTest:
    """Ask for memories by their own words, names and days, and tell how many each profile finds, which it
    misses and why. Nothing is written.
    """
    return call.engine.self_test(
        profiles=profiles, sample=sample, limit=limit, seed=seed, progress=call.progress
    )


@operation("Confidence curve", http="GET /quality/confidence", read_only=True)
def _confidence_curve(
    call: OperationCall,
    sample: int = Field(default=100, ge=1, le=1_000, description="Questions to ask at most"),
) -> ConfidenceCurve:
    """How far the confidence of hits can be believed on this memory: what was stated, what proved right."""
    return call.engine.tuning.confidence_curve(sample, call.progress)


# Tuning


@dataclass(frozen=True, slots=True)
class TuningState:
    profiles: list[ProfileNumbers]
    log: AnswerLogStatus


@operation("Tuning state", http="GET /tuning", read_only=True)
def _tuning_state(call: OperationCall) -> TuningState:
    """Every profile's numbers, as published and as they are by now, and what the log holds."""
    tuning = call.engine.tuning
    return TuningState([tuning.numbers(name) for name in call.engine.profiles], tuning.log_status())


@operation("Analyze tuning", http="GET /tuning/analysis", read_only=True)
def _analyze_tuning(
    call: OperationCall, profile: str | None = optional("The default if not given")
) -> TuningAnalysis:
    """How a profile fares in the log against what it is compared with."""
    return call.engine.tuning.analyze(profile)


_ProfileName = Annotated[str, described("The default if not given")]
_DryRun = Annotated[bool, described("Only tell what it would do")]


@operation("Run tuning", http="POST /tuning/run", admin=True)
def _run_tuning(
    call: OperationCall, profile: _ProfileName | None = None, dry_run: _DryRun = True
) -> TuningChange:
    """Look for better numbers in the log of answers, and take a step towards them if they are better beyond
    chance. It only tells what it would do, unless `dry_run` is false.
    """
    call.progress(0, 1)
    return call.engine.tuning.run(profile, dry_run=dry_run)


@operation("Set numbers", http="POST /tuning/set", admin=True)
def _set_numbers(
    call: OperationCall,
    numbers: dict[str, float] = Field(description="By name, as `tuning_state` lists them", max_length=100),
    profile: _ProfileName | None = None,
    exactly: bool = Field(default=False, description="Not only a tenth of the way"),
    dry_run: _DryRun = False,
) -> TuningChange:
    """Move numbers of a profile towards these by a tenth of the way, or exactly there."""
    return call.engine.tuning.set(numbers, profile, exactly=exactly, dry_run=dry_run)


@operation("Reset numbers", http="POST /tuning/reset", admin=True, idempotent=True)
def _reset_numbers(
    call: OperationCall, profile: _ProfileName | None = None, dry_run: _DryRun = False
) -> TuningChange:
    """Give a profile its published numbers back; `rollback_tuning` takes that back."""
    return call.engine.tuning.reset(profile, dry_run=dry_run)


@operation("Roll tuning back", http="POST /tuning/rollback", admin=True)
def _rollback_tuning(
    call: OperationCall,
    version: int | None = Field(default=None, ge=0, description="Those before the last if not given"),
    profile: _ProfileName | None = None,
    dry_run: _DryRun = False,
) -> TuningChange:
    """Go back to the numbers of a version of `tuning_history`."""
    return call.engine.tuning.rollback(version, profile, dry_run=dry_run)


@dataclass(frozen=True, slots=True)
class TuningHistory:
    versions: list[Tuned]
    more: PageEnd = inlined()


@operation("Tuning history", http="GET /tuning/history", read_only=True)
def _tuning_history(
    call: OperationCall,
    profile: str | None = None,
    limit: PageLimit = 50,
    cursor: Cursor | None = None,
) -> TuningHistory:
    """Every set of numbers that a profile was given, the newest first."""
    found = call.engine.tuning.history(profile, place_of(cursor) + limit + 1)
    return TuningHistory(*page_of(found, limit, cursor))


@dataclass(frozen=True, slots=True)
class LogEmptied:
    answers: Annotated[int, "How many the log held"]


@operation("Empty the log", http="POST /answers/empty", destructive=True, idempotent=True, admin=True)
def _empty_log(call: OperationCall) -> LogEmptied:
    """Empty the log of answers and forget what was asked. There is no way back."""
    return LogEmptied(call.engine.tuning.empty_log())


# The log of answers: what was asked, shown and used, and the same question now.


@dataclass(frozen=True, slots=True)
class AnswerPage:
    answers: list[LoggedAnswer]
    more: PageEnd = inlined()


@operation("List answers", http="GET /answers", read_only=True)
def _list_answers(
    call: OperationCall,
    profile: str | None = None,
    judged: bool | None = optional("true: only those with feedback; false: only those without"),
    memory: RowId | None = optional("Only those with feedback on this memory"),
    contains: str | None = optional("Only questions that contain this"),
    limit: PageLimit = 50,
    cursor: Cursor | None = None,
) -> AnswerPage:
    """The log of answers, the newest first: the question, what was shown, what the profile and its baseline
    ranked, and what became of it.
    """
    found = call.engine.answers.page(
        profile=profile,
        judged=judged,
        memory=memory,
        contains=contains,
        before=place_of(cursor) or None,
        limit=limit + 1,
    )
    shown = list(found[:limit])
    return AnswerPage(shown, page_end(shown[-1].id if shown else 0, len(found) > limit))


@dataclass(frozen=True, slots=True)
class RankedMemory:
    """A memory and its places, from 1; null where it had none."""

    id: int
    text: Annotated[str, "As it reads now; empty where it was purged"]
    in_force: bool
    shown: int | None
    ranked: int | None
    baseline: int | None
    now: Annotated[int | None, "By the profile, with its present numbers"] = None
    baseline_now: int | None = None


@dataclass(frozen=True, slots=True)
class AnswerDetail:
    answer: LoggedAnswer
    memories: list[RankedMemory]
    same: Annotated[bool | None, "Of a replay: whether the profile ranks now as it did then"] = omitted()


@operation("Get an answer", http="GET /answers/{id}", read_only=True)
def _get_answer(call: OperationCall, id: RowId) -> AnswerDetail:
    """One answer of the log, with where each memory stood in it and in the ranking beside it."""
    answer, memories = call.engine.answers.get(id)
    lists = (answer.shown, answer.ranked, answer.baseline)
    places = [{id_: place for place, id_ in enumerate(ids, start=1)} for ids in lists]
    every = dict.fromkeys((*answer.shown, *answer.ranked, *answer.baseline))
    return AnswerDetail(
        answer,
        [_ranked(id_, memories.get(id_), (place.get(id_) for place in places)) for id_ in every],
    )


def _ranked(id_: int, memory: Memory | None, places: Iterable[int | None]) -> RankedMemory:
    if memory is None:
        return RankedMemory(id_, "", False, *places)
    in_force = memory.deleted_at is None and memory.superseded_at is None
    return RankedMemory(id_, brief_text(memory_text(memory, None)), in_force, *places)


@operation("Replay an answer", http="GET /answers/{id}/replay", read_only=True)
def _replay_answer(call: OperationCall, id: RowId) -> AnswerDetail:
    """Ask a question of the log again, and compare place by place: then and now, the profile and what it is
    compared with. It leaves no trace.
    """
    found = call.engine.answers.replay(id)
    rows = [
        _ranked(each.id, each.memory, (each.shown, each.ranked, each.baseline, each.now, each.baseline_now))
        for each in found.places
    ]
    return AnswerDetail(found.answer, rows, all(each.ranked == each.now for each in found.places))
