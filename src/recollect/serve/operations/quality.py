"""Operations that measure how well this memory is found, and tune its rankings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field
from typing_extensions import TypedDict

from recollect.errors import InvalidInput
from recollect.records import Kind
from recollect.serve.operations.browse import Cursor, PageLimit, next_place, place_of
from recollect.serve.operations.operation import (
    Many,
    OperationCall,
    OperationReply,
    described,
    operation,
    optional,
)
from recollect.serve.operations.paging import page_rows
from recollect.serve.operations.rows import PageRows, iso_time, row_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recollect.engine.self_test.results import FoundShare
    from recollect.engine.tuning.tuning import AnswerLogStatus, ProfileNumbers, TuningChange
    from recollect.tuning.analysis import RankingMeasures


class ShareRow(TypedDict):
    """How many questions were answered among the first hits, with the 95 % interval."""

    asked: int
    found: int
    recall: float
    low: float
    high: float
    mrr: float


class KindShareRow(ShareRow):
    kind: str


class ProfileResultRow(TypedDict):
    name: str
    overall: ShareRow
    by_kind: list[KindShareRow]
    p50_ms: float | None
    p95_ms: float | None


class ComparisonRow(TypedDict):
    name: str
    better: int
    worse: int
    p: float
    is_better: bool


class MissedRow(TypedDict):
    id: int
    kind: Kind
    text: str
    query: str
    first: int | None
    first_text: str
    place: int | None
    cause: str
    why: str


class AdviceRow(TypedDict):
    said: str
    command: str


class SelfTestOutput(TypedDict):
    at: str
    seed: int
    limit: int
    model: str | None
    note: str | None
    memories: int
    sampled: int
    default: str
    profiles: list[ProfileResultRow]
    compared: list[ComparisonRow]
    missed: list[MissedRow]
    advice: list[AdviceRow]


def _share(share: FoundShare) -> ShareRow:
    return row_of(ShareRow, share)


@operation("Self-test", read_only=True)
def _self_test(
    call: OperationCall,
    profiles: Many[str] = Field(default=[], description="All if not given"),
    sample: int = Field(default=50, ge=1, le=2_000, description="Memories to ask for; 50 if not given"),
    limit: int = Field(default=5, ge=1, le=100, description="Hits that count"),
    seed: int = Field(default=0, ge=0, description="Another one asks for other memories"),
) -> OperationReply[SelfTestOutput]:
    """Ask for memories by their own words, names and days, and tell how many each profile finds, which it
    misses and why. Nothing is written.
    """
    done = call.engine.self_test(
        profiles=profiles, sample=sample, limit=limit, seed=seed, progress=call.progress
    )
    rows: list[ProfileResultRow] = []
    for each in done.profiles:
        took = done.latency.get(each.name)
        kinds: list[KindShareRow] = [
            {**_share(share), "kind": str(kind)} for kind, share in each.by_kind.items()
        ]
        rows.append(
            {
                "name": each.name,
                "overall": _share(each.overall),
                "by_kind": kinds,
                "p50_ms": None if took is None else took.p50_ms,
                "p95_ms": None if took is None else took.p95_ms,
            }
        )
    result = row_of(
        SelfTestOutput,
        done,
        profiles=rows,
        compared=[row_of(ComparisonRow, each) for each in done.compared],
        missed=[row_of(MissedRow, each) for each in done.missed],
        advice=[row_of(AdviceRow, each) for each in done.advice],
    )
    return OperationReply(result)


class ConfidenceBinRow(TypedDict):
    low: float
    high: float
    count: int
    stated: Annotated[float, described("The mean confidence of these hits")]
    found: Annotated[float, described("The share of them that proved right")]


class ConfidenceCurveOutput(TypedDict):
    judged_by: Annotated[str, described("feedback; or self-test, where there is too little of it")]
    pairs: int
    error: Annotated[float, described("The mean distance between stated and found")]
    bins: list[ConfidenceBinRow]


@operation("Confidence curve", read_only=True)
def _confidence_curve(
    call: OperationCall,
    sample: int = Field(default=100, ge=1, le=1_000, description="Questions to ask at most"),
) -> OperationReply[ConfidenceCurveOutput]:
    """How far the confidence of hits can be believed on this memory: what was stated, what proved right."""
    curve = call.engine.tuning.confidence_curve(sample, call.progress)
    bins = [row_of(ConfidenceBinRow, each) for each in curve.bins]
    return OperationReply(row_of(ConfidenceCurveOutput, curve, bins=bins))


# Tuning


class TunableNumberRow(TypedDict):
    name: str
    published: float
    now: float


class ProfileNumbersRow(TypedDict):
    profile: str
    version: Annotated[int, described("0: it was never tuned")]
    numbers: list[TunableNumberRow]
    note: str | None


class LogSizeRow(TypedDict):
    profile: str
    events: int
    treated: int
    judged: int


class LogRow(TypedDict):
    """What the log holds, whether it grows, and who is shown which ranking."""

    on: bool
    design: Annotated[str, described("off, or split: each query gets one ranking or the other")]
    against: str
    share: float
    sizes: list[LogSizeRow]


class TuningStateOutput(TypedDict):
    profiles: list[ProfileNumbersRow]
    log: LogRow


def _numbers_row(numbers: ProfileNumbers) -> ProfileNumbersRow:
    present = numbers.present
    rows: list[TunableNumberRow] = [
        {"name": name, "published": value, "now": present[name]} for name, value in numbers.published.items()
    ]
    return row_of(ProfileNumbersRow, numbers, numbers=rows)


def _log_row(log: AnswerLogStatus) -> LogRow:
    return row_of(LogRow, log, sizes=[row_of(LogSizeRow, each) for each in log.sizes])


@operation("Tuning state", read_only=True)
def _tuning_state(call: OperationCall) -> OperationReply[TuningStateOutput]:
    """Every profile's numbers, as published and as they are by now, and what the log holds."""
    tuning = call.engine.tuning
    rows = [_numbers_row(tuning.numbers(name)) for name in call.engine.profiles]
    return OperationReply({"profiles": rows, "log": _log_row(tuning.log_status())})


