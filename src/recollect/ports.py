"""What we ask of the world: a store, an embedder, a clock."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    import numpy as np
    from numpy.typing import NDArray

    from recollect.changes import Change, Receipt
    from recollect.dream.snapshot import Snapshot
    from recollect.factors.candidates import ConversationContext, Cooccurrences, Facts, Floats
    from recollect.records import (
        Calibrated,
        Counts,
        DreamRecord,
        Filter,
        Found,
        Kind,
        LoggedAnswer,
        LogSize,
        Memory,
        Model,
        Passage,
        PastQuestion,
        Problem,
        Relation,
        Scope,
        Session,
        Statement,
        Tuned,
    )

# Named, not imported: `recollect --help` has no use for NumPy.
Vector: TypeAlias = "NDArray[np.float32]"
"""One row, of length one."""
Vectors: TypeAlias = "NDArray[np.float32]"
"""Rows of length one."""

Clock = Callable[[], datetime]
"""The present, aware of its time zone."""

Progress = Callable[[int, int | None], None]
"""Told how much is done, and of how much if that is known."""

WordIndex = Literal["plain", "stemmed"]


class Embedder(Protocol):
    """Turns text into vectors. Never called inside a write transaction."""

    @property
    def model(self) -> Model: ...

    def documents(self, texts: Sequence[str]) -> Vectors:
        """One normalised row per text. Texts over the model's limit are handled whole, not cut."""
        ...

    def query(self, text: str) -> Vector: ...


class Reranker(Protocol):
    """Reads the query and a text together. Never called inside a write transaction."""

    @property
    def name(self) -> str: ...

    def scores(self, query: str, texts: Sequence[str]) -> Floats:
        """How well each text answers the query: any numbers, the higher the better.

        A text's score does not depend on the others. `ModelUnavailable` where the model cannot run.
        """
        ...


class Extractor(Protocol):
    """Finds in messages what is worth keeping as notes. Never called inside a write transaction."""

    @property
    def name(self) -> str: ...

    def statements(self, messages: Sequence[Memory]) -> Sequence[Statement]:
        """In the messages' order. `ExtractionFailed` where it cannot tell; the messages stand as they are."""
        ...


