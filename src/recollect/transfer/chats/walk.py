"""The files below a folder, in an order that stays: no hidden ones, and no link followed in circles."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class Found(NamedTuple):
    files: tuple[Path, ...]
    closed: tuple[str, ...]
    """Folders that could not be looked into, and why."""


def files_below(folder: Path, wanted: Callable[[str], bool]) -> Found:
    """Those whose name is wanted; a folder that is reached twice, by a link, is read once."""
    files: list[Path] = []
    closed: list[str] = []
    seen: set[Path] = set()
    waiting = [folder]
    while waiting:
        here = waiting.pop()
        real = here.resolve()
        if real in seen:
            continue
        seen.add(real)
        try:
            entries = [entry for entry in here.iterdir() if not entry.name.startswith(".")]
        except OSError as error:
            closed.append(f"{relative(here, folder)} cannot be read: {error.strerror}.")
            continue
        files += [entry for entry in entries if wanted(entry.name) and entry.is_file()]
        # A folder behind a link comes after those that are really here, so that these give their paths.
        folders = [entry for entry in entries if entry.is_dir()]
        links = [entry for entry in folders if entry.is_symlink()]
        waiting[:0] = sorted(links, reverse=True)
        waiting += sorted((entry for entry in folders if not entry.is_symlink()), reverse=True)
    return Found(tuple(sorted(files, key=lambda file: relative(file, folder))), tuple(sorted(closed)))


def relative(path: Path, folder: Path) -> str:
    """The path from the folder, the same on every system."""
    return unicodedata.normalize("NFC", path.relative_to(folder).as_posix())
