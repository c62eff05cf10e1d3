"""Tune a profile on the logged answers: measure it, search for better parameters, apply and undo changes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, fields, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from recollect.domain.changes import EmptyLog, GiveFeedback, TuneProfile
from recollect.domain.errors import InvalidInput, NotFound, StoreUnavailable
from recollect.domain.json_values import Record
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.records import LoggedAnswer, LogSize, Query, Tuned
from recollect.domain.results import Answer
from recollect.domain.tables import Equals
from recollect.ranking.candidates import Candidates, Facts
from recollect.ranking.factors import microseconds
from recollect.ranking.profiles import DEFAULT
from recollect.search.recording import baseline_of, tuned_in, tuned_numbers, unpack
from recollect.search.rows import moment, scope_id
from recollect.search.texts import store_setting
from recollect.services import EngineGroup, Services, retry_after_failover
from recollect.stores.port import Snapshot
from recollect.tuning.answers import ConfidenceCurve, confidence_curve, log_sizes, logged_answers
from recollect.tuning.events import Event
from recollect.tuning.knobs import eased, full_names, knobs_of, with_knobs
from recollect.tuning.search import Analysis, Proposal, analyze, propose_numbers

if TYPE_CHECKING:
    from recollect.ranking.candidates import Profile
    from recollect.stores.port import Progress


def tunings(snapshot: Snapshot, scope: int, profile: str | None, limit: int) -> Sequence[Tuned]:
    """Return the versions of a profile's tuned parameters, newest first; with None, of all profiles."""
    named = () if profile is None else (Equals("profile", profile),)
    rows = snapshot.rows(
        "tuning",
        ("id", "profile", "at", "knobs", "why", "report"),
        (Equals("scope_id", scope), *named),
        descending=True,
        limit=limit,
    )
    return [
        Tuned(version, name, moment(at), json.loads(knobs), why, json.loads(report))
        for version, name, at, knobs, why, report in rows
    ]


# Logged answers as events for tuning


def events_of(services: Services, view: Snapshot, profile: str) -> tuple[list[Event], int]:
    """Return a profile's logged answers as events, oldest first, and the number of unreadable answers.

    Candidates are unpacked only for answers with feedback, since unpacking thousands takes long. The other
    answers help to estimate the position bias.
    """
    events: list[Event] = []
    unreadable = 0
    for answer in logged_answers(view, scope_id(view, services.scope), profile, packed=False):
        try:
            events.append(_event(answer))
        except InvalidInput:
            unreadable += 1
    return events, unreadable


def _event(answer: LoggedAnswer) -> Event:
    said = {memory: grade for memory, kind, grade in answer.feedback if kind == "said"}
    seen: dict[int, float] = {}
    for memory, kind, grade in answer.feedback:
        if kind != "said":
            seen[memory] = max(grade, seen.get(memory, 0.0))
    feedback = {**seen, **said}
    if feedback:
        candidates, moment = unpack(answer.candidates)
    else:  # without feedback, an answer is never ranked again
        candidates, moment = _NOTHING, Query(answer.query, microseconds(answer.at), len(answer.shown))
    return Event(
        id=answer.id,
        at=microseconds(answer.at),
        query=answer.query,
        profile=answer.profile,
        arm=answer.arm,
        shown=answer.shown,
        ranked=answer.ranked,
        baseline=answer.baseline,
        candidates=candidates,
        context=moment,
        feedback=feedback,
        said=said,
        against=answer.against,
        version=answer.version,
    )


_NO_COLUMN: Any = np.zeros(0, np.int64)
_NOTHING = Candidates(Facts(*(_NO_COLUMN for _ in fields(Facts))), {}, np.zeros(0))


Why = Literal["run", "set", "reset", "rollback"]
_PUBLISHED_TUNER = "limbic"
_REPORTED = ("says", "best", "train", "test", "points", "ndcg_now", "ndcg_best", "gain")
"""Fields of a proposal that the history keeps."""
# How long to wait for pending log entries: longer than a writer waits for a busy store.
_PATIENCE_SECONDS = 15.0