class MeasuresRow(TypedDict):
    events: int
    ndcg_5: float
    ndcg_10: float
    lift_5: float
    lift_10: float


class AnalyzeTuningOutput(TypedDict):
    profile: str
    against: str
    events: int
    treated: int
    with_feedback: int
    ours: Annotated[MeasuresRow | None, described("null: nothing was used or judged yet")]
    baseline: MeasuresRow | None
    gain: Annotated[float | None, described("NDCG@10 of the profile less that of the baseline")]
    numbers: ProfileNumbersRow
    log: LogRow


def _measures(measures: RankingMeasures) -> MeasuresRow:
    return row_of(MeasuresRow, measures)


@operation("Analyze tuning", read_only=True)
def _analyze_tuning(
    call: OperationCall, profile: str | None = optional("The default if not given")
) -> OperationReply[AnalyzeTuningOutput]:
    """How a profile fares in the log against what it is compared with."""
    done = call.engine.tuning.analyze(profile)
    overall = done.analysis.overall
    result = row_of(
        AnalyzeTuningOutput,
        done.analysis,
        ours=None if overall is None else _measures(overall.ours),
        baseline=None if overall is None else _measures(overall.baseline),
        gain=None if overall is None else overall.gain,
        numbers=_numbers_row(done.numbers),
        log=_log_row(done.log),
    )
    return OperationReply(result)


class ChangedNumberRow(TypedDict):
    name: str
    before: float | None
    after: Annotated[float | None, described("null: the profile takes it no longer")]


class TuningChangeOutput(TypedDict):
    profile: str
    version: int
    written: bool
    changes: list[ChangedNumberRow]
    verdict: Annotated[str | None, described("Of a search for better numbers: too few, no gain, proposed")]
    says: str | None


def _moved(before: Mapping[str, float], after: Mapping[str, float]) -> list[ChangedNumberRow]:
    names = dict.fromkeys((*before, *after))
    return [{"name": name, "before": before.get(name), "after": after.get(name)} for name in names]


