"""The shadow log: keeps each answer with the ranking that made it and a baseline, and splits queries."""

from __future__ import annotations

import json
import logging
import threading
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, field, fields, replace
from datetime import datetime
from functools import lru_cache, partial
from hashlib import blake2b
from io import BytesIO
from itertools import count
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from recollect.domain.changes import Bounds, Logged, RecordUsage
from recollect.domain.errors import InvalidInput, RecollectError
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.records import AnswerFeedback, Kind, LoggedAnswer, LogSize, Query, Scope, Tuned
from recollect.domain.tables import Compares, Equals, OneOf, Row, Where
from recollect.ranking.candidates import (
    NOBODY,
    Candidates,
    Contradictions,
    Cooccurrences,
    Facts,
    Profile,
    Source,
    profile_named,
    run,
)
from recollect.ranking.factors import microseconds
from recollect.ranking.steps import BaseRelevance, Cut, DropEcho, DropRepeats, Keep, Order, Rrf
from recollect.search.rows import moment, scope_id
from recollect.search.texts import store_setting
from recollect.stores.port import Snapshot
from recollect.tuning.events import normalized_query
from recollect.tuning.knobs import knobs_of, with_knobs
from recollect.write.repository import Priority, Worker

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from recollect.domain.records import Arm, Memory
    from recollect.search.candidates import Search
    from recollect.services import Services
    from recollect.write.repository import Repository

    Column = NDArray[Any]


# Candidates packed for the log: small and exact, so that they can be ranked again.


@dataclass(frozen=True, slots=True)
class _Moment:
    """The part of a query that the log keeps, with its co-occurrences."""

    now: int
    query: str
    limit: int
    limit_given: bool
    together: Cooccurrences
    span: tuple[int, int] | None = None


# The tags that the log has for classes and their fields, in the order in which they are written. They stay,
# whatever the classes and fields are called here. None of the classes does anything when it is made.
TAGS: dict[str, type[Any]] = {
    "Candidates": Candidates,
    "Facts": Facts,
    "Source": Source,
    "Together": Cooccurrences,
    "Moment": _Moment,
    "Contradictions": Contradictions,
}
# Set by steps, or stored elsewhere.
_NOT_STORED = {"score_changes", "removals", "places", "cooccurrences"}
FIELD_TAGS: dict[type[Any], dict[str, str]] = {
    kind: {
        {"named_values": "kept"}.get(each.name, each.name): each.name
        for each in fields(kind)
        if each.name not in _NOT_STORED
    }
    for kind in TAGS.values()
}
_TAG_OF = {kind: tag for tag, kind in TAGS.items()}
_VERSION = 1
_LEVEL = 1
"""Of compression: above it, a log takes a fortieth less room and two to three times the time."""
_NARROW = tuple((int(np.iinfo(kind).max), kind) for kind in (np.uint8, np.uint16, np.uint32))
_HEAD = json.JSONEncoder(separators=(",", ":"))


def pack(candidates: Candidates, query: Query) -> bytes:
    """Of candidates as they were gathered, before any step."""
    columns: list[bytes] = []
    together = candidates.cooccurrences
    moment = _Moment(query.now, query.text, query.limit, query.limit_given, together, query.span)
    with np.errstate(over="ignore"):  # a float that half the width cannot hold keeps all of it
        head = _HEAD.encode([_VERSION, _to_json(candidates, columns), _to_json(moment, columns)])
    raw = head.encode()
    return zlib.compress(b"".join((len(raw).to_bytes(4, "little"), raw, *columns)), _LEVEL)


def unpack(packed: bytes) -> tuple[Candidates, Query]:
    """`InvalidInput` for what another version wrote and this one cannot rank."""
    try:
        return _unpack_raw(BytesIO(zlib.decompress(packed)))
    except (InvalidInput, ValueError, KeyError, TypeError, zlib.error) as error:
        raise InvalidInput(f"The log cannot be read: {error}.") from error


def _unpack_raw(raw: BytesIO) -> tuple[Candidates, Query]:
    version, *told = json.loads(raw.read(int.from_bytes(raw.read(4), "little")))
    if version != _VERSION:
        raise InvalidInput(f"it is of the form {version}, and this program knows {_VERSION}")
    candidates, moment = (_from_json(one, raw) for one in told)
    query = Query(moment.query, moment.now, moment.limit, moment.limit_given, moment.span)
    return replace(candidates, cooccurrences=moment.together), query


