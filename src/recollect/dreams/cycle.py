"""The published cycle, phase by phase: consolidate, downscale, prune, place, promote."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from recollect.dreams.knobs import Knobs, Phase
from recollect.dreams.scores import (
    downscaled,
    is_archival,
    is_faded,
    recalled_on,
    replay_delta,
    signal,
    staleness,
)
from recollect.ranking.candidates import DAY
from recollect.records import Consolidation
from recollect.sampling import hash_number, sample_ids

if TYPE_CHECKING:
    from recollect.dreams.snapshot import Draft, DreamState

STAGED, CONSOLIDATED, ARCHIVED = range(len(Consolidation))
_DEEPEST = 3


def consolidate(snapshot: DreamState, knobs: Knobs, draft: Draft) -> Draft:
    """Replay what was recalled since the last dream: it grows stronger, and more stable where it was spaced.

    Beside each new memory an old one is replayed, so that learning the new does not wear out the old.
    """
    peers: dict[int, set[int]] = {}
    latest: dict[int, int] = {}
    for replay in snapshot.replays:
        for row in replay.rows:
            peers.setdefault(row, set()).update(replay.rows)
            latest[row] = max(replay.at, latest.get(row, replay.at))
    pairs = tuple(_interleaved(snapshot, peers))
    strength = snapshot.life.strength.copy()
    for row, others in peers.items():
        delta = replay_delta(len(others) - 1, snapshot.at - latest[row], knobs.max_delta)
        strength[row] = min(1.0, strength[row] + delta)
    for _, old in pairs:
        # It was recalled with nobody: its one peer is the new memory that it is replayed beside.
        delta = replay_delta(1, snapshot.at - int(snapshot.touched_at[old]), knobs.max_delta)
        strength[old] = min(1.0, strength[old] + delta)
    stability = snapshot.life.stability.copy()
    for row, days in snapshot.used_on.items():
        before = snapshot.seen_before.get(row, int(snapshot.created_at[row]) // DAY)
        stability[row] = recalled_on(float(stability[row]), before, days)
    spread = np.maximum(snapshot.life.spread, snapshot.sessions)
    replayed = draft.replayed.copy()
    replayed[[*peers, *(old for _, old in pairs)]] = True
    life = replace(draft.life, strength=strength, stability=stability, spread=spread)
    return replace(draft, life=life, replayed=replayed, interleaved=pairs)


def downscale(snapshot: DreamState, knobs: Knobs, draft: Draft) -> Draft:
    """Everything fades a little; what is pinned or marked does not."""
    return replace(draft, life=replace(draft.life, strength=downscaled(snapshot, draft.life.strength, knobs)))


def prune(snapshot: DreamState, knobs: Knobs, draft: Draft) -> Draft:
    """Forget, reversibly, what is stale, weak and of no use; but only what something else says, too."""
    if snapshot.dreamt_at.get(Phase.PRUNE) == snapshot.at:
        return draft  # two dreams at one moment are one
    pruned: list[int] = []
    echoed_by: dict[int, int] = {}
    # Of several that say the same, and are all fading, the one used last stays; and since those that stay do
    # not echo one another, the next dream finds no more to prune.
    unique: set[int] = set()
    all_faded = set(snapshot.ids[is_faded(snapshot, draft.life.strength, knobs, snapshot.at)].tolist())
    gone = draft.gone
    for row in reversed(fading(snapshot, knobs, draft)):
        id_ = int(snapshot.ids[row])
        if id_ in gone:
            continue
        near = (echo.memory for echo in snapshot.echoes.get(row, ()) if echo.cosine >= knobs.prune_echo)
        there = (other for other in near if other not in gone)
        echo = next((other for other in there if other not in all_faded or other in unique), None)
        if echo is None and knobs.prune_echo:
            unique.add(id_)
            continue
        pruned.append(id_)
        if echo is not None:
            echoed_by[id_] = echo
    return replace(draft, pruned=tuple(sorted(pruned)), echoed_by=echoed_by, unique=tuple(sorted(unique)))


def fading(snapshot: DreamState, knobs: Knobs, draft: Draft) -> list[int]:
    """Places of what the published conditions would prune, the stalest first.

    Of very many, some at random: those that nothing else says stay, and would stand in the way of the others.
    """
    rows = np.flatnonzero(is_faded(snapshot, draft.life.strength, knobs, snapshot.at))
    if len(rows) > knobs.prune_most:
        sampled = sample_ids(snapshot.ids[rows].tolist(), snapshot.at, knobs.prune_most)
        rows = np.searchsorted(snapshot.ids, sorted(sampled))
    order = np.argsort(-staleness(snapshot, knobs, snapshot.at)[rows], kind="stable")
    faded: list[int] = rows[order].tolist()
    return faded


def place(snapshot: DreamState, knobs: Knobs, draft: Draft) -> Draft:
    """Staged to consolidated after a replay or a day; to archived what is very stale and weak.

    What is archived and then recalled has to be settled anew: it is consolidated again.
    """
    stage = draft.life.consolidation.copy()
    settled = draft.replayed | ((snapshot.at - snapshot.created_at) / DAY >= knobs.place_days)
    stage[(stage == STAGED) & settled] = CONSOLIDATED
    old = is_archival(snapshot, draft.life.strength, knobs, snapshot.at)
    stage[(stage == CONSOLIDATED) & old] = ARCHIVED
    fresh = staleness(snapshot, knobs, snapshot.at) <= knobs.archive_staleness
    stage[(stage == ARCHIVED) & fresh] = CONSOLIDATED
    return replace(draft, life=replace(draft.life, consolidation=stage))


def promote(snapshot: DreamState, knobs: Knobs, draft: Draft) -> Draft:
    """One depth more for what is used often and in several sessions.

    Only if it was used since the last promotion: two dreams at one moment would promote twice.
    """
    shown = {row for replay in snapshot.replays for row in replay.rows}
    used = np.zeros(len(snapshot.ids), bool)
    used[sorted(shown if snapshot.used is None else snapshot.used)] = True
    worthy = (
        used
        & (signal(snapshot, knobs, snapshot.at) >= knobs.promote_signal)
        & (draft.life.spread >= knobs.promote_spread)
    )
    depth = np.where(worthy, np.minimum(draft.life.depth + 1, _DEEPEST), draft.life.depth)
    return replace(draft, life=replace(draft.life, depth=depth))


def _interleaved(snapshot: DreamState, recalled: Iterable[int]) -> Iterable[tuple[int, int]]:
    """Each new memory that was recalled, with an old one that was not; over the nights, every old one comes.

    Which one is chance that anyone can repeat: the order of a hash of its id and the dream's time.
    """
    stage, taken = snapshot.life.consolidation, set(recalled)
    new = [row for row in sorted(taken) if stage[row] == STAGED]
    if not new:
        return []
    old = [row for row in np.flatnonzero(stage != STAGED).tolist() if row not in taken]
    old.sort(key=lambda row: hash_number(snapshot.at, int(snapshot.ids[row])))
    return zip(new, old, strict=False)
