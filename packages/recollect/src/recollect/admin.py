"""Upkeep of a memory, internals for Recollect's other packages, the store's state, and access tokens."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from recollect.domain.changes import CreateToken, NoteTokenUse, RevokeToken
from recollect.domain.errors import InvalidInput, NotFound, RecollectError, StoreUnavailable
from recollect.domain.json_values import Record
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.limits import STALE_DAYS, clean_name
from recollect.domain.records import Kind, Memory, Problem, Scope, ScopeCounts, Session
from recollect.domain.results import Answer, EmbedResult, EntityCounts, MemoryLink, ModelProposal, Remembered
from recollect.domain.tables import is_null
from recollect.memories import notes
from recollect.memories.browse import most_related
from recollect.memories.graph import entity_named, existing_relation, similar_names
from recollect.memories.sessions import check_session
from recollect.ranking.factors import microseconds
from recollect.ranking.profiles import DEFAULT
from recollect.search.entities import entities_named, graph_mark, matching_names
from recollect.search.recall import query_of, recall
from recollect.search.rows import memories_by_id, moment, relations_of, scope_id
from recollect.search.texts import (
    all_scopes,
    count_by_kind,
    count_without_tokens,
    memory_page,
    named_tokens,
    notes_by_scope,
    scope_counts,
    sessions_of,
    store_counts,
    store_setting,
)
from recollect.services import EngineGroup, ExpectedVersion, Services, retry_after_failover
from recollect.stores.port import Progress
from recollect.stores.url import IN_MEMORY
from recollect.text.near_duplicates import CONTAINED_SHARE, SIMILAR_COSINE
from recollect.write import embedding
from recollect.write.embedding import model_proposal
from recollect.write.inputs import RelationLike, one_or_more, relation_of
from recollect.write.repository import Priority, is_dead

if TYPE_CHECKING:
    from recollect.domain.records import NamedToken
    from recollect.engine import Engine
    from recollect.ranking.candidates import Profile
    from recollect.review.results import (
        ConsolidationReport,
        Duplicates,
        SplitAnalysis,
        SplitProposal,
        SplitResult,
        SplitUndo,
        UndoSplitResult,
    )
    from recollect.review.settling import Settling
    from recollect.review.split import PartLike
    from recollect.services import Services


class Upkeep(EngineGroup):
    """`memory.upkeep`: back up and check the store, and tidy the graph."""

    @property
    def settling(self) -> Settling:
        """The open review items, such as contradictions and duplicates, and methods that settle them."""
        from recollect.review.settling import Settling

        return Settling(self._services)

    def backup(self, path: str | None = None, progress: Progress | None = None) -> BackupFile:
        """Copy the store to a new file. Other processes can keep writing.

        Args:
            path: The new file (default: one in the backup folder next to the store).
            progress: Reports the pages copied.

        Raises:
            StoreUnavailable: The store is not a file, or the new file cannot be written.

        Examples:
            >>> memory.upkeep.backup("copy.db").name
            'copy.db'
        """
        target = _new_backup(self._services) if path is None else Path(path)
        self._services.store.backup(str(target), progress)
        return _backup_file(target)

    @retry_after_failover
    def store_state(self) -> StoreState:
        """Return the kind of store, its size, its leases, its backups and its replica.

        Examples:
            >>> memory.upkeep.store_state().kind
            'file'
        """
        return store_state(self._services)

    def verify(self, *, quick: bool = False) -> Sequence[Problem]:
        """Return every problem of the store.

        Args:
            quick: Check only that everything can be read, and that no stored text has changed.

        Examples:
            >>> len(memory.upkeep.verify())
            0
        """
        return self._services.store.verify(quick=quick)

    def repair(self) -> Sequence[Problem]:
        """Rebuild everything that is derived from the rows.

        Readable rows of a damaged file are copied to a new one, which replaces it if no row was lost.

        Returns:
            The remaining problems.

        Examples:
            >>> len(memory.upkeep.repair())
            0
        """
        return self._services.store.repair()

    @retry_after_failover
    def model_proposal(self) -> ModelProposal | None:
        """Return the model that suits the languages of the newest texts better, if there is one.

        Examples:
            >>> memory.upkeep.model_proposal() is None
            True
        """
        return model_proposal(self._services)

    @retry_after_failover
    def find_duplicate_observations(
        self,
        entity: str | None = None,
        *,
        threshold: float = SIMILAR_COSINE,
        containment: float = CONTAINED_SHARE,
        limit: int = 100,
        progress: Progress | None = None,
    ) -> Duplicates:
        """Return pairs of observations that are nearly equal, most similar first.

        Args:
            entity: Only pairs of this entity.
            threshold: The minimum cosine of two vectors.
            containment: The minimum share of one text's words that the other text has.
            limit: Number of pairs.
            progress: Reports the entities compared.

        Examples:
            >>> memory.upkeep.find_duplicate_observations().pairs
            ()
        """
        from recollect.review.report import find_duplicate_observations

        return find_duplicate_observations(
            self._services.for_writing,
            entity,
            threshold=threshold,
            containment=containment,
            limit=limit,
            progress=progress,
        )

    @retry_after_failover
    def consolidation_report(
        self, *, stale_days: float = STALE_DAYS, progress: Progress | None = None
    ) -> ConsolidationReport:
        """Report what could be tidied: entities to split, near-duplicates, contradictions, stale entities.

        Args:
            stale_days: Days without use after which an entity counts as stale.
            progress: Reports the entities read.

        Examples:
            >>> memory.upkeep.consolidation_report().entities
            2
        """
        from recollect.review.report import consolidation_report

        return consolidation_report(self._services.for_writing, stale_days, progress)

    @retry_after_failover
    def find_split_candidates(self, progress: Progress | None = None) -> tuple[SplitAnalysis, ...]:
        """Return entities with many observations on separate topics, the most urgent first.

        Examples:
            >>> memory.upkeep.find_split_candidates()
            ()
        """
        from recollect.review.split import find_split_candidates

        return find_split_candidates(self._services.for_writing, progress)

    @retry_after_failover
    def propose_split(self, name: str) -> SplitProposal:
        """Check whether an entity should be split, and propose parts for `execute_split`. Nothing is written.

        Raises:
            NotFound: There is no entity of that name.

        Examples:
            >>> memory.upkeep.propose_split("Marisol Vega").parts
            ()
        """
        from recollect.review.split import propose_split

        return propose_split(self._services.for_writing, name)

    def execute_split(
        self, name: str, parts: Iterable[PartLike], progress: Progress | None = None
    ) -> SplitResult:
        """Move observations of an entity to new entities, and relate these to it.

        Observations that no part lists stay. The split is written as a whole or not at all.

        Args:
            name: The entity.
            parts: Parts of a proposal, or mappings with `name`, `observations` (texts) and perhaps `type`.
            progress: Reports the embedding, which follows the write.

        Returns:
            The new entities. Pass its `undo` to `undo_split` to undo the split.

        Raises:
            InvalidInput: A part names an observation that the entity does not have.

        Examples:
            >>> seen = memory.graph.add_observations({"Marisol Vega": ["Sails on Sundays"]})
            >>> parts = [{"name": "Marisol's boat", "observations": ["Sails on Sundays"]}]
            >>> done = memory.upkeep.execute_split("Marisol Vega", parts)
        """
        from recollect.review.split import execute_split

        return execute_split(self._services.for_writing, name, parts, progress)

    def undo_split(self, undo: SplitUndo | Mapping[str, Any]) -> UndoSplitResult:
        """Undo a split.

        Raises:
            Conflict: A part has changed since the split.

        Examples:
            >>> seen = memory.graph.add_observations({"Marisol Vega": ["Sails on Sundays"]})
            >>> parts = [{"name": "Marisol's boat", "observations": ["Sails on Sundays"]}]
            >>> done = memory.upkeep.execute_split("Marisol Vega", parts)
            >>> undone = memory.upkeep.undo_split(done.undo)
        """
        from recollect.review.split import undo_split

        return undo_split(self._services.for_writing, undo)

    def add_reflection(
        self,
        content: str,
        *,
        about: Iterable[str] = (),
        author: str | None = None,
        mood: str | None = None,
        session: str | None = None,
        relation: tuple[str, str, str] | None = None,
        key: str | None = None,
    ) -> Remembered:
        """Store a reflection: a note with an opinion on stored memories.

        Entities named in the text are linked as well.

        Args:
            content: The text.
            about: Names of existing entities.
            author: The agent or person who reflects.
            mood: Any word, such as `doubt`.
            session: An existing conversation that it is about.
            relation: An existing (source, type, target) that it is about.
            key: A retry with the same key returns the first result and writes nothing.

        Raises:
            NotFound: An entity, conversation or relation does not exist.

        Examples:
            >>> memory.upkeep.add_reflection("I guessed the date; ask next time", about="Tidebook").created
            True
        """
        if session is not None:
            check_session(self._services, session)
        known = None if relation is None else existing_relation(self._services, relation)
        ends = () if known is None else (known[0], known[2])
        note = {
            "text": content,
            "category": notes.CATEGORY,
            "speaker": author,
            "about": (*one_or_more(about, "Entities of `about`"), *ends),
            "tags": notes.reflection_tags(mood, session, known),
        }
        return notes.remember(self._services.for_writing, note, key, notes.check_category)

    @retry_after_failover
    def search_reflections(
        self,
        query: str,
        *,
        author: str | None = None,
        mood: str | None = None,
        about: str | None = None,
        session: str | None = None,
        relation: tuple[str, str, str] | None = None,
        limit: int | None = None,
        profile: str | Profile = DEFAULT,
        explain: bool = False,
        record: bool = True,
    ) -> Answer:
        """Search reflections only, and return an answer like that of `recall`.

        Args:
            query: The query.
            author: Only reflections of this author.
            mood: Only reflections in this mood.
            about: Only reflections about this entity.
            session: Only reflections about this conversation.
            relation: Only reflections about this (source, type, target).
            limit: Number of hits.
            profile: The ranking profile.
            explain: Show for every hit what each ranking step did.
            record: Record the hits, as a signal for later rankings.

        Examples:
            >>> thought = memory.upkeep.add_reflection("I guessed the date; ask next time")
            >>> memory.upkeep.search_reflections("date")[0].memory.id == thought.id
            True
        """
        ranker = self._services.profile(profile)
        known = None if relation is None else existing_relation(self._services, relation)
        asked = query_of(
            self._services,
            query,
            ranker,
            limit=limit,
            kinds=(Kind.NOTE,),
            explain=explain,
            record=record,
            tags=notes.reflection_tags(mood, session, known),
            category=notes.CATEGORY,
            speaker=None if author is None else clean_name(author, "author"),
            about=None if about is None else entity_named(self._services, about),
        )
        return recall(self._services, asked, ranker)


class Internals:
    """Methods for Recollect's own packages, such as servers and importers. Not part of the public API."""

    def __init__(self, memory: Engine) -> None:
        self.services: Services = memory._services  # noqa: SLF001  # Internals is the only class that may

    def now(self) -> datetime:
        """Return the current time of this memory's clock."""
        return self.services.clock()

    @retry_after_failover
    def version(self) -> int:
        """Return a number that changes with every write, by any process."""
        return self.services.store.version()

    def expecting(self, id: int, versions: Iterable[str]) -> Engine:  # noqa: A002  # the name in the public API
        """Return an engine whose changes fail with `Outdated` unless memory `id` has one of these versions.

        `memory_version` returns versions. The check runs in the change's transaction.
        """
        from recollect.engine import Engine  # already loaded: the caller has an engine

        return Engine(replace(self.services, expected=ExpectedVersion(id, tuple(versions))))

    @retry_after_failover
    def count_memories(self, *, superseded: bool = False) -> Mapping[Kind, int]:
        """Return this scope's number of memories by kind: current ones, and with `superseded` also those."""
        with self.services.read() as view:
            return count_by_kind(view, self.services.where(superseded=superseded))

    @retry_after_failover
    def count_in_scope(self) -> ScopeCounts:
        """Return this scope's numbers of observations, relations, forgotten memories and vectors."""
        with self.services.read() as view:
            scope = self.services.scope
            return scope_counts(view, scope.owner, scope.agent, microseconds(self.services.clock()))

    @retry_after_failover
    def count_sessions(self) -> int:
        """Return the number of conversations in all scopes."""
        with self.services.read_everything() as view:
            return sum(len(sessions_of(view, scope_id(view, scope))) for scope in all_scopes(view))

    @retry_after_failover
    def scopes(self) -> Sequence[Scope]:
        """Return every scope that was ever written to, even if it is empty now."""
        with self.services.read_everything() as view:
            return tuple(all_scopes(view))

    @retry_after_failover
    def notes_by_scope(self) -> Mapping[Scope, int]:
        """Return every scope with memories that are not deleted, and the number of its current notes."""
        with self.services.read_everything() as view:
            return notes_by_scope(view)

    @retry_after_failover
    def memories_by_scope(self) -> Mapping[Scope, int]:
        """Return every scope with memories that are not deleted, and their number."""
        with self.services.read_everything() as view:
            counts = view.count("memory", (is_null("deleted_at"),), by="scope_id")
            rows = view.rows("scope", ("id", "owner", "agent"))
        return {Scope(owner, agent): counts[id_] for id_, owner, agent in rows if counts.get(id_)}

    @retry_after_failover
    def scope_of_memory(self, id: int) -> Scope | None:  # noqa: A002  # the name in the public API
        """Return the scope of any memory of the store, even if it is forgotten."""
        with self.services.read_everything() as view:
            memory = memories_by_id(view, [id]).get(id)
        return None if memory is None else memory.scope

    @retry_after_failover
    def ids_after(self, after: int, limit: int) -> list[int]:
        """Return the ids of this scope's current memories that are greater than `after`, ascending."""
        with self.services.read() as view:
            return [memory.id for memory in memory_page(view, self.services.where(), after, limit)]

    @retry_after_failover
    def passages_without_tokens(self) -> int:
        """Return how many embedded passages lack token vectors; 0 if the model has no token vectors."""
        embedder, _ = embedding.embedder_or_reason(self.services)
        if embedder is None or embedding.token_embedder(embedder) is None:
            return 0
        with self.services.read_everything() as view:
            return count_without_tokens(view)

    @retry_after_failover
    def unrecorded_answers(self) -> tuple[int, str | None]:
        """Return how many answers of all processes were not recorded, and this process's last error."""
        with self.services.read_everything() as view:
            missed = store_counts(view).unnoted
        return missed + self.services.usage.failures, self.services.usage.last_failure

    def embed_pending(self, progress: Progress | None = None, *, past: bool = False) -> EmbedResult:
        """Embed the pending texts. Return how many were embedded and, if some remain, why.

        With `past`, also embed former and superseded texts that were imported without vectors.
        """
        return embedding.embed_all_pending(self.services.for_writing, progress, past=past)

    def embed_in_background(self) -> None:
        """Embed the pending texts in the background, until none is left or the memory is closed."""
        embedding.embed_in_background(self.services.for_writing)

    def forget_all(self) -> int:
        """Forget all memories of this scope, and return how many. `restore` can restore each."""
        from recollect.memories.notes import forget_all

        return forget_all(self.services)

    @retry_after_failover
    def session_page(self, start: int = 0, limit: int = 50) -> tuple[Sequence[Session], int]:
        """Return a page of conversations, most recently used first, and the total number."""
        from recollect.memories.browse import session_page

        return session_page(self.services, start, limit)

    @retry_after_failover
    def session_turns(
        self, session: str, *, after: int = 0, limit: int = 100, newest_first: bool = False
    ) -> Sequence[Memory]:
        """Return messages of a session after a position; with `newest_first`, before it (0: the end)."""
        from recollect.memories.browse import session_turns

        return session_turns(self.services, session, after, limit, newest_first=newest_first)

    def links(self, id: int) -> tuple[MemoryLink, ...]:  # noqa: A002  # the name in the public API
        """Return the memories that often share an answer with this one, and the number of these answers."""
        from recollect.dreams.dreaming import linked_memories

        return linked_memories(self.services, id)

    def dreams_undone_with(self, id: int) -> tuple[int, ...]:  # noqa: A002  # the name in the public API
        """Return the dreams that `undo(id, later=True)` would undo: this and all later ones, newest first."""
        from recollect.dreams.dreaming import undone_with

        return undone_with(self.services.for_writing, id)

    @retry_after_failover
    def entity_id(self, name: str) -> int:
        """Return the id of an existing entity by name. Case and accents may differ."""
        return entity_named(self.services, name)

    @retry_after_failover
    def most_related_entities(self, limit: int) -> Sequence[EntityCounts]:
        """Return entities by number of relations, the most first; those without relations newest first."""
        return most_related(self.services, limit)

    @retry_after_failover
    def existing_names(self, names: Iterable[str]) -> set[str]:
        """Return the given names that belong to an entity with exactly this spelling."""
        wanted = set(map(clean_name, names))
        own = self.services.for_writing
        with own.read() as view:
            ids = entities_named(view, scope_id(view, own.scope), sorted(wanted))
            known = {memory.name for memory in memories_by_id(view, list(ids.values())).values()}
        return wanted & known

    @retry_after_failover
    def similar_names(self, name: str) -> Sequence[str]:
        """Return the names of entities that differ from this name only in case and accents, or not at all."""
        with self.services.read() as view:
            return similar_names(self.services, view, clean_name(name))

    @retry_after_failover
    def complete_name(self, begun: str, limit: int) -> tuple[list[str], int]:
        """Return names that contain this text, those that start with it first, and the total number."""
        with self.services.read() as view:
            names, total = matching_names(view, begun, limit, self.services.where())
        return list(names), total

    @retry_after_failover
    def count_existing(self, relations: Iterable[RelationLike]) -> int:
        """Return how many of these relations exist."""
        wanted = [relation_of(relation) for relation in relations]
        names = sorted({name for each in wanted for name in (each.source, each.target)})
        own = self.services.for_writing
        with own.read() as view:
            ids = entities_named(view, scope_id(view, own.scope), names)
            known = {(each.source, each.target, each.type) for each in relations_of(view, list(ids.values()))}
        return sum((ids.get(each.source), ids.get(each.target), each.type) in known for each in wanted)

    @retry_after_failover
    def ever_had_entities(self) -> bool:
        """Return whether the scope has an entity, current or forgotten."""
        with self.services.read() as view:
            return bool(memory_page(view, self.services.where(Kind.ENTITY, deleted=True), 0, 1))

    @retry_after_failover
    def graph_fingerprint(self) -> int:
        """Return a number that changes when the graph changes."""
        with self.services.read() as view:
            now = microseconds(self.services.clock())
            first, *more = (graph_mark(view, scope, now) for scope in self.services.scope_ids(view))
        return hash((first, *more)) if more else first


