"""Batches: rows that a caller gives, written all together or all but the wrong ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeVar

from recollect.changes import Change, Outcome
from recollect.engine.limits import MOST_ROWS
from recollect.engine.results import RejectedRow
from recollect.engine.services import Services
from recollect.errors import InvalidInput, RecollectError

if TYPE_CHECKING:
    from recollect.engine.writes.apply import BeforeCommit

_Row = TypeVar("_Row")


def apply_rows(
    services: Services,
    rows: Iterable[_Row],
    change_of: Callable[[_Row], Change],
    *,
    keep_going: bool,
    key: str | None,
    before_commit: BeforeCommit | None = None,
) -> tuple[list[tuple[Change, Outcome]], tuple[RejectedRow, ...]]:
    """Apply a batch: all of it, or, where the caller keeps going, all but the rows that are wrong."""
    changes: list[Change] = []
    places: list[int] = []
    rejected: list[RejectedRow] = []
    for index, row in enumerate(rows):
        if index == MOST_ROWS:
            raise InvalidInput(
                f"A batch has at most {MOST_ROWS:,} rows, and this one has more; write it in several. "
                "Nothing was written."
            )
        try:
            changes.append(change_of(row))
            places.append(index)
        except InvalidInput as error:
            if not keep_going:
                raise InvalidInput(f"Row {index}: {error} Nothing was written.") from error
            rejected.append(RejectedRow(index, str(error)))
    try:
        outcomes = services.write(changes, key=key, keep_going=keep_going, before_commit=before_commit)
    except RecollectError as error:
        if error.change is None or len(changes) == 1:
            raise
        raise type(error)(f"Row {places[error.change]}: {error} Nothing was written.") from error
    rejected += [
        RejectedRow(index, outcome.error)
        for index, outcome in zip(places, outcomes, strict=True)
        if outcome.error is not None
    ]
    done = [pair for pair in zip(changes, outcomes, strict=True) if pair[1].error is None]
    return done, tuple(sorted(rejected, key=lambda row: row.index))
