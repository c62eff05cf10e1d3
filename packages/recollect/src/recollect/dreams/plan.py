"""The plan of a dream: drafts by phase, the gate that tests them, and the report."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from recollect.domain.changes import FieldChanges
from recollect.domain.json_values import Record
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.records import Consolidation, Query
from recollect.dreams import phases
from recollect.dreams.knobs import Knobs, Phase
from recollect.dreams.phases import ARCHIVED, CONSOLIDATED, STAGED
from recollect.dreams.snapshot import FIELDS, Draft, DreamState
from recollect.ranking.candidates import DAY, Candidates, Profile, Source, run
from recollect.ranking.factors import DepthWeight, Spread, Stability, Strength

if TYPE_CHECKING:
    from recollect.ranking.candidates import Flags, Floats, Ints

    Step = Callable[[DreamState, Knobs, Draft], Draft]


# The gate tests whether past questions would still find the same memories after a dream.

# Fields that dreams write, and the ranking factors that read them.
_TRACES = ("strength", "depth", "spread", "stability")
_TRACE_FACTORS = (Strength, DepthWeight, Spread, Stability)


@dataclass(frozen=True, slots=True)
class GateQuestion:
    """A question, its candidates, and the memories that must be among its hits."""

    query: str
    profile: Profile
    wanted: tuple[int, ...]
    candidates: Candidates
    moment: Query
    made: bool = False
    """Whether it was made from a memory's own words, not asked by a user."""


@dataclass(frozen=True, slots=True)
class LostHit:
    """A memory that a question finds now and would not find after the dream."""

    query: str
    memory: int
    phase: Phase
    """The phase after which it is lost."""


@dataclass(frozen=True, slots=True)
class Verdict:
    questions: int
    made: int
    """Questions made from memories, not asked by users."""
    before: float
    """Share of the wanted memories among the first hits now."""
    after: float
    losses: tuple[LostHit, ...]
    blame: Phase | None
    """The phase that loses more than the margin; None if the plan passes."""

    @property
    def has_passed(self) -> bool:
        return self.blame is None


def judge_plan(asked: Sequence[GateQuestion], plan: Plan, knobs: Knobs) -> Verdict:
    """Ask all questions of the current state and of the draft after each phase."""
    now = [_find_wanted(one, None, plan.snapshot) for one in asked]
    before = after = _share(asked, now)
    losses: dict[tuple[int, int], LostHit] = {}
    costly: list[Phase] = []
    then, last = now, Draft.of(plan.snapshot)
    for phase, draft in plan.drafts.items():
        # Few phases change fields that the ranking reads, so few questions must be ranked again.
        traces = any(
            not np.array_equal(getattr(last.life, name), getattr(draft.life, name)) for name in _TRACES
        )
        gone = {id_ for id_, _ in last.gone.items() ^ draft.gone.items()}
        then = [
            _find_wanted(one, draft, plan.snapshot)
            if (traces and _reads_traces(one.profile)) or gone & {*one.wanted, *one.candidates.ids.tolist()}
            else found
            for one, found in zip(asked, then, strict=True)
        ]
        last = draft
        for place, one in enumerate(asked):
            for memory in sorted(now[place] - then[place]):
                losses.setdefault((place, memory), LostHit(one.query, memory, phase))
        after = _share(asked, then)
        if before - after > knobs.gate_margin:
            costly.append(phase)
    # A later phase may restore a loss, so only the final state counts. The first costly phase is blamed.
    lost = tuple(loss for (place, memory), loss in losses.items() if memory not in then[place])
    blame = costly[0] if before - after > knobs.gate_margin else None
    return Verdict(len(asked), sum(one.made for one in asked), before, after, lost, blame)


def _share(asked: Iterable[GateQuestion], found: Iterable[frozenset[int]]) -> float:
    """Return the share of wanted memories that were found, as the mean over all questions."""
    shares = [len(one) / len(question.wanted) for question, one in zip(asked, found, strict=True)]
    return float(np.mean(shares)) if shares else 1.0


def _reads_traces(profile: Profile) -> bool:
    """Return whether a ranking reads fields that dreams write."""
    factors = (getattr(step, "factor", None) for step in profile.steps)
    return any(isinstance(factor, _TRACE_FACTORS) for factor in factors)