def _changed(done: TuningChange) -> OperationReply[TuningChangeOutput]:
    found = done.proposal
    result = row_of(
        TuningChangeOutput,
        done,
        changes=_moved(done.before, done.after),
        verdict=None if found is None else found.verdict,
        says=None if found is None else found.says,
    )
    return OperationReply(result)


_ProfileName = Annotated[str, described("The default if not given")]
_DryRun = Annotated[bool, described("Only tell what it would do")]


@operation("Run tuning", admin=True)
def _run_tuning(
    call: OperationCall, profile: _ProfileName | None = None, dry_run: _DryRun = True
) -> OperationReply[TuningChangeOutput]:
    """Look for better numbers in the log of answers, and take a step towards them if they are better beyond
    chance. It only tells what it would do, unless `dry_run` is false.
    """
    call.progress(0, 1)
    done = call.engine.tuning.run(profile, dry_run=dry_run)
    return _changed(done)


class SetNumberRow(TypedDict):
    name: str
    value: float


@operation("Set numbers", admin=True)
def _set_numbers(
    call: OperationCall,
    numbers: Many[SetNumberRow],
    profile: _ProfileName | None = None,
    exactly: bool = Field(default=False, description="Not only a tenth of the way"),
    dry_run: _DryRun = False,
) -> OperationReply[TuningChangeOutput]:
    """Move numbers of a profile towards these by a tenth of the way, or exactly there."""
    wanted = {each["name"]: each["value"] for each in numbers}
    if len(wanted) < len(numbers):
        raise InvalidInput("A number is named twice; name each once. Nothing was done.")
    return _changed(call.engine.tuning.set(wanted, profile, exactly=exactly, dry_run=dry_run))


@operation("Reset numbers", admin=True, idempotent=True)
def _reset_numbers(
    call: OperationCall, profile: _ProfileName | None = None, dry_run: _DryRun = False
) -> OperationReply[TuningChangeOutput]:
    """Give a profile its published numbers back; `rollback_tuning` takes that back."""
    return _changed(call.engine.tuning.reset(profile, dry_run=dry_run))


@operation("Roll tuning back", admin=True)
def _rollback_tuning(
    call: OperationCall,
    version: int | None = Field(default=None, ge=0, description="Those before the last if not given"),
    profile: _ProfileName | None = None,
    dry_run: _DryRun = False,
) -> OperationReply[TuningChangeOutput]:
    """Go back to the numbers of a version of `tuning_history`."""
    return _changed(call.engine.tuning.rollback(version, profile, dry_run=dry_run))


class TunedRow(TypedDict):
    version: int
    profile: str
    at: str
    why: Annotated[str, described("run, set, reset or rollback")]
    says: str | None
    changes: list[ChangedNumberRow]


class TuningHistoryOutput(PageRows):
    versions: list[TunedRow]


@operation("Tuning history", read_only=True)
def _tuning_history(
    call: OperationCall,
    profile: str | None = None,
    limit: PageLimit = 50,
    cursor: Cursor | None = None,
) -> OperationReply[TuningHistoryOutput]:
    """Every set of numbers that a profile was given, the newest first."""
    start = place_of(cursor)
    found = call.engine.tuning.history(profile, start + limit + 1)[start:]
    rows: list[TunedRow] = []
    for each in found[:limit]:
        report: Mapping[str, Any] = each.report
        rows.append(
            {
                "version": each.version,
                "profile": each.profile,
                "at": iso_time(each.at),
                "why": each.why,
                "says": report.get("says"),
                "changes": _moved(report.get("before", {}), report.get("after", {})),
            }
        )
    more = page_rows(next_place(start, len(rows), more=len(found) > limit), None)
    return OperationReply({"versions": rows, **more})


class EmptyLogOutput(TypedDict):
    answers: Annotated[int, described("How many the log held")]


@operation("Empty the log", destructive=True, idempotent=True, admin=True)
def _empty_log(call: OperationCall) -> OperationReply[EmptyLogOutput]:
    """Empty the log of answers and forget what was asked. There is no way back."""
    return OperationReply({"answers": call.engine.tuning.empty_log()})
