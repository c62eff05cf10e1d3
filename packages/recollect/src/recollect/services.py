"""Services that all operations use: store, clock, models and scope."""

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


# Number of texts in the cache, of about two kilobytes each.
_MOST_TEXTS = 512


class EmbeddedText(NamedTuple):
    """The vectors of a text, in the format of the stores."""

    vector: bytes
    signs: bytes | None
    """Signs of its token vectors; None if the model has none."""


class RecentTexts:
    """A thread-safe LRU cache of embedded texts, by model and text."""

    def __init__(self, most: int = _MOST_TEXTS) -> None:
        self._most = most
        self._lock = Lock()
        self._entries: OrderedDict[tuple[str, str], EmbeddedText] = OrderedDict()

    def lookup(self, model: str, texts: Iterable[str]) -> dict[str, EmbeddedText]:
        """Return the entries of these texts that are in the cache."""
        found: dict[str, EmbeddedText] = {}
        with self._lock:
            for text in texts:
                entry = self._entries.get((model, text))
                if entry is not None:
                    self._entries.move_to_end((model, text))
                    found[text] = entry
        return found

    def keep(self, model: str, embedded: Mapping[str, EmbeddedText]) -> None:
        """Add these texts, and drop the least recently used beyond the limit."""
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
    """The versions of a memory that a caller knows. The caller's next change requires one of them."""

    def __init__(self, id_: int, versions: Collection[str]) -> None:
        self.id = id_
        self.versions: frozenset[str] = frozenset(versions)
        self.is_met = False
        """Set when the change is committed; later changes are not checked."""

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
                "decide again."
            )


Asked = ParamSpec("Asked")

EmbedderFactory = Callable[[str], Embedder | None]
"""Returns the embedder of a model's name; None if the name is `none`."""
ExtractorFactory = Callable[[], Extractor | None]
"""Returns None if extraction is off."""
RerankerFactory = Callable[[], Reranker]
"""Raises `ModelUnavailable` if no re-ranker is installed."""


@dataclass(frozen=True, slots=True)
class LanguageModels:
    """The model for languages other than English, and whether it may be chosen automatically."""

    multilingual: str
    install: str | None
    """The command that installs it; None if it is installed."""
    reads_only_english: Callable[[str], bool]
    """Returns whether a model reads only English; False if unknown."""
    automatic: bool
    """Whether the language of the texts decides, because the user named no model."""
    successor_of: Callable[[str], str | None] = lambda _: None
    """Returns the model that took the place of a former default model, if it is ready."""
    in_background: bool = False
    """Whether the process lives long enough to switch a larger store in the background."""

    @property
    def may_choose(self) -> bool:
        return self.automatic and self.install is None


def _no_reranker() -> Reranker:
    raise ModelUnavailable("There is no re-ranker here.")


