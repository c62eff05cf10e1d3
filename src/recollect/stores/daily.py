"""Backups by day, beside a store: the newest few of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from recollect.errors import InvalidInput, StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date
    from pathlib import Path

    from recollect.engine.repository import Repository

_FOR_THE_OWNER_ALONE = 0o700
# A day's backup, or what a process that died while it wrote one has left behind.
_NAME = re.compile(r"(\d{4}-\d\d-\d\d)\.db(\..+)?")


def keep_daily_backup(store: Repository, folder: Path, day: date, most: int) -> None:
    """Back the store up under the day's name, unless it is; then remove all but the newest."""
    path = folder / f"{day.isoformat()}.db"
    try:
        folder.mkdir(mode=_FOR_THE_OWNER_ALONE, parents=True, exist_ok=True)
        if not path.exists():
            _back_up(store, path)
        for old in _surplus(folder, day, most):
            old.unlink(missing_ok=True)
    except OSError as error:
        raise StoreUnavailable(f"No backup could be made in {folder}: {error.strerror}.") from error


def _back_up(store: Repository, path: Path) -> None:
    try:
        store.backup(str(path))
    except InvalidInput:
        if not path.exists():  # else another process was quicker
            raise


def _surplus(folder: Path, day: date, most: int) -> Iterator[Path]:
    named = {path: match for path in folder.iterdir() if (match := _NAME.fullmatch(path.name))}
    whole = sorted((path for path, match in named.items() if not match[2]), reverse=True)
    yield from whole[most:]
    # Of today, another process may still be at it.
    yield from (path for path, match in named.items() if match[2] and match[1] != day.isoformat())
