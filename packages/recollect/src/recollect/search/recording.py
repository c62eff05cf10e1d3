"""Choose the ranking of an answer; afterwards, log the answer and record which memories it showed.

1. `rankers_for` puts a scope's tuned numbers into the profile, and assigns a query to an arm of a trial.
2. `Trace` keeps the inputs of an answer, until `pack` packs them for the answer log.
3. `record_shown` and `UsageRecorder` write usage and log entries in the background.
"""

from __future__ import annotations

import json
import logging
import threading
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, field, fields, replace
from datetime import datetime
from functools import lru_cache, partial
from hashlib import blake2b
from io import BytesIO
from itertools import count
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from recollect.domain.changes import Bounds, LogEntry, RecordUsage
from recollect.domain.errors import InvalidInput, RecollectError
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.records import Kind, Query, Scope
from recollect.domain.tables import Equals
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
from recollect.search.rows import scope_id
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


# Choosing the ranking

Design = Literal["off", "split"]
SIMILARITY = "similarity"
"""The default baseline: rank by similarity alone."""
# Characters. A longer query is a pasted text.
_LONGEST_QUERY = 2_000


@dataclass(frozen=True, slots=True)
class TrialSettings:
    """Settings of the answer log, and of the trial that chooses a query's ranking."""

    log: bool = True
    bounds: Bounds = field(default_factory=Bounds)
    keeps_text: bool = True
    """Whether the log keeps the query."""
    fits_store: bool = False
    """Also limit the log to a tenth of the store, or to 16 MB if that is more."""
    design: Design = "off"
    """`split`: each query gets either the profile or the baseline."""
    share: float = 0.5
    """The share of split queries that get the profile."""
    against: str = SIMILARITY
    """The baseline: `similarity`, or the name of a profile."""


@dataclass(frozen=True, slots=True)
class Rankers:
    """The two rankings of an answer: the profile with its current numbers, and the baseline."""

    ours: Profile
    baseline: Profile
    arm: Arm = "ours"
    version: int = 0
    """The version of the tuned numbers; 0 for the published ones."""
    note: str | None = None

    @property
    def shown(self) -> Profile:
        """The profile whose scores the caller sees."""
        return self.baseline if self.arm == "baseline" else self.ours


def rankers_for(
    services: Services, search: Search, profile: Profile, query: str, *, tuned: bool, trial: bool
) -> Rankers:
    """Return the rankings of a query. Without `tuned`, use the published numbers and no trial.

    Pass `trial` only if the answer is recorded: a trial learns from recorded answers only.
    """
    baseline = baseline_of(services, profile)
    if not tuned:
        return Rankers(profile, baseline)
    # A search of several scopes uses the numbers of the scope that is written to.
    scope = search.scopes[0] if len(search.scopes) == 1 else None
    version, ours, note = tuned_in(services, search.snapshot, profile, scope)
    learnt_from = trial and services.trial.log and len(query) <= _LONGEST_QUERY
    splits = learnt_from and services.trial.design == "split"
    seed = (store_setting(search.snapshot, "trial_seed") or "") if splits else ""
    arm = arm_of(query, seed, services.trial.share) if splits else "ours"
    return Rankers(ours, baseline, arm, version, note)


def arm_of(query: str, seed: str, share: float = 0.5) -> Arm:
    """Assign a query to an arm by its hash. Case and accents do not matter."""
    if not 0 <= share <= 1:
        raise InvalidInput(f"The share of treated queries must be from 0 to 1, not {share!r}.")
    text = f"{seed}\0{normalized_query(query)}".encode(errors="surrogatepass")
    number = int.from_bytes(blake2b(text, digest_size=8).digest(), "big") >> 11
    return "ours" if number / 2**53 < share else "baseline"


def tuned_numbers(snapshot: Snapshot, scope: int, profile: str) -> tuple[int, Mapping[str, float]] | None:
    """Return the version and values of a profile's newest tuned numbers; None if it was never tuned."""
    rows = snapshot.rows(
        "tuning",
        ("id", "knobs"),
        (Equals("scope_id", scope), Equals("profile", profile)),
        descending=True,
        limit=1,
    )
    return (int(rows[0][0]), json.loads(rows[0][1])) if rows else None


def tuned_in(
    services: Services, view: Snapshot, profile: Profile, scope: int | None = None
) -> tuple[int, Profile, str | None]:
    """Return the version of a profile's tuned numbers, the tuned profile, and a note on ignored numbers.

    `scope` is the row of the scope, if the caller knows it.
    """
    scope = scope_id(view, services.for_writing.scope) if scope is None else scope
    found = tuned_numbers(view, scope, profile.name)
    if found is None:
        return 0, profile, None
    version, knobs = found
    tuned, note = _apply_numbers(profile, tuple(knobs.items()))
    return version, tuned, note


