"""The shadow log: keeps each answer with the ranking that made it and a baseline, and splits queries."""

from __future__ import annotations

from dataclasses import field, replace
from functools import lru_cache, partial
from hashlib import blake2b
from typing import TYPE_CHECKING, Literal

from recollect.changes import Bounds, Logged
from recollect.engine.packed import pack
from recollect.errors import InvalidInput
from recollect.lazy_dataclass import dataclass
from recollect.ranking.pipeline import Profile, run
from recollect.ranking.profiles import PROFILES, profile_named
from recollect.ranking.steps.adjust import BaseRelevance, Keep
from recollect.ranking.steps.finish import Cut, DropEcho, DropRepeats, Order
from recollect.ranking.steps.fuse import Rrf
from recollect.retrieval.answer_log import tuned_numbers
from recollect.retrieval.contents import store_setting
from recollect.retrieval.records import scope_id
from recollect.tuning.events import normalized_query
from recollect.tuning.knobs import knobs_of, with_knobs

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from recollect.engine.services import Services
    from recollect.ports import Snapshot
    from recollect.query import Query
    from recollect.ranking.candidates import Candidates
    from recollect.records import Arm, Memory, Scope
    from recollect.retrieval.gather import Gathered
    from recollect.retrieval.search import Search

Design = Literal["off", "split"]
SIMILARITY = "similarity"
"""The baseline, where the settings name no other."""
# Who asks for more hits than anyone reads wants a list, not an answer, and nothing can be learnt from it.
_MOST_CANDIDATES = 1_000
# In letters. What is longer is a text that was pasted.
_LONGEST_QUERY = 2_000
_SMALL_LOG_BYTES = 16_000_000
_SHARE_OF_STORE = 10


@dataclass(frozen=True, slots=True)
class TrialSettings:
    """What is kept of answers, and who is shown which ranking."""

    log: bool = True
    bounds: Bounds = field(default_factory=Bounds)
    keeps_text: bool = True
    """False: the log does not keep what was asked."""
    fits_store: bool = False
    """The log also takes at most a tenth of the store, or 16 MB if that is more."""
    design: Design = "off"
    """`split`: each query gets the one ranking or the other."""
    share: float = 0.5
    """Of queries that get the profile, where they are split."""
    against: str = SIMILARITY
    """The baseline: similarity alone, or a profile by name."""


@dataclass(frozen=True, slots=True)
class Rankers:
    """Who ranks an answer: the profile with its present numbers, and the baseline."""

    ours: Profile
    baseline: Profile
    arm: Arm = "ours"
    version: int = 0
    """Of the tuned numbers; 0: as published."""
    note: str | None = None

    @property
    def shown(self) -> Profile:
        """The one whose scores the caller sees."""
        return self.baseline if self.arm == "baseline" else self.ours


def rankers_for(
    services: Services, search: Search, profile: Profile, query: str, *, tuned: bool, trial: bool
) -> Rankers:
    """As the store has them at this moment. Without `tuned`, the profile as published, and in no trial.

    `trial`: what is answered will be noted, or was. A trial that nobody can learn from only spoils answers.
    """
    baseline = baseline_of(services, profile)
    if not tuned:
        return Rankers(profile, baseline)
    # A search of one scope has that one's numbers; else it is looked up which are ours.
    scope = search.scopes[0] if len(search.scopes) == 1 else None
    version, ours, note = tuned_in(services, search.snapshot, profile, scope)
    learnt_from = trial and services.trial.log and len(query) <= _LONGEST_QUERY
    splits = learnt_from and services.trial.design == "split"
    seed = (store_setting(search.snapshot, "trial_seed") or "") if splits else ""
    arm = arm_of(query, seed, services.trial.share) if splits else "ours"
    return Rankers(ours, baseline, arm, version, note)


def arm_of(query: str, seed: str, share: float = 0.5) -> Arm:
    """`ours` for a share of all queries, by a hash: the same words get the same, in any case or accents."""
    if not 0 <= share <= 1:
        raise InvalidInput(f"The share of treated queries must be from 0 to 1, not {share!r}.")
    text = f"{seed}\0{normalized_query(query)}".encode(errors="surrogatepass")
    number = int.from_bytes(blake2b(text, digest_size=8).digest(), "big") >> 11
    return "ours" if number / 2**53 < share else "baseline"


def tuned_in(
    services: Services, view: Snapshot, profile: Profile, scope: int | None = None
) -> tuple[int, Profile, str | None]:
    """The version of a profile's tuned numbers, the profile with them, and which were left out, if any.

    Who knows the row of the scope gives it along.
    """
    scope = scope_id(view, services.own.scope) if scope is None else scope
    found = tuned_numbers(view, scope, profile.name)
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