# The state of the store: its kind, leases and backups

StoreKind = Literal["file", "server", "memory"]
_OWNER_ONLY = 0o700


@dataclass(frozen=True, slots=True)
class Lease:
    """A task that is reserved for one process until a point in time."""

    name: str
    holder: str
    until: datetime
    holder_is_gone: bool
    """True if the process has certainly ended; False if it may run, such as on another machine."""


@dataclass(frozen=True, slots=True)
class BackupFile(Record):
    """A backup that `backup` or a background dream made."""

    name: str
    bytes: int
    at: datetime


@dataclass(frozen=True, slots=True)
class StoreState(Record):
    """The kind, size, leases and backups of a store."""

    id: str
    """A unique id. A copy of a store gets its own."""
    kind: StoreKind
    bytes: int
    schema: int
    """The schema version."""
    read_only: bool
    leases: tuple[Lease, ...]
    backups: tuple[BackupFile, ...]
    """Newest first."""
    has_replica: bool
    replica_problem: str | None
    """Why the primary had to answer the last read instead of the replica, or None."""
    replica_lag_seconds: float | None
    """How far the replica is behind the primary, if known."""
    cache_problem: str | None
    """Why the shared vector cache is not used, or None. Known after the first search by meaning."""


def store_state(services: Services) -> StoreState:
    store: Any = services.store.store
    path = _file_of(services)
    with services.read_everything() as view:
        rows = view.rows("lease", ("name", "holder", "until"))
        id_ = store_setting(view, "store_id") or ""
    kind: StoreKind = "file" if path is not None else "memory" if hasattr(store, "path") else "server"
    size, schema = services.store.size()
    lag = getattr(store, "replica_lag_seconds", None)
    return StoreState(
        id_,
        kind,
        size,
        schema,
        services.store.read_only,
        tuple(Lease(name, holder, moment(until), is_dead(holder)) for name, holder, until in rows),
        () if path is None else tuple(_backups(_backup_folder(path))),
        getattr(store, "replica", None) is not None,
        getattr(store, "replica_trouble", None),
        None if lag is None else lag(),
        getattr(store, "cache_trouble", None),
    )


