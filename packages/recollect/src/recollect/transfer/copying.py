"""Copy a store into another of any kind: every row with its id, so that both return equal answers."""

from __future__ import annotations

import hashlib
import json
import secrets
from dataclasses import asdict, astuple, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from recollect.domain.errors import Conflict, InvalidInput, StoreDamaged, StoreUnavailable
from recollect.domain.tables import COPY_MARK, OWN_SETTINGS, TABLES, Equals, Not, OneOf
from recollect.stores.port import CopySource, CopyTarget

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from recollect.domain.tables import Row, Table
    from recollect.stores.port import Progress, Snapshot, Store, Transaction

_Result = TypeVar("_Result")

COPIED: tuple[Table, ...] = tuple(table for table in TABLES if table not in {"lease", "history_stamp"})
"""The copied tables, referenced ones first. Leases and cache keys are not copied."""
_SELF_REFERENCES: dict[Table, tuple[str, ...]] = {
    table: tuple(column for column, other in form.pointers.items() if other == table)
    for table, form in TABLES.items()
}
"""Columns that refer to rows of the same table, which may follow later."""
_STEPS: tuple[tuple[Table, bool], ...] = (
    *((table, False) for table in COPIED),
    *((table, True) for table in COPIED if _SELF_REFERENCES[table]),
)
"""The steps: first every table without such references, then the references of each table that has them."""
_KEPT_SETTINGS = sorted({*OWN_SETTINGS, COPY_MARK})

_FIRST_ROWS, _MOST_ROWS = 100, 5_000
# The approximate size of a batch, in memory and in transit.
_BATCH_BYTES = 4_000_000


@dataclass(frozen=True, slots=True)
class TableCopy:
    """A compared table: its row count and digest."""

    table: str
    rows: int
    digest: str


@dataclass(frozen=True, slots=True)
class CopyReport:
    rows: int
    tables: tuple[TableCopy, ...]
    """The copied tables, as compared after the copy."""
    resumed: int
    """Rows that an earlier run had copied."""
    started_over: bool
    """Whether an earlier run was discarded, because its source was written to since."""


@dataclass(frozen=True, slots=True)
class _Mark:
    """The progress of a copy: the step, and its last copied key."""

    source: str
    state: str
    """A digest of the whole source."""
    step: int = 0
    after: tuple[Any, ...] | None = None
    rows: int = 0

    @classmethod
    def read(cls, rows: Snapshot) -> _Mark | None:
        """Return the mark of the store, if a copy into it has begun."""
        found = rows.rows("setting", ("value",), (Equals("name", COPY_MARK),))
        if not found:
            return None
        fields = json.loads(found[0][0])
        after = fields.pop("after")
        return cls(**fields, after=None if after is None else tuple(after))


def copy_store(
    source: Store,
    target: Store,
    *,
    reading: Progress | None = None,
    copying: Progress | None = None,
    comparing: Progress | None = None,
) -> CopyReport:
    """Copy a store into an empty one, or finish an earlier run.

    The source is read in one snapshot. The target cannot be opened before it is complete and compared.
    """
    with source.read() as snapshot:
        view = _copy_source(snapshot)
        with target.read() as other:
            columns = _shared_columns(view, _copy_source(other))
        expected = _tables(view, columns, reading)
        state = json.dumps([list(map(astuple, expected)), sorted(view.last_ids().items())])
        new = _Mark(_store_id(view), _hash(state.encode()).hex())
        mark, started_over = _transact(target, lambda rows: _begin_or_resume(rows, new))
        resumed = mark.rows
        mark = _copy_rows(view, target, mark, sum(table.rows for table in expected), copying)
        with target.read() as other:
            copied = _tables(_copy_source(other), columns, comparing, mark.rows)
        different = [
            f"{one.table} ({one.rows:,} rows and {two.rows:,})"
            for one, two in zip(expected, copied, strict=True)
            if one != two
        ]
        if different:
            raise StoreDamaged(
                f"The copy differs from its source: {', '.join(different)}. Another program may have written "
                "to it during the copy. It stays unusable; name another destination and copy again."
            )

        def finish(rows: CopyTarget) -> None:
            _refuse_other_copy(rows, mark)
            rows.finish_copy(view.last_ids())
            rows.remove("setting", (Equals("name", COPY_MARK),))

        _transact(target, finish)
    return CopyReport(mark.rows, copied, resumed, started_over)


def _copy_source(snapshot: Snapshot) -> CopySource:
    if not isinstance(snapshot, CopySource):
        raise InvalidInput(
            "This kind of store cannot be copied; export it: recollect export FILE --format full"
        )
    return snapshot