@lru_cache(maxsize=64)
def _apply_numbers(profile: Profile, numbers: tuple[tuple[str, float], ...]) -> tuple[Profile, str | None]:
    """Apply numbers to a profile. Cached: every answer needs it, and the numbers seldom change."""
    knobs = dict(numbers)
    known = knobs_of(profile)
    lost = [name for name in knobs if name not in known]
    try:
        tuned = with_knobs(profile, {name: value for name, value in knobs.items() if name in known})
    except InvalidInput:
        # The profile was edited since, and no longer has these numbers.
        tuned, lost = profile, list(knobs)
    if not lost:
        return tuned, None
    return tuned, (
        f"Tuned numbers that the profile {profile.name!r} no longer takes were left out: {', '.join(lost)}. "
        f"`recollect tune reset --profile {profile.name}` takes them off."
    )


def baseline_of(services: Services, profile: Profile) -> Profile:
    """Return the baseline that the settings name. It ranks the same candidates as the profile."""
    if services.trial.against == SIMILARITY:
        return similarity_baseline(profile)
    other = profile_named(services.trial.against, services.all_profiles)
    return replace(other, retrieve=profile.retrieve)


@lru_cache(maxsize=64)
def similarity_baseline(profile: Profile) -> Profile:
    """Return a profile that ranks by similarity alone, with the steps of this one that hide hits."""
    hidden = tuple(step for step in profile.steps if isinstance(step, DropEcho | DropRepeats))
    return Profile(
        name=SIMILARITY,
        about="similarity alone, as in the published pipeline before re-ranking",
        retrieve=profile.retrieve,
        steps=(Rrf(), Keep("rrf_score"), BaseRelevance(), *hidden, Order(), Cut()),
    )


# The log entry of an answer

# An answer with more candidates is an export; tuning cannot learn from it.
_MOST_CANDIDATES = 1_000
_SMALL_LOG_BYTES = 16_000_000
_SHARE_OF_STORE = 10


