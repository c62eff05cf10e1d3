"""Batches: rows that a caller gives, written all together or all but the wrong ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from recollect.engine.results import Rejected
from recollect.errors import InvalidInput, RecollectError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from recollect.changes import Change, Outcome
    from recollect.engine.parts import Parts

_Row = TypeVar("_Row")


def apply_rows(
    parts: Parts,
    rows: Iterable[_Row],
    change_of: Callable[[_Row], Change],
    *,
    keep_going: bool,
    key: str | None,
) -> tuple[list[tuple[Change, Outcome]], tuple[Rejected, ...]]:
    """Apply a batch: all of it, or, where the caller keeps going, all but the rows that are wrong."""
    changes: list[Change] = []
    places: list[int] = []
    rejected: list[Rejected] = []
    for index, row in enumerate(rows):
        try:
            changes.append(change_of(row))
            places.append(index)
        except InvalidInput as error:
            if not keep_going:
                raise InvalidInput(f"Row {index}: {error} Nothing was written.") from error
            rejected.append(Rejected(index, str(error)))
    outcomes = _outcomes(parts, changes, places, keep_going=keep_going, key=key)
    rejected += [
        Rejected(index, outcome.error)
        for index, outcome in zip(places, outcomes, strict=True)
        if outcome.error is not None
    ]
    done = [pair for pair in zip(changes, outcomes, strict=True) if pair[1].error is None]
    return done, tuple(sorted(rejected, key=lambda row: row.index))


def own_key(parts: Parts, key: str | None) -> str | None:
    """A scope's keys are its own, though the store keeps those of all scopes in one place."""
    return None if key is None else f"{key} of {parts.scope.owner!r} {parts.scope.agent!r}"


def _outcomes(
    parts: Parts, changes: list[Change], places: list[int], *, keep_going: bool, key: str | None
) -> Sequence[Outcome]:
    try:
        return parts.store.apply(
            changes, at=parts.clock(), key=own_key(parts, key), keep_going=keep_going
        ).outcomes
    except RecollectError as error:
        if error.change is None or len(changes) == 1:
            raise
        raise type(error)(f"Row {places[error.change]}: {error} Nothing was written.") from error
