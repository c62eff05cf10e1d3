"""How a connection waits for a lock that another one holds: in fair turns."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_YOUNG_SECONDS = 0.02
_OLD_SECONDS = 0.001
_OLD_AFTER_SECONDS = 1.0


class BusyWait:
    """Asks again and again, the more often the longer it has waited; after so many seconds it gives up.

    SQLite keeps no queue, so whoever asks next after the lock is free gets it. Its own way of waiting pauses
    for longer and longer, up to a tenth of a second, and so gives way to whoever came later: among ten busy
    writers one waited ten seconds while the others wrote a hundred times each. Here the turn of the one who
    has waited the longest is the likeliest.
    """

    def __init__(
        self,
        limit_seconds: float,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._limit_seconds = limit_seconds
        self._clock = clock
        self._sleep = sleep
        self._since = 0.0

    def __call__(self, asked_before: int) -> bool:
        """Pause, and say whether to ask again. SQLite counts from 0 for each lock that it waits for."""
        now = self._clock()
        if asked_before == 0:
            self._since = now
        waited = now - self._since
        if waited >= self._limit_seconds:
            return False
        self._sleep(min(pause_after(waited), self._limit_seconds - waited))
        return True


def pause_after(waited_seconds: float) -> float:
    """From a fiftieth of a second for a newcomer down to a thousandth for who has waited for a second."""
    young = max(0.0, 1.0 - waited_seconds / _OLD_AFTER_SECONDS)
    return _OLD_SECONDS + young * (_YOUNG_SECONDS - _OLD_SECONDS)
