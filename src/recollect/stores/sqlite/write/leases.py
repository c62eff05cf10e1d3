"""Leases: work that one process at a time may do, and that a crash cannot leave locked for good."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.changes import Outcome
from recollect.errors import Conflict

if TYPE_CHECKING:
    from recollect.changes import DropLease, TakeLease
    from recollect.stores.sqlite.write.batch import Batch


def take(batch: Batch, change: TakeLease) -> Outcome:
    """Take it, or hold it for longer; `created` tells whether nobody, or somebody late, had it."""
    until = batch.at + int(change.seconds * 1_000_000)
    mine = batch.run(
        "UPDATE lease SET until = ? WHERE name = ? AND holder = ?", until, change.name, change.holder
    )
    if mine:
        return Outcome(count=1)
    # One that ends far ahead was taken before somebody set the clock back.
    batch.run(
        "DELETE FROM lease WHERE name = ? AND (until <= ? OR until > ?)",
        change.name,
        batch.at,
        until + int(change.seconds * 1_000_000),
    )
    taken = batch.run(
        "INSERT OR IGNORE INTO lease(name, holder, until) VALUES (?, ?, ?)", change.name, change.holder, until
    )
    if not taken:
        raise Conflict(f"Another process is at it ({change.name}); try again when it has finished.")
    return Outcome(created=True, count=1)


def drop(batch: Batch, change: DropLease) -> Outcome:
    return Outcome(
        count=batch.run("DELETE FROM lease WHERE name = ? AND holder = ?", change.name, change.holder)
    )


def must_hold(batch: Batch, name: str, holder: str) -> None:
    held = batch.one("SELECT 1 FROM lease WHERE name = ? AND holder = ?", name, holder)
    if held is None:
        raise Conflict(
            f"Another process took over ({name}) since this one was too slow; nothing was changed."
        )