def _to_json(value: Any, columns: list[bytes]) -> Any:
    """As JSON; columns go to the list, in the order in which they will be read."""
    if isinstance(value, np.ndarray):
        return _column(value, columns)
    if (tag := _TAG_OF.get(type(value))) is not None:
        names = FIELD_TAGS[type(value)]
        told = {name: _to_json(getattr(value, field), columns) for name, field in names.items()}
        return {"is": tag, "with": told}
    if isinstance(value, Mapping):
        return {"map": {name: _to_json(one, columns) for name, one in value.items()}}
    if isinstance(value, tuple):
        return {"row": [_to_json(one, columns) for one in value]}
    return value


def _from_json(told: Any, columns: BytesIO) -> Any:
    """Read columns in the order in which they were written."""
    match told:
        case {"is": kind, "with": parts}:
            return _built(TAGS[kind], {tag: _from_json(one, columns) for tag, one in parts.items()})
        case {"map": parts}:
            return {name: _from_json(one, columns) for name, one in parts.items()}
        case {"row": parts}:
            return tuple(_from_json(one, columns) for one in parts)
        case [str(kind), str(stored), int(count), low]:
            return _read_column(columns, np.dtype(kind), np.dtype(stored), count, low)
        case _:
            return told


# Defaults for columns that older logs lack: each candidate counts as a note.
_LATER_COLUMNS: dict[str, tuple[type[Any], float]] = {
    "kind": (np.int64, tuple(Kind).index(Kind.NOTE)),
    "role": (np.int64, NOBODY),
    "informativeness": (np.float64, 1.0),
    "length": (np.int64, 0),
}


def _built(kind: type[Any], made: Mapping[str, Any]) -> Any:
    """Fields that no longer exist are dropped; new ones need a usual value."""
    names = FIELD_TAGS[kind]
    if kind is Facts and "ids" in made:
        usual = {tag: np.full(len(made["ids"]), value, of) for tag, (of, value) in _LATER_COLUMNS.items()}
        made = {**usual, **made}
    needed = {each.name for each in fields(kind) if each.default is each.default_factory is MISSING}
    missing = [name for tag, name in names.items() if tag not in made and name in needed]
    if missing:
        raise InvalidInput(f"it has no {', '.join(missing)}")
    return kind(**{names[tag]: value for tag, value in made.items() if tag in names})


def _column(column: Column, columns: list[bytes]) -> list[Any]:
    """[type, stored type, how many, offset]: an offset for whole numbers; `null` where one value says all."""
    kind, count = column.dtype, len(column)
    stored, low = column, 0
    # Most columns hold one value. As bytes, that is seen in a tenth of the time that arrays take.
    raw = column.tobytes()
    if count and raw == (first := raw[: kind.itemsize]) * count:
        columns.append(first)
        return [kind.str, kind.str, count, None]
    if kind.kind == "i" and count:
        low = int(np.minimum.reduce(column))
        reach = int(np.maximum.reduce(column)) - low
        narrow = next((each for most, each in _NARROW if reach <= most), None)
        low = 0 if narrow is None else low
        stored = column if narrow is None else (column - low).astype(narrow)
    elif kind == np.float64:
        half = column.astype(np.float32)
        stored = half if half.astype(np.float64).tobytes() == raw else column
    # The first byte of each, then the second: neighbours are alike, and compress.
    width = stored.dtype.itemsize
    columns.append(np.ascontiguousarray(stored).view(np.uint8).reshape(-1, width).T.tobytes())
    return [kind.str, stored.dtype.str, count, low]


def _read_column(
    columns: BytesIO, kind: np.dtype[Any], stored: np.dtype[Any], count: int, low: int | None
) -> Column:
    size = stored.itemsize * (1 if low is None else count)
    raw = columns.read(size)
    if len(raw) < size:
        raise InvalidInput("it ends too early")
    if low is None:
        return np.full(count, np.frombuffer(raw, stored)[0], kind)
    mixed = np.frombuffer(raw, np.uint8).reshape(stored.itemsize, -1)
    values = np.ascontiguousarray(mixed.T).view(stored).reshape(-1)
    if kind == stored:
        return values.copy()
    return values.astype(kind) + low if low else values.astype(kind)