def baseline_of(services: Services, profile: Profile) -> Profile:
    """Over the same candidates: similarity alone, or the profile that the settings name."""
    if services.trial.against == SIMILARITY:
        return similarity_baseline(profile)
    other = profile_named(services.trial.against, {**PROFILES, **services.profiles})
    return replace(other, retrieve=profile.retrieve)


@lru_cache(maxsize=64)
def similarity_baseline(profile: Profile) -> Profile:
    """The cosine, and for what only words found the published stand-in; without what may not be shown."""
    hidden = tuple(step for step in profile.steps if isinstance(step, DropEcho | DropRepeats))
    return Profile(
        name=SIMILARITY,
        about="likeness alone, as the published pipeline had it before it was re-ranked",
        retrieve=profile.retrieve,
        steps=(Rrf(), Keep("rrf_score"), BaseRelevance(), *hidden, Order(), Cut()),
    )


@dataclass(frozen=True, slots=True)
class Trace:
    """All that it takes to log an answer. Kept with it, and worked out once nobody waits."""

    handle: str
    rankers: Rankers
    candidates: Candidates = field(repr=False)
    query: Query = field(repr=False)
    bounds: Bounds
    shown: tuple[int, ...] = field(repr=False)
    """The order of the ranking that made the answer."""
    keeps_text: bool = True
    several_scopes: bool = False

    def logged(self) -> Logged | None:
        """As the log keeps the answer; None where it is none that one could learn from.

        Both rankings down to what was asked for, whatever a budget left of it: else the one that was shown
        could not be told from the other.
        """
        if len(self.candidates) > _MOST_CANDIDATES or len(self.query.text) > _LONGEST_QUERY:
            return None
        return Logged(
            handle=self.handle,
            arm=self.rankers.arm,
            against=self.rankers.baseline.name,
            ranked=self._order(self.rankers.ours),
            baseline=self._order(self.rankers.baseline),
            candidates=pack(self.candidates, self.query if self.keeps_text else replace(self.query, text="")),
            version=self.rankers.version,
            bounds=self.bounds,
        )

    def _order(self, profile: Profile) -> tuple[int, ...]:
        if profile is self.rankers.shown:
            return self.shown
        return tuple(run(profile, self.candidates, self.query).ids.tolist())


def trace_of(
    services: Services,
    rankers: Rankers,
    gathered: Gathered,
    shown: Sequence[int],
    now: datetime,
    *,
    several_scopes: bool = False,
) -> Trace:
    """Of an answer that is about to be given; `shown` is the order that its ranking gave."""
    handle, bounds = services.usage.handle(now), services.trial.bounds
    candidates, query = gathered.candidates, gathered.query
    keeps_text = services.trial.keeps_text
    return Trace(handle, rankers, candidates, query, bounds, tuple(shown), keeps_text, several_scopes)


def note_shown(
    services: Services, shown: Iterable[Memory], at: datetime, query: str, profile: str, trace: Trace | None
) -> None:
    """What a caller saw, each where it belongs, with what else the log keeps of it; in the background."""
    try:
        query.encode()
    except UnicodeEncodeError:
        # No store takes half of a surrogate pair: the query is not kept, but what was seen counts as ever.
        asked: tuple[str | None, str | None] = None, None
    else:
        asked = (query if services.trial.keeps_text else ""), profile
    by_scope: dict[Scope, list[int]] = {}
    for memory in shown:
        by_scope.setdefault(memory.scope, []).append(memory.id)
    # Of an answer out of several scopes, no one of them could rank the candidates again.
    is_kept = trace is not None and services.trial.log and not trace.several_scopes
    log = partial(_logged_within, services, trace) if trace is not None and is_kept else None
    for scope, ids in by_scope.items():
        services.usage.record(scope, ids, at, *asked, log=log if asked[0] is not None else None)


def _logged_within(services: Services, trace: Trace) -> Logged | None:
    kept = trace.logged()
    if kept is None or not services.trial.fits_store:
        return kept
    most = log_bytes(kept.bounds.bytes, *services.usage.store_size())
    return replace(kept, bounds=replace(kept.bounds, bytes=most))


def log_bytes(most: int, store_bytes: int, scopes: int) -> int:
    """How large the log of one of the scopes of such a store may be; `most` in any case."""
    return min(most, max(_SMALL_LOG_BYTES, store_bytes // _SHARE_OF_STORE) // max(1, scopes))
