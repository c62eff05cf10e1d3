"""The log of what was refused: a line for each kind, however often it happens."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_log = logging.getLogger(__name__)
EVERY_SECONDS = 60.0
"""A kind that goes on is told again after so long, with how often it happened meanwhile."""


class RefusalLog:
    """Tells each kind once a minute at most: whoever floods the server does not flood its log."""

    def __init__(
        self, tell: Callable[[str], None] = _log.warning, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._tell = tell
        self._clock = clock
        self._told_at: dict[str, float] = {}
        self._untold: dict[str, int] = {}

    def add(self, kind: str) -> None:
        """`kind` is one of few: it is kept for good. What a client sent is no part of it."""
        now = self._clock()
        last = self._told_at.get(kind)
        if last is not None and now - last < EVERY_SECONDS:
            self._untold[kind] = self._untold.get(kind, 0) + 1
            return
        self._told_at[kind] = now
        more = self._untold.pop(kind, 0)
        since = f" ({more:,} more since this was last told)" if more else ""
        self._tell(f"Refused a request: {kind}.{since}")


class OncePerKind(logging.Filter):
    """Passes the web server's own warnings, which are of requests that are none, to the log of refusals."""

    def __init__(self, refusals: RefusalLog) -> None:
        super().__init__()
        self._refusals = refusals

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno != logging.WARNING:
            return True
        self._refusals.add("bad_request")
        return False
