"""The whole dream: a snapshot through the phases, and what each of them would change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recollect.dreams import cycle, hygiene
from recollect.dreams.balance import balance
from recollect.dreams.draft import Draft
from recollect.dreams.knobs import Phase
from recollect.dreams.snapshot import FIELDS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from recollect.dreams.knobs import Knobs
    from recollect.dreams.snapshot import DreamState

    Step = Callable[[DreamState, Knobs, Draft], Draft]

STEPS: Mapping[Phase, Step] = {
    Phase.CONSOLIDATE: cycle.consolidate,
    Phase.DOWNSCALE: cycle.downscale,
    Phase.MERGE: hygiene.merge,
    Phase.CORRECT: hygiene.correct,
    Phase.PRUNE: cycle.prune,
    Phase.PLACE: cycle.place,
    Phase.PROMOTE: cycle.promote,
    Phase.BALANCE: balance,
    Phase.LINK: hygiene.link,
}


@dataclass(frozen=True, slots=True)
class Turned:
    """One field of one memory, before and after."""

    id: int
    field: str
    before: float
    after: float


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

    def until(self, phase: Phase) -> Plan:
        """The same dream, broken off after a phase."""
        drafts = dict(self.drafts)
        for each in reversed(tuple(drafts)):
            if each is phase:
                break
            del drafts[each]
        return Plan(self.snapshot, drafts)

    def turned(self) -> tuple[Turned, ...]:
        """Every field that changes, by field and id."""
        life, draft = self.snapshot.life, self.draft.life
        found = []
        for field in FIELDS:
            before, after = getattr(life, field), getattr(draft, field)
            rows = np.flatnonzero(before != after)
            found += [
                Turned(*each)
                for each in zip(
                    self.snapshot.ids[rows].tolist(),
                    [field] * len(rows),
                    before[rows].tolist(),
                    after[rows].tolist(),
                    strict=True,
                )
            ]
        return tuple(found)

    @property
    def is_empty(self) -> bool:
        draft = self.draft
        if draft.temper != self.snapshot.temper:
            return False
        return not (self.turned() or draft.pruned or draft.merges or draft.corrections or draft.links)


def plan(snapshot: DreamState, knobs: Knobs, phases: Collection[Phase] = tuple(Phase)) -> Plan:
    """Dream these phases, in their own order."""
    draft = Draft.of(snapshot)
    drafts = {}
    for phase, step in STEPS.items():
        if phase in phases:
            draft = step(snapshot, knobs, draft)
            drafts[phase] = draft
    return Plan(snapshot, drafts)
