"""Dreaming: look, plan, try the plan on what people ask, and carry it out in one transaction."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from dataclasses import asdict, field, replace
from datetime import datetime
from itertools import count

from recollect.changes import DREAMING, CommitDream, DropLease, TakeLease
from recollect.conditions import Equals
from recollect.dreams.gate import judge
from recollect.dreams.knobs import Knobs, Phase
from recollect.dreams.plan import Plan, plan
from recollect.dreams.report import DreamReport, dream_report
from recollect.dreams.snapshot import Twins
from recollect.engine.after_commit import attempt_follow_up
from recollect.engine.dreams.questions import gate_questions, trials
from recollect.engine.dreams.search import copies_of_errors, echoes_of_fading
from recollect.engine.lease_holders import is_dead
from recollect.engine.limits import STALE_DAYS
from recollect.engine.services import Services
from recollect.engine.upkeep.decisions import kept_together, text_reference
from recollect.engine.upkeep.report import consolidation_report
from recollect.errors import Conflict, InvalidInput, Outdated
from recollect.lazy_dataclass import dataclass
from recollect.ports import Progress
from recollect.ranking.factors.recency import microseconds
from recollect.retrieval.contents import dismissed_keys
from recollect.retrieval.dream_state import dream_state, packed_fields
from recollect.retrieval.records import scope_id

_LEASE_SECONDS = 120.0
# What a dream does, as far as a progress bar is concerned.
_STAGES = 6
_DREAMERS = count(1)


@dataclass(frozen=True, slots=True)
class DreamResult:
    """What a dream did, or would do."""

    at: datetime
    report: DreamReport
    id: int | None = None
    """None: nothing was written."""
    left: tuple[int, ...] = ()
    """Memories that changed while it was dreamt, and were left as they are."""


@dataclass(frozen=True, slots=True)
class DreamOptions:
    """How to dream."""

    phases: tuple[Phase, ...] = tuple(Phase)
    knobs: Knobs = field(default_factory=Knobs)
    dry_run: bool = False
    gate: bool = True
    """Try the plan on what people ask, and write nothing if they would find less."""
    drop_failing: bool = False
    """Leave out a phase that the gate blames, instead of not dreaming at all."""


def phases_of(names: Collection[str] | None, without: Collection[str] = ()) -> tuple[Phase, ...]:
    """Phases by name, in their own order."""
    unknown = [name for name in (*(names or ()), *without) if name not in set(Phase)]
    if unknown:
        raise InvalidInput(f"No phase named {unknown[0][:40]!r}; there are: {', '.join(Phase)}.")
    return tuple(phase for phase in Phase if (names is None or phase in names) and phase not in without)


def dream(services: Services, options: DreamOptions, progress: Progress | None = None) -> DreamResult:
    """Dream once. One process at a time dreams on a store; who comes second is told so."""
    at = services.clock()
    # Each dream for itself: the night and a caller of the same process must not dream at once either.
    holder = f"{services.process_id} {next(_DREAMERS)}"
    if options.dry_run:
        return _run_dream(services, options, at, None, _stages(progress))
    _take_lease(services, holder, at)
    try:
        return _run_dream(services, options, at, holder, _stages(progress, lambda: _hold(services, holder)))
    finally:
        # The dream may be committed by now; a lease that cannot be given back ends by itself.
        attempt_follow_up(lambda: services.write([DropLease(DREAMING, holder)]))


def _take_lease(services: Services, holder: str, at: datetime) -> None:
    take = TakeLease(DREAMING, holder, _LEASE_SECONDS)
    try:
        services.store.apply([take], at=at)
    except Conflict:
        with services.read_everything() as view:
            held = view.rows("lease", ("holder",), (Equals("name", DREAMING),))
        dead = [other for (other,) in held if is_dead(other)]
        if not dead:
            raise
        # It was killed in the middle of a dream, of which nothing was written.
        services.store.apply([*(DropLease(DREAMING, other) for other in dead), take], at=at)


def _hold(services: Services, holder: str) -> None:
    held = services.write([TakeLease(DREAMING, holder, _LEASE_SECONDS)])[0]
    if held.created:
        # Whoever had it meanwhile may have dreamt, and what was looked at is no longer so.
        raise Conflict(
            f"Another process took over ({DREAMING}) since this one was too slow; nothing was changed."
        )


def _stages(progress: Progress | None, hold: Callable[[], None] | None = None) -> Callable[[int], None]:
    def reached(stage: int) -> None:
        if hold is not None:
            hold()
        if progress is not None:
            progress(stage, _STAGES)

    return reached


def _run_dream(
    services: Services,
    options: DreamOptions,
    at: datetime,
    holder: str | None,
    reached: Callable[[int], None],
) -> DreamResult:
    # What earlier answers left to be noted is part of the day.
    services.usage.settle(None)
    knobs = options.knobs
    with services.read() as view:
        snapshot = dream_state(view, scope_id(view, services.scope), microseconds(at), knobs.link_together)
        decided = kept_together(dismissed_keys(view, services.scope))
        snapshot = replace(snapshot, twins=tuple(_as_decided(twins, decided) for twins in snapshot.twins))
        reached(1)
        if Phase.PRUNE in options.phases:
            echoes = echoes_of_fading(view, services, snapshot, knobs, options.phases, decided)
            snapshot = replace(snapshot, echoes=echoes)
    reached(2)
    if Phase.CORRECT in options.phases:
        snapshot = replace(snapshot, copies=copies_of_errors(services, snapshot, decided))
    if Phase.BALANCE in options.phases:
        snapshot = replace(snapshot, trials=trials(services, snapshot, knobs))
    reached(3)
    planned = plan(snapshot, knobs, options.phases)
    verdict, skipped = None, tuple[Phase, ...]()
    if options.gate:
        asked = gate_questions(services, snapshot, knobs)
        verdict = judge(asked, planned, knobs)
        while options.drop_failing and verdict.blame is not None:
            skipped = (*skipped, verdict.blame)
            planned = plan(snapshot, knobs, [phase for phase in options.phases if phase not in skipped])
            verdict = judge(asked, planned, knobs)
    reached(4)
    report = dream_report(planned, verdict, tuple(map(str, skipped)))
    if Phase.REPORT in options.phases:
        report = replace(report, upkeep=consolidation_report(services, STALE_DAYS).text)
    reached(5)
    idle = planned.is_empty and not _begins(planned)
    if options.dry_run or idle or (verdict is not None and not verdict.passed):
        reached(_STAGES)
        return DreamResult(at, report)
    change = _commit(services, planned, report, holder)
    try:
        receipt = services.store.apply([replace(change, pack_rest=packed_fields(change.lived))], at=at)
    except Outdated:
        receipt = services.store.apply([change], at=at)
    outcome = receipt.outcomes[0]
    attempt_follow_up(lambda: reached(_STAGES))
    return DreamResult(at, report, outcome.ids[0], outcome.left)


def _as_decided(twins: Twins, decided: Collection[str]) -> Twins:
    """What somebody decided to keep beside another stays, like what is pinned."""
    older, newer = (
        replace(said, kept=said.kept or text_reference(said.memory, said.observation) in decided)
        for said in (twins.older, twins.newer)
    )
    return replace(twins, older=older, newer=newer)


def _begins(planned: Plan) -> bool:
    """Whether a dream that changes nothing has to be kept: the next one goes on from it."""
    snapshot, phases = planned.snapshot, planned.phases
    replays = bool(snapshot.replays) and Phase.CONSOLIDATE in phases
    first_night = Phase.DOWNSCALE in phases and Phase.DOWNSCALE not in snapshot.dreamt_at
    return replays or (first_night and len(snapshot.ids) > 0)


def _commit(services: Services, planned: Plan, report: DreamReport, holder: str | None) -> CommitDream:
    draft = planned.draft
    return CommitDream(
        scope=services.scope,
        through=planned.snapshot.through,
        phases=report.phases,
        report=json.dumps(asdict(report), default=str),
        lived=planned.field_changes(),
        pruned=draft.pruned,
        merged=draft.merged_notes,
        merged_observations=tuple(
            (one.gone.observation, one.into.observation)
            for one in draft.merges
            if one.gone.observation is not None and one.into.observation is not None
        ),
        corrected=tuple(
            (one.gone.memory, one.by) for one in draft.corrections if one.gone.observation is None
        ),
        corrected_observations=tuple(
            (one.gone.observation, one.by) for one in draft.corrections if one.gone.observation is not None
        ),
        links=tuple((link.first, link.second, link.before, link.weight) for link in draft.links),
        temper=None if draft.temper == planned.snapshot.temper else (planned.snapshot.temper, draft.temper),
        holder=holder,
    )
