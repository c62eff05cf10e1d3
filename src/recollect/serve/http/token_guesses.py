"""Slows down whoever guesses the token."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

FREE_GUESSES = 20
"""Wrong tokens in a row that cost nothing: a client with an old token tries a few times."""
FIRST_DELAY_SECONDS = 0.1
LONGEST_DELAY_SECONDS = 5.0
FORGET_SECONDS = 60.0
"""Without a wrong token for so long, an address begins anew."""
_MOST_ADDRESSES = 10_000


class TokenGuesses:
    """How often each address has shown a wrong token lately, and how long it therefore waits.

    The wait comes before the token is looked at, and a right one waits as well: else whoever guesses would
    not wait for the answer, and know a right token by its being quick.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        # The one that was wrong last comes last.
        self._wrong: dict[str, tuple[int, float]] = {}

    def delay_seconds(self, address: str) -> float:
        count, last = self._wrong.get(address, (0, 0.0))
        if count < FREE_GUESSES or self._clock() - last > FORGET_SECONDS:
            return 0.0
        doublings = min(count - FREE_GUESSES, 10)
        return min(FIRST_DELAY_SECONDS * 2.0**doublings, LONGEST_DELAY_SECONDS)

    def add(self, address: str) -> None:
        """This address has shown a wrong token."""
        now = self._clock()
        count, last = self._wrong.pop(address, (0, now))
        self._wrong[address] = (1 if now - last > FORGET_SECONDS else count + 1, now)
        if len(self._wrong) > _MOST_ADDRESSES:
            del self._wrong[next(iter(self._wrong))]