# Reading the log of answers, and the numbers that profiles were given.

_PAGE = 200
_COLUMNS = (
    "id", "at", "handle", "session", "query", "profile", "version", "arm", "against", "shown", "ranked",
    "baseline",
)  # fmt: skip


def logged_answers(
    snapshot: Snapshot, scope: int, profile: str, *, packed: bool = True
) -> Iterator[LoggedAnswer]:
    """The log of a profile's answers, the oldest first, a page at a time: all together may not fit.

    Without `packed`, those without feedback come without their candidates, which take long to read.
    """
    after = 0
    while True:
        where = (Equals("scope_id", scope), Equals("profile", profile), Compares("id", ">", after))
        rows = snapshot.rows("answer_log", _COLUMNS, where, limit=_PAGE)
        if not rows:
            return
        yield from _answers(snapshot, rows, packed=packed)
        after = rows[-1][0]


def answer_page(snapshot: Snapshot, where: Where, limit: int) -> list[LoggedAnswer]:
    """Answers that meet the conditions, the newest first; those without feedback without their candidates."""
    rows = snapshot.rows("answer_log", _COLUMNS, where, descending=True, limit=limit)
    return list(_answers(snapshot, rows, packed=False))


def _answers(snapshot: Snapshot, rows: Sequence[Row], *, packed: bool) -> Iterator[LoggedAnswer]:
    ids = [row[0] for row in rows]
    feedback: dict[int, list[AnswerFeedback]] = {}
    for answer, memory, kind, grade in snapshot.rows(
        "feedback",
        ("answer_id", "memory_id", "kind", "grade"),
        (OneOf("answer_id", ids),),
        order=("answer_id", "memory_id", "kind"),
    ):
        feedback.setdefault(answer, []).append(AnswerFeedback(memory, kind, float(grade)))
    wanted = ids if packed else list(feedback)
    candidates: dict[int, bytes] = dict(
        snapshot.rows("answer_log", ("id", "candidates"), (OneOf("id", wanted),))
    )
    for row in rows:
        read: dict[str, Any] = dict(zip(_COLUMNS, row, strict=True))
        lists = {name: tuple(json.loads(read[name])) for name in ("shown", "ranked", "baseline")}
        yield LoggedAnswer(
            **{**read, **lists, "at": moment(read["at"])},
            candidates=candidates.get(row[0], b""),
            feedback=tuple(feedback.get(row[0], ())),
        )


def log_sizes(snapshot: Snapshot, scope: int) -> list[LogSize]:
    """How much the log holds of each profile that it knows, by name."""
    judged = {answer for (answer,) in snapshot.rows("feedback", ("answer_id",))}
    sizes: dict[str, LogSize] = {}
    for id_, profile, arm in snapshot.rows(
        "answer_log", ("id", "profile", "arm"), (Equals("scope_id", scope),)
    ):
        size = sizes.get(profile, LogSize(0, 0, 0, profile))
        treated, seen = size.treated + (arm != "baseline"), size.judged + (id_ in judged)
        sizes[profile] = LogSize(size.events + 1, treated, seen, profile)
    return [sizes[profile] for profile in sorted(sizes)]


def tuned_numbers(snapshot: Snapshot, scope: int, profile: str) -> tuple[int, Mapping[str, float]] | None:
    """The numbers that a profile was given last, and their version; None: it never was."""
    rows = snapshot.rows(
        "tuning",
        ("id", "knobs"),
        (Equals("scope_id", scope), Equals("profile", profile)),
        descending=True,
        limit=1,
    )
    return (int(rows[0][0]), json.loads(rows[0][1])) if rows else None


def tunings(snapshot: Snapshot, scope: int, profile: str | None, limit: int) -> Sequence[Tuned]:
    """Every set of numbers that was given, the newest first; None: to any profile."""
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


