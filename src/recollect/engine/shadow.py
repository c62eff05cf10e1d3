"""The shadow log: every answer with the ranking that made it and the other one, and who is shown which."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Literal

from recollect.changes import Bounds, Logged
from recollect.engine.packed import pack
from recollect.errors import InvalidInput
from recollect.rank.base import BaseRelevance, Keep
from recollect.rank.finish import Cut, DropEcho, DropRepeats, Order
from recollect.rank.fuse import Rrf
from recollect.rank.pipeline import Profile, run
from recollect.rank.profiles import PROFILES, profile_named
from recollect.tune.interleave import arm_of, coin_text, draft
from recollect.tune.knobs import knobs_of, with_knobs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from recollect.engine.parts import Parts
    from recollect.factors.candidates import Candidates, Moment
    from recollect.ports import View
    from recollect.retrieve.gather import Gathered
    from recollect.tune.events import Arm
    from recollect.tune.interleave import Team

Design = Literal["off", "split", "interleave"]
SIMILARITY = "similarity"
"""The baseline that everything is compared with, unless the settings name a profile: likeness alone."""
# Who asks for more hits than anyone reads wants a list, not an answer, and nothing can be learnt from it.
_MOST_CANDIDATES = 1_000
# In letters. What is longer is a text that was pasted.
_LONGEST_QUERY = 2_000


@dataclass(frozen=True, slots=True)
class Trial:
    """What is kept of answers, and who is shown which ranking."""

    log: bool = True
    bounds: Bounds = field(default_factory=Bounds)
    design: Design = "off"
    """`split`: each query gets the one ranking or the other; `interleave`: both, drafted into one list."""
    share: float = 0.5
    """Of queries that get the profile, where they are split."""
    against: str = SIMILARITY


@dataclass(frozen=True, slots=True)
class Rankers:
    """Who ranks an answer: the profile with the numbers it has by now, and what it is compared with."""

    ours: Profile
    baseline: Profile
    arm: Arm = "ours"
    version: int = 0
    """Of the tuned numbers; 0: as published."""
    note: str | None = None

    @property
    def shown(self) -> Profile:
        """The one whose scores the caller sees; drafted lists begin with ours."""
        return self.baseline if self.arm == "baseline" else self.ours


def rankers_for(parts: Parts, view: View, profile: Profile, query: str, *, tuned: bool) -> Rankers:
    """As the store has them at this moment. Without `tuned`, the profile as published, and in no trial."""
    baseline = baseline_of(parts, profile)
    if not tuned:
        return Rankers(profile, baseline)
    version, ours, note = tuned_in(parts, view, profile)
    return Rankers(ours, baseline, _arm(parts.trial, view, query), version, note)


def _arm(trial: Trial, view: View, query: str) -> Arm:
    match trial.design:
        case "off":
            return "ours"
        case "interleave":
            return "interleaved"
        case "split":
            return arm_of(query, view.trial_seed(), trial.share)


def tuned_in(parts: Parts, view: View, profile: Profile) -> tuple[int, Profile, str | None]:
    """The version of a profile's tuned numbers, the profile with them, and which were left out, if any."""
    found = view.tuned(parts.scope, profile.name)
    if found is None:
        return 0, profile, None
    version, knobs = found
    tuned, note = _tuned(profile, tuple(knobs.items()))
    return version, tuned, note


@lru_cache(maxsize=64)
def _tuned(profile: Profile, numbers: tuple[tuple[str, float], ...]) -> tuple[Profile, str | None]:
    """Every process reads the numbers before every answer, and they seldom change."""
    knobs = dict(numbers)
    known = knobs_of(profile)
    lost = [name for name in knobs if name not in known]
    try:
        tuned = with_knobs(profile, {name: value for name, value in knobs.items() if name in known})
    except InvalidInput:
        # The profile was edited since, and what was a good number then is none now.
        tuned, lost = profile, list(knobs)
    if not lost:
        return tuned, None
    return tuned, (
        f"Tuned numbers that the profile {profile.name!r} no longer takes were left out: {', '.join(lost)}. "
        f"`recollect tune reset --profile {profile.name}` takes them off."
    )


def baseline_of(parts: Parts, profile: Profile) -> Profile:
    """Over the same candidates: likeness alone, or the profile that the settings name."""
    if parts.trial.against == SIMILARITY:
        return _similarity(profile)
    other = profile_named(parts.trial.against, {**PROFILES, **parts.profiles})
    return replace(other, retrieve=profile.retrieve)


@lru_cache(maxsize=64)
def _similarity(profile: Profile) -> Profile:
    """The cosine, and for what only words found the published stand-in; without what may not be shown."""
    hidden = tuple(step for step in profile.steps if isinstance(step, DropEcho | DropRepeats))
    return Profile(
        name=SIMILARITY,
        about="likeness alone, as the published pipeline had it before it was re-ranked",
        retrieve=profile.retrieve,
        steps=(Rrf(), Keep("rrf_score"), BaseRelevance(), *hidden, Order(), Cut()),
    )


def drafted(
    ours: Sequence[int], baseline: Sequence[int], moment: Moment
) -> tuple[tuple[int, ...], tuple[Team, ...]]:
    """One list of both rankings, and who picked each."""
    return draft(ours, baseline, moment.limit, coin_text(moment))


@dataclass(frozen=True, slots=True)
class Trace:
    """All that it takes to log an answer. Kept with it, and worked out once nobody waits."""

    handle: str
    rankers: Rankers
    candidates: Candidates = field(repr=False)
    moment: Moment = field(repr=False)
    bounds: Bounds = field(default_factory=Bounds)
    known: Mapping[Team, tuple[int, ...]] = field(default_factory=dict, repr=False)
    """The order of those rankings that were run for the answer."""

    def logged(self, shown: int) -> Logged | None:
        """As the log keeps an answer that showed so many; None where it is none that one could learn from."""
        if len(self.candidates) > _MOST_CANDIDATES or len(self.moment.query) > _LONGEST_QUERY:
            return None
        return Logged(
            handle=self.handle,
            arm=self.rankers.arm,
            against=self.rankers.baseline.name,
            ranked=self._order("ours", self.rankers.ours)[:shown],
            baseline=self._order("baseline", self.rankers.baseline)[:shown],
            candidates=pack(self.candidates, self.moment),
            version=self.rankers.version,
            bounds=self.bounds,
        )

    def _order(self, team: Team, profile: Profile) -> tuple[int, ...]:
        if team in self.known:
            return self.known[team]
        return tuple(run(profile, self.candidates, self.moment).ids.tolist())


def trace_of(
    parts: Parts, rankers: Rankers, gathered: Gathered, shown: Sequence[int], now: datetime
) -> Trace:
    """Of an answer that is about to be given; `shown` is what the first of its rankers made of it."""
    team: Team = "baseline" if rankers.arm == "baseline" else "ours"
    return Trace(
        handle=parts.signals.handle(now),
        rankers=rankers,
        candidates=gathered.candidates,
        moment=gathered.moment,
        bounds=parts.trial.bounds,
        known={team: tuple(shown)},
    )


def note_shown(
    parts: Parts, ids: Sequence[int], at: datetime, query: str, profile: str, trace: Trace | None
) -> None:
    """What a caller saw, with what else the log keeps of it; in the background."""
    log = None if trace is None or not parts.trial.log else partial(trace.logged, len(ids))
    parts.signals.seen(parts.scope, ids, at, query, profile, log=log)
