"""The services that every use case works with."""

from __future__ import annotations

import hashlib
import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import field, replace
from datetime import UTC, timedelta, tzinfo
from functools import wraps
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec

from recollect.domain.changes import (
    Change,
    DropLease,
    FlagSimilar,
    Outcome,
    PutVectors,
    RecordUsage,
    TakeLease,
    TellOnce,
    UseModel,
)
from recollect.domain.errors import ModelUnavailable, NotFound, Outdated, RecollectError, StoreUnavailable
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.records import NOTE_FIELDS, Filter, Kind, Memory, Scope
from recollect.dreams.knobs import Knobs, Phase
from recollect.ranking.candidates import Profile, profile_named
from recollect.ranking.factors import microseconds
from recollect.ranking.profiles import PROFILES
from recollect.search.recording import TrialSettings, UsageRecorder
from recollect.search.rows import memories_by_id, scope_ids
from recollect.stores.port import Clock, Embedder, Extractor, Reranker, Result, Snapshot
from recollect.write.repository import Repository, Worker

if TYPE_CHECKING:
    from recollect.write.apply import BeforeCommit, Precondition


# The texts that this process embedded last, so that none is embedded twice in short order.

# Some two kilobytes each.
_MOST = 512


class EmbeddedText(NamedTuple):
    """The vectors of a text, as stores keep them."""

    vector: bytes
    signs: bytes | None
    """Of its tokens' vectors; None: the model gives none."""


class RecentTexts:
    """Safe between threads. Of two models, one text has two entries."""

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._lock = Lock()
        self._entries: OrderedDict[tuple[str, str], EmbeddedText] = OrderedDict()

    def lookup(self, model: str, texts: Iterable[str]) -> dict[str, EmbeddedText]:
        """Those of the texts that are still there."""
        found: dict[str, EmbeddedText] = {}
        with self._lock:
            for text in texts:
                entry = self._entries.get((model, text))
                if entry is not None:
                    self._entries.move_to_end((model, text))
                    found[text] = entry
        return found

    def keep(self, model: str, embedded: Mapping[str, EmbeddedText]) -> None:
        """Keep these, and forget those that were not asked for the longest."""
        with self._lock:
            for text, entry in embedded.items():
                self._entries[model, text] = entry
                self._entries.move_to_end((model, text))
            while len(self._entries) > self._most:
                self._entries.popitem(last=False)


# Versions of a memory, to detect edits since it was read.

# Changes that the engine adds to those of a caller.
_BOOKKEEPING = (PutVectors, UseModel, FlagSimilar, RecordUsage, TellOnce, TakeLease, DropLease)
# Fields that people edit. Usage and dreams change others.
_EDITED = (
    *("id", "kind", "name", "type", "text", "category", "source", "session", "tags", "about", "happened_at"),
    *("importance", "importance_tag", "pinned", "status", "revisions"),
    *("superseded_by", "deleted_at", "expires_at", "metadata", *NOTE_FIELDS),
)