Design = Literal["off", "split"]
SIMILARITY = "similarity"
"""The baseline, where the settings name no other."""
# A longer answer is an export rather than a search, and teaches nothing.
_MOST_CANDIDATES = 1_000
# In letters. A longer query is a pasted text.
_LONGEST_QUERY = 2_000
_SMALL_LOG_BYTES = 16_000_000
_SHARE_OF_STORE = 10


@dataclass(frozen=True, slots=True)
class TrialSettings:
    """Settings of the answer log, and of the trial that chooses a query's ranking."""

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
    """The rankings of an answer: the profile with its present numbers, and the baseline."""

    ours: Profile
    baseline: Profile
    arm: Arm = "ours"
    version: int = 0
    """Version of the tuned numbers; 0: as published."""
    note: str | None = None

    @property
    def shown(self) -> Profile:
        """The profile whose scores the caller sees."""
        return self.baseline if self.arm == "baseline" else self.ours


def rankers_for(
    services: Services, search: Search, profile: Profile, query: str, *, tuned: bool, trial: bool
) -> Rankers:
    """Return the rankings as stored now. Without `tuned`, the profile as published, and no trial.

    `trial`: the answer will be recorded, or was. A trial without a record only spoils answers.
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
    """Return the version of a profile's tuned numbers, the tuned profile, and a note on numbers left out.

    Pass `scope`, the row of the scope, where it is known.
    """
    scope = scope_id(view, services.for_writing.scope) if scope is None else scope
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
        # The profile was edited since, and no longer takes these numbers.
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
    other = profile_named(services.trial.against, services.all_profiles)
    return replace(other, retrieve=profile.retrieve)


@lru_cache(maxsize=64)
def similarity_baseline(profile: Profile) -> Profile:
    """Rank by cosine, or for word hits by the published substitute; hide what may not be shown."""
    hidden = tuple(step for step in profile.steps if isinstance(step, DropEcho | DropRepeats))
    return Profile(
        name=SIMILARITY,
        about="likeness alone, as the published pipeline had it before it was re-ranked",
        retrieve=profile.retrieve,
        steps=(Rrf(), Keep("rrf_score"), BaseRelevance(), *hidden, Order(), Cut()),
    )


@dataclass(frozen=True, slots=True)
class Trace:
    """Values to log an answer from. They stay with the answer and are evaluated in the background."""

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
        """Return the log entry of the answer; None where nothing can be learnt from it.

        Both rankings reach the limit that was asked for, whatever the budget kept of it; otherwise they could
        not be compared.
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


def note_shown(
    services: Services, shown: Iterable[Memory], at: datetime, query: str, profile: str, trace: Trace | None
) -> None:
    """Record in the background what a caller saw, each memory in its scope, with its log entry."""
    try:
        query.encode()
    except UnicodeEncodeError:
        # No store takes half of a surrogate pair: the query is not kept, but what was seen counts as ever.
        asked: tuple[str | None, str | None] = None, None
    else:
        asked = (query if services.trial.keeps_text else ""), profile
    by_scope: dict[tuple[str, str | None], list[int]] = {}
    for memory in shown:
        by_scope.setdefault((memory.scope.owner, memory.scope.agent), []).append(memory.id)
    # No single scope could rank again an answer from several scopes.
    is_kept = trace is not None and services.trial.log and not trace.several_scopes
    log = partial(_logged_within, services, trace) if trace is not None and is_kept else None
    for scope, ids in by_scope.items():
        services.usage.record(Scope(*scope), ids, at, *asked, log=log if asked[0] is not None else None)


def _logged_within(services: Services, trace: Trace) -> Logged | None:
    kept = trace.logged()
    if kept is None or not services.trial.fits_store:
        return kept
    most = log_bytes(kept.bounds.bytes, *services.usage.store_size())
    return replace(kept, bounds=replace(kept.bounds, bytes=most))