def _new_backup(services: Services) -> Path:
    """Return the path for a backup that begins now, and create its folder."""
    path = _file_of(services)
    if path is None:
        raise StoreUnavailable(
            "This memory is not a file. Back up its database with the server's tools, or run `recollect "
            "export`, which writes every memory."
        )
    folder = _backup_folder(path)
    now = services.clock().astimezone(UTC)
    try:
        folder.mkdir(mode=_OWNER_ONLY, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreUnavailable(f"No backup could be made in {folder}: {error.strerror}.") from error
    return folder / f"{now:%Y-%m-%dT%H%M%S.%fZ}.db"


def _file_of(services: Services) -> Path | None:
    path = getattr(services.store.store, "path", None)
    return path if isinstance(path, Path) and path.name != IN_MEMORY else None


def _backup_folder(path: Path) -> Path:
    return path.with_name(f"{path.name}-backups")


def _backups(folder: Path) -> list[BackupFile]:
    try:
        found = [_backup_file(each) for each in folder.iterdir() if each.suffix == ".db"]
    except OSError:
        return []
    return sorted(found, key=lambda each: (each.at, each.name), reverse=True)


def _backup_file(path: Path) -> BackupFile:
    state = path.stat()
    return BackupFile(path.name, state.st_size, datetime.fromtimestamp(state.st_mtime, UTC))


# Named tokens for access over HTTP

RIGHTS = ("read", "write", "admin")
"""Each includes those before it."""
TOKEN_PREFIX = "recollect_"  # noqa: S105  # lets people and secret scanners recognise a token
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_TOKEN_BYTES = 32


class Tokens:
    """Creates, lists and revokes named tokens. They belong to the store, not to the memory's scope."""

    def __init__(self, memory: Engine) -> None:
        self.services: Services = Internals(memory).services

    def create(self, name: str, *, right: str = "write", sees: Scope | None = None) -> str:
        """Create a token and return it. Only its hash is stored, so it cannot be shown again.

        `sees` is the scope that the token gives access to. Without an agent, it covers all agents of the
        owner. None covers every scope.
        """
        if right not in RIGHTS:
            raise InvalidInput(f"Unknown right {right!r}; choose one of: {', '.join(RIGHTS)}.")
        if sees is not None:
            for each, what in ((sees.owner, "owner"), (sees.agent, "agent")):
                if each:
                    clean_name(each, what)
        token = TOKEN_PREFIX + secrets.token_urlsafe(_TOKEN_BYTES)
        self.services.write([CreateToken(_checked_name(name), token_digest(token), right, sees)])
        return token

    @retry_after_failover
    def list(self) -> tuple[NamedToken, ...]:
        """Return all tokens, sorted by name."""
        with self.services.read_everything() as view:
            return named_tokens(view)

    def revoke(self, name: str) -> None:
        """Revoke a token. Servers refuse it within a second or two."""
        if not self.services.write([RevokeToken(_checked_name(name))])[0].count:
            known = ", ".join(each.name for each in self.list()) or "none yet"
            raise NotFound(f"There is no token {name!r}; there are: {known}.")

    def note_use(self, token: NamedToken) -> None:
        """Record a use of the token in the background, unless the store is busy or read-only."""
        if not self.services.store.read_only:
            self.services.worker.submit(Priority.USAGE, lambda: self._write_use(token))

    def _write_use(self, token: NamedToken) -> None:
        with suppress(RecollectError):
            self.services.write([NoteTokenUse(token.digest)])


def token_digest(token: str) -> str:
    """Return the SHA-256 of a token. A slow hash is not needed: the token has 256 random bits."""
    return hashlib.sha256(token.encode()).hexdigest()


def _checked_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise InvalidInput(
            f"{name[:80]!r} is not a valid token name. Use up to 64 ASCII letters, digits, dots, dashes and "
            "underscores, and begin with a letter or digit, such as laptop or ci.read."
        )
    return name
