"""The interfaces that the engine needs: a store, an embedder, a clock."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias, TypeVar, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from contextlib import AbstractContextManager

    import numpy as np
    from numpy.typing import NDArray

    from recollect.domain.records import Found, Memory, Model, Problem, Scope, Statement
    from recollect.domain.tables import Column, OneOf, Row, Swap, Table, Value, Values, Where
    from recollect.ranking.candidates import Floats

# Named, not imported: `recollect --help` has no use for NumPy.
Vector: TypeAlias = "NDArray[np.float32]"
"""One row, of length one."""
Vectors: TypeAlias = "NDArray[np.float32]"
"""Rows of length one."""

Clock = Callable[[], datetime]
"""The present, aware of its time zone."""

Progress = Callable[[int, int | None], None]
"""Called with the work done so far, and the total if that is known."""

Result = TypeVar("Result")


class Embedder(Protocol):
    """Turns text into vectors. Never called inside a write transaction."""

    @property
    def model(self) -> Model: ...

    def documents(self, texts: Sequence[str]) -> Vectors:
        """One normalised row per text. Texts over the model's limit are handled whole, not cut."""

    def query(self, text: str) -> Vector: ...


class TokenEmbedder(Embedder, Protocol):
    """An embedder that also gives a vector of length one for each token, relative to their mean; optional."""

    @property
    def gives_tokens(self) -> bool:
        """Whether the model, as it is installed, gives them."""

    def documents_with_tokens(self, texts: Sequence[str]) -> tuple[Vectors, Sequence[bytes]]:
        """As `documents`; and of each text the signs of its token vectors, as `pack_signs` packs them."""

    def query_with_tokens(self, text: str) -> tuple[Vector, Vectors | None]:
        """As `query`; and one row for each token of the query. None: it has none, or they are not given."""


class Reranker(Protocol):
    """Reads the query and a text together. Never called inside a write transaction."""

    @property
    def name(self) -> str: ...

    def scores(self, query: str, texts: Sequence[str]) -> Floats:
        """How well each text answers the query: any numbers, the higher the better, each by itself."""


class Extractor(Protocol):
    """Finds in messages what is worth keeping as notes. Never called inside a write transaction."""

    @property
    def name(self) -> str: ...

    def statements(self, messages: Sequence[Memory], context: Sequence[Memory] = ()) -> Sequence[Statement]:
        """Return statements in the messages' order. `ExtractionFailed` if it cannot; the messages stay.

        `context` holds the messages just before the first of them, in order. It resolves references;
        no statement is extracted from it.
        """


class RowsQuery(NamedTuple):
    """A question of `Snapshot.rows`, to be asked beside others."""

    table: Table
    columns: Sequence[str]
    where: Where = ()
    limit: int | None = None
    """With a limit, the newest first: those of the highest key."""


class Snapshot(Protocol):
    """A store at one moment: every answer of one snapshot is of the same state."""

    def rows(
        self,
        table: Table,
        columns: Sequence[str],
        where: Where = (),
        *,
        order: Sequence[str] = (),
        descending: bool = False,
        limit: int | None = None,
        each: OneOf | None = None,
    ) -> list[Row]:
        """The columns of all rows that meet the conditions, by the columns in `order`, else by their key.

        With `each`, order and limit apply to the rows of each of these values separately.
        """

    def rows_batch(self, queries: Sequence[RowsQuery]) -> list[list[Row]]:
        """The rows of each query, asked in one go. Without a limit, they come in any order."""

    def count(
        self, table: Table, where: Where = (), by: Column | None = None, per: int = 1
    ) -> Mapping[Value, int]:
        """How many rows there are for each value of the column `by`; without one, all of them, under None.

        A column of whole numbers can be counted in ranges of width `per`: each key is the quotient,
        rounded down.
        """

    def nearest(
        self, vector: Vector, k: int, scopes: Sequence[int], where: Where, shortlist: int | None = None
    ) -> Sequence[Found]:
        """The memories in force with the best cosine, ties by id; a memory's best passage speaks for it.

        `where` are conditions on the rows of memories. With a `shortlist` of n, the n memories that are
        nearest by the first third of each vector's width (turned by the model's rotation) are compared by
        the whole of it, and no others are found.
        """

    def cosines(self, vector: Vector, ids: Collection[int]) -> Sequence[Found]:
        """The exact cosine of each of these memories, by id; a memory's best passage speaks for it.

        Those in force that have a vector of the model in use; the others are left out.
        """

    def embedded_passages(self, ids: Collection[int]) -> Sequence[tuple[int, int]]:
        """The passages in force of these memories that have a vector, each with its memory, by passage."""

    def containing(self, text: str, k: int, where: Where, observed: Where) -> Sequence[int]:
        """Entities with this text, in any case, in their name, type or observations (`observed`), by id."""


