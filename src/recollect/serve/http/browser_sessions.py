"""Sessions of browsers at the dashboard, and links that open one: in the server's memory alone."""

from __future__ import annotations

import hmac
import secrets
import time
from typing import TYPE_CHECKING, Generic, TypeVar

from recollect.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable

SESSION_IDLE_SECONDS = 12 * 3600.0
LINK_SECONDS = 5 * 60.0
MOST_SESSIONS_EACH = 32
"""Of one credential: whoever opens more ends their own, and nobody else's."""
MOST_LINKS_EACH = 16
_BYTES = 32

_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class BrowserSession:
    """One browser that has signed in."""

    credential: str
    """What it signed in with; see `Identity`. The session ends with it."""
    csrf: str
    """What a form or script of our own pages sends along, and a page of another site cannot know."""


class BrowserSessions:
    """Opens, finds and ends sessions."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._sessions: _Secrets[BrowserSession] = _Secrets(SESSION_IDLE_SECONDS, MOST_SESSIONS_EACH, clock)
        self._challenges: _Secrets[str] = _Secrets(LINK_SECONDS, MOST_LINKS_EACH, clock)
        self._links: _Secrets[str] = _Secrets(LINK_SECONDS, MOST_LINKS_EACH, clock)

    def open(self, credential: str) -> str:
        """What the cookie holds: always a new one, never one that a client brought along."""
        return self._sessions.add(credential, BrowserSession(credential, secrets.token_urlsafe(_BYTES)))

    def find(self, key: str) -> BrowserSession | None:
        """The session, which stays open for as long again."""
        found = self._sessions.take(key)
        if found is not None:
            self._sessions.put(key, found.credential, found)
        return found

    def end(self, key: str) -> None:
        self._sessions.take(key)

    def link(self, credential: str) -> str:
        """A word that opens one session with this credential, once and soon."""
        return self._links.add(credential, credential)

    def challenge(self) -> str:
        """A word for a program to prove with that it knows the server's token, without sending that."""
        return self._challenges.add("", "")

    def proves(self, word: str, proof: str, token: str, port: int) -> bool:
        """Whether this is the proof that belongs to a challenge, which is used up."""
        is_ours = self._challenges.take(word) is not None
        return is_ours and hmac.compare_digest(proof.encode(), proof_of(token, word, port).encode())

    def redeem(self, word: str) -> str | None:
        """The credential that a link stands for, this once."""
        return self._links.take(word)


def proof_of(token: str, challenge: str, port: int) -> str:
    """With the port: who poses as the server on another one learns nothing that this one takes."""
    return hmac.new(token.encode(), f"recollect ui {port} {challenge}".encode(), "sha256").hexdigest()


class _Secrets(Generic[_Value]):
    """Values by a random word, each for so many seconds."""

    def __init__(self, seconds: float, most_each: int, clock: Callable[[], float]) -> None:
        self._seconds = seconds
        self._most_each = most_each
        self._clock = clock
        # The one that was put last comes last.
        self._kept: dict[str, tuple[str, _Value, float]] = {}

    def add(self, credential: str, value: _Value) -> str:
        word = secrets.token_urlsafe(_BYTES)
        self.put(word, credential, value)
        return word

    def put(self, word: str, credential: str, value: _Value) -> None:
        now = self._clock()
        for old in [old for old, (_, _, until) in self._kept.items() if until <= now]:
            del self._kept[old]
        own = [old for old, (owner, _, _) in self._kept.items() if owner == credential]
        for old in own[: max(len(own) + 1 - self._most_each, 0)]:
            del self._kept[old]
        self._kept[word] = (credential, value, now + self._seconds)

    def take(self, word: str) -> _Value | None:
        _, value, until = self._kept.pop(word, (None, None, 0.0))
        return value if until > self._clock() else None
