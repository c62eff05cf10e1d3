"""Operations that measure search quality and tune rankings."""

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
    sample: int = Field(default=SELF_TEST_SAMPLE, ge=1, le=2_000, description="Number of memories to test"),
    limit: int = Field(
        default=SELF_TEST_HITS, ge=1, le=100, description="How many first hits to look for a memory in"
    ),
    seed: int = Field(default=0, ge=0, description="A different seed tests different memories"),
) -> SelfTest:
    """Search for memories by their own words, names and days. Report how many each profile finds, which ones
    it misses and why. Nothing is written.
    """
    return call.engine.self_test(
        profiles=profiles, sample=sample, limit=limit, seed=seed, progress=call.progress
    )


@operation("Confidence curve", http="GET /quality/confidence", read_only=True)
def _confidence_curve(
    call: OperationCall,
    sample: int = Field(default=100, ge=1, le=1_000, description="Questions to ask at most"),
) -> ConfidenceCurve:
    """Measure how reliable the confidence of hits is on this memory: stated against actual accuracy."""
    return call.engine.tuning.confidence_curve(sample, call.progress)


# Tuning


@dataclass(frozen=True, slots=True)
class TuningState:
    profiles: list[ProfileNumbers]
    log: AnswerLogStatus


@operation("Tuning state", http="GET /tuning", read_only=True)
def _tuning_state(call: OperationCall) -> TuningState:
    """Get every profile's numbers, published and current, and the state of the log."""
    tuning = call.engine.tuning
    return TuningState([tuning.numbers(name) for name in call.engine.profiles], tuning.log_status())


@operation("Analyze tuning", http="GET /tuning/analysis", read_only=True)
def _analyze_tuning(
    call: OperationCall, profile: str | None = optional("The default if not given")
) -> TuningAnalysis:
    """Compare a profile with its baseline on the log."""
    return call.engine.tuning.analyze(profile)


_ProfileName = Annotated[str, described("The default if not given")]
_DryRun = Annotated[bool, described("Only report what it would do")]


@operation("Run tuning", http="POST /tuning/run", admin=True)
def _run_tuning(
    call: OperationCall, profile: _ProfileName | None = None, dry_run: _DryRun = True
) -> TuningChange:
    """Find better numbers with the log of answers, and move towards them if they are significantly better.
    Unless `dry_run` is false, it only reports what it would do.
    """
    call.progress(0, 1)
    return call.engine.tuning.run(profile, dry_run=dry_run)


@operation("Set numbers", http="POST /tuning/set", admin=True)
def _set_numbers(
    call: OperationCall,
    numbers: dict[str, float] = Field(description="By name, as `tuning_state` lists them", max_length=100),
    profile: _ProfileName | None = None,
    exactly: bool = Field(default=False, description="Set them exactly, not by a tenth of the way"),
    dry_run: _DryRun = False,
) -> TuningChange:
    """Move numbers of a profile a tenth of the way towards these, or set them exactly."""
    return call.engine.tuning.set(numbers, profile, exactly=exactly, dry_run=dry_run)


@operation("Reset numbers", http="POST /tuning/reset", admin=True, idempotent=True)
def _reset_numbers(
    call: OperationCall, profile: _ProfileName | None = None, dry_run: _DryRun = False
) -> TuningChange:
    """Reset a profile to its published numbers. `rollback_tuning` undoes it."""
    return call.engine.tuning.reset(profile, dry_run=dry_run)


@operation("Roll tuning back", http="POST /tuning/rollback", admin=True)
def _rollback_tuning(
    call: OperationCall,
    version: int | None = Field(default=None, ge=0, description="Default: the previous version"),
    profile: _ProfileName | None = None,
    dry_run: _DryRun = False,
) -> TuningChange:
    """Restore the numbers of a version of `tuning_history`."""
    return call.engine.tuning.rollback(version, profile, dry_run=dry_run)


@dataclass(frozen=True, slots=True)
class TuningHistory:
    versions: list[Tuned]
    more: PageEnd = inlined()


@operation("Tuning history", http="GET /tuning/history", read_only=True)
def _tuning_history(
    call: OperationCall, profile: str | None = None, limit: PageLimit = 50, cursor: Cursor | None = None
) -> TuningHistory:
    """List all versions of a profile's numbers, the newest first."""
    found = call.engine.tuning.history(profile, place_of(cursor) + limit + 1)
    return TuningHistory(*page_of(found, limit, cursor))


@dataclass(frozen=True, slots=True)
class LogEmptied:
    answers: Annotated[int, "Number of answers that were deleted"]


@operation("Empty the log", http="POST /answers/empty", destructive=True, idempotent=True, admin=True)
def _empty_log(call: OperationCall) -> LogEmptied:
    """Empty the log of answers, with all questions. This cannot be undone."""
    return LogEmptied(call.engine.tuning.empty_log())


# The log of answers, and replays of logged questions.


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
    """List logged answers, the newest first: the question, the memories shown, the rankings of the profile
    and its baseline, and the feedback.
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
    """A memory and its ranks, from 1; null if it was not ranked."""

    id: int
    text: Annotated[str, "The current text; empty if it was purged"]
    in_force: bool
    shown: int | None
    ranked: int | None
    baseline: int | None
    now: Annotated[int | None, "By the profile, with its current numbers"] = None
    baseline_now: int | None = None


@dataclass(frozen=True, slots=True)
class AnswerDetail:
    answer: LoggedAnswer
    memories: list[RankedMemory]
    same: Annotated[bool | None, "For a replay: whether the profile's ranking is unchanged"] = omitted()


@operation("Get an answer", http="GET /answers/{id}", read_only=True)
def _get_answer(call: OperationCall, id: RowId) -> AnswerDetail:
    """Get a logged answer, with the rank of each memory by the profile and by its baseline."""
    answer, memories = call.engine.answers.get(id)
    lists = (answer.shown, answer.ranked, answer.baseline)
    places = [{id_: place for place, id_ in enumerate(ids, start=1)} for ids in lists]
    every = dict.fromkeys((*answer.shown, *answer.ranked, *answer.baseline))
    return AnswerDetail(
        answer, [_ranked(id_, memories.get(id_), (place.get(id_) for place in places)) for id_ in every]
    )


def _ranked(id_: int, memory: Memory | None, places: Iterable[int | None]) -> RankedMemory:
    if memory is None:
        return RankedMemory(id_, "", False, *places)
    in_force = memory.deleted_at is None and memory.superseded_at is None
    return RankedMemory(id_, brief_text(memory_text(memory, None)), in_force, *places)


@operation("Replay an answer", http="GET /answers/{id}/replay", read_only=True)
def _replay_answer(call: OperationCall, id: RowId) -> AnswerDetail:
    """Repeat a logged question, and compare ranks then and now, by the profile and by its baseline. Nothing
    is recorded.
    """
    found = call.engine.answers.replay(id)
    rows = [
        _ranked(each.id, each.memory, (each.shown, each.ranked, each.baseline, each.now, each.baseline_now))
        for each in found.places
    ]
    return AnswerDetail(found.answer, rows, all(each.ranked == each.now for each in found.places))