def feedback(
    services: Services, ids: Sequence[int], grade: float, answer: Answer | str | None, query: str | None
) -> None:
    """Store a caller's feedback on shown memories: on all of them, or on none."""
    if isinstance(grade, bool) or not isinstance(grade, int | float):
        raise InvalidInput(f"A grade is a number from -1 (wrong) to 1 (just right), not {grade!r}.")
    handle = answer if answer is None or isinstance(answer, str) else answer.event
    if answer is not None and handle is None:
        raise InvalidInput("That answer is not in the log: its query was about the past, or the log is off.")
    # The answer may not be logged yet.
    services.usage.settle(_PATIENCE_SECONDS)
    session = services.usage.session
    said = [
        GiveFeedback(scope, id_, float(grade), handle, query, session)
        for scope, those in services.by_scope(ids).items()
        for id_ in those
    ]
    services.for_writing.write(said)


@dataclass(frozen=True, slots=True)
class AnswerLogStatus(Record):
    """Size of the log, and whether new answers are logged."""

    on: bool
    design: str
    """`off`, or `split` for a split trial."""
    against: str
    share: float
    seed: str
    """In a split trial, a hash of this and the query chooses how the query is ranked."""
    sizes: tuple[LogSize, ...]
    unreadable: int = 0
    """Answers of this profile that cannot be ranked again, since another version wrote them."""


@dataclass(frozen=True, slots=True)
class ProfileNumbers(Record):
    """The published and present values of a profile's parameters."""

    profile: str
    version: int
    """0 if it was never tuned."""
    published: Mapping[str, float]
    tuned: Mapping[str, float]
    """Values that differ from the published ones."""
    note: str | None = None
    """A note if the profile no longer has some of the tuned parameters."""

    @property
    def present(self) -> dict[str, float]:
        """All present values."""
        return {**self.published, **self.tuned}


@dataclass(frozen=True, slots=True)
class TuningAnalysis(Record):
    """The quality of a profile on the logged answers, its parameters, and the state of the log."""

    analysis: Analysis
    numbers: ProfileNumbers
    log: AnswerLogStatus


@dataclass(frozen=True, slots=True)
class TuningChange(Record):
    """A change of a profile's parameters, made or proposed."""

    profile: str
    version: int
    """The new version; the present one if nothing was written."""
    written: bool
    before: Mapping[str, float]
    """Old values of the parameters that change, and of those that the profile no longer has."""
    after: Mapping[str, float]
    proposal: Proposal | None = None
    """The result of the search, if there was one."""


