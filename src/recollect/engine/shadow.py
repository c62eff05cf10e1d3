"""The shadow log: every answer with the ranking that made it and the other one, and who is shown which."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from recollect.changes import Bounds, Logged
from recollect.engine.packed import pack
from recollect.errors import InvalidInput
from recollect.ranking.pipeline import Profile, run
from recollect.ranking.profiles import PROFILES, profile_named
from recollect.tuning.knobs import knobs_of, with_knobs
from recollect.tuning.trials import SIMILARITY, arm_of, coin_text, draft, similarity_baseline

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from recollect.engine.services import Services as Parts
    from recollect.ranking.candidates import Candidates, QueryContext
    from recollect.retrieval.gather import Gathered
    from recollect.retrieval.view import View
    from recollect.tuning.events import Arm
    from recollect.tuning.trials import Team

Design = Literal["off", "split", "interleave"]
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
    """What everything is compared with: likeness alone, or a profile by name."""


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


def rankers_for(
    parts: Parts, view: View, profile: Profile, query: str, *, tuned: bool, trial: bool
) -> Rankers:
    """As the store has them at this moment. Without `tuned`, the profile as published, and in no trial.

    `trial`: what is answered will be noted, or was. A trial that nobody can learn from only spoils answers.
    """
    baseline = baseline_of(parts, profile)
    if not tuned:
        return Rankers(profile, baseline)
    version, ours, note = tuned_in(parts, view, profile)
    learnt_from = trial and parts.trial.log and len(query) <= _LONGEST_QUERY
    arm = _arm(parts.trial, view, query) if learnt_from else "ours"
    return Rankers(ours, baseline, arm, version, note)


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
        return similarity_baseline(profile)
    other = profile_named(parts.trial.against, {**PROFILES, **parts.profiles})
    return replace(other, retrieve=profile.retrieve)


def drafted(
    ours: Sequence[int], baseline: Sequence[int], moment: QueryContext
) -> tuple[tuple[int, ...], tuple[Team, ...]]:
    """One list of both rankings, and who picked each."""
    return draft(ours, baseline, moment.limit, coin_text(moment))


@dataclass(frozen=True, slots=True)
class Trace:
    """All that it takes to log an answer. Kept with it, and worked out once nobody waits."""

    handle: str
    rankers: Rankers
    candidates: Candidates = field(repr=False)
    moment: QueryContext = field(repr=False)
    bounds: Bounds = field(default_factory=Bounds)
    known: Mapping[Team, tuple[int, ...]] = field(default_factory=dict, repr=False)
    """The order of those rankings that were run for the answer."""

    def logged(self) -> Logged | None:
        """As the log keeps the answer; None where it is none that one could learn from.

        Both rankings down to what was asked for, whatever a budget left of it: else the one that was shown
        could not be told from the other, nor who picked what.
        """
        if len(self.candidates) > _MOST_CANDIDATES or len(self.moment.query) > _LONGEST_QUERY:
            return None
        return Logged(
            handle=self.handle,
            arm=self.rankers.arm,
            against=self.rankers.baseline.name,
            ranked=self._order("ours", self.rankers.ours),
            baseline=self._order("baseline", self.rankers.baseline),
            candidates=pack(self.candidates, self.moment),
            version=self.rankers.version,
            bounds=self.bounds,
        )

    def _order(self, team: Team, profile: Profile) -> tuple[int, ...]:
        if team in self.known:
            return self.known[team]
        return tuple(run(profile, self.candidates, self.moment).ids.tolist())


def _is_text(query: str) -> bool:
    """Half of a surrogate pair is none, and no store takes it."""
    try:
        query.encode()
    except UnicodeEncodeError:
        return False
    return True


def trace_of(
    parts: Parts, rankers: Rankers, gathered: Gathered, shown: Sequence[int], now: datetime
) -> Trace:
    """Of an answer that is about to be given; `shown` is what the first of its rankers made of it."""
    team: Team = "baseline" if rankers.arm == "baseline" else "ours"
    return Trace(
        handle=parts.usage.handle(now),
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
    if not _is_text(query):
        # What was asked cannot be kept, but what was seen counts as ever.
        parts.usage.record(parts.scope, ids, at)
        return
    log = None if trace is None or not parts.trial.log else trace.logged
    parts.usage.record(parts.scope, ids, at, query, profile, log=log)
