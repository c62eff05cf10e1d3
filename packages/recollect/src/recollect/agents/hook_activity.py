"""The processes that answer hooks, their files, and daily counts of what hooks did."""

from __future__ import annotations

import re
import shutil
import time
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recollect.agents.hook_files import address_path, all_waiting, is_claimed
from recollect.agents.wire import Address, NoListener, ask, is_alive, read_address

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_STORE_FILE = re.compile(r"([0-9a-f]{16})\.(?:json|lock|shown|waiting)")
_STOP_SECONDS = 2.0
_EXIT_SECONDS, _POLL_SECONDS = 10.0, 0.05
"""How long to wait for a process to exit, as it may still store messages, and how often to check."""


def answering_addresses(folder: str) -> dict[str, Address]:
    """Return the addresses of the processes that answer hooks now, by the key of their store."""
    found = {key: read_address(address_path(folder, key)) for key in _keys(folder) if is_claimed(folder, key)}
    return {key: address for key, address in found.items() if address is not None and is_alive(address)}


def stop_residents(folder: str) -> None:
    """Stop the processes that hooks started, but not servers."""
    for key, address in answering_addresses(folder).items():
        try:
            is_stopping = ask(address, {"do": "stop"}, _STOP_SECONDS).get("stops")
        except (NoListener, OSError, ValueError):
            continue
        end = time.monotonic() + _EXIT_SECONDS
        while is_stopping and time.monotonic() < end and is_claimed(folder, key):
            time.sleep(_POLL_SECONDS)


def remove_hook_files(folder: str) -> int:
    """Remove the hooks' files, except those in use and unstored messages. Return how many messages wait."""
    unstored = 0
    for key in _keys(folder):
        waiting = len(all_waiting(folder, key))
        unstored += waiting
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
        return unstored  # a server still answers, or messages wait
    return unstored


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _keys(folder: str) -> list[str]:
    """Return the keys of the stores for which hooks have files."""
    return sorted({name[1] for path in Path(folder).glob("*.*") if (name := _STORE_FILE.match(path.name))})


# Counts of a day, from the hooks' log

_OUTCOMES = {
    "prompt": ("answered", "silent", "late", "starting", "skipped"),
    "capture": ("captured", "repeated"),
}


def activity_of(events: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the counts of each client, and the errors."""
    clients = sorted({str(event.get("client")) for event in events if event.get("client")})
    return {
        "clients": [
            _counts(client, [each for each in events if each.get("client") == client]) for client in clients
        ],
        "errors": [
            f"{event.get('at')} {event.get('event')}: {event.get('detail', '')}"
            for event in events
            if event.get("outcome") == "error"
        ],
    }


def _counts(client: str, events: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    by_kind = {kind: [each for each in events if each.get("event") == kind] for kind in _OUTCOMES}
    counts = {
        outcome: sum(each.get("outcome") == outcome for each in by_kind[kind])
        for kind, outcomes in _OUTCOMES.items()
        for outcome in outcomes
    }
    for kind, name in (("prompt", "memories"), ("capture", "notes"), ("capture", "secrets")):
        counts[name] = sum(value for each in by_kind[kind] if isinstance(value := each.get(name), int))
    prompts = by_kind["prompt"]
    milliseconds = sorted(int(each["ms"]) for each in prompts if isinstance(each.get("ms"), int | float))
    return {
        "client": client,
        "prompts": len(prompts),
        **counts,
        "errors": sum(event.get("outcome") == "error" for event in events),
        "p50_ms": _percentile(milliseconds, 0.5),
        "p95_ms": _percentile(milliseconds, 0.95),
    }


def _percentile(ordered: Sequence[int], share: float) -> int | None:
    """Return a percentile of sorted numbers; None if there are no numbers."""
    return ordered[max(0, ceil(share * len(ordered)) - 1)] if ordered else None
