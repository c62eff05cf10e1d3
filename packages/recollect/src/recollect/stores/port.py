"""The interfaces that the engine needs: store, embedder, re-ranker, extractor, clock."""

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

# Names in quotes, not imports: `recollect --help` must not load NumPy.
Vector: TypeAlias = "NDArray[np.float32]"
"""One vector, normalised to length one."""
Vectors: TypeAlias = "NDArray[np.float32]"
"""One normalised vector per row."""

Clock = Callable[[], datetime]
"""Returns the current time, with a time zone."""

Progress = Callable[[int, int | None], None]
"""Called with the work done so far, and the total if that is known."""

Result = TypeVar("Result")


class Embedder(Protocol):
    """Turns text into vectors. Never called inside a write transaction."""

    @property
    def model(self) -> Model: ...

    def documents(self, texts: Sequence[str]) -> Vectors:
        """Return one normalised row per text. Texts over the model's limit are not cut."""

    def query(self, text: str) -> Vector: ...


class TokenEmbedder(Embedder, Protocol):
    """Optional: an embedder that also returns a vector of length one per token, relative to their mean."""

    @property
    def gives_tokens(self) -> bool:
        """Whether the installed model has token vectors."""

    def documents_with_tokens(self, texts: Sequence[str]) -> tuple[Vectors, Sequence[bytes]]:
        """Return what `documents` returns, and the signs of each text's token vectors (`pack_signs`)."""

    def query_with_tokens(self, text: str) -> tuple[Vector, Vectors | None]:
        """Return what `query` returns, and one row per token of the query; None without token vectors."""


class Reranker(Protocol):
    """Reads the query and a text together. Never called inside a write transaction."""

    @property
    def name(self) -> str: ...

    def scores(self, query: str, texts: Sequence[str]) -> Floats:
        """Return how well each text answers the query; higher is better. Texts do not affect each other."""


class Extractor(Protocol):
    """Extracts statements worth keeping from messages. Never called inside a write transaction."""

    @property
    def name(self) -> str: ...

    def statements(self, messages: Sequence[Memory], context: Sequence[Memory] = ()) -> Sequence[Statement]:
        """Return statements in the messages' order. Raise `ExtractionFailed` on failure.

        `context` holds the messages just before the first of them, in order. It resolves references;
        no statement is extracted from it.
        """


class RowsQuery(NamedTuple):
    """One query of `Snapshot.rows_batch`."""

    table: Table
    columns: Sequence[str]
    where: Where = ()
    limit: int | None = None
    """With a limit, rows come newest first: by descending key."""


class Snapshot(Protocol):
    """A store at one moment: all reads of one snapshot see the same state."""

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
        """Return columns of the rows that meet the conditions, ordered by `order` or else by their key.

        With `each`, order and limit apply separately to the rows of each of its values.
        """

    def rows_batch(self, queries: Sequence[RowsQuery]) -> list[list[Row]]:
        """Run several queries in one round trip. Without a limit, rows come in any order."""

    def count(
        self, table: Table, where: Where = (), by: Column | None = None, per: int = 1
    ) -> Mapping[Value, int]:
        """Count rows by the value of the column `by`; without `by`, count all rows, under the key None.

        Whole numbers can be counted in ranges of width `per`: each key is the value divided by `per`, rounded
        down.
        """

    def nearest(
        self, vector: Vector, k: int, scopes: Sequence[int], where: Where, shortlist: int | None = None
    ) -> Sequence[Found]:
        """Return the `k` current memories with the best cosine, ties by id. A memory's best passage counts.

        `where` are conditions on the rows of memories. With a `shortlist` of n, only the n memories that are
        nearest by the first third of each rotated vector are compared in full.
        """

    def cosines(self, vector: Vector, ids: Collection[int]) -> Sequence[Found]:
        """Return the exact cosine of each of these memories, by id. A memory's best passage counts.

        Memories that are not current, or have no vector of the model in use, are left out.
        """

    def embedded_passages(self, ids: Collection[int]) -> Sequence[tuple[int, int]]:
        """Return the live passages of these memories that have a vector, each with its memory, by passage."""

    def containing(self, text: str, k: int, where: Where, observed: Where) -> Sequence[int]:
        """Return the ids of entities with this text, in any case, in their name, type or `observed` rows."""