def answers(asked: GateQuestion, draft: Draft | None, snapshot: DreamState) -> list[int]:
    """Return the ids of a question's hits, best first: now, or after the dream if there is a draft."""
    candidates = asked.candidates if draft is None else _after_dream(asked.candidates, draft, snapshot)
    ids: list[int] = run(asked.profile, candidates, asked.moment).ids.tolist()
    return ids


def _find_wanted(asked: GateQuestion, draft: Draft | None, snapshot: DreamState) -> frozenset[int]:
    """Return the wanted memories that are hits, or whose survivor is a hit."""
    shown = set(answers(asked, draft, snapshot))
    gone = {} if draft is None else draft.gone
    return frozenset(id_ for id_ in asked.wanted if gone.get(id_, id_) in shown)


def _after_dream(candidates: Candidates, draft: Draft, snapshot: DreamState) -> Candidates:
    gone = draft.gone
    left = candidates.at(np.array([id_ not in gone for id_ in candidates.ids.tolist()], bool))
    ids = left.facts.ids
    rows = np.minimum(np.searchsorted(snapshot.ids, ids), max(len(snapshot.ids) - 1, 0))
    known = snapshot.ids[rows] == ids if len(snapshot.ids) else np.zeros(len(ids), bool)

    columns = {
        name: np.where(known, getattr(draft.life, name)[rows], getattr(left.facts, name)) for name in _TRACES
    }
    facts = replace(left.facts, **columns)
    return replace(
        left, facts=facts, sources={name: _close_gaps(each) for name, each in left.sources.items()}
    )


def _close_gaps(source: Source) -> Source:
    rank = np.zeros_like(source.rank)
    found = np.flatnonzero(source.found)
    order = found[np.argsort(source.rank[found], kind="stable")]
    rank[order] = np.arange(1, len(order) + 1)
    return Source(rank, source.score)


STEPS: Mapping[Phase, Step] = {
    Phase.CONSOLIDATE: phases.consolidate,
    Phase.DOWNSCALE: phases.downscale,
    Phase.MERGE: phases.merge,
    Phase.CORRECT: phases.correct,
    Phase.PRUNE: phases.prune,
    Phase.PLACE: phases.place,
    Phase.PROMOTE: phases.promote,
    Phase.LINK: phases.link,
}


@dataclass(frozen=True, slots=True)
class Plan:
    snapshot: DreamState
    drafts: Mapping[Phase, Draft]
    """The draft after each phase, in the order of the phases."""

    @property
    def draft(self) -> Draft:
        return [Draft.of(self.snapshot), *self.drafts.values()][-1]

    @property
    def phases(self) -> tuple[Phase, ...]:
        return tuple(self.drafts)

    def field_changes(self) -> tuple[FieldChanges, ...]:
        """Return the changes by field. Those of removed memories are left out, so undo restores them."""
        stages = np.array([str(stage) for stage in Consolidation])
        ids, draft = self.snapshot.ids, self.draft
        stays = ~np.isin(ids, list(draft.gone))
        found = []
        for field in FIELDS:
            before, after = getattr(self.snapshot.life, field), getattr(draft.life, field)
            rows = np.flatnonzero(stays & (before != after))
            if field == "consolidation":
                before, after = stages[before], stages[after]
            if len(rows):
                columns = [tuple(column[rows].tolist()) for column in (ids, before, after)]
                found.append(FieldChanges(field, *columns))
        return tuple(found)

    @property
    def is_empty(self) -> bool:
        draft = self.draft
        return not (draft.pruned or draft.merges or draft.corrections or draft.links or self.field_changes())


def plan(snapshot: DreamState, knobs: Knobs, phases: Collection[Phase] = tuple(Phase)) -> Plan:
    draft = Draft.of(snapshot)
    drafts = {}
    for phase, step in STEPS.items():
        if phase in phases:
            draft = step(snapshot, knobs, draft)
            drafts[phase] = draft
    return Plan(snapshot, drafts)


# The report of a dream, in numbers and ids; stored with it.

_SHOWN = 10


