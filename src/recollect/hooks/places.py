"""Where hooks keep what they need between two events: addresses, what waits to be captured, and the log."""

from __future__ import annotations

import hashlib
import os
import secrets
import time
from collections.abc import Iterator
from pathlib import Path

from recollect.settings import Settings, program_folder

_PRIVATE = 0o700
_MOST_WAITING = 500
"""Messages that wait to be captured; the oldest give way, and the log says so."""


def hooks_folder() -> Path:
    """The user's own: what was said and the listener's secret are in it."""
    folder = program_folder("data") / "hooks"
    folder.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
    return folder


def store_key(settings: Settings) -> str:
    """One name for a store, whichever program opened it."""
    store = settings.store
    where = str(store.expanduser().absolute()) if isinstance(store, Path) else str(store)
    return hashlib.sha256(where.encode()).hexdigest()[:16]


def address_path(settings: Settings) -> Path:
    return hooks_folder() / f"{store_key(settings)}.json"


def write_privately(path: Path, text: str) -> None:
    """Whole or not at all, for the owner's eyes."""
    path.parent.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
    beside.replace(path)


def waiting_folder(settings: Settings) -> Path:
    return hooks_folder() / f"{store_key(settings)}.waiting"


def put_waiting(settings: Settings, text: str) -> int:
    """Leave something for whoever has the store open. How many older ones had to give way."""
    folder = waiting_folder(settings)
    name = f"{time.time_ns():020d}-{os.getpid()}-{secrets.token_hex(4)}.json"
    write_privately(folder / name, text)
    surplus = sorted(folder.glob("[0-9]*.json"))[:-_MOST_WAITING]
    for old in surplus:
        old.unlink(missing_ok=True)
    return len(surplus)


def all_waiting(settings: Settings) -> Iterator[Path]:
    """What waits, in the order in which it came."""
    yield from sorted(waiting_folder(settings).glob("[0-9]*.json"))