def retry_after_failover(question: Callable[Asked, Result]) -> Callable[Asked, Result]:
    """Repeat a call once if a server failed and another took over.

    Use it for calls that only read or may run twice.
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

    # A caller may cancel such a call.
    answer.only_reads = True  # type: ignore[attr-defined]
    return answer


@dataclass(frozen=True, slots=True)
class Services:
    """The store, clock, models and settings of an engine, and the scope that it reads."""

    store: Repository
    clock: Clock
    embedder_named: EmbedderFactory
    preferred_model: str
    """The model for a store that has none yet. Other stores keep theirs until they are reindexed."""
    scope: Scope
    usage: UsageRecorder
    profiles: Mapping[str, Profile] = field(default_factory=dict)
    """The user's own profiles, in addition to the built-in ones."""
    session: str | None = None
    """The conversation that calls belong to, if the caller named one."""
    zone: tzinfo = UTC
    """The user's time zone."""
    knobs: Knobs = field(default_factory=Knobs)
    """The parameters of a dream."""
    phases: tuple[Phase, ...] = tuple(Phase)
    """Phases of a dream, unless its caller names others."""
    dreams_every: timedelta | None = None
    """Time between background dreams of this process; None if it never dreams."""
    process_id: str = "this process"
    """Name of this process as the holder of leases."""
    extractor: ExtractorFactory = lambda: None
    """Extracts notes from messages; created on first use."""
    reranker: RerankerFactory = _no_reranker
    """Re-ranks the first hits."""
    reranks: bool = False
    """Whether to re-rank by default."""
    trial: TrialSettings = field(default_factory=TrialSettings)
    """Settings of the answer log and of the trial that chooses a query's ranking."""
    language_models: LanguageModels | None = None
    """The model for other languages; None if the language does not decide."""
    recent_texts: RecentTexts = field(default_factory=RecentTexts)
    """Recently embedded texts, of every scope."""
    expected: ExpectedVersion | None = None
    """The version that the next change must find."""
    shutdown: threading.Event = field(default_factory=threading.Event)
    """Set on shutdown. Texts that have no vector yet are embedded after the next start."""

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
        """Return the profile of this name; a `Profile` is returned unchanged."""
        return profile if isinstance(profile, Profile) else profile_named(profile, self.all_profiles)

    def write(
        self,
        changes: Sequence[Change],
        *,
        key: str | None = None,
        keep_going: bool = False,
        before_commit: BeforeCommit | None = None,
    ) -> Sequence[Outcome]:
        """Apply changes in one transaction. The key is unique within the scope."""
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
        """Group memories by the scope in which a write must change them.

        Unknown and unreadable memories go to the scope for writing, which refuses them.
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
        if isinstance(id_, bool) or not isinstance(id_, int):
            raise NotFound(f"There is no memory {id_!r}; an id is a whole number.")
        (scope,) = self.by_scope([id_])
        return self if scope == self.scope else replace(self, scope=scope)

    def scope_ids(self, view: Snapshot) -> list[int]:
        """Return the ids of the readable scopes, the one for writing first; [0] if no scope exists."""
        return scope_ids(view, self.scope.owner, self.scope.agent) or [0]

    def read(self) -> AbstractContextManager[Snapshot]:
        """Open a snapshot for this scope. A store with row-level security shows no other scope's rows."""
        return self.store.read(self.scope)

    def read_everything(self) -> AbstractContextManager[Snapshot]:
        """Open a snapshot of every owner's rows, for work on the store itself."""
        return self.store.read()

    def where(self, *kinds: Kind, superseded: bool = False, deleted: bool = False) -> Filter:
        """Return a filter for memories of this scope, of these kinds (default: all)."""
        wanted = frozenset(kinds or Kind)
        return Filter(self.scope.owner, self.scope.agent, wanted, superseded=superseded, deleted=deleted)

    def unexpired(self, *kinds: Kind) -> Filter:
        """Return a filter for current memories of this scope that have not expired."""
        return replace(self.where(*kinds), expired_by=microseconds(self.clock()))

    @retry_after_failover
    def memory(self, id_: int) -> Memory:
        """Return a memory of this scope, or raise `NotFound`."""
        with self.read() as view:
            memory = memories_by_id(view, [id_]).get(id_)
        if memory is None or not self.can_read(memory.scope):
            raise NotFound(f"There is no memory {id_}.")
        return memory


@dataclass(frozen=True, slots=True)
class EngineGroup:
    """A group of an engine's methods, such as `memory.graph`."""

    _services: Services

    def __repr__(self) -> str:
        return f"{type(self).__name__}(store={self._services.store.place!r}, scope={self._services.scope!r})"


# Steps after a commit. They must not raise: the caller must learn that the write succeeded.

UNFINISHED = "It is stored, but a later step failed"
"""The beginning of a note on a failed follow-up step."""

_log = logging.getLogger(__name__)


def attempt_follow_up(step: Callable[[], Result]) -> tuple[Result | None, str | None]:
    """Run a step; if it fails, return None and a note with the reason."""
    try:
        return retry_after_failover(step)(), None
    except Exception as error:  # noqa: BLE001  # the write is committed
        # Without free file descriptors or memory, a library may raise any exception.
        is_ours = isinstance(error, RecollectError)
        _log.log(
            logging.WARNING if is_ours else logging.ERROR,
            "The write is stored, but a step after it failed: %s",
            error,
            exc_info=not is_ours,
        )
        # That remark is about the failed step, and the write before it was stored.
        reason = str(error).removesuffix(" Nothing was written.") or type(error).__name__
        return None, f"{UNFINISHED}: {reason}"


def unfinished_note(note: str | None) -> str | None:
    """Return the note if it reports a failed step; None if it only reports a missing model."""
    return note if note is not None and note.startswith(UNFINISHED) else None