def memory_version(memory: Memory) -> str:
    """Return a version that changes when a memory is edited, in any process."""
    observations = [
        (one.id, one.content, one.kind, one.superseded_at, one.deleted_at) for one in memory.observations
    ]
    edited = repr([*(getattr(memory, name) for name in _EDITED), observations])
    return hashlib.blake2b(edited.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


class ExpectedVersion:
    """The versions of a memory that a caller knows; the first change after that must find one of them."""

    def __init__(self, id_: int, versions: Collection[str]) -> None:
        self.id = id_
        self.versions: frozenset[str] = frozenset(versions)
        self.is_met = False
        """Set once the change is committed: what follows it finds what it wrote."""

    def precondition(self, changes: Sequence[Change]) -> Precondition | None:
        """Return the check to run before these changes, if they need one."""
        if self.is_met or all(isinstance(change, _BOOKKEEPING) for change in changes):
            return None
        return self._check

    def _check(self, view: Snapshot) -> None:
        memory = memories_by_id(view, [self.id]).get(self.id)
        if memory is None:
            raise NotFound(f"There is no memory {self.id}.")
        if memory_version(memory) not in self.versions:
            raise Outdated(
                f"Memory {self.id} was changed since you read it. Nothing was written; read it again, and "
                "decide anew."
            )


Asked = ParamSpec("Asked")

EmbedderFactory = Callable[[str], Embedder | None]
"""Returns the embedder of a model's name; None where the name means no model."""
ExtractorFactory = Callable[[], Extractor | None]
"""Returns None where no notes are to be extracted."""
RerankerFactory = Callable[[], Reranker]
"""`ModelUnavailable` where it is not installed."""


@dataclass(frozen=True, slots=True)
class LanguageModels:
    """Which model reads other languages than English, and whether it may be chosen."""

    multilingual: str
    install: str | None
    """The command that installs it; None: it is ready."""
    reads_only_english: Callable[[str], bool]
    """Whether a model reads only English; False where unknown."""
    automatic: bool
    """The user named no model, so texts decide."""
    in_background: bool = False
    """A larger store may be switched in the background: the process outlives its answer."""

    @property
    def may_choose(self) -> bool:
        return self.automatic and self.install is None


def _no_reranker() -> Reranker:
    raise ModelUnavailable("There is no re-ranker here.")


def retry_after_failover(question: Callable[Asked, Result]) -> Callable[Asked, Result]:
    """Repeat a call once where a server failed and another took over.

    For calls that only read, or may be done twice.
    """

    @wraps(question)
    def answer(*args: Asked.args, **options: Asked.kwargs) -> Result:
        def as_tuple(given: Any) -> Any:
            return tuple(given) if isinstance(given, Iterator) else given  # iterators are read twice

        listed: Any = [as_tuple(each) for each in args]
        named: Any = {name: as_tuple(each) for name, each in options.items()}
        try:
            return question(*listed, **named)
        except StoreUnavailable as error:
            if not error.ask_again:
                raise
        return question(*listed, **named)

    # A caller that stops waiting may cancel it.
    answer.only_reads = True  # type: ignore[attr-defined]
    return answer


@dataclass(frozen=True, slots=True)
class Services:
    """A store, the time, the way to a model, and whose memory it is."""

    store: Repository
    clock: Clock
    embedder_named: EmbedderFactory
    preferred_model: str
    """For a store that has no model yet; one that has keeps it until it is reindexed."""
    scope: Scope
    usage: UsageRecorder
    profiles: Mapping[str, Profile] = field(default_factory=dict)
    """The user's own, beside the built-in ones."""
    session: str | None = None
    """The conversation that calls belong to, if the caller named one."""
    zone: tzinfo = UTC
    """Where the user's days begin."""
    knobs: Knobs = field(default_factory=Knobs)
    """The numbers of a dream."""
    phases: tuple[Phase, ...] = tuple(Phase)
    """Phases of a dream, unless its caller names others."""
    dreams_every: timedelta | None = None
    """How often this process dreams in the background; None: never."""
    process_id: str = "this process"
    """By which name it holds what one process at a time may hold."""
    extractor: ExtractorFactory = lambda: None
    """Extracts notes from messages; created on first use."""
    reranker: RerankerFactory = _no_reranker
    """Re-ranks the first hits."""
    reranks: bool = False
    """Whether it does where the caller does not say."""
    trial: TrialSettings = field(default_factory=TrialSettings)
    """Settings of the log of answers, and of the ranking that a query gets."""
    language_models: LanguageModels | None = None
    """Absent if languages decide nothing."""
    recent_texts: RecentTexts = field(default_factory=RecentTexts)
    """Recently embedded texts, of every scope."""
    expected: ExpectedVersion | None = None
    """The version that the next change must find."""
    shutdown: threading.Event = field(default_factory=threading.Event)
    """Set on shutdown: texts without a vector wait for the next start."""

    def __repr__(self) -> str:
        return f"Services(store={self.store.place!r}, scope={self.scope!r})"

    @property
    def worker(self) -> Worker:
        """The background worker."""
        return self.usage.worker

    @property
    def all_profiles(self) -> Mapping[str, Profile]:
        """Every profile by name: the built-in ones, and the user's own."""
        return {**PROFILES, **self.profiles}

    def profile(self, profile: str | Profile) -> Profile:
        """The profile of a name; a profile itself stays as it is."""
        return profile_named(profile, self.all_profiles) if isinstance(profile, str) else profile

    def write(
        self,
        changes: Sequence[Change],
        *,
        key: str | None = None,
        keep_going: bool = False,
        before_commit: BeforeCommit | None = None,
    ) -> Sequence[Outcome]:
        """Write now. A scope's keys are its own, though the store keeps those of all scopes in one place."""
        own = None if key is None else f"{key} of {self.scope.owner!r} {self.scope.agent!r}"
        expected = None if self.expected is None else self.expected.precondition(changes)
        outcomes = self.store.apply(
            changes,
            at=self.clock(),
            key=own,
            keep_going=keep_going,
            precondition=expected,
            before_commit=before_commit,
        ).outcomes
        if expected is not None and self.expected is not None:
            self.expected.is_met = True
        return outcomes

    @property
    def for_writing(self) -> Services:
        """Services for writing: a reader of all agents writes to the scope without an agent."""
        return self if self.scope.agent is not None else replace(self, scope=Scope(self.scope.owner))

    def can_read(self, scope: Scope) -> bool:
        return scope.owner == self.scope.owner and self.scope.agent in (None, scope.agent)

    def by_scope(self, ids: Sequence[int]) -> dict[Scope, tuple[int, ...]]:
        """Group memories by their scope, where a write changes them.

        Unknown memories, and those this scope cannot read, fall to the scope for writing, which refuses them.
        """
        if self.scope.agent is not None:
            return {self.scope: tuple(ids)}
        with self.read() as view:
            known = memories_by_id(view, ids)
        found: dict[Scope, tuple[int, ...]] = {}
        for id_ in ids:
            scope = known[id_].scope if id_ in known else self.for_writing.scope
            scope = scope if self.can_read(scope) else self.for_writing.scope
            found[scope] = (*found.get(scope, ()), id_)
        return found

    def of_memory(self, id_: int) -> Services:
        """Return services in the scope of a memory, to change it there."""
        (scope,) = self.by_scope([id_])
        return self if scope == self.scope else replace(self, scope=scope)

    def scope_ids(self, view: Snapshot) -> list[int]:
        """Return the rows of the scopes that are read, the one for writing first; [0] without any."""
        return scope_ids(view, self.scope.owner, self.scope.agent) or [0]

    def read(self) -> AbstractContextManager[Snapshot]:
        """Open a snapshot for this scope. A store with row-level security shows no other scope's rows."""
        return self.store.read(self.scope)

    def read_everything(self) -> AbstractContextManager[Snapshot]:
        """Open a snapshot of every owner's rows, for work on the store itself."""
        return self.store.read()

    def where(self, *kinds: Kind, superseded: bool = False, deleted: bool = False) -> Filter:
        """The memories of this scope, of these kinds or of all."""
        wanted = frozenset(kinds or Kind)
        return Filter(self.scope.owner, self.scope.agent, wanted, superseded=superseded, deleted=deleted)

    def unexpired(self, *kinds: Kind) -> Filter:
        """The same, without what has expired."""
        return replace(self.where(*kinds), expired_by=microseconds(self.clock()))

    @retry_after_failover
    def memory(self, id_: int) -> Memory:
        """Return a memory of this scope; `NotFound` without it."""
        with self.read() as view:
            memory = memories_by_id(view, [id_]).get(id_)
        if memory is None or not self.can_read(memory.scope):
            raise NotFound(f"There is no memory {id_}.")
        return memory


# Steps after a commit. They must not raise: the caller must learn that the write succeeded.

UNFINISHED = "It is stored, but not all that follows could be done"
"""How a note begins that says so."""

_log = logging.getLogger(__name__)


def attempt_follow_up(step: Callable[[], Result]) -> tuple[Result | None, str | None]:
    """Run a step; if it fails, return None and a note with the reason."""
    try:
        return retry_after_failover(step)(), None
    except Exception as error:  # noqa: BLE001  # whatever it is, the write stands
        # A library that finds no descriptor or no memory left raises what it likes.
        is_ours = isinstance(error, RecollectError)
        _log.log(
            logging.WARNING if is_ours else logging.ERROR,
            "What was written is stored; what follows a write could not be done: %s",
            error,
            exc_info=not is_ours,
        )
        # The store's remark on the failed step would be wrong for the write before it.
        reason = str(error).removesuffix(" Nothing was written.") or type(error).__name__
        return None, f"{UNFINISHED}: {reason}"


def unfinished_note(note: str | None) -> str | None:
    """The note, where it says that something failed; not where it only says that there is no model."""
    return note if note is not None and note.startswith(UNFINISHED) else None
