"""What the hooks did, one line for each event in a file for each day. Never what was said."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from recollect.hooks.places import hooks_folder

_KEEP_DAYS = 14
_LONGEST_DETAIL = 300


def log_folder() -> Path:
    return hooks_folder() / "log"


def note_event(client: str, event: str, outcome: str, **more: Any) -> None:
    """Add a line. Whatever prevents that must not disturb a prompt."""
    seconds = time.time()
    at = time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(seconds))
    line = {"at": at, "client": client, "event": event, "outcome": outcome}
    line |= {key: value[:_LONGEST_DETAIL] if isinstance(value, str) else value for key, value in more.items()}
    try:
        folder = log_folder()
        folder.mkdir(mode=0o700, exist_ok=True)
        # One write to a file that is opened for appending: lines of several processes do not mix.
        handle = os.open(folder / f"{at[:10]}.jsonl", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(handle, f"{json.dumps(line)}\n".encode())
        finally:
            os.close(handle)
    except OSError:
        return


def today() -> str:
    return time.strftime("%Y-%m-%d")


def logged_events(day: str) -> Iterator[dict[str, Any]]:
    """The lines of a day; what cannot be read is passed over."""
    try:
        lines = (log_folder() / f"{day}.jsonl").read_text(encoding="utf-8").splitlines()
    except OSError:
        return
    for line in lines:
        try:
            found = json.loads(line)
        except ValueError:
            continue
        if isinstance(found, dict):
            yield found


def remove_old_logs() -> None:
    for old in sorted(log_folder().glob("*.jsonl"))[:-_KEEP_DAYS]:
        old.unlink(missing_ok=True)
