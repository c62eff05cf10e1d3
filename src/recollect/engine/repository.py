"""The store as the engine uses it: changes in, snapshots out; all else is the store's own business."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import TYPE_CHECKING

from recollect.changes import Change, Receipt
from recollect.errors import StoreUnavailable
from recollect.ports import Progress, Snapshot, Store, StoreUpkeep
from recollect.records import Model, Problem, Scope

if TYPE_CHECKING:
    from recollect.engine.writes.apply import BeforeCommit, Precondition


class Repository:
    """One store. Writes are values, all through `apply`; reads are of one moment."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.last_model: Model | None = None
        """What a search found in use last, so that the next query is embedded before the store is read."""
        self.changing_model = False
        """A job of this process gives the store another model."""

    def apply(
        self,
        changes: Sequence[Change],
        *,
        at: datetime,
        key: str | None = None,
        keep_going: bool = False,
        precondition: Precondition | None = None,
        before_commit: BeforeCommit | None = None,
    ) -> Receipt:
        """Apply all changes in one transaction, or none.

        The same key again returns the first receipt and writes nothing. With `keep_going`, a change
        that cannot be applied is left out, and its outcome says why. `precondition` reads what there is
        before, `before_commit` what was written.
        """
        from recollect.engine.writes.apply import apply  # noqa: PLC0415  # many calls only read

        return apply(
            self.store,
            changes,
            at=at,
            key=key,
            keep_going=keep_going,
            precondition=precondition,
            before_commit=before_commit,
        )

    @property
    def read_only(self) -> bool:
        """Whether nothing can be written, as on a read-only disk: then nothing that can be left is tried."""
        return bool(getattr(self.store, "read_only", False))

    def read(self, within: Scope | None = None) -> AbstractContextManager[Snapshot]:
        """The store at this moment; of this scope, where one is named."""
        return self.store.read(within)

    def size(self) -> tuple[int, int]:
        """How many bytes the store takes, and the version of its schema; 0 of one that keeps no files."""
        return self.store.size() if isinstance(self.store, StoreUpkeep) else (0, 0)

    def version(self) -> int:
        """Another number once anybody, of this process or another, has written something."""
        return self.store.version()

    def close(self) -> None:
        self.store.close()

    # What only a store that keeps files can do, or needs to

    def backup(self, path: str, progress: Progress | None = None) -> None:
        """A consistent copy, taken while others read and write."""
        if not isinstance(self.store, StoreUpkeep):
            raise StoreUnavailable("This memory is kept in no file, so it cannot be backed up; export it.")
        self.store.backup(path, progress)

    def compact(self) -> bool:
        """Leave nothing of what was destroyed in unused parts of the store; False: that is left for later."""
        return self.store.compact() if isinstance(self.store, StoreUpkeep) else True

    def verify(self, *, quick: bool = False) -> Sequence[Problem]:
        return self.store.verify(quick=quick) if isinstance(self.store, StoreUpkeep) else ()

    def repair(self) -> Sequence[Problem]:
        """Rebuild what is derived, and return what remains."""
        return self.store.repair() if isinstance(self.store, StoreUpkeep) else ()
