"""The phases of a dream: functions from a state and a draft to a new draft."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from recollect.domain.numbers import sample_ids
from recollect.domain.records import Consolidation
from recollect.dreams.knobs import Knobs, Phase
from recollect.dreams.snapshot import Correction, Draft, DreamState, DreamText, Life, Link, Merge, Pair
from recollect.ranking.candidates import DAY, HOUR
from recollect.text.near_duplicates import repeats_error, same_statement

if TYPE_CHECKING:
    from recollect.ranking.candidates import Flags, Floats


# Formulas. Sources: the ADR of Reverie's dream cycle, and FSRS v4 for stability.

_WEEK = 7 * DAY
_MOST_STABLE = 36_500.0  # days: a hundred years, as in FSRS

# FSRS v4: weights of a successful recall, and the difficulty after a first good answer.
_W8, _W9, _W10 = 1.49, 0.14, 0.94
_DIFFICULTY = 4.93
_SLOWNESS = 9.0


def replay_delta(peers: int, age_us: int, max_delta: float) -> float:
    """Return max * (1 / (1 + age in hours)) * ln(1 + peers), within [0, max]."""
    recency = 1.0 / (1.0 + max(age_us, 0) / HOUR)
    return float(np.clip(max_delta * recency * np.log1p(peers), 0.0, max_delta))


def staleness(snapshot: DreamState, knobs: Knobs, at: int) -> Floats:
    """Return days since the last touch, times the decay of the kind."""
    days = np.maximum(at - snapshot.touched_at, 0) / DAY
    decay: Floats = np.array(knobs.decay.column())[snapshot.kind]
    return days * decay


def signal(snapshot: DreamState, knobs: Knobs, at: int) -> Floats:
    """Return accesses per week times revisions, at least 1, times the weight of its kind.

    A memory younger than a week counts as a week old: two accesses in an hour are not 336 a week.
    """
    weeks = np.maximum((at - snapshot.created_at) / _WEEK, 1.0)
    weight: Floats = np.array(knobs.weight.column())[snapshot.kind]
    return snapshot.accesses / weeks * np.maximum(snapshot.revisions, 1) * weight


def share_left(days: Floats | float, stability: Floats | float) -> Floats:
    """Return the share of a memory left after t days: R = 1 / (1 + t / (9 S))."""
    left: Floats = 1.0 / (1.0 + np.maximum(days, 0.0) / (_SLOWNESS * stability))
    return left


def stability_after_recall(stability: float, days: float) -> float:
    """Return the stability after a recall that came `days` after the one before.

    S' = S * (1 + e^w8 * (11 - D) * S^-w9 * (e^(w10 * (1 - R)) - 1))

    A recall helps more after a longer pause; a second one on the same day adds nothing.
    """
    lost = 1.0 - share_left(days, stability)
    gain = np.exp(_W8) * (11.0 - _DIFFICULTY) * stability**-_W9 * np.expm1(_W10 * lost)
    return float(min(stability * (1.0 + gain), max(_MOST_STABLE, stability)))


def stability_after_recalls(stability: float, since: int, days: Iterable[int]) -> float:
    """Return the stability after recalls on these days.

    `since` is the day of the recall before them, or of the creation.
    """
    for day in days:
        stability = stability_after_recall(stability, day - since)
        since = day
    return stability


def is_faded(snapshot: DreamState, strength: Floats, knobs: Knobs, at: int) -> Flags:
    """Mark memories that meet the published conditions for pruning."""
    return (
        (staleness(snapshot, knobs, at) > knobs.prune_staleness)
        & (signal(snapshot, knobs, at) < knobs.prune_signal)
        & (strength < knobs.prune_strength)
        & (snapshot.revisions <= knobs.prune_revisions)
        & ~snapshot.kept
    )


STAGED, CONSOLIDATED, ARCHIVED = range(len(Consolidation))
_DEEPEST = 3


def consolidate(snapshot: DreamState, knobs: Knobs, draft: Draft) -> Draft:
    """Replay memories that were recalled since the last dream: raise their strength and stability.

    With each new memory an old one is replayed, too (interleaved replay protects old memories).
    """
    peers: dict[int, set[int]] = {}
    latest: dict[int, int] = {}
    for replay in snapshot.replays:
        for row in replay.rows:
            peers.setdefault(row, set()).update(replay.rows)
            latest[row] = max(replay.at, latest.get(row, replay.at))
    pairs = tuple(_interleave(snapshot, peers))
    strength = snapshot.life.strength.copy()
    for row, others in peers.items():
        delta = replay_delta(len(others) - 1, snapshot.at - latest[row], knobs.max_delta)
        strength[row] = min(1.0, strength[row] + delta)
    for _, old in pairs:
        # Its only peer is the new memory that it is replayed with.
        delta = replay_delta(1, snapshot.at - int(snapshot.touched_at[old]), knobs.max_delta)
        strength[old] = min(1.0, strength[old] + delta)
    stability = snapshot.life.stability.copy()
    for row, days in snapshot.used_on.items():
        before = snapshot.seen_before.get(row, int(snapshot.created_at[row]) // DAY)
        stability[row] = stability_after_recalls(float(stability[row]), before, days)
    spread = np.maximum(snapshot.life.spread, snapshot.sessions)
    replayed = draft.replayed.copy()
    replayed[[*peers, *(old for _, old in pairs)]] = True
    life = replace(draft.life, strength=strength, stability=stability, spread=spread)
    return replace(draft, life=life, replayed=replayed, interleaved=pairs)


def downscale(snapshot: DreamState, knobs: Knobs, draft: Draft) -> Draft:
    """Scale strengths down by the days since the last downscaling (SHY). Pinned memories do not fade.

    A younger memory counts only its own days. The number of dreams does not matter. A scope's first dream
    changes no strength. Strengths below the floor stay.
    """
    last, strength = snapshot.dreamt_at.get(Phase.DOWNSCALE), draft.life.strength
    if last is None:
        return draft
    days = np.maximum(snapshot.at - np.maximum(snapshot.created_at, last), 0) / DAY
    scaled: Floats = np.maximum(strength * knobs.daily**days, np.minimum(strength, knobs.floor))
    strength = np.where(snapshot.kept, strength, scaled)
    return replace(draft, life=replace(draft.life, strength=strength))


def prune(snapshot: DreamState, knobs: Knobs, draft: Draft) -> Draft:
    """Forget memories that are stale, weak and unused, if another memory says the same."""
    if snapshot.dreamt_at.get(Phase.PRUNE) == snapshot.at:
        return draft  # a second dream at the same time
    pruned: list[int] = []
    echoed_by: dict[int, int] = {}
    # If several fading memories say the same, the one used last stays.
    unique: set[int] = set()
    all_faded = set(snapshot.ids[is_faded(snapshot, draft.life.strength, knobs, snapshot.at)].tolist())
    gone = draft.gone
    for row in reversed(fading_rows(snapshot, knobs, draft)):
        id_ = int(snapshot.ids[row])
        if id_ in gone:
            continue
        near = (echo.memory for echo in snapshot.echoes.get(row, ()) if echo.cosine >= knobs.prune_echo)
        remaining = (other for other in near if other not in gone)
        echo = next((other for other in remaining if other not in all_faded or other in unique), None)
        if echo is None and knobs.prune_echo:
            unique.add(id_)
            continue
        pruned.append(id_)
        if echo is not None:
            echoed_by[id_] = echo
    return replace(draft, pruned=tuple(sorted(pruned)), echoed_by=echoed_by, unique=tuple(sorted(unique)))


def fading_rows(snapshot: DreamState, knobs: Knobs, draft: Draft) -> list[int]:
    """Return rows that meet the published conditions for pruning, the stalest first.

    If there are too many, take a random sample: otherwise unique ones, which stay, would block others.
    """
    rows = np.flatnonzero(is_faded(snapshot, draft.life.strength, knobs, snapshot.at))
    if len(rows) > knobs.prune_most:
        sampled = sample_ids(snapshot.ids[rows].tolist(), snapshot.at, knobs.prune_most)
        rows = np.searchsorted(snapshot.ids, sorted(sampled))
    order = np.argsort(-staleness(snapshot, knobs, snapshot.at)[rows], kind="stable")
    faded: list[int] = rows[order].tolist()
    return faded


def place(snapshot: DreamState, knobs: Knobs, draft: Draft) -> Draft:
    """Consolidate staged memories after a replay or a day, and archive those that are stale and weak.

    An archived memory that is recalled is consolidated again.
    """
    stage = draft.life.consolidation.copy()
    settled = draft.replayed | ((snapshot.at - snapshot.created_at) / DAY >= knobs.place_days)
    stage[(stage == STAGED) & settled] = CONSOLIDATED
    stale = staleness(snapshot, knobs, snapshot.at) > knobs.archive_staleness
    weak = (draft.life.strength < knobs.archive_strength) & ~snapshot.kept
    stage[(stage == CONSOLIDATED) & stale & weak] = ARCHIVED
    stage[(stage == ARCHIVED) & ~stale] = CONSOLIDATED
    return replace(draft, life=replace(draft.life, consolidation=stage))


def promote(snapshot: DreamState, knobs: Knobs, draft: Draft) -> Draft:
    """Raise the depth of memories that are used often and in several sessions.

    Uses before the last promotion do not count, so a second dream at the same time changes nothing.
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


