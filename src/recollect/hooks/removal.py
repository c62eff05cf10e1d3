"""Ends the processes that hooks started, and removes the files that hooks keep."""

from __future__ import annotations

import re
import shutil
import time
from pathlib import Path

from recollect.hooks.places import address_path, all_waiting, is_claimed
from recollect.hooks.wire import Address, NobodyListens, ask, is_alive, read_address

_OF_STORE = re.compile(r"([0-9a-f]{16})\.(?:json|lock|shown|waiting)")
_STOP_SECONDS = 2.0
_END_SECONDS, _BETWEEN_LOOKS_SECONDS = 10.0, 0.05
"""For a process that still stores what was said."""


def answering_addresses(folder: str) -> dict[str, Address]:
    """Of every process that answers hooks now, by the key of the store that it has open."""
    found = {key: read_address(address_path(folder, key)) for key in _keys(folder) if is_claimed(folder, key)}
    return {key: address for key, address in found.items() if address is not None and is_alive(address)}


def stop_residents(folder: str) -> None:
    """End those that hooks started. A server goes on."""
    for key, address in answering_addresses(folder).items():
        try:
            stops = ask(address, {"do": "stop"}, _STOP_SECONDS).get("stops")
        except (NobodyListens, OSError, ValueError):
            continue
        end = time.monotonic() + _END_SECONDS
        while stops and time.monotonic() < end and is_claimed(folder, key):
            time.sleep(_BETWEEN_LOOKS_SECONDS)


def remove_hook_files(folder: str) -> int:
    """Remove all but what a running process needs, and messages that no store has yet. How many those are."""
    left = 0
    for key in _keys(folder):
        waiting = len(all_waiting(folder, key))
        left += waiting
        if is_claimed(folder, key):
            continue
        for path in Path(folder).glob(f"{key}.*"):
            if path.suffix != ".waiting" or not waiting:
                _remove(path)
    for path in (*Path(folder).glob("settings-*"), Path(folder, "resident-errors.txt"), Path(folder, "log")):
        _remove(path)
    try:
        Path(folder).rmdir()
    except OSError:
        return left  # a server still answers, or messages wait
    return left


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _keys(folder: str) -> list[str]:
    """Of the stores that hooks have files of."""
    return sorted({name[1] for path in Path(folder).glob("*.*") if (name := _OF_STORE.match(path.name))})