def _transact(target: Store, work: Callable[[CopyTarget], _Result]) -> _Result:
    """Do a piece of the copy once, even if the store retries it.

    A server that fails at a commit may have committed. Each piece changes the mark, so a changed mark shows
    that the piece is done.
    """
    earlier: list[tuple[_Result, _Mark | None]] = []

    def with_rows(rows: Transaction) -> _Result:
        if not isinstance(rows, CopyTarget):
            raise InvalidInput("This kind of store cannot take a copy; name a file or postgresql://…")
        if earlier and _Mark.read(rows) == earlier[-1][1]:
            return earlier[-1][0]
        done = work(rows)
        earlier.append((done, _Mark.read(rows)))
        return done

    return target.transact(with_rows)


def _shared_columns(source: CopySource, target: CopySource) -> dict[Table, tuple[str, ...]]:
    """Return the columns that both stores have. Only some stores have `scope_id` in dependent tables."""
    shared = {}
    for table in COPIED:
        in_source, in_target = source.stored_columns(table), target.stored_columns(table)
        different = set(in_source).symmetric_difference(in_target) - {"scope_id"}
        if different:
            raise StoreUnavailable(
                f"The two stores are of different versions ({table}: {', '.join(sorted(different))}); "
                "bring both up to date with the same version of Recollect."
            )
        shared[table] = tuple(column for column in in_source if column in in_target)
    return shared


# Beginning and end


def _store_id(snapshot: Snapshot) -> str:
    ((store_id,),) = snapshot.rows("setting", ("value",), (Equals("name", "store_id"),))
    return str(store_id)


def _begin_or_resume(rows: CopyTarget, new: _Mark) -> tuple[_Mark, bool]:
    """Return the mark to continue from, and whether an earlier run was discarded."""
    if _store_id(rows) == new.source:
        raise InvalidInput("Source and destination are the same store; name another destination.")
    found = _Mark.read(rows)
    counts = {table: rows.count(table)[None] for table in COPIED}
    if found is None:
        filled = [f"{table} {number:,}" for table, number in counts.items() if number and table != "setting"]
        if filled:
            raise Conflict(
                f"The destination is not empty; it has rows of: {', '.join(filled[:3])}. Name a new file, or "
                "an empty schema of a database: postgresql://…?schema=NAME"
            )
    elif found.source != new.source:
        raise Conflict(
            "The destination is the unfinished copy of another store; finish that one first, or name another "
            "destination."
        )
    else:
        own = len(rows.rows("setting", ("name",), (OneOf("name", _KEPT_SETTINGS),)))
        if sum(counts.values()) - own != found.rows:
            raise Conflict(
                "The destination is the unfinished copy of this store, but another program has written to it "
                "since. Keep what you need of it, and name another destination."
            )
        if found.state == new.state:
            return found, False
        for table in reversed(COPIED):
            if table != "setting":
                rows.remove(table, ())
    rows.remove("setting", (Not(OneOf("name", _KEPT_SETTINGS)),))
    # A new id, so that no cache of the former content is used for the copy.
    rows.put("setting", [{"name": "store_id", "value": secrets.token_hex(16)}])
    _put_mark(rows, new)
    return new, found is not None


def _put_mark(rows: Transaction, mark: _Mark) -> None:
    rows.put("setting", [{"name": COPY_MARK, "value": json.dumps(asdict(mark))}])


def _refuse_other_copy(rows: CopyTarget, expected: _Mark) -> None:
    if _Mark.read(rows) != expected:
        raise Conflict("Another `recollect copy` writes to this destination; let that one finish.")


# Copying rows


def _copy_rows(view: CopySource, target: Store, mark: _Mark, total: int, progress: Progress | None) -> _Mark:
    """Copy rows in batches, each with its mark, so that nothing is copied twice or left out."""
    with target.read() as other:
        wanted = {table: tuple(_copy_source(other).stored_columns(table)) for table in COPIED}
        keys = {table: _copy_source(other).page_key(table) for table in COPIED}
    first = mark.step
    for step, (table, refills) in enumerate(_STEPS[first:], first):
        references = _SELF_REFERENCES[table]
        columns = (*keys[table], *references) if refills else wanted[table]
        empty = () if refills else tuple(columns.index(column) for column in references)
        for key, page in _pages(view, table, columns, mark.after if step == first else None):
            rows: Sequence[Row] = page
            if refills:
                rows = [row for row in page if any(value is not None for value in row[-len(references) :])]
            elif empty:
                # Leave out references to rows that may follow later.
                rows = [tuple(None if at in empty else value for at, value in enumerate(row)) for row in page]
            done = replace(mark, step=step, after=key, rows=mark.rows + (0 if refills else len(rows)))
            _transact(target, partial(_write_batch, table, columns, rows, mark, done, refills))
            mark = done
            if progress is not None:
                progress(mark.rows, total)
    return mark