class View(Protocol):
    """A store at one moment: every answer of one view is of the same state."""

    def memories(self, ids: Sequence[int]) -> Mapping[int, Memory]:
        """Those that exist, forgotten ones included, each with its observations."""
        ...

    def page(self, where: Filter | None, after: int, limit: int) -> Sequence[Memory]:
        """Memories by ascending id, from the first above `after`. None: of every scope, also forgotten."""
        ...

    def relation_page(self, where: Filter | None, after: int, limit: int) -> Sequence[Relation]:
        """Relations by ascending id, from the first above `after`, ended ones included.

        Those of which the filter lets both ends through. None: of every scope, deleted ones too.
        """
        ...

    def named(self, names: Sequence[str], scope: Scope) -> Mapping[str, int]:
        """Live entities by name: the exact one, else the only one that differs in case or accents."""
        ...

    def alike(self, name: str, scope: Scope) -> Sequence[str]:
        """Names of live entities that differ from this one in case or accents at most, by id."""
        ...

    def names(self, begun: str, limit: int, where: Filter) -> tuple[Sequence[str], int]:
        """Names of entities that hold the text, in any case and accents, and how many there are of them.

        Those that begin with it first, each part by the alphabet.
        """
        ...

    def relations(self, ids: Sequence[int], *, deleted: bool = False) -> Sequence[Relation]:
        """Relations that start or end at one of these, by id; ended ones included."""
        ...

    def by_words(self, text: str, k: int, where: Filter, index: WordIndex = "plain") -> Sequence[Found]:
        """Best BM25 first, ties by id. Any text is a query; no character has a meaning of its own."""
        ...

    def held(self, text: str, ids: Sequence[int], where: Filter) -> Mapping[int, float]:
        """Of what a query's telling words weigh, the share that each of these texts holds; 0 is left out."""
        ...

    def around(
        self, text: str, k: int, where: Filter, within: int, echo: tuple[str, str] | None = None
    ) -> tuple[Sequence[Found], Sequence[ConversationContext]]:
        """The messages whose neighbours, up to `within` places away, hold most of a query; ties by id.

        And what there is around all others, by scope. What the neighbours say counts whoever said it, as long
        as it was not forgotten; those that are found are such as the filter lets through. An `echo`, a
        session and a text, is what was just asked there: it says nothing of what stands beside it.
        """
        ...

    def linked(self, text: str, where: Filter, now: int) -> Sequence[Found]:
        """Entities one relation away from those that a text names, but not those themselves.

        The score is the share of the relation's type that the text says, and a quarter at the least.
        """
        ...

    def replies(self, ids: Sequence[int], where: Filter) -> Sequence[int]:
        """The messages that stand right after those of these that end with a question, by id."""
        ...

    def by_meaning(
        self, query: Vector, k: int, where: Filter, shortlist: int | None = None
    ) -> Sequence[Found]:
        """Best cosine first, ties by id; the best passage of each memory speaks for it.

        With a `shortlist` of n, the n memories that are nearest by the first third of each vector's width
        (turned by the model's rotation) are compared by the whole of it, and no others are found.
        """
        ...

    def containing(self, text: str, k: int, where: Filter) -> Sequence[int]:
        """Entities in which the text stands as it is, letters in any case, by id."""
        ...

    def facts(self, ids: Sequence[int], query: str, session: str | None, now: int) -> Facts:
        """What ranking reads of these memories, by ascending id, in a constant number of questions.

        The query and the session tell which are echoes of it.
        """
        ...

    def together(self, ids: Sequence[int]) -> Cooccurrences:
        """How often pairs of these were shown in one answer; places are those of the sorted ids."""
        ...

    def vectors(self, passages: Sequence[int]) -> Mapping[int, Vector]:
        """Vectors of the model in use, by passage."""
        ...

    def passages(self, ids: Sequence[int]) -> Sequence[Passage]:
        """The live passages of these memories, by id."""
        ...

    def passages_by_id(self, passages: Sequence[int]) -> Sequence[Passage]:
        """Those that exist, by id."""
        ...

    def pending(self, model: Model, after: int, limit: int) -> Sequence[Passage]:
        """Live passages that have no vector of this model, by ascending id above `after`."""
        ...

    def waits(self, where: Filter) -> bool:
        """Whether one of the texts that this filter's scopes got last has no vector yet."""
        ...

    def model(self) -> Model | None:
        """The model whose vectors searches use."""
        ...

    def sessions(self, scope: Scope) -> Sequence[Session]:
        """The conversations of a scope, the one with the newest turn first."""
        ...

    def turns(self, scope: Scope, session: str, first: int, last: int) -> Sequence[Memory]:
        """The messages of a session at these positions, both included, in order; forgotten ones left out."""
        ...

    def last_position(self, scope: Scope, session: str) -> int:
        """The position of a session's last message; 0 where it has none."""
        ...

    def replaced_by(self, id: int) -> Sequence[int]:  # noqa: A002  # the domain's word
        """The memories that this one superseded, by id."""
        ...

    def mentioning(self, entity: int, limit: int) -> Sequence[int]:
        """Live texts that speak of an entity, the newest first."""
        ...

    def scopes(self) -> Sequence[Scope]: ...

    def snapshot(self, scope: Scope, now: int, together: int) -> Snapshot:
        """What a dream looks at; pairs that were shown in at least `together` answers."""
        ...

    def questions(self, scope: Scope, limit: int) -> Sequence[PastQuestion]:
        """What was asked last, the newest first, each wording once."""
        ...

    def dreams(self, scope: Scope, limit: int) -> Sequence[DreamRecord]:
        """The newest first, undone ones included."""
        ...

    def journal(self, scope: Scope, dream: int) -> Mapping[str, Any] | None:
        """Every change of a dream, with before and after; None where there is no such dream."""
        ...

    def links(self, ids: Sequence[int]) -> Sequence[tuple[int, int, int]]:
        """What these are linked to: the memory, the other one, which is in force, and how firmly."""
        ...

    def corrected(self, scope: Scope, limit: int) -> Sequence[tuple[int, int]]:
        """The texts that were corrected last, each with the memory in force that corrects it."""
        ...

    def lease(self, name: str) -> tuple[str, datetime] | None:
        """Who holds it, and until when."""
        ...

    def answers(self, scope: Scope, profile: str, *, packed: bool = True) -> Iterator[LoggedAnswer]:
        """The log of a profile's answers, the oldest first.

        Without `packed`, those without feedback come without their candidates, which take long to read.
        """
        ...

    def log_sizes(self, scope: Scope) -> Sequence[LogSize]:
        """How much the log holds of each profile that it knows, by name."""
        ...

    def trial_seed(self) -> str:
        """What decides, together with a query, which ranking it gets in a trial; one for each store."""
        ...

    def tuned(self, scope: Scope, profile: str) -> tuple[int, Mapping[str, float]] | None:
        """The numbers that a profile was given last, and their version; None: it never was."""
        ...

    def tunings(self, scope: Scope, profile: str | None, limit: int) -> Sequence[Tuned]:
        """Every set of numbers that was given, the newest first; None: to any profile."""
        ...

    def holders(self, words: Sequence[str], scope: Scope) -> tuple[int, Mapping[str, int]]:
        """How many texts a scope has, and how many of them hold each word, or else its stem."""
        ...

    def calibration(self, scope: Scope, model: str) -> Calibrated | None:
        """What `Calibrate` kept last; the model's name is empty where meaning is not searched."""
        ...

    def imported(self, scope: Scope, file: str) -> bool:
        """Whether `NoteImport` told of this file."""
        ...

    def graph_mark(self, scope: Scope, now: int) -> int:
        """Another number once the graph of a scope reads otherwise: its entities, what is said of them, and
        the relations that hold now."""
        ...

    def how_many(self, where: Filter) -> Mapping[Kind, int]:
        """Live memories that the filter lets through, by kind."""
        ...

    def counts(self) -> Counts:
        """Of the whole store, all scopes together."""
        ...


class Store(Protocol):
    """Where memories are kept. Writes are values, all through `apply`; reads are views."""

    def apply(
        self,
        changes: Sequence[Change],
        *,
        at: datetime,
        key: str | None = None,
        keep_going: bool = False,
    ) -> Receipt:
        """Apply all changes in one transaction, or none.

        The same key again returns the first receipt and writes nothing. With `keep_going`, a change
        that cannot be applied is left out, and its outcome says why.
        """
        ...

    def read(self) -> AbstractContextManager[View]: ...

    def version(self) -> int:
        """Another number once anybody, of this process or another, has written something."""
        ...

    def backup(self, path: str, progress: Progress | None = None) -> None:
        """A consistent copy, taken while others read and write."""
        ...

    def scrub(self) -> None:
        """Leave nothing of what was destroyed in unused parts of the store."""
        ...

    def verify(self) -> Sequence[Problem]: ...

    def repair(self) -> Sequence[Problem]:
        """Rebuild what is derived, and return what remains."""
        ...

    def close(self) -> None: ...
