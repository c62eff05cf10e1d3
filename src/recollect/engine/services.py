"""What every use case works with."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import field, replace
from datetime import UTC, tzinfo
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec

from recollect.changes import Change, Outcome
from recollect.dreams.knobs import Knobs, Phase
from recollect.engine.recent_texts import RecentTexts
from recollect.engine.repository import Repository
from recollect.engine.shadow import TrialSettings
from recollect.engine.usage import UsageRecorder
from recollect.engine.versions import ExpectedVersion
from recollect.engine.worker import Worker
from recollect.errors import ModelUnavailable, NotFound, StoreUnavailable
from recollect.lazy_dataclass import dataclass
from recollect.ports import Clock, Embedder, Extractor, Reranker, Result, Snapshot
from recollect.query import Filter
from recollect.ranking.factors.recency import microseconds
from recollect.ranking.pipeline import Profile
from recollect.ranking.profiles import PROFILES, profile_named
from recollect.records import Kind, Memory, Scope
from recollect.retrieval.records import memories_by_id, scope_ids

if TYPE_CHECKING:
    from recollect.engine.writes.apply import BeforeCommit

Asked = ParamSpec("Asked")

EmbedderNamed = Callable[[str], Embedder | None]
"""The embedder of a model's name. None where the name stands for having no model."""


ExtractorMade = Callable[[], Extractor | None]
"""None where nothing is to be drawn out."""


RerankerMade = Callable[[], Reranker]
"""`ModelUnavailable` where it is not installed."""


@dataclass(frozen=True, slots=True)
class LanguageModels:
    """Which model reads other languages than English, and whether it may be chosen."""

    multilingual: str
    install: str | None
    """The command that installs it; None: it is ready."""
    reads_only_english: Callable[[str], bool]
    """Whether this is so of the model of a name; False where nobody knows."""
    automatic: bool
    """Nobody named a model, so that texts decide."""
    in_background: bool = False
    """A store that is not small may be changed meanwhile: the process stays after its answer."""

    @property
    def may_choose(self) -> bool:
        return self.automatic and self.install is None


def _nothing() -> None:
    return None


def _no_reranker() -> Reranker:
    raise ModelUnavailable("There is no re-ranker here.")


def asks_again(question: Callable[Asked, Result]) -> Callable[Asked, Result]:
    """A question that is asked a second time where a server failed meanwhile and another took over.

    For what only reads, or may be done twice.
    """

    @wraps(question)
    def answer(*args: Asked.args, **options: Asked.kwargs) -> Result:
        # What can be gone through once is needed twice.
        kept: Any = [tuple(each) if isinstance(each, Iterator) else each for each in args]
        named: Any = {
            name: tuple(each) if isinstance(each, Iterator) else each for name, each in options.items()
        }
        try:
            return question(*kept, **named)
        except StoreUnavailable as error:
            if not error.ask_again:
                raise
        return question(*kept, **named)

    # Whoever no longer waits for the answer may let it end early.
    answer.only_reads = True  # type: ignore[attr-defined]
    return answer


@dataclass(frozen=True, slots=True)
class Services:
    """A store, the time, the way to a model, and whose memory it is."""

    store: Repository
    clock: Clock
    embedder_named: EmbedderNamed
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
    """What a dream does, unless its caller says otherwise."""
    process_id: str = "this process"
    """By which name it holds what one process at a time may hold."""
    extractor: ExtractorMade = _nothing
    """What draws notes out of messages; made when it is first needed."""
    reranker: RerankerMade = _no_reranker
    """What reads the first places of a list again."""
    reranks: bool = False
    """Whether it does where the caller does not say."""
    trial: TrialSettings = field(default_factory=TrialSettings)
    """What is kept of answers, and who is shown which ranking."""
    language_models: LanguageModels | None = None
    """None: languages decide nothing."""
    recent_texts: RecentTexts = field(default_factory=RecentTexts)
    """What was embedded last, here or in another scope of the store."""
    expected: ExpectedVersion | None = None
    """What the next change must find, or nothing is written."""
    shutdown: threading.Event = field(default_factory=threading.Event)
    """Set when nobody waits any more: texts without a vector are left to wait for the next start."""

    @property
    def worker(self) -> Worker:
        """What runs in the background."""
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
    def own(self) -> Services:
        """To write as. Who named no agent reads those of all, and writes what belongs to none of them."""
        return self if self.scope.agent is not None else replace(self, scope=Scope(self.scope.owner))

    def sees(self, scope: Scope) -> bool:
        return scope.owner == self.scope.owner and self.scope.agent in (None, scope.agent)

    def by_scope(self, ids: Sequence[int]) -> dict[Scope, tuple[int, ...]]:
        """These memories by whose they are, to be changed there; what is not seen is left to `own`."""
        if self.scope.agent is not None:
            return {self.scope: tuple(ids)}
        with self.read() as view:
            known = memories_by_id(view, ids)
        found: dict[Scope, tuple[int, ...]] = {}
        for id_ in ids:
            memory = known.get(id_)
            scope = memory.scope if memory is not None and self.sees(memory.scope) else self.own.scope
            found[scope] = (*found.get(scope, ()), id_)
        return found

    def of_memory(self, id_: int) -> Services:
        """To change a memory as the agent whose it is."""
        (scope,) = self.by_scope([id_])
        return self if scope == self.scope else replace(self, scope=scope)

    def scope_ids(self, view: Snapshot) -> list[int]:
        """The scopes that are read, the one that is written to first; one without rows, if there is none."""
        return scope_ids(view, self.scope.owner, self.scope.agent) or [0]

    def read(self) -> AbstractContextManager[Snapshot]:
        """The store at this moment, as far as it is of this scope: a store may show nothing else."""
        return self.store.read(self.scope)

    def read_everything(self) -> AbstractContextManager[Snapshot]:
        """The store at this moment, with every owner's rows: for work on the store itself."""
        return self.store.read()

    def where(self, *kinds: Kind, superseded: bool = False, deleted: bool = False) -> Filter:
        """The memories of this scope, of these kinds or of all."""
        wanted = frozenset(kinds or Kind)
        return Filter(self.scope.owner, self.scope.agent, wanted, superseded=superseded, deleted=deleted)

    def found_now(self, *kinds: Kind) -> Filter:
        """The same, without what has expired."""
        return replace(self.where(*kinds), expired_by=microseconds(self.clock()))

    @asks_again
    def memory(self, id_: int) -> Memory:
        """A memory of this scope, or an error that says that there is none."""
        with self.read() as view:
            memory = memories_by_id(view, [id_]).get(id_)
        if memory is None or not self.sees(memory.scope):
            raise NotFound(f"There is no memory {id_}.")
        return memory