def _interleave(snapshot: DreamState, recalled: Iterable[int]) -> Iterable[tuple[int, int]]:
    """Pair each recalled new memory with an old one that was not recalled.

    The choice is pseudo-random: a hash of the id and the dream's time.
    """
    stage, taken = snapshot.life.consolidation, set(recalled)
    new = [row for row in sorted(taken) if stage[row] == STAGED]
    if not new:
        return []
    is_old = stage != STAGED
    is_old[list(taken)] = False
    old = sample_ids(snapshot.ids[is_old].tolist(), snapshot.at, len(new))
    return zip(new, np.searchsorted(snapshot.ids, old).tolist(), strict=False)


def merge(snapshot: DreamState, knobs: Knobs, draft: Draft) -> Draft:  # noqa: ARG001  # one form for all phases
    """Merge similar texts that say the same. Similarity alone is not enough: many facts are similar."""
    gone = set(draft.gone)
    merges = []
    taken: set[tuple[int, int | None]] = set()
    for twins in sorted(snapshot.twins, key=lambda pair: (-pair.similarity, *_text_key(pair.older))):
        # Keep the pinned one, else the one used more often, else the older.
        lost, into = sorted((twins.newer, twins.older), key=lambda one: (one.kept, one.accesses))
        if {_text_key(into), _text_key(lost)} & taken or {into.memory, lost.memory} & gone or lost.kept:
            continue
        if same_statement(into.text, lost.text):
            merges.append(Merge(lost, into, twins.similarity))
            taken.add(_text_key(lost))
    return replace(draft, life=_inherit_traces(snapshot, draft.life, merges), merges=tuple(merges))