def _write_batch(
    table: Table,
    columns: Sequence[str],
    rows: Sequence[Row],
    before: _Mark,
    after: _Mark,
    refills: bool,
    transaction: CopyTarget,
) -> None:
    """Write some rows together with their mark."""
    _refuse_other_copy(transaction, before)
    write = transaction.refill if refills else transaction.fill
    write(table, columns, rows)
    _put_mark(transaction, after)


# Reading


def _pages(
    snapshot: CopySource, table: Table, columns: Sequence[str], after: Row | None = None
) -> Iterator[tuple[Row, list[Row]]]:
    """Yield all rows in batches, each with its last key.

    The scope of a row is looked up if the store does not store it.
    """
    read, owner = list(columns), None
    if "scope_id" in columns and "scope_id" not in snapshot.stored_columns(table):
        column, owner = _owner(table)
        read[read.index("scope_id")] = column
    width, limit = len(snapshot.page_key(table)), _FIRST_ROWS
    while True:
        page = snapshot.page(table, read, after, limit)
        if not page:
            return
        after = tuple(page[-1][:width])
        rows = [row[width:] for row in page]
        if table == "setting":
            name = columns.index("name")
            rows = [row for row in rows if row[name] not in _KEPT_SETTINGS]
        if owner is not None:
            place = columns.index("scope_id")
            scopes = _scopes_of(snapshot, owner, {row[place] for row in rows})
            try:
                rows = [(*row[:place], scopes[row[place]], *row[place + 1 :]) for row in rows]
            except KeyError as error:
                raise StoreDamaged(
                    f"The source has a {table} of the {owner} {error}, which is missing. Repair it first: "
                    "recollect doctor --repair"
                ) from error
        yield after, rows
        if len(page) < limit:
            return
        size = sum(len(value) for row in rows for value in row if isinstance(value, (str, bytes))) + 1
        limit = max(1, min(_MOST_ROWS, 4 * limit, _BATCH_BYTES * len(page) // size))


def _owner(table: Table) -> tuple[str, Table]:
    """Return the column and table of the owner that leads to a row's scope. A model leads to none."""
    return next(
        (column, owner)
        for column, owner in TABLES[table].owners.items()
        if owner == "scope" or TABLES[owner].owners
    )


def _scopes_of(snapshot: CopySource, table: Table, ids: set[int]) -> dict[int, int]:
    if "scope_id" in snapshot.stored_columns(table):
        return dict(snapshot.rows(table, ("id", "scope_id"), (OneOf("id", ids),)))
    column, owner = _owner(table)
    owners: dict[int, int] = dict(snapshot.rows(table, ("id", column), (OneOf("id", ids),)))
    scopes = _scopes_of(snapshot, owner, set(owners.values()))
    return {id_: scopes[own] for id_, own in owners.items() if own in scopes}


# Comparing


def _tables(
    snapshot: CopySource,
    columns: Mapping[Table, tuple[str, ...]],
    progress: Progress | None,
    total: int | None = None,
) -> tuple[TableCopy, ...]:
    """Digest each table. Stores read rows in different orders, so the rows' digests are summed."""
    found: list[TableCopy] = []
    done = 0
    for table in COPIED:
        count = digests = 0
        for _, rows in _pages(snapshot, table, columns[table]):
            count += len(rows)
            digests += sum(int.from_bytes(_hash(_pack(row)), "big") for row in rows)
            if progress is not None:
                progress(done + count, total)
        done += count
        found.append(TableCopy(table, count, f"{digests % 2**128:032x}"))
    return tuple(found)


def _pack(row: Row) -> bytes:
    """Serialise the values with their types, bytes last. -0.0 becomes 0.0, as in SQLite."""
    plain = repr(
        [
            (len(value),) if isinstance(value, bytes) else value + 0.0 if isinstance(value, float) else value
            for value in row
        ]
    )
    return b"\0".join([plain.encode(), *(value for value in row if isinstance(value, bytes))])


def _hash(packed: bytes) -> bytes:
    return hashlib.blake2b(packed, digest_size=16).digest()
