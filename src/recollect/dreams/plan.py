"""The whole dream: a snapshot through the phases, and what each of them would change."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING

import numpy as np

from recollect.changes import FieldChanges
from recollect.dreams import phases
from recollect.dreams.gate import balance
from recollect.dreams.knobs import Knobs, Phase
from recollect.dreams.snapshot import FIELDS, Draft, DreamState
from recollect.lazy_dataclass import dataclass
from recollect.records import Consolidation

if TYPE_CHECKING:
    Step = Callable[[DreamState, Knobs, Draft], Draft]

STEPS: Mapping[Phase, Step] = {
    Phase.CONSOLIDATE: phases.consolidate,
    Phase.DOWNSCALE: phases.downscale,
    Phase.MERGE: phases.merge,
    Phase.CORRECT: phases.correct,
    Phase.PRUNE: phases.prune,
    Phase.PLACE: phases.place,
    Phase.PROMOTE: phases.promote,
    Phase.BALANCE: balance,
    Phase.LINK: phases.link,
}


@dataclass(frozen=True, slots=True)
class Plan:
    snapshot: DreamState
    drafts: Mapping[Phase, Draft]
    """The draft after each phase that was dreamt, in order."""

    @property
    def draft(self) -> Draft:
        """After all of them."""
        return [Draft.of(self.snapshot), *self.drafts.values()][-1]

    @property
    def phases(self) -> tuple[Phase, ...]:
        return tuple(self.drafts)

    def field_changes(self) -> tuple[FieldChanges, ...]:
        """By field, what changes on memories that stay. What goes is left as it is, to return so."""
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
        decided = draft.pruned or draft.merges or draft.corrections or draft.links
        return draft.temper == self.snapshot.temper and not (decided or self.field_changes())


def plan(snapshot: DreamState, knobs: Knobs, phases: Collection[Phase] = tuple(Phase)) -> Plan:
    """Dream these phases, in their own order."""
    draft = Draft.of(snapshot)
    drafts = {}
    for phase, step in STEPS.items():
        if phase in phases:
            draft = step(snapshot, knobs, draft)
            drafts[phase] = draft
    return Plan(snapshot, drafts)