def _inherit_traces(snapshot: DreamState, life: Life, merges: Sequence[Merge]) -> Life:
    """Give the survivor of a merge the larger values of both. It is archived only if both are."""
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
    """Retire copies of a corrected error that were stored later or overlooked."""
    gone = {*((id_, None) for id_ in draft.gone), *(_text_key(one.gone) for one in draft.merges)}
    found: dict[tuple[int, int | None], Correction] = {}
    for copy in snapshot.copies:
        where = _text_key(copy.place)
        if where in gone or where in found or copy.place.kept or copy.place.memory == copy.by:
            continue
        if (copy.by, None) in gone or (copy.by, None) in found:
            continue  # the correction itself would be gone
        if repeats_error(copy.wrong, copy.right, copy.said, copy.cosine):
            found[where] = Correction(copy.place, copy.by)
    return replace(draft, corrections=tuple(found.values()))


def link(snapshot: DreamState, knobs: Knobs, draft: Draft) -> Draft:
    """Link memories that answers often show together; the weight is the number of answers."""
    gone = draft.gone

    def uses(pair: Pair) -> int:
        """Return the uses of the memory that is used more."""
        places = (snapshot.place(pair.first), snapshot.place(pair.second))
        return max(int(snapshot.accesses[place]) for place in places if place is not None)

    links = [
        Link(pair.first, pair.second, pair.count, before)
        for pair in snapshot.together
        if pair.count >= knobs.link_together
        and pair.count >= knobs.link_share * uses(pair)
        and pair.first not in gone
        and pair.second not in gone
        and (before := snapshot.linked.get((pair.first, pair.second), 0)) < pair.count
    ]
    return replace(draft, links=tuple(links))


def _text_key(text: DreamText) -> tuple[int, int | None]:
    return text.memory, text.observation
