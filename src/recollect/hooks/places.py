"""Files that hooks keep between two events: an address, a lock, and messages that wait to be captured.

Loaded by every hook, and so without pathlib and its like: docs/hooks.md has the figures.
"""

from __future__ import annotations

import os
import sys
import time

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_MOST_WAITING = 500
"""Messages that wait to be captured; the oldest give way, and the log says so."""


def address_path(folder: str, key: str) -> str:
    return os.path.join(folder, f"{key}.json")


def lock_path(folder: str, key: str) -> str:
    return os.path.join(folder, f"{key}.lock")


def take_lock(handle: int) -> bool:
    """Whether this open file has the lock now; closing it, or the end of the process, gives it back."""
    try:
        if sys.platform == "win32":
            os.lseek(handle, 0, os.SEEK_SET)
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def is_claimed(folder: str, key: str) -> bool:
    """Whether a process answers the hooks of this store, or is about to.

    An address may outlive its process, and its port may by now be a stranger's. A lock cannot.
    """
    try:
        handle = os.open(lock_path(folder, key), os.O_RDWR)
    except OSError:
        return False
    try:
        return not take_lock(handle)
    finally:
        os.close(handle)


def write_privately(path: str, text: str) -> None:
    """Whole or not at all, for the owner's eyes."""
    beside = f"{path}.{os.getpid()}.{os.urandom(4).hex()}"
    with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(beside, path)


def put_waiting(folder: str, key: str, text: str) -> int:
    """Leave a message for whoever has the store open. How many older ones had to give way."""
    waiting = _waiting_folder(folder, key)
    os.makedirs(waiting, mode=0o700, exist_ok=True)
    write_privately(os.path.join(waiting, f"{time.time_ns():020d}-{os.getpid()}.json"), text)
    return sum(map(removed, all_waiting(folder, key)[:-_MOST_WAITING]))


def removed(path: str) -> bool:
    """Remove a file; False where another process did so first."""
    try:
        os.remove(path)
    except FileNotFoundError:
        return False
    return True


def all_waiting(folder: str, key: str) -> list[str]:
    """What waits, in the order in which it came."""
    waiting = _waiting_folder(folder, key)
    try:
        names = os.listdir(waiting)
    except FileNotFoundError:
        return []
    return [os.path.join(waiting, name) for name in sorted(names) if name.endswith(".json")]


def _waiting_folder(folder: str, key: str) -> str:
    return os.path.join(folder, f"{key}.waiting")