class Transaction(Snapshot, Protocol):
    """Writes all or nothing, and reads what it has written."""

    def put(self, table: Table, rows: Sequence[Values], *, keep: bool = False) -> list[int]:
        """Add rows, all with the same columns, and return their ids if the table numbers its rows.

        In other tables, a row whose key exists is replaced, or with `keep` left as it is.
        """

    def swap(self, table: Table, column: str, rows: Iterable[Swap], where: Where = ()) -> int:
        """Set a column of rows that hold the expected value and meet the conditions; return how many."""

    def patch(self, table: Table, where: Where, values: Values) -> int:
        """Set columns of all rows that meet the conditions, and return how many."""

    def remove(self, table: Table, where: Where) -> int:
        """Delete rows and all that belongs to them, and return how many met the conditions."""

    def lock_scopes(self, scopes: Collection[int] | None) -> None:
        """Lock more scopes until the transaction ends; None for all scopes."""

    def savepoint(self) -> AbstractContextManager[None]:
        """Roll back to here if the block fails. The transaction stays open."""


class Store(Protocol):
    """Stores rows and vectors, and opens snapshots and transactions.

    `within` names the scopes that a caller reads or changes (default: all). A store may hide all others. For
    reading, a scope without an agent includes all scopes of its owner.
    """

    def read(self, within: Scope | None = None) -> AbstractContextManager[Snapshot]: ...

    def transact(
        self, work: Callable[[Transaction], Result], within: Collection[Scope] | None = None
    ) -> Result:
        """Run `work` in one transaction, and commit unless it raises. A store may retry it."""

    def version(self) -> int:
        """Return a number that changes when any process has written something."""

    def close(self) -> None: ...

    def backup(self, path: str, progress: Progress | None = None) -> None:
        """Write a consistent copy. Other connections may read and write at the same time."""

    def compact(self) -> bool:
        """Wipe purged texts from unused parts of the store. Return False if a reader prevents that."""

    def verify(self, *, quick: bool = False) -> Sequence[Problem]:
        """Return all problems; with `quick`, only unreadable rows and changed texts."""

    def repair(self) -> Sequence[Problem]:
        """Rebuild derived rows. Return the remaining problems, and reports of salvaged and lost rows."""

    def size(self) -> tuple[int, int]:
        """Return the size of the store in bytes, and the version of its schema."""


@runtime_checkable
class CopySource(Snapshot, Protocol):
    """Optional: a snapshot that returns whole rows, so that another store can copy them."""

    def stored_columns(self, table: Table) -> Sequence[str]:
        """Return the columns to copy: neither computed ones nor the store's internal ones."""

    def page_key(self, table: Table) -> tuple[str, ...]:
        """Return the unique columns that order the pages."""

    def page(self, table: Table, columns: Sequence[str], after: Row | None, limit: int) -> list[Row]:
        """Return the rows after a page key, or the first ones. Each begins with its page key."""

    def last_ids(self) -> Mapping[Table, int]:
        """Return the highest id that each numbered table ever assigned, even to deleted rows."""


@runtime_checkable
class CopyTarget(CopySource, Transaction, Protocol):
    """Optional: a transaction that accepts rows unchanged, with their ids."""

    def fill(self, table: Table, columns: Sequence[str], rows: Sequence[Row]) -> None:
        """Add new rows."""

    def refill(self, table: Table, columns: Sequence[str], rows: Sequence[Row]) -> None:
        """Set columns of existing rows. Each row begins with its page key, and so do the columns."""

    def finish_copy(self, last_ids: Mapping[Table, int]) -> None:
        """Continue the numbering after these ids, and compute the store's internal columns."""
