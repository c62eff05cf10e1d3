"""Tidying up in the same sleep: repeats become one, errors lose their copies, what goes together is tied."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from recollect.dreams.cycle import ARCHIVED, CONSOLIDATED
from recollect.dreams.snapshot import Correction, Draft, DreamState, Life, Link, Merge, Pair, Said
from recollect.text.near_duplicates import repeats_error, same_statement

if TYPE_CHECKING:
    from recollect.dreams.knobs import Knobs


def merge(snapshot: DreamState, knobs: Knobs, draft: Draft) -> Draft:  # noqa: ARG001  # one form for all phases
    """Near-twins that say the same become one. Nearness alone is not enough: facts of one sort are near."""
    gone = set(draft.gone)
    merges = []
    taken: set[tuple[int, int | None]] = set()
    for twins in sorted(snapshot.twins, key=lambda pair: (-pair.similarity, *_place(pair.older))):
        into, lost = _survivor(twins.older, twins.newer)
        if {_place(into), _place(lost)} & taken or {into.memory, lost.memory} & gone or lost.kept:
            continue
        if same_statement(into.text, lost.text):
            merges.append(Merge(lost, into, twins.similarity))
            taken.add(_place(lost))
    return replace(draft, life=_taken_over(snapshot, draft.life, merges), merges=tuple(merges))


def _taken_over(snapshot: DreamState, life: Life, merges: Sequence[Merge]) -> Life:
    """Whoever lives on is no weaker than whom it speaks for, and archived only if both are."""
    consolidation = life.consolidation.copy()
    columns = {name: getattr(life, name).copy() for name in ("strength", "depth", "spread", "stability")}
    for one in merges:
        gone, into = snapshot.place(one.gone.memory), snapshot.place(one.into.memory)
        if gone is None or into is None or gone == into:
            continue
        for column in columns.values():
            column[into] = max(column[into], column[gone])
        if consolidation[into] == ARCHIVED:
            consolidation[into] = max(CONSOLIDATED, consolidation[gone])
    return Life(consolidation=consolidation, **columns)


def correct(snapshot: DreamState, knobs: Knobs, draft: Draft) -> Draft:  # noqa: ARG001
    """An error that was corrected must not live on in a copy that came later, or was overlooked."""
    gone = {
        *((id_, None) for id_ in draft.gone),
        *((_place(one.gone)) for one in draft.merges),
    }
    found: dict[tuple[int, int | None], Correction] = {}
    for copy in snapshot.copies:
        where = _place(copy.place)
        if where in gone or where in found or copy.place.kept or copy.place.memory == copy.by:
            continue
        if (copy.by, None) in gone or (copy.by, None) in found:
            continue  # nobody would be left to speak for it
        if repeats_error(copy.wrong, copy.right, copy.said, copy.cosine):
            found[where] = Correction(copy.place, copy.by)
    return replace(draft, corrections=tuple(found.values()))


def link(snapshot: DreamState, knobs: Knobs, draft: Draft) -> Draft:
    """Memories that keep coming up together are linked; the more often, the more firmly."""
    gone = draft.gone
    links = [
        Link(pair.first, pair.second, pair.count, before)
        for pair in snapshot.together
        if pair.count >= knobs.link_together
        and pair.count >= knobs.link_share * _uses(snapshot, pair)
        and pair.first not in gone
        and pair.second not in gone
        and (before := snapshot.linked.get((pair.first, pair.second), 0)) < pair.count
    ]
    return replace(draft, links=tuple(links))


def _uses(snapshot: DreamState, pair: Pair) -> int:
    """How often the one that is used more was seen."""
    places = (snapshot.place(pair.first), snapshot.place(pair.second))
    return max(int(snapshot.accesses[place]) for place in places if place is not None)


def _place(said: Said) -> tuple[int, int | None]:
    return said.memory, said.observation


def _survivor(older: Said, newer: Said) -> tuple[Said, Said]:
    """What is pinned or marked stays, else what is used more, else the older."""
    ranks = [(one.kept, one.accesses) for one in (older, newer)]
    return (newer, older) if ranks[1] > ranks[0] else (older, newer)