def log_bytes(most: int, store_bytes: int, scopes: int) -> int:
    """How large the log of one of the scopes of such a store may be; `most` in any case."""
    return min(most, max(_SMALL_LOG_BYTES, store_bytes // _SHARE_OF_STORE) // max(1, scopes))


# Recording what callers were shown, after the answer, without the answer waiting for it.

LogEntry = Callable[[], Logged | None]
"""Returns the log entry of an answer, called in the background; None: nothing to log."""

_log = logging.getLogger(__name__)
# A note takes milliseconds to write. Only where another program holds the file does it take longer, and
# then an answer that lacks the latest note is better than one that is late.
_PATIENCE_SECONDS = 0.05
# Notes that are still unwritten after this time are dropped at the end.
_CLOSING_SECONDS = 10.0
_SIZED_EVERY = 100


class UsageRecorder:
    """Writes in the background, best effort: a failure is logged and counted, and reaches no caller."""

    def __init__(
        self,
        store: Repository,
        session: str,
        patience_seconds: float = _PATIENCE_SECONDS,
        worker: Worker | None = None,
        closing_seconds: float = _CLOSING_SECONDS,
    ) -> None:
        self.session = session
        self.patience_seconds = patience_seconds
        self.closing_seconds = closing_seconds
        self.worker = worker or Worker()
        self.failures = 0
        """Of this process. The store learns of them with the next answer that can be noted."""
        self.last_failure: str | None = None
        self.after_recording: list[Callable[[Scope], None]] = []
        """Called in the background after an answer was recorded."""
        self._store = store
        self._answers = count(1)
        self._failing = threading.Lock()
        self._untold = 0
        self._sized = 0
        self._store_size = 0, 1
        self._last: tuple[RecordUsage, datetime] | None = None

    def record(
        self,
        scope: Scope,
        ids: Sequence[int],
        at: datetime,
        query: str | None = None,
        profile: str | None = None,
        *,
        opened: bool = False,
        log: LogEntry | None = None,
    ) -> None:
        """Record what the caller was shown, best first, and for which query; or opened.

        `log` returns the log entry of the answer. It is called in the background.
        """
        if not ids or self._store.read_only:
            return
        use = RecordUsage(scope, tuple(ids), self.session, query=query, profile=profile, opened=opened)
        if not self.worker.submit(Priority.USAGE, partial(self._write, use, at, log)):
            self._fail("the memory was closed meanwhile")

    def handle(self, at: datetime) -> str:
        """Return a unique name for an answer, before it is recorded."""
        return f"{self.session}:{microseconds(at):x}:{next(self._answers)}"

    def store_size(self) -> tuple[int, int]:
        """How many bytes and scopes the store has. Looked at once in a hundred answers."""
        if self._sized % _SIZED_EVERY == 0:
            with self._store.read() as snapshot:
                scopes = snapshot.count("scope")[None]
            self._store_size = self._store.size()[0], scopes
        self._sized += 1
        return self._store_size

    def settle(self, at_most_seconds: float | None) -> None:
        """Wait for what was noted before, so that one call after another always gives the same answers."""
        self.worker.settle_usage(at_most_seconds)

    def close(self) -> None:
        """Write what is left, and let the store at least know how many answers it does not know of."""
        if not self.worker.settle_usage(self.closing_seconds) and (left := self.worker.drop_usage()):
            self._fail(f"{left:,} notes still waited when the memory was closed", left)
        self.worker.close()
        if self._untold and self._last is not None:
            use, at = self._last
            with suppress(RecollectError):  # it was logged when it happened
                self._apply(replace(use, ids=(), log=None), at)

    def _write(self, use: RecordUsage, at: datetime, log: LogEntry | None) -> None:
        try:
            use = replace(use, log=None if log is None else log())
        except Exception as error:  # noqa: BLE001  # best effort: usage is still recorded
            _log.warning("An answer could not be logged: %s", error)
        try:
            self._apply(use, at)
        except Exception as error:  # noqa: BLE001  # best effort: whatever it is, no caller may feel it
            self._fail(str(error))
        for look in self.after_recording:
            look(use.scope)

    def _apply(self, use: RecordUsage, at: datetime) -> None:
        self._last = use, at
        missed = self._untold
        self._store.apply([replace(use, missed=missed)], at=at)
        with self._failing:
            # More answers may have been missed in the meantime.
            self._untold -= missed

    def _fail(self, why: str, answers: int = 1) -> None:
        with self._failing:
            self._untold += answers
            self.failures += answers
            self.last_failure = why
        _log.warning("What was recalled could not be noted: %s", why)
