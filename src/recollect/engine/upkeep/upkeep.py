"""The upkeep of a memory: its file, and a graph that has grown untidy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from recollect.changes import PurgeMemories
from recollect.engine import catch_up, embedding
from recollect.engine.graph.knowledge_graph import entity_named, existing_relation
from recollect.engine.inputs import ids_of, listed
from recollect.engine.language_choice import model_proposal
from recollect.engine.limits import STALE_DAYS
from recollect.engine.notes import reflections
from recollect.engine.notes.remember import remember
from recollect.engine.notes.sessions import check_session
from recollect.engine.recall import query_of, recall
from recollect.engine.results import Answer, EmbedResult, ModelProposal, PurgeResult, Remembered
from recollect.engine.services import Services, asks_again
from recollect.engine.upkeep.transfer import Export, Import, exporting
from recollect.engine.versions import ExpectedVersion
from recollect.lazy_dataclass import dataclass
from recollect.ports import Progress, Vector
from recollect.ranking.factors.recency import microseconds
from recollect.ranking.profiles import DEFAULT
from recollect.records import Kind, Problem, Scope, ScopeCounts
from recollect.retrieval.contents import (
    all_scopes,
    count_by_kind,
    memory_page,
    notes_by_scope,
    scope_counts,
    store_counts,
    store_setting,
)
from recollect.retrieval.conversations import sessions_of
from recollect.retrieval.passages import count_without_tokens
from recollect.retrieval.records import memories_by_id, scope_id
from recollect.retrieval.search import Search
from recollect.text.limits import clean_name
from recollect.text.near_duplicates import CONTAINED_SHARE, SIMILAR_COSINE

if TYPE_CHECKING:
    from recollect.engine.engine import Engine
    from recollect.engine.upkeep.results import (
        ConsolidationReport,
        Duplicates,
        SplitAnalysis,
        SplitProposal,
        SplitResult,
        SplitUndo,
        UndoSplitResult,
    )
    from recollect.engine.upkeep.settling import Settling
    from recollect.engine.upkeep.split import PartLike
    from recollect.engine.upkeep.store_state import BackupFile, StoreState
    from recollect.ranking.pipeline import Profile


@dataclass(frozen=True, slots=True)
class Upkeep:
    """`memory.upkeep`: care for the store, and tidy the graph."""

    services: Services

    @property
    def settling(self) -> Settling:
        """What a person should decide, and the ways to decide it."""
        from recollect.engine.upkeep.settling import Settling

        return Settling(self.services)

    def backup(self, path: str, progress: Progress | None = None) -> None:
        """Copy the store to a new file, while others may go on writing."""
        self.services.store.backup(path, progress)

    def backup_beside(self, progress: Progress | None = None) -> BackupFile:
        """Copy the store into the folder of backups beside its file, under the name of this moment."""
        from recollect.engine.upkeep.store_state import backup_beside

        return backup_beside(self.services, progress)

    @asks_again
    def store_state(self) -> StoreState:
        """What kind of store it is, who works on it, its backups and its replica."""
        from recollect.engine.upkeep.store_state import store_state

        return store_state(self.services)

    def now(self) -> datetime:
        """The present, as this memory's clock has it."""
        return self.services.clock()

    def purge_memories(self, ids: Iterable[int]) -> PurgeResult:
        """Destroy for good memories of this scope that are forgotten, each by its id. There is no way back.

        With them goes what may quote them: the questions and answers that showed them, reports of dreams.
        """
        from recollect.engine.after_commit import attempt_follow_up
        from recollect.engine.results import PURGE_WAITS

        wanted = self.services.by_scope(ids_of(ids))
        outcomes = self.services.own.write(
            [PurgeMemories(scope, those) for scope, those in wanted.items() if those]
        )
        done, failure = attempt_follow_up(self.services.store.compact)
        count = sum(outcome.count for outcome in outcomes)
        return PurgeResult(count, None if done else failure or PURGE_WAITS)

    def verify(self, *, quick: bool = False) -> Sequence[Problem]:
        """Everything that is wrong with the store; empty if nothing is.

        With `quick`, only whether all of it can be read, and texts are what was stored.
        """
        return self.services.store.verify(quick=quick)

    def repair(self) -> Sequence[Problem]:
        """Rebuild what is derived from the rows; returns what remains wrong.

        Of a file with damaged pages, all that can be read is carried over to a new one.
        """
        return self.services.store.repair()

    @asks_again
    def version(self) -> int:
        """Another number once anybody has written something, in this process or another."""
        return self.services.store.version()

    def expecting(self, id: int, versions: Iterable[str]) -> Engine:  # noqa: A002  # the domain's word
        """The same memory for one change: `Outdated`, and nothing is written, unless a memory has one of
        these versions, as `memory_version` tells them. It is checked in the change's transaction.
        """
        from recollect.engine.engine import Engine  # it has us as a part

        return Engine(replace(self.services, expected=ExpectedVersion(id, tuple(versions))))

    def begin_shutdown(self) -> None:
        """Begin nothing any more: texts that lack a vector get it when the memory is next opened."""
        self.services.shutdown.set()

    @asks_again
    def how_many(self, *, superseded: bool = False) -> Mapping[Kind, int]:
        """The live memories of this scope, by kind; with `superseded`, those too."""
        with self.services.read() as view:
            return count_by_kind(view, self.services.where(superseded=superseded))

    @asks_again
    def own_counts(self) -> ScopeCounts:
        """How much this scope holds beside its memories; nothing of what others keep in the same store."""
        with self.services.read() as view:
            scope = self.services.scope
            return scope_counts(view, scope.owner, scope.agent, microseconds(self.services.clock()))

    @asks_again
    def size(self) -> tuple[int, int]:
        """How many bytes the whole store takes, and the version of its form."""
        return self.services.store.size()

    @asks_again
    def store_id(self) -> str:
        """Of each store another one, also of a copy."""
        with self.services.read_everything() as view:
            return store_setting(view, "store_id") or ""

    @asks_again
    def session_count(self) -> int:
        """How many conversations there are, in every scope."""
        with self.services.read_everything() as view:
            return sum(len(sessions_of(view, scope_id(view, scope))) for scope in all_scopes(view))

    @asks_again
    def scopes(self) -> Sequence[Scope]:
        """Every scope of the store that anybody ever wrote to, whatever is left in it; no memory is read."""
        with self.services.read_everything() as view:
            return tuple(all_scopes(view))

    @asks_again
    def notes_by_scope(self) -> Mapping[Scope, int]:
        """Every scope of the store that holds something live, with the number of its notes in force."""
        with self.services.read_everything() as view:
            return notes_by_scope(view)

    @asks_again
    def scope_of_memory(self, id: int) -> Scope | None:  # noqa: A002  # the domain's word
        """Whose memory this is, in the whole store; also one that is forgotten. None: nobody's."""
        with self.services.read_everything() as view:
            memory = memories_by_id(view, [id]).get(id)
        return None if memory is None else memory.scope

    @asks_again
    def ids_after(self, after: int, limit: int) -> list[int]:
        """The ids of the live memories of this scope that are greater than `after`, the lowest first."""
        with self.services.read() as view:
            return [memory.id for memory in memory_page(view, self.services.where(), after, limit)]

    @asks_again
    def passages_without_tokens(self) -> int:
        """How many passages got their vectors before tokens were kept; 0 where the model gives no tokens."""
        embedder, _ = embedding.embedder_or_reason(self.services)
        if embedder is None or embedding.token_embedder(embedder) is None:
            return 0
        with self.services.read_everything() as view:
            return count_without_tokens(view)

    @asks_again
    def vector_cache_problem(self, query: Vector | None) -> str | None:
        """Why programs do not share one cache of vectors, if so. A search for `query` brings the cache up."""
        if query is not None:
            with self.services.read() as view:
                Search(view, self.services.where()).by_meaning(query, 1)
        problem: str | None = getattr(self.services.store.store, "cache_trouble", None)
        return problem

    def replica_problem(self) -> str | None:
        """Why the server that is to answer questions left the last one to the primary, if it did."""
        problem: str | None = getattr(self.services.store.store, "replica_trouble", None)
        return problem

    def replica_lag_seconds(self) -> float | None:
        """How far the server that answers questions is behind; None where there is none, or nobody knows."""
        lag = getattr(self.services.store.store, "replica_lag_seconds", None)
        return None if lag is None else lag()

    @asks_again
    def unrecorded_answers(self) -> tuple[int, str | None]:
        """How many answers could not be noted as shown, in any process, and why not, in this one."""
        with self.services.read_everything() as view:
            missed = store_counts(view).unnoted
        return missed + self.services.usage.failures, self.services.usage.last_failure

    @asks_again
    def model_proposal(self) -> ModelProposal | None:
        """The model that suits the languages of the newest texts better, if there is one, and what to run."""
        return model_proposal(self.services)

    def embed_pending(self, progress: Progress | None = None) -> EmbedResult:
        """Embed the texts that wait for a vector: how many, and why they must go on waiting, if so."""
        return catch_up.embed_all_pending(self.services.own, progress)

    def embed_in_background(self) -> None:
        """Embed the texts that wait for a vector, until none does or the memory is closed."""
        catch_up.embed_in_background(self.services.own)

    def forget_all(self) -> int:
        """Forget everything of this scope, so that `restore` can bring each back; returns how many."""
        from recollect.engine.listing import forget_all

        return forget_all(self.services)

    def export(self, *, everything: bool = False) -> AbstractContextManager[Export]:
        """What there is to export, of one moment: of this scope, or `everything` that the store holds."""
        return exporting(self.services, everything=everything)

    def importing(self) -> Import:
        """Takes in what comes from another memory."""
        return Import(self.services.own, self.services.own.clock())

    @asks_again
    def find_duplicate_observations(
        self,
        entity: str | None = None,
        *,
        threshold: float = SIMILAR_COSINE,
        containment: float = CONTAINED_SHARE,
        limit: int = 100,
        progress: Progress | None = None,
    ) -> Duplicates:
        """Pairs of observations of one entity, or of each, that nearly say the same, the most alike first."""
        from recollect.engine.upkeep.duplicates import find_duplicate_observations

        return find_duplicate_observations(
            self.services.own,
            entity,
            threshold=threshold,
            containment=containment,
            limit=limit,
            progress=progress,
        )

    @asks_again
    def consolidation_report(
        self, *, stale_days: float = STALE_DAYS, progress: Progress | None = None
    ) -> ConsolidationReport:
        """What could be tidied: what to split, what repeats itself, what nobody has looked at for long."""
        from recollect.engine.upkeep.report import consolidation_report

        return consolidation_report(self.services.own, stale_days, progress)

    @asks_again
    def find_split_candidates(self, progress: Progress | None = None) -> tuple[SplitAnalysis, ...]:
        """Entities with too many observations that fall into topics, the most urgent first."""
        from recollect.engine.upkeep.split_analysis import find_split_candidates

        return find_split_candidates(self.services.own, progress)

    @asks_again
    def analyze_split(self, name: str) -> SplitAnalysis:
        """Whether an entity should be split, and into which topics."""
        from recollect.engine.upkeep.split_analysis import analyze_split

        return analyze_split(self.services.own, name)

    @asks_again
    def propose_split(self, name: str) -> SplitProposal:
        """Parts for `execute_split`, to look over first. Nothing is written."""
        from recollect.engine.upkeep.split_analysis import propose_split

        return propose_split(self.services.own, name)

    def execute_split(
        self, name: str, parts: Iterable[PartLike], progress: Progress | None = None
    ) -> SplitResult:
        """Make entities of an entity's observations, and relate them to it: all of it, or nothing.

        Parts are those of a proposal, or mappings with `name`, `observations` (texts that it has in force)
        and perhaps `type`. Observations that no part names stay. The answer's `undo` goes to `undo_split`.
        """
        from recollect.engine.upkeep.split import execute_split

        return execute_split(self.services.own, name, parts, progress)

    def undo_split(self, undo: SplitUndo | Mapping[str, Any]) -> UndoSplitResult:
        """Take a split back as if it had not been; refused where a part was changed since."""
        from recollect.engine.upkeep.split import undo_split

        return undo_split(self.services.own, undo)

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
        """Keep what somebody thinks about what is remembered: a note of the category `reflection`.

        `about` names entities, `session` a conversation and `relation` a (source, type, target), all of which
        must exist; whatever the text names is linked as well.
        """
        if session is not None:
            check_session(self.services, session)
        known = None if relation is None else existing_relation(self.services, relation)
        ends = () if known is None else (known[0], known[2])
        note = {
            "text": content,
            "category": reflections.CATEGORY,
            "speaker": author,
            "about": (*listed(about, "Entities of `about`"), *ends),
            "tags": reflections.reflection_tags(mood, session, known),
        }
        return remember(self.services.own, note, key, reflections.check_category)

    @asks_again
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
        """As `recall`, over reflections alone: of an author, in a mood, about an entity and so on."""
        ranker = self.services.profile(profile)
        known = None if relation is None else existing_relation(self.services, relation)
        asked = query_of(
            self.services,
            query,
            ranker,
            limit=limit,
            kinds=(Kind.NOTE,),
            explain=explain,
            record=record,
            tags=reflections.reflection_tags(mood, session, known),
            category=reflections.CATEGORY,
            speaker=None if author is None else clean_name(author, "author"),
            about=None if about is None else entity_named(self.services, about),
        )
        return recall(self.services, asked, ranker)
