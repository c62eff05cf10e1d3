"""The store as the engine uses it: changes in, views out; everything else is the store's own business."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from recollect.engine.writes.apply import apply
from recollect.errors import StoreUnavailable
from recollect.ports import StoreUpkeep
from recollect.retrieval.view import View

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from recollect.changes import Change, Receipt
    from recollect.ports import Progress, Store
    from recollect.records import Problem


class Repository:
    """One store. Writes are values, all through `apply`; reads are views."""

    def __init__(self, store: Store) -> None:
        self.store = store

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
        return apply(self.store, changes, at=at, key=key, keep_going=keep_going)

    @contextmanager
    def read(self) -> Iterator[View]:
        with self.store.read() as snapshot:
            size = self.store.size if isinstance(self.store, StoreUpkeep) else None
            yield View(snapshot, size)

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

    def compact(self) -> None:
        """Leave nothing of what was destroyed in unused parts of the store."""
        if isinstance(self.store, StoreUpkeep):
            self.store.compact()

    def verify(self) -> Sequence[Problem]:
        return self.store.verify() if isinstance(self.store, StoreUpkeep) else ()

    def repair(self) -> Sequence[Problem]:
        """Rebuild what is derived, and return what remains."""
        return self.store.repair() if isinstance(self.store, StoreUpkeep) else ()
