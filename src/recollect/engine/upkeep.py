"""The upkeep of a memory: its file, its calibration, and a graph that has grown untidy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from recollect.engine import calibrating, duplicates, meaning, reflect, split, split_analysis
from recollect.engine.moving import Export, Import, export
from recollect.engine.parts import Parts
from recollect.engine.report import STALE_DAYS, consolidation_report
from recollect.rank.profiles import DEFAULT
from recollect.records import Filter, Kind
from recollect.text.near_duplicates import CONTAINED_SHARE, SIMILAR_COSINE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from recollect.engine.calibrating import Calibrating
    from recollect.engine.results import Answer, Remembered
    from recollect.engine.split import PartLike
    from recollect.engine.upkeep_results import (
        ConsolidationReport,
        Duplicates,
        Split,
        SplitAnalysis,
        SplitProposal,
        SplitUndo,
        Unsplit,
    )
    from recollect.ports import Progress, Vector
    from recollect.rank.pipeline import Profile
    from recollect.records import Problem


@dataclass(frozen=True, slots=True)
class Upkeep:
    """`memory.upkeep`: care for the store, and tidy the graph."""

    parts: Parts

    def backup(self, path: str, progress: Progress | None = None) -> None:
        """Copy the store to a new file, while others may go on writing."""
        self.parts.store.backup(path, progress)

    def verify(self) -> Sequence[Problem]:
        """Everything that is wrong with the store; empty if nothing is."""
        return self.parts.store.verify()

    def repair(self) -> Sequence[Problem]:
        """Rebuild what is derived from the rows; returns what remains wrong."""
        return self.parts.store.repair()

    def version(self) -> int:
        """Another number once anybody has written something, in this process or another."""
        return self.parts.store.version()

    def begin_shutdown(self) -> None:
        """Begin nothing any more: texts that lack a vector get it when the memory is next opened."""
        self.parts.ends.set()

    def how_many(self, *, superseded: bool = False) -> Mapping[Kind, int]:
        """The live memories of this scope, by kind; with `superseded`, those too."""
        scope = self.parts.scope
        with self.parts.store.read() as view:
            return view.how_many(Filter(scope.owner, scope.agent, superseded=superseded))

    def session_count(self) -> int:
        """How many conversations there are, in every scope."""
        with self.parts.store.read() as view:
            return sum(len(view.sessions(scope)) for scope in view.scopes())

    def ids_after(self, after: int, limit: int) -> list[int]:
        """The ids of the live memories of this scope that are greater than `after`, the lowest first."""
        scope = self.parts.scope
        with self.parts.store.read() as view:
            return [memory.id for memory in view.page(Filter(scope.owner, scope.agent), after, limit)]

    def sample_texts(self, limit: int) -> Iterator[str]:
        """What the first memories of each scope say."""
        with self.parts.store.read() as view:
            for scope in view.scopes():
                for memory in view.page(Filter(scope.owner, scope.agent), 0, limit):
                    yield memory.text or " ".join(seen.content for seen in memory.in_force)

    def vector_cache_problem(self, query: Vector | None) -> str | None:
        """Why programs do not share one cache of vectors, if so. A search for `query` brings the cache up."""
        scope = self.parts.scope
        if query is not None:
            with self.parts.store.read() as view:
                view.by_meaning(query, 1, Filter(scope.owner, scope.agent))
        problem: str | None = getattr(self.parts.store, "cache_trouble", None)
        return problem

    def unrecorded_answers(self) -> tuple[int, str | None]:
        """How many answers could not be noted as shown, in any process, and why not, in this one."""
        with self.parts.store.read() as view:
            missed = view.counts().unnoted
        return missed + self.parts.usage.failures, self.parts.usage.last_failure

    def embed_pending(self, progress: Progress | None = None) -> tuple[int, str | None]:
        """Embed the texts that wait for a vector: how many, and why they must go on waiting, if so."""
        return meaning.embed_waiting(self.parts, progress)

    def embed_in_background(self) -> None:
        """Embed the texts that wait for a vector, until none does or the memory is closed."""
        meaning.embed_in_background(self.parts)

    def export(self, *, everything: bool = False) -> AbstractContextManager[Export]:
        """What there is to export, of one moment: of this scope, or `everything` that the store holds."""
        return export(self.parts, everything=everything)

    def importing(self) -> Import:
        """Takes in what comes from another memory."""
        return Import(self.parts, self.parts.clock())

    def calibrate(self, *, progress: Progress | None = None) -> Calibrating:
        """Learn now, from questions made of this memory's own texts, how sure its answers may be."""
        return calibrating.calibrate(self.parts, progress)

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
        return duplicates.find_duplicate_observations(
            self.parts,
            entity,
            threshold=threshold,
            containment=containment,
            limit=limit,
            progress=progress,
        )

    def consolidation_report(
        self, *, stale_days: float = STALE_DAYS, progress: Progress | None = None
    ) -> ConsolidationReport:
        """What could be tidied: what to split, what repeats itself, what nobody has looked at for long."""
        return consolidation_report(self.parts, stale_days, progress)

    def find_split_candidates(self, progress: Progress | None = None) -> tuple[SplitAnalysis, ...]:
        """Entities with too many observations that fall into topics, the most urgent first."""
        return split_analysis.find_split_candidates(self.parts, progress)

    def analyze_split(self, name: str) -> SplitAnalysis:
        """Whether an entity should be split, and into which topics."""
        return split_analysis.analyze_split(self.parts, name)

    def propose_split(self, name: str) -> SplitProposal:
        """Parts for `execute_split`, to look over first. Nothing is written."""
        return split_analysis.propose_split(self.parts, name)

    def execute_split(self, name: str, parts: Iterable[PartLike], progress: Progress | None = None) -> Split:
        """Make entities of an entity's observations, and relate them to it: all of it, or nothing.

        Parts are those of a proposal, or mappings with `name`, `observations` (texts that it has in force)
        and perhaps `type`. Observations that no part names stay. The answer's `undo` goes to `undo_split`.
        """
        return split.execute_split(self.parts, name, parts, progress)

    def undo_split(self, undo: SplitUndo | Mapping[str, Any]) -> Unsplit:
        """Take a split back as if it had not been; refused where a part was changed since."""
        return split.undo_split(self.parts, undo)

    def add_reflection(
        self,
        content: str,
        *,
        about: Iterable[str] = (),
        author: str | None = None,
        mood: str | None = None,
        key: str | None = None,
    ) -> Remembered:
        """Keep what somebody thinks about what is remembered: a note of the category `reflection`.

        `about` names entities, which must exist; whatever the text names is linked as well.
        """
        return reflect.add_reflection(self.parts, content, about=about, author=author, mood=mood, key=key)

    def search_reflections(
        self,
        query: str,
        *,
        author: str | None = None,
        mood: str | None = None,
        about: str | None = None,
        limit: int | None = None,
        profile: str | Profile = DEFAULT,
        explain: bool = False,
        record: bool = True,
    ) -> Answer:
        """As `recall`, over reflections alone: of an author, in a mood, about an entity."""
        return reflect.search_reflections(
            self.parts,
            self.parts.profile(profile),
            query,
            author=author,
            mood=mood,
            about=about,
            limit=limit,
            explain=explain,
            record=record,
        )
