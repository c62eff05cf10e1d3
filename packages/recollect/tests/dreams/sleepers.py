"""Small snapshots to dream of: one row for each memory, turned into the columns that a dream reads."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from recollect.domain.records import Consolidation, Kind, Query
from recollect.dreams.knobs import Phase
from recollect.dreams.plan import GateQuestion
from recollect.dreams.snapshot import DreamState, Life, ReplayedAnswer
from recollect.ranking.candidates import DAY, HOUR, NEVER, Candidates, Facts, Source
from recollect.ranking.profiles import REVERIE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.dreams.snapshot import Draft, DreamText

TODAY = 20_000
"""In days since 1970."""
AT = TODAY * DAY + 12 * HOUR
KINDS = tuple(Kind)
STAGES = tuple(Consolidation)


@dataclass(frozen=True, slots=True)
class Row:
    """One memory. Times are days ago."""

    id: int
    kind: Kind = Kind.NOTE
    created: float = 400.0
    touched: float | None = None
    """Days since the last change (default: since its creation)."""
    accesses: int = 0
    revisions: int = 0
    kept: bool = False
    sessions: int | None = None
    """Number of sessions (default: its spread)."""
    stage: Consolidation = Consolidation.CONSOLIDATED
    strength: float = 1.0
    depth: int = 2
    spread: int = 1
    stability: float = 1.0


def snapshot(rows: Sequence[Row], *, last: float | None = 0.0, **more: Any) -> DreamState:
    """A dream's view of these rows, by ascending id. `last` is the age of the last dream in days."""

    def column(name: str, kind: Any = np.int64) -> np.ndarray:
        return np.array([getattr(row, name) for row in rows], kind)

    return DreamState(
        at=AT,
        # Of pruning a moment earlier: at the same moment there is nothing left to prune.
        dreamt_at={}
        if last is None
        else {phase: ago(last) - (phase is Phase.PRUNE) for phase in Phase if phase is not Phase.REPORT},
        through=0,
        ids=column("id"),
        kind=ints(*(KINDS.index(row.kind) for row in rows)),
        created_at=ints(*(ago(row.created) for row in rows)),
        changed_at=ints(*(ago(row.created) for row in rows)),
        touched_at=ints(*(ago(row.created if row.touched is None else row.touched) for row in rows)),
        accesses=column("accesses"),
        revisions=column("revisions"),
        kept=column("kept", bool),
        sessions=ints(*(row.sessions or row.spread for row in rows)),
        life=Life(
            consolidation=ints(*(STAGES.index(row.stage) for row in rows)),
            strength=column("strength", np.float64),
            depth=column("depth"),
            spread=column("spread"),
            stability=column("stability", np.float64),
        ),
        **more,
    )


def answer_shown(hours: float, *rows: int) -> ReplayedAnswer:
    """An answer given `hours` ago that showed the memories at these places."""
    return ReplayedAnswer(AT - round(hours * HOUR), rows)


def ago(days: float) -> int:
    return AT - round(days * DAY)


def strengths(draft: Draft) -> list[float]:
    numbers: list[float] = draft.life.strength.tolist()
    return numbers


def stages(draft: Draft) -> list[Consolidation]:
    return [STAGES[stage] for stage in draft.life.consolidation.tolist()]


def state_after_dream(before: DreamState, draft: Draft) -> DreamState:
    """The store after a dream, at the same moment: nothing was recalled since."""
    return replace(
        before,
        life=draft.life,
        dreamt_at=dict.fromkeys(Phase, before.at),
        replays=(),
        used_on={},
        seen_before={},
    )


def after(before: DreamState, draft: Draft) -> DreamState:
    """The state after a draft: without removed memories, with new links."""
    told = state_after_dream(before, draft)
    gone = {place(one.gone) for one in draft.merges} | {place(one.gone) for one in draft.corrections}
    stay = np.array([id_ not in draft.gone for id_ in told.ids.tolist()], bool)
    moved = {old: new for new, old in enumerate(np.flatnonzero(stay).tolist())}

    def there(*said: DreamText) -> bool:
        return all(place(one) not in gone and one.memory not in draft.gone for one in said)

    columns = ("ids", "kind", "created_at", "touched_at", "accesses", "revisions", "kept", "sessions")
    life = Life(**{each.name: getattr(told.life, each.name)[stay] for each in fields(told.life)})
    return replace(
        told,
        **{name: getattr(told, name)[stay] for name in columns},
        life=life,
        echoes={
            moved[row]: tuple(echo for echo in echoes if echo.memory not in draft.gone)
            for row, echoes in told.echoes.items()
            if row in moved
        },
        twins=tuple(twins for twins in told.twins if there(twins.older, twins.newer)),
        copies=tuple(copy for copy in told.copies if there(copy.place) and copy.by not in draft.gone),
        together=tuple(pair for pair in told.together if not {pair.first, pair.second} & draft.gone.keys()),
        linked={**told.linked, **{(link.first, link.second): link.weight for link in draft.links}},
    )


def place(said: DreamText) -> tuple[int, int | None]:
    return said.memory, said.observation


def ints(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int64)


def make_question(
    wanted: tuple[int, ...], ids: Sequence[int] = (1, 2, 3, 4), *, top: int = 2, made: bool = False
) -> GateQuestion:
    """A question for which word search finds these memories, best first, and shows some of them."""
    known = sorted(ids)
    size = len(known)
    # Columns that these questions do not depend on are 0.
    columns: dict[str, Any] = {name: np.zeros(size, np.int64) for name in Facts.__slots__}
    columns |= dict.fromkeys(("ids", "content", "origin"), ints(*known))
    columns |= dict.fromkeys(("happened_at", "last_access"), np.full(size, NEVER))
    columns |= dict.fromkeys(("importance", "strength", "stability", "informativeness"), np.full(size, 1.0))
    columns |= dict.fromkeys(("echo", "named", "asks"), np.zeros(size, bool))
    columns |= {"depth": np.full(size, 2), "spread": np.full(size, 1), "metadata_share": np.zeros(size)}
    facts = Facts(**columns)
    rank = ints(*(list(ids).index(id_) + 1 for id_ in known))
    candidates = Candidates(facts, {"words": Source(rank, 1.0 / rank)}, np.zeros(size))
    moment = Query("tea", now=AT, limit=top, limit_given=True)
    return GateQuestion("tea", REVERIE, wanted, candidates, moment, made)
