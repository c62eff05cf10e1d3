"""Stores that are filled once in a run of the tests, and copied for each test that wants one."""

from __future__ import annotations

from shutil import copy
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Fill = Callable[[Path], None]


class FilledStores:
    """Store files that functions have filled, cached by function."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._filled: dict[Fill, Path] = {}

    def copy(self, fill: Fill, path: Path) -> None:
        """Put a copy of the store that `fill` makes at this path; only the first call lets it make one."""
        if fill not in self._filled:
            store = self._folder / f"{len(self._filled)}.db"
            fill(store)
            left = [each.name for each in self._folder.iterdir() if each.name.startswith(f"{store.name}-")]
            assert not set(left) & {f"{store.name}-wal", f"{store.name}-journal"}, "it is still open"
            self._filled[fill] = store
        copy(self._filled[fill], path)
