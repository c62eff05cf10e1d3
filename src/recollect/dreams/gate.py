"""The gate: whether people would still find, after a dream, what they found before it.

Each question's candidates are gathered once, from the store as it is. The store as it would be is the same
candidates without those that would be gone, and with the fields that the dream would write.

By such questions a ranking with `tempered` factors is balanced, too: it takes traces as far as people find
no less than without them. The published cycle multiplies a score by what it writes, without a bound: a note
that nobody used for two months keeps a twentieth of its strength, while neighbours in a ranking lie three per
cent apart. So such a ranking takes the traces of a store to a power: the largest that costs nothing. What is
written stays as published, and so does `reverie`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from recollect.dreams.snapshot import Draft, DreamState
from recollect.lazy_dataclass import dataclass
from recollect.query import Query
from recollect.ranking.candidates import Candidates, Source
from recollect.ranking.factors.dream_traces import DepthWeight, Spread, Stability, Strength, Tempered
from recollect.ranking.pipeline import Profile, run

if TYPE_CHECKING:
    from recollect.dreams.knobs import Knobs, Phase
    from recollect.dreams.plan import Plan

# What dreams write and rankings read, and who reads it.
_TRACES = ("strength", "depth", "spread", "stability")
_READERS = (Strength, DepthWeight, Spread, Stability)
_HALVINGS = 7


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, what the searches come up with for it, and what must be among the answers."""

    query: str
    profile: Profile
    wanted: tuple[int, ...]
    candidates: Candidates
    moment: Query
    made: bool = False
    """Made out of a memory's own words, rather than asked by someone."""


@dataclass(frozen=True, slots=True)
class LostHit:
    """Something that is found now and would not be found after the dream."""

    query: str
    memory: int
    phase: Phase
    """The one after which it is gone."""


@dataclass(frozen=True, slots=True)
class Verdict:
    questions: int
    made: int
    """How many of them nobody has asked."""
    before: float
    """The share of what people saw that the first answers hold now."""
    after: float
    losses: tuple[LostHit, ...]
    blame: Phase | None
    """The phase that takes more than the margin; None: the gate is open."""

    @property
    def passed(self) -> bool:
        return self.blame is None


def judge(asked: Sequence[Asked], plan: Plan, knobs: Knobs) -> Verdict:
    """Ask everything as it is and after each phase."""
    now = [_found(one, None, plan.snapshot) for one in asked]
    before = after = _share(asked, now)
    losses: dict[tuple[int, int], LostHit] = {}
    costly: list[Phase] = []
    then, last = now, Draft.of(plan.snapshot)
    for phase, draft in plan.drafts.items():
        moved = _Moved.between(last, draft)
        then = [
            _found(one, draft, plan.snapshot) if moved.by(one) else found
            for one, found in zip(asked, then, strict=True)
        ]
        last = draft
        for place, one in enumerate(asked):
            for memory in sorted(now[place] - then[place]):
                losses.setdefault((place, memory), LostHit(one.query, memory, phase))
        after = _share(asked, then)
        if before - after > knobs.gate_margin:
            costly.append(phase)
    # What one phase takes, a later one may give back: the end counts, and then the first that took too much.
    lost = tuple(loss for (place, memory), loss in losses.items() if memory not in then[place])
    blame = costly[0] if before - after > knobs.gate_margin else None
    return Verdict(len(asked), sum(one.made for one in asked), before, after, lost, blame)


@dataclass(frozen=True, slots=True)
class _Moved:
    """What a phase changed, as far as a ranking can see it. Most phases change nothing for most questions."""

    traces: bool
    gone: frozenset[int]

    @classmethod
    def between(cls, last: Draft, draft: Draft) -> _Moved:
        traces = last.temper != draft.temper or any(
            not np.array_equal(getattr(last.life, name), getattr(draft.life, name)) for name in _TRACES
        )
        return cls(traces, frozenset(id_ for id_, _ in last.gone.items() ^ draft.gone.items()))

    def by(self, one: Asked) -> bool:
        if self.traces and reads_traces(one.profile):
            return True
        return not self.gone.isdisjoint(one.wanted) or not self.gone.isdisjoint(one.candidates.ids.tolist())


def _share(asked: Iterable[Asked], found: Iterable[frozenset[int]]) -> float:
    """Of what is wanted, how much is found: the mean over all questions."""
    shares = [len(one) / len(question.wanted) for question, one in zip(asked, found, strict=True)]
    return float(np.mean(shares)) if shares else 1.0


def reads_traces(profile: Profile) -> bool:
    """Whether a ranking feels what dreams write on memories."""
    factors = (getattr(step, "factor", None) for step in profile.steps)
    return any(isinstance(factor, (*_READERS, Tempered)) for factor in factors)


def is_tempered(profile: Profile) -> bool:
    """Whether a ranking takes something to the power that `balance` finds."""
    return any(isinstance(getattr(step, "factor", None), Tempered) for step in profile.steps)


def answers(asked: Asked, draft: Draft | None, snapshot: DreamState) -> list[int]:
    """What a question finds, best first: now, or after a dream."""
    candidates = asked.candidates if draft is None else _after_dream(asked.candidates, draft, snapshot)
    ids: list[int] = run(asked.profile, candidates, asked.moment).ids.tolist()
    return ids


def _found(asked: Asked, draft: Draft | None, snapshot: DreamState) -> frozenset[int]:
    """Which of the wanted are among the answers; after the dream, themselves or who speaks for them."""
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
    columns["temper"] = np.where(known, draft.temper, left.facts.temper)
    facts = replace(left.facts, **columns)
    return replace(
        left, facts=facts, sources={name: _ranked_anew(each) for name, each in left.sources.items()}
    )


def _ranked_anew(source: Source) -> Source:
    """With the ranks closed up where somebody has gone."""
    rank = np.zeros_like(source.rank)
    found = np.flatnonzero(source.found)
    order = found[np.argsort(source.rank[found], kind="stable")]
    rank[order] = np.arange(1, len(order) + 1)
    return Source(rank, source.score)


def balance(snapshot: DreamState, knobs: Knobs, draft: Draft) -> Draft:
    """Found anew each time; and left as it is where nobody uses a ranking that is tempered."""
    if not snapshot.trials:
        return draft
    wanted = _score(snapshot, draft, 0.0) - knobs.balance_margin
    if _score(snapshot, draft, 1.0) >= wanted:
        return replace(draft, temper=1.0)
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _score(snapshot, draft, middle) >= wanted else (low, middle)
    return replace(draft, temper=low)


def _score(snapshot: DreamState, draft: Draft, temper: float) -> float:
    """How high the trials find what they ask for: the mean of 1 / rank, 0 where they do not."""
    trial = replace(draft, temper=temper)
    gone = draft.gone
    ranks = []
    for one in snapshot.trials:
        shown = answers(one, trial, snapshot)
        # Whoever was merged lives on in another.
        sought = [gone.get(id_, id_) for id_ in one.wanted]
        ranks += [1 / (1 + shown.index(id_)) if id_ in shown else 0.0 for id_ in sought]
    return float(np.mean(ranks))