class Transaction(Snapshot, Protocol):
    """Writing, all or nothing; it reads what it has written."""

    def put(self, table: Table, rows: Sequence[Values], *, keep: bool = False) -> list[int]:
        """Add rows, all with the same columns, and return their ids, where the table numbers its rows.

        In a table that does not number its rows, one whose key exists is replaced, or stays with `keep`.
        """

    def swap(self, table: Table, column: str, rows: Iterable[Swap], where: Where = ()) -> int:
        """Set a column of rows that still hold what is expected and meet the conditions; how many did."""

    def patch(self, table: Table, where: Where, values: Values) -> int:
        """Set columns of all rows that meet the conditions, and return how many there were."""

    def remove(self, table: Table, where: Where) -> int:
        """Delete rows and all that belongs to them, and return how many rows met the conditions."""

    def lock_scopes(self, scopes: Collection[int] | None) -> None:
        """Lock these scopes, beside those it began with, until the transaction ends; None: all scopes."""

    def savepoint(self) -> AbstractContextManager[None]:
        """Roll back to here if the block fails; the transaction goes on."""


class Store(Protocol):
    """Keeps rows, finds by vector, gives snapshots and transactions.

    `within` says whose rows a caller means to see or to change; a store may show it no others. None: all. A
    scope without an agent includes all scopes of its owner, for reading.
    """

    def read(self, within: Scope | None = None) -> AbstractContextManager[Snapshot]: ...

    def transact(
        self, work: Callable[[Transaction], Result], within: Collection[Scope] | None = None
    ) -> Result:
        """Run `work` in one transaction, and commit unless it raises. A store may run it again."""

    def version(self) -> int:
        """Another number once anybody, of this process or another, has written something."""

    def close(self) -> None: ...

    def backup(self, path: str, progress: Progress | None = None) -> None:
        """A consistent copy, taken while others read and write."""

    def compact(self) -> bool:
        """Wipe what was destroyed from unused parts of the store. False: it waits for a reader to finish."""

    def verify(self, *, quick: bool = False) -> Sequence[Problem]:
        """Return all problems; with `quick`, only unreadable rows and altered texts."""

    def repair(self) -> Sequence[Problem]:
        """Rebuild what is derived, and return what remains, with what was salvaged and what was not."""

    def size(self) -> tuple[int, int]:
        """How many bytes the store takes, and the version of its schema."""


@runtime_checkable
class CopySource(Snapshot, Protocol):
    """A snapshot that gives its rows whole, so that another store can hold the same; optional."""

    def stored_columns(self, table: Table) -> Sequence[str]:
        """The columns that are given a value: no computed ones, nor what the store notes for itself."""

    def page_key(self, table: Table) -> tuple[str, ...]:
        """The columns by which `page` goes: together they are unique."""

    def page(self, table: Table, columns: Sequence[str], after: Row | None, limit: int) -> list[Row]:
        """The next rows, each with its page key before the columns; without `after`, the first ones."""

    def last_ids(self) -> Mapping[Table, int]:
        """The highest id that each table that numbers its rows ever gave, also to rows that are gone."""


@runtime_checkable
class CopyTarget(CopySource, Transaction, Protocol):
    """A transaction that takes rows as they are, with their ids; optional."""

    def fill(self, table: Table, columns: Sequence[str], rows: Sequence[Row]) -> None:
        """Add rows that are not there."""

    def refill(self, table: Table, columns: Sequence[str], rows: Sequence[Row]) -> None:
        """Set columns of rows that are there; each row begins with its page key, and so do the columns."""

    def finish_copy(self, last_ids: Mapping[Table, int]) -> None:
        """Continue to number rows after these, and derive what the store notes for itself."""
