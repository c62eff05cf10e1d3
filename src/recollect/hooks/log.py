"""What the hooks did, one line for each event in a file for each day. Never what was said."""

from __future__ import annotations

import json
import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_KEEP_DAYS = 14
_LONGEST_DETAIL = 300


def note_event(folder: str, client: str, event: str, outcome: str, **more: Any) -> None:
    """Add a line. Whatever prevents that must not disturb a prompt."""
    at = time.strftime("%Y-%m-%dT%H:%M:%S")
    line = {"at": at, "client": client, "event": event, "outcome": outcome}
    line |= {key: value[:_LONGEST_DETAIL] if isinstance(value, str) else value for key, value in more.items()}
    try:
        os.makedirs(_logs(folder), mode=0o700, exist_ok=True)
        path = os.path.join(_logs(folder), f"{at[:10]}.jsonl")
        # One write to a file that is opened for appending: lines of several processes do not mix.
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(handle, f"{json.dumps(line)}\n".encode())
        finally:
            os.close(handle)
    except OSError:
        return


def logged_events(folder: str, day: str) -> Iterator[dict[str, Any]]:
    """The lines of a day, as 2026-11-17; what cannot be read is passed over."""
    try:
        with open(os.path.join(_logs(folder), f"{day}.jsonl"), encoding="utf-8", errors="replace") as file:
            lines = file.readlines()
    except OSError:
        return
    for line in lines:
        try:
            found = json.loads(line)
        except ValueError:
            continue
        if isinstance(found, dict):
            yield found


def remove_old_logs(folder: str) -> None:
    for name in sorted(os.listdir(_logs(folder)))[:-_KEEP_DAYS]:
        os.remove(os.path.join(_logs(folder), name))


def _logs(folder: str) -> str:
    return os.path.join(folder, "log")