@dataclass(frozen=True, slots=True)
class ValueChange:
    id: int
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class DreamReport(Record):
    """The changes of a dream, in numbers and ids."""

    memories: int
    """Number of memories that the dream read."""
    answers: int
    """Number of answers since the last dream, which were replayed."""
    days: float | None
    """Days since the last dream; None for the first."""
    phases: tuple[str, ...]
    stronger: int
    strongest: tuple[ValueChange, ...]
    """The largest gains of strength."""
    faded: int
    weakest: tuple[ValueChange, ...]
    """The largest losses of strength."""
    stabler: int
    stablest: tuple[ValueChange, ...]
    consolidated: int
    archived: int
    revived: int
    """Number of archived memories that are in use again."""
    deeper: tuple[ValueChange, ...]
    interleaved: int
    """Number of old memories that were replayed together with new ones."""
    pruned: tuple[int, ...]
    unique: int
    """Number of memories that are stale, but stay because no other memory says the same."""
    merged: tuple[tuple[int, int], ...]
    """Notes, each with its survivor."""
    merged_observations: tuple[tuple[int, int, int], ...]
    """The entity, the removed observation, and its survivor."""
    corrected: tuple[tuple[int, int], ...]
    """Memories with a copy of an error, each with its correction."""
    linked: tuple[tuple[int, int, int], ...]
    """Two memories, and the number of answers that showed both; the most frequent pairs."""
    links: int
    gate: Verdict | None = None
    """The result of the gate, if it was on."""
    skipped: tuple[str, ...] = ()
    """Phases that were left out because past questions would have found fewer memories."""
    upkeep: str | None = None
    """The consolidation report."""


def dream_report(plan: Plan, verdict: Verdict | None = None, skipped: tuple[str, ...] = ()) -> DreamReport:
    snapshot, draft = plan.snapshot, plan.draft
    before, after = snapshot.life, draft.life
    # The fields of removed memories do not change.
    stays = ~np.isin(snapshot.ids, list(draft.gone))
    moved = stays & (before.consolidation != after.consolidation)
    rises, falls = stays & (after.strength > before.strength), stays & (after.strength < before.strength)
    steadier = stays & (after.stability > before.stability)
    deeper = stays & (after.depth > before.depth)

    def top(flags: Flags, old: Floats | Ints, new: Floats | Ints) -> tuple[ValueChange, ...]:
        rows = np.flatnonzero(flags)
        # The stable sort keeps ids ascending among equal changes.
        first = rows[np.argsort(-np.abs(new[rows] - old[rows]), kind="stable")[:_SHOWN]]
        return tuple(ValueChange(int(snapshot.ids[row]), old[row].item(), new[row].item()) for row in first)

    return DreamReport(
        memories=len(snapshot.ids),
        answers=len(snapshot.replays),
        days=None if snapshot.last_at is None else (snapshot.at - snapshot.last_at) / DAY,
        phases=tuple(map(str, plan.phases)),
        stronger=int(rises.sum()),
        strongest=top(rises, before.strength, after.strength),
        faded=int(falls.sum()),
        weakest=top(falls, before.strength, after.strength),
        stabler=int(steadier.sum()),
        stablest=top(steadier, before.stability, after.stability),
        consolidated=int((moved & (before.consolidation == STAGED)).sum()),
        archived=int((moved & (after.consolidation == ARCHIVED)).sum()),
        revived=int(
            (moved & (before.consolidation == ARCHIVED) & (after.consolidation == CONSOLIDATED)).sum()
        ),
        deeper=top(deeper, before.depth, after.depth),
        interleaved=len(draft.interleaved),
        pruned=draft.pruned,
        unique=len(draft.unique),
        merged=draft.merged_notes,
        merged_observations=tuple(
            (one.gone.memory, one.gone.observation, one.into.observation or 0)
            for one in draft.merges
            if one.gone.observation is not None
        ),
        corrected=tuple((one.gone.memory, one.by) for one in draft.corrections),
        linked=tuple(
            (link.first, link.second, link.weight)
            for link in sorted(draft.links, key=lambda link: (-link.weight, link.first, link.second))[:_SHOWN]
        ),
        links=len(draft.links),
        gate=verdict,
        skipped=skipped,
    )