class Tuning(EngineGroup):
    """`memory.tuning`: measure and change the parameters of a profile."""

    @retry_after_failover
    def analyze(self, profile: str | None = None) -> TuningAnalysis:
        """Compare the profile with its baseline on the logged answers.

        Args:
            profile: The profile (default: `recollect`, or `limbic` if only that was used).

        Examples:
            >>> analysis = memory.tuning.analyze()
        """
        with self._settle_log().read() as view:
            chosen, numbers = self._choose_profile(view, profile)
            events, unreadable = events_of(self._services, view, chosen.name)
            log = self._log(view, unreadable)
        present = with_knobs(chosen, numbers.tuned)
        return TuningAnalysis(analyze(events, present, baseline_of(self._services, chosen)), numbers, log)

    def run(
        self,
        profile: str | None = None,
        *,
        ranges: Mapping[str, Sequence[float]] | None = None,
        dry_run: bool = False,
    ) -> TuningChange:
        """Search for better parameters, and take a step towards them if they are significantly better.

        Args:
            profile: The profile (default: `recollect`, or `limbic` if only that was used).
            ranges: The values to try, by parameter.
            dry_run: Report the step, and change nothing.

        Examples:
            >>> change = memory.tuning.run(dry_run=True)
        """
        with self._settle_log().read() as view:
            chosen, numbers = self._choose_profile(view, profile)
            events, _ = events_of(self._services, view, chosen.name)
        found = propose_numbers(events, with_knobs(chosen, numbers.tuned), ranges)
        if found.verdict != "proposed":
            return TuningChange(
                chosen.name, numbers.version, written=False, before={}, after={}, proposal=found
            )
        plain = asdict(replace(found, better=(), worse=()))
        report = {name: plain[name] for name in _REPORTED}
        changed = self._change(chosen, numbers, found.eased, "run", report, dry_run=dry_run)
        return replace(changed, proposal=found)

    def set(
        self,
        values: Mapping[str, float],
        profile: str | None = None,
        *,
        exactly: bool = False,
        dry_run: bool = False,
    ) -> TuningChange:
        """Move parameters a tenth of the way towards the given values.

        Args:
            values: The values, by parameter.
            profile: The profile (default: `recollect`, or `limbic` if only that was used).
            exactly: Set exactly these values.
            dry_run: Report the change, and write nothing.

        Raises:
            InvalidInput: There is no parameter of that name, or the value is out of range.

        Examples:
            >>> memory.tuning.set({"words.bm25": 0.06}, dry_run=True).written
            False
        """
        if not values:
            raise InvalidInput("Name at least one number to set, such as gamma=0.05.")
        with self._services.read() as view:
            chosen, numbers = self._choose_profile(view, profile)
        wanted = full_names(chosen, values)
        with_knobs(chosen, wanted)  # raises if the profile rejects a value
        step = wanted if exactly else eased(numbers.present, wanted)
        report = {"asked": wanted, "exactly": exactly}
        return self._change(chosen, numbers, step, "set", report, dry_run=dry_run)

    @retry_after_failover
    def confidence_curve(self, sample: int = 100, progress: Progress | None = None) -> ConfidenceCurve:
        """Measure how well the confidence of hits is calibrated, by feedback or by a self-test.

        Args:
            sample: Number of answers, or of memories in a self-test.
            progress: Gets the number of questions asked.

        Examples:
            >>> curve = memory.tuning.confidence_curve(sample=5)
        """
        return confidence_curve(self._settle_log(), sample, progress)

    @retry_after_failover
    def log_status(self) -> AnswerLogStatus:
        """Return the size of the answer log, whether it is on, and the settings of the A/B test.

        Examples:
            >>> memory.tuning.log_status().on
            True
        """
        with self._settle_log().read() as view:
            return self._log(view, 0)

    def empty_log(self) -> int:
        """Delete all logged answers and queries. Usage stays. This cannot be undone.

        Returns:
            The number of deleted answers.

        Examples:
            >>> answer = memory.recall("nuts")
            >>> memory.tuning.empty_log()
            1
        """
        self._services.usage.settle(_PATIENCE_SECONDS)
        count = self._services.write([EmptyLog(self._services.scope)])[0].count
        # If the file is busy, the deleted data stays on disk until it is overwritten.
        with suppress(StoreUnavailable):
            self._services.store.compact()
        return count

    def reset(self, profile: str | None = None, *, dry_run: bool = False) -> TuningChange:
        """Go back to the published values.

        Args:
            profile: The profile (default: `recollect`, or `limbic` if only that was used).
            dry_run: Report the change, and write nothing.

        Examples:
            >>> change = memory.tuning.reset()
        """
        with self._services.read() as view:
            chosen, numbers = self._choose_profile(view, profile)
        return self._change(chosen, numbers, numbers.published, "reset", {}, dry_run=dry_run)

    def rollback(
        self, version: int | None = None, profile: str | None = None, *, dry_run: bool = False
    ) -> TuningChange:
        """Go back to the values of an earlier version.

        Args:
            version: The version (default: the previous one; repeated calls go further back).
            profile: The profile (default: `recollect`, or `limbic` if only that was used).
            dry_run: Report the change, and write nothing.

        Raises:
            NotFound: There is no such version.

        Examples:
            >>> memory.tuning.set({"words.bm25": 0.06}).version
            1
            >>> memory.tuning.rollback().version
            2
        """
        with self._services.read() as view:
            known = tunings(view, scope_id(view, self._services.scope), None, _ALL)
            named = next((each for each in known if each.version == version), None)
            if version and named is None:
                there = ", ".join(("0 (as published)", *(str(each.version) for each in known[:20])))
                raise NotFound(f"There is no version {version} of tuned numbers; there are: {there}.")
            name = profile or (None if named is None else named.profile)
            chosen, numbers = self._choose_profile(view, name)
        knobs, to = _values_of_version(
            chosen, version, [each for each in known if each.profile == chosen.name]
        )
        step = {**numbers.published, **_known_numbers(chosen, knobs)}
        return self._change(chosen, numbers, step, "rollback", {"to": to}, dry_run=dry_run)

    @retry_after_failover
    def history(self, profile: str | None = None, limit: int = 50) -> tuple[Tuned, ...]:
        """Return the versions of tuned parameters, newest first.

        Args:
            profile: Only versions of this profile.
            limit: Number of versions.

        Examples:
            >>> memory.tuning.history()
            ()
        """
        with self._services.read() as view:
            return tuple(tunings(view, scope_id(view, self._services.scope), profile, limit))

    @retry_after_failover
    def numbers(self, profile: str) -> ProfileNumbers:
        """Return the published and the tuned values of a profile's parameters.

        Examples:
            >>> memory.tuning.numbers("recollect").version
            0
        """
        with self._services.read() as view:
            return self._numbers(view, self._services.profile(profile))

    def _settle_log(self) -> Services:
        # Wait until recent answers are in the log.
        self._services.usage.settle(_PATIENCE_SECONDS)
        return self._services

    def _choose_profile(self, view: Snapshot, name: str | None) -> tuple[Profile, ProfileNumbers]:
        """Return the named profile; without a name, `limbic` if only that was used, else the default."""
        if name is None:
            used = {size.profile for size in log_sizes(view, scope_id(view, self._services.scope))}
            name = _PUBLISHED_TUNER if _PUBLISHED_TUNER in used and DEFAULT not in used else DEFAULT
        profile = self._services.profile(name)
        return profile, self._numbers(view, profile)

    def _numbers(self, view: Snapshot, profile: Profile) -> ProfileNumbers:
        version, present, note = tuned_in(self._services, view, profile)
        published = knobs_of(profile)
        tuned = {name: value for name, value in knobs_of(present).items() if value != published[name]}
        return ProfileNumbers(profile.name, version, published, tuned, note)

    def _log(self, view: Snapshot, unreadable: int) -> AnswerLogStatus:
        trial, seed = self._services.trial, store_setting(view, "trial_seed") or ""
        sizes = tuple(log_sizes(view, scope_id(view, self._services.scope)))
        return AnswerLogStatus(trial.log, trial.design, trial.against, trial.share, seed, sizes, unreadable)

    def _change(
        self,
        profile: Profile,
        numbers: ProfileNumbers,
        step: Mapping[str, float],
        why: Why,
        report: Mapping[str, Any],
        *,
        dry_run: bool,
    ) -> TuningChange:
        before = numbers.present
        after = {**before, **step}
        with_knobs(profile, after)
        moved = {name: value for name, value in after.items() if value != before[name]}
        knobs = {name: value for name, value in after.items() if value != numbers.published[name]}
        # The store may still hold parameters that the profile no longer has.
        with self._services.read() as view:
            _, stored = tuned_numbers(view, scope_id(view, self._services.scope), profile.name) or (0, {})
        lost = {name: value for name, value in stored.items() if name not in knobs and name not in moved}
        was = {**{name: before[name] for name in moved}, **lost}
        if dry_run or not was:
            return TuningChange(profile.name, numbers.version, written=False, before=was, after=moved)
        change = TuneProfile(
            scope=self._services.scope,
            profile=profile.name,
            knobs=tuple(knobs.items()),
            why=why,
            report=json.dumps({**report, "before": was, "after": moved}),
            after=numbers.version,
        )
        (new,) = self._services.write([change])[0].ids
        return TuningChange(profile.name, new, written=True, before=was, after=moved)


