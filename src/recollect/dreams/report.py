"""What a dream did, in numbers and ids: kept with it, and shown to people."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recollect.dreams.phases import ARCHIVED, CONSOLIDATED, STAGED
from recollect.lazy_dataclass import dataclass
from recollect.ranking.candidates import DAY

if TYPE_CHECKING:
    from recollect.dreams.gate import Verdict
    from recollect.dreams.plan import Plan
    from recollect.ranking.candidates import Flags, Floats, Ints

_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Moved:
    """A memory whose number changed."""

    id: int
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class DreamReport:
    memories: int
    """How many were looked at."""
    answers: int
    """How many answers since the last dream were replayed."""
    days: float | None
    """Since the last dream; None: this is the first."""
    phases: tuple[str, ...]
    stronger: int
    strongest: tuple[Moved, ...]
    """Those of them that gained the most strength."""
    faded: int
    weakest: tuple[Moved, ...]
    """Those that lost the most."""
    stabler: int
    stablest: tuple[Moved, ...]
    consolidated: int
    archived: int
    revived: int
    """Archived before, and in use again."""
    deeper: tuple[Moved, ...]
    temper: float
    """The power to which rankings take the traces, so that nobody finds less; 1: as they are."""
    interleaved: int
    """Old memories that were replayed beside new ones."""
    pruned: tuple[int, ...]
    unique: int
    """Stale enough to be pruned, and kept since nothing else says it."""
    merged: tuple[tuple[int, int], ...]
    """Notes, each with the one that it lives on in."""
    merged_observations: tuple[tuple[int, int, int], ...]
    """The entity, the observation that is gone, and the one that says it."""
    corrected: tuple[tuple[int, int], ...]
    """Memories with a copy of an error, each with the one that corrects it."""
    linked: tuple[tuple[int, int, int], ...]
    """Two memories, and in how many answers they stood together; those the most often."""
    links: int
    gate: Verdict | None = None
    """None: it was not asked."""
    skipped: tuple[str, ...] = ()
    """Phases that were left out, since they would have lost what people find."""
    upkeep: str | None = None
    """The consolidation report."""


def dream_report(plan: Plan, verdict: Verdict | None = None, skipped: tuple[str, ...] = ()) -> DreamReport:
    snapshot, draft = plan.snapshot, plan.draft
    before, after = snapshot.life, draft.life
    # What goes, goes as it was: its fields are not written.
    stays = ~np.isin(snapshot.ids, list(draft.gone))
    moved = stays & (before.consolidation != after.consolidation)
    rises, falls = stays & (after.strength > before.strength), stays & (after.strength < before.strength)
    steadier = stays & (after.stability > before.stability)
    deeper = stays & (after.depth > before.depth)

    def top(flags: Flags, old: Floats | Ints, new: Floats | Ints) -> tuple[Moved, ...]:
        rows = np.flatnonzero(flags)
        # Ties by id: ids ascend, and the order of equals stays.
        first = rows[np.argsort(-np.abs(new[rows] - old[rows]), kind="stable")[:_SHOWN]]
        return tuple(Moved(int(snapshot.ids[row]), old[row].item(), new[row].item()) for row in first)

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
        temper=draft.temper,
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