@dataclass(frozen=True, slots=True)
class Trace:
    """Inputs of an answer. The log entry is computed from them in the background."""

    handle: str
    rankers: Rankers
    candidates: Candidates = field(repr=False)
    query: Query = field(repr=False)
    bounds: Bounds
    shown: tuple[int, ...] = field(repr=False)
    """The ids in the order of the ranking that made the answer."""
    keeps_text: bool = True
    several_scopes: bool = False

    def log_entry(self) -> LogEntry | None:
        """Return the log entry of the answer; None if tuning could learn nothing from it.

        Both rankings have as many hits as the query asked for, even if a budget cut the answer. Otherwise
        they could not be compared.
        """
        if len(self.candidates) > _MOST_CANDIDATES or len(self.query.text) > _LONGEST_QUERY:
            return None
        return LogEntry(
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


def record_shown(
    services: Services, shown: Iterable[Memory], at: datetime, query: str, profile: str, trace: Trace | None
) -> None:
    """Record in the background which memories a caller saw, each in its scope, and log the answer."""
    try:
        query.encode()
    except UnicodeEncodeError:
        # No store accepts half of a surrogate pair: the query is dropped, and usage is still counted.
        asked: tuple[str | None, str | None] = None, None
    else:
        asked = (query if services.trial.keeps_text else ""), profile
    by_scope: dict[tuple[str, str | None], list[int]] = {}
    for memory in shown:
        by_scope.setdefault((memory.scope.owner, memory.scope.agent), []).append(memory.id)
    # An answer from several scopes is not logged: no single scope could rank it again.
    is_logged = trace is not None and services.trial.log and not trace.several_scopes
    log = partial(_sized_entry, services, trace) if trace is not None and is_logged else None
    for scope, ids in by_scope.items():
        services.usage.record(Scope(*scope), ids, at, *asked, log=log if asked[0] is not None else None)


def _sized_entry(services: Services, trace: Trace) -> LogEntry | None:
    """Return the log entry, with the bounds of the log fitted to the size of the store."""
    entry = trace.log_entry()
    if entry is None or not services.trial.fits_store:
        return entry
    most = log_bytes(entry.bounds.bytes, *services.usage.store_size())
    return replace(entry, bounds=replace(entry.bounds, bytes=most))


def log_bytes(most: int, store_bytes: int, scopes: int) -> int:
    """Return how many bytes the log of one scope may take, in a store of this size: at most `most`."""
    return min(most, max(_SMALL_LOG_BYTES, store_bytes // _SHARE_OF_STORE) // max(1, scopes))


# Packing candidates for the log: small, and exact, so that they can be ranked again


@dataclass(frozen=True, slots=True)
class _Moment:
    """The part of a query that the log keeps, with its co-occurrences."""

    now: int
    query: str
    limit: int
    limit_given: bool
    together: Cooccurrences
    span: tuple[int, int] | None = None


# Names of classes and fields in the log, in the order in which they are written. Never change them: logs of
# earlier versions have them. No class here may have side effects when it is created.
TAGS: dict[str, type[Any]] = {
    "Candidates": Candidates,
    "Facts": Facts,
    "Source": Source,
    "Together": Cooccurrences,
    "Moment": _Moment,
    "Contradictions": Contradictions,
}
# Fields that steps set, or that are stored elsewhere.
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
_COMPRESSION_LEVEL = 1
"""The compression level. Higher ones save a fortieth of the space and take two to three times as long."""
_NARROW = tuple((int(np.iinfo(kind).max), kind) for kind in (np.uint8, np.uint16, np.uint32))
_HEAD_ENCODER = json.JSONEncoder(separators=(",", ":"))


def pack(candidates: Candidates, query: Query) -> bytes:
    """Pack candidates as they were gathered, before any step."""
    columns: list[bytes] = []
    pairs = candidates.cooccurrences
    moment = _Moment(query.now, query.text, query.limit, query.limit_given, pairs, query.span)
    with np.errstate(over="ignore"):  # such a float keeps its full width
        head = _HEAD_ENCODER.encode([_VERSION, _to_json(candidates, columns), _to_json(moment, columns)])
    raw = head.encode()
    return zlib.compress(b"".join((len(raw).to_bytes(4, "little"), raw, *columns)), _COMPRESSION_LEVEL)


def unpack(packed: bytes) -> tuple[Candidates, Query]:
    """Return the candidates and their query. `InvalidInput` if this version cannot rank them."""
    try:
        return _unpack_raw(BytesIO(zlib.decompress(packed)))
    except (InvalidInput, ValueError, KeyError, TypeError, zlib.error) as error:
        raise InvalidInput(f"The log cannot be read: {error}.") from error


def _unpack_raw(raw: BytesIO) -> tuple[Candidates, Query]:
    version, *parts = json.loads(raw.read(int.from_bytes(raw.read(4), "little")))
    if version != _VERSION:
        raise InvalidInput(f"it has format {version}, and this program reads format {_VERSION}")
    candidates, moment = (_from_json(part, raw) for part in parts)
    query = Query(moment.query, moment.now, moment.limit, moment.limit_given, moment.span)
    return replace(candidates, cooccurrences=moment.together), query


def _to_json(value: Any, columns: list[bytes]) -> Any:
    """Return a value as JSON, and append its columns to the list in the order that `_from_json` reads."""
    if isinstance(value, np.ndarray):
        return _write_column(value, columns)
    if (tag := _TAG_OF.get(type(value))) is not None:
        names = FIELD_TAGS[type(value)]
        parts = {name: _to_json(getattr(value, field), columns) for name, field in names.items()}
        return {"is": tag, "with": parts}
    if isinstance(value, Mapping):
        return {"map": {name: _to_json(one, columns) for name, one in value.items()}}
    if isinstance(value, tuple):
        return {"row": [_to_json(one, columns) for one in value]}
    return value


def _from_json(value: Any, columns: BytesIO) -> Any:
    """Read a value that `_to_json` wrote, with its columns."""
    match value:
        case {"is": kind, "with": parts}:
            return _build(TAGS[kind], {tag: _from_json(one, columns) for tag, one in parts.items()})
        case {"map": parts}:
            return {name: _from_json(one, columns) for name, one in parts.items()}
        case {"row": parts}:
            return tuple(_from_json(one, columns) for one in parts)
        case [str(kind), str(stored), int(count), low]:
            return _read_column(columns, np.dtype(kind), np.dtype(stored), count, low)
        case _:
            return value


# Defaults for columns that older logs lack: each candidate counts as a note.
_LATER_COLUMNS: dict[str, tuple[type[Any], float]] = {
    "kind": (np.int64, tuple(Kind).index(Kind.NOTE)),
    "role": (np.int64, NOBODY),
    "informativeness": (np.float64, 1.0),
    "length": (np.int64, 0),
}

# Older logs have pairs that rules found: sure ones where the query asked for the detail, and else no pairs.
_CHANCE_BY_RULE = 1 - 1e-9
_LEAST_CHANCE = 1e-9


def _build(kind: type[Any], values: Mapping[str, Any]) -> Any:
    """Make an instance. Fields that no longer exist are dropped; newer ones get their default."""
    names = FIELD_TAGS[kind]
    if kind is Facts and "ids" in values:
        count = len(values["ids"])
        values = {tag: np.full(count, value, of) for tag, (of, value) in _LATER_COLUMNS.items()} | dict(
            values
        )
    if kind is Contradictions and "asked" in values:
        chance = np.where(values["asked"], _CHANCE_BY_RULE, _LEAST_CHANCE)
        values = {"chance": chance} | dict(values)
    needed = {each.name for each in fields(kind) if each.default is each.default_factory is MISSING}
    missing = [name for tag, name in names.items() if tag not in values and name in needed]
    if missing:
        raise InvalidInput(f"it has no {', '.join(missing)}")
    return kind(**{names[tag]: value for tag, value in values.items() if tag in names})


def _write_column(column: Column, columns: list[bytes]) -> list[Any]:
    """Append a column, and return its head: [type, stored type, length, offset].

    Whole numbers are stored minus the offset. The offset is None if all values are equal.
    """
    kind, count = column.dtype, len(column)
    stored, low = column, 0
    # Most columns repeat one value. Comparing bytes takes a tenth of the time of comparing arrays.
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
    # All first bytes, then all second ones: they compress better than whole values.
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


# Recording usage in the background

MakeLogEntry = Callable[[], LogEntry | None]
"""Returns the log entry of an answer, or None. Called in the background."""

_log = logging.getLogger(__name__)
# A record takes milliseconds to write. If another program locks the file, an answer that lacks the latest
# usage is better than a late one.
_PATIENCE_SECONDS = 0.05
# On closing, records that are still unwritten after this time are dropped.
_CLOSING_SECONDS = 10.0
# The size of the store is read once in this many answers.
_SIZE_INTERVAL = 100


class UsageRecorder:
    """Writes usage in the background. A failure is logged and counted, and never reaches a caller."""

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
        self.worker: Worker = worker or Worker()
        self.failures: int = 0
        """Unrecorded answers of this process. The next successful record adds them to the store's count."""
        self.last_failure: str | None = None
        self.after_recording: list[Callable[[Scope], None]] = []
        """Called in the background after an answer was recorded."""
        self._store = store
        self._answers = count(1)
        self._failure_lock = threading.Lock()
        self._unreported = 0
        self._size_calls = 0
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
        log: MakeLogEntry | None = None,
    ) -> None:
        """Record that a caller saw these memories, best first, for a query, or that it opened them."""
        if not ids or self._store.read_only:
            return
        usage = RecordUsage(scope, tuple(ids), self.session, query=query, profile=profile, opened=opened)
        if not self.worker.submit(Priority.USAGE, partial(self._write, usage, at, log)):
            self._fail("the memory was closed first")

    def handle(self, at: datetime) -> str:
        """Return a unique name for an answer, before it is recorded."""
        return f"{self.session}:{microseconds(at):x}:{next(self._answers)}"

    def store_size(self) -> tuple[int, int]:
        """Return the bytes and the scopes of the store, read once in a hundred answers."""
        if self._size_calls % _SIZE_INTERVAL == 0:
            with self._store.read() as snapshot:
                scopes = snapshot.count("scope")[None]
            self._store_size = self._store.size()[0], scopes
        self._size_calls += 1
        return self._store_size

    def settle(self, at_most_seconds: float | None) -> None:
        """Wait for queued records, so that the same calls always return the same answers."""
        self.worker.settle_usage(at_most_seconds)

    def close(self) -> None:
        """Write the queued records, and store how many answers could not be recorded."""
        if not self.worker.settle_usage(self.closing_seconds) and (left := self.worker.drop_usage()):
            self._fail(f"{left:,} records were still queued when the memory was closed", left)
        self.worker.close()
        if self._unreported and self._last is not None:
            usage, at = self._last
            with suppress(RecollectError):  # each failure was logged already
                self._apply(replace(usage, ids=(), log=None), at)

    def _write(self, usage: RecordUsage, at: datetime, log: MakeLogEntry | None) -> None:
        try:
            usage = replace(usage, log=None if log is None else log())
        except Exception as error:  # noqa: BLE001  # best effort: usage is still recorded
            _log.warning("An answer could not be logged: %s", error)
        try:
            self._apply(usage, at)
        except Exception as error:  # noqa: BLE001  # best effort: no failure may reach a caller
            self._fail(str(error))
        for call in self.after_recording:
            call(usage.scope)

    def _apply(self, usage: RecordUsage, at: datetime) -> None:
        self._last = usage, at
        missed = self._unreported
        self._store.apply([replace(usage, missed=missed)], at=at)
        with self._failure_lock:
            # More answers may have been missed in the meantime.
            self._unreported -= missed

    def _fail(self, why: str, answers: int = 1) -> None:
        with self._failure_lock:
            self._unreported += answers
            self.failures += answers
            self.last_failure = why
        _log.warning("Usage could not be recorded: %s", why)