# More versions than any profile has.
_ALL = 1_000_000


def _values_of_version(
    profile: Profile, version: int | None, known: Sequence[Tuned]
) -> tuple[Mapping[str, float], int]:
    """Return the values of a version, and its number. `known` has the profile's versions, newest first."""
    if not known:
        raise NotFound(f"The profile {profile.name!r} was never tuned; there is nothing to undo.")
    if version is None:
        return _previous_values(profile, known)
    if version == 0:
        return {}, 0
    found = next((each for each in known if each.version == version), None)
    if found is None:
        raise InvalidInput(f"Version {version} is of another profile than {profile.name!r}.")
    return found.knobs, version


def _previous_values(profile: Profile, known: Sequence[Tuned]) -> tuple[Mapping[str, float], int]:
    """Return the values before the present ones. After a rollback, these are the values before its target."""
    by_version = {each.version: each for each in known}
    current = known[0].version
    while current and by_version[current].why == "rollback":
        current = int(by_version[current].report["to"])
    if not current:
        raise NotFound(
            f"The profile {profile.name!r} was rolled back to its published numbers; there is nothing before "
            "them. `recollect tune history` lists later versions; `rollback VERSION` goes to one."
        )
    present = _known_numbers(profile, known[0].knobs)
    for each in known:
        # Skip versions that differ only in parameters that the profile no longer has.
        if each.version < current and _known_numbers(profile, each.knobs) != present:
            return each.knobs, each.version
    return {}, 0


def _known_numbers(profile: Profile, knobs: Mapping[str, float]) -> dict[str, float]:
    known = knobs_of(profile)
    return {name: value for name, value in knobs.items() if name in known}
