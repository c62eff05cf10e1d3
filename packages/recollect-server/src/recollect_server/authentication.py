"""Authentication by the server's token, a named token or a browser session."""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import replace
from typing import Any, Generic, TypeVar

import anyio
import anyio.to_thread
from starlette.requests import cookie_parser

from recollect import Engine
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.records import NamedToken
from recollect.plugin import TOKEN_PREFIX, Tokens, token_digest
from recollect_server.access_policy import AccessPolicy
from recollect_server.runner import Caller, Right

# Browser sessions

SESSION_IDLE_SECONDS = 12 * 3600.0
LINK_SECONDS = 5 * 60.0
MOST_SESSIONS_EACH = 32
"""Sessions per credential; opening more ends its oldest one."""
MOST_LINKS_EACH = 16
_BYTES = 32

_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class BrowserSession:
    credential: str
    """The credential that it signed in with; revoking it ends the session."""
    csrf: str
    """Sent by forms and scripts of our pages; other sites cannot know it."""


class BrowserSessions:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._sessions: _Secrets[BrowserSession] = _Secrets(SESSION_IDLE_SECONDS, MOST_SESSIONS_EACH, clock)
        self._challenges: _Secrets[str] = _Secrets(LINK_SECONDS, MOST_LINKS_EACH, clock)
        self._links: _Secrets[str] = _Secrets(LINK_SECONDS, MOST_LINKS_EACH, clock)

    def open(self, credential: str) -> str:
        """Open a session and return its cookie value, which is always new."""
        return self._sessions.add(credential, BrowserSession(credential, secrets.token_urlsafe(_BYTES)))

    def find(self, key: str) -> BrowserSession | None:
        """Find a session and extend it."""
        found = self._sessions.take(key)
        if found is not None:
            self._sessions.renew(key, found.credential, found)
        return found

    def end(self, key: str) -> None:
        self._sessions.take(key)

    def link(self, credential: str) -> str:
        """Return a one-time secret that opens one session with this credential."""
        return self._links.add(credential, credential)

    def challenge(self) -> str:
        """Return a challenge. A program answers it to prove that it knows the server's token."""
        return self._challenges.add("", "")

    def proves(self, secret: str, proof: str, token: str, port: int) -> bool:
        """Check the proof for a challenge, which can be used only once."""
        is_ours = self._challenges.take(secret) is not None
        return is_ours and hmac.compare_digest(proof.encode(), proof_of(token, secret, port).encode())

    def redeem(self, secret: str) -> str | None:
        """Return the credential of a link, which then expires."""
        return self._links.take(secret)


def proof_of(token: str, challenge: str, port: int) -> str:
    """Sign a challenge and the port, so that a fake server on another port cannot reuse the proof."""
    return hmac.new(token.encode(), f"recollect ui {port} {challenge}".encode(), "sha256").hexdigest()


class _Secrets(Generic[_Value]):
    def __init__(self, seconds: float, most_each: int, clock: Callable[[], float]) -> None:
        self._seconds = seconds
        self._most_each = most_each
        self._clock = clock
        # Ordered by the time of adding.
        self._kept: dict[str, tuple[str, _Value, float]] = {}

    def add(self, credential: str, value: _Value) -> str:
        secret = secrets.token_urlsafe(_BYTES)
        self.renew(secret, credential, value)
        return secret

    def renew(self, secret: str, credential: str, value: _Value) -> None:
        now = self._clock()
        for old in [old for old, (_, _, until) in self._kept.items() if until <= now]:
            del self._kept[old]
        own = [old for old, (owner, _, _) in self._kept.items() if owner == credential]
        for old in own[: max(len(own) + 1 - self._most_each, 0)]:
            del self._kept[old]
        self._kept[secret] = (credential, value, now + self._seconds)

    def take(self, secret: str) -> _Value | None:
        _, value, until = self._kept.pop(secret, (None, None, 0.0))
        return value if until > self._clock() else None


# Tokens

IDENTITY = "identity"
"""Key of the `Identity` in a request's `state`."""
CSRF = "csrf"
"""Name of the CSRF token in forms and in a request's `state`; None without a session."""
SERVER_CREDENTIAL = "own"
"""The credential of the token that the server was started with."""
ANYONE = "open"
"""The credential of every client of a server without a token."""
REFRESH_SECONDS = 1.0
"""Longest delay until a server sees a created or revoked token."""
NOTE_USE_SECONDS = 5 * 60.0
"""Shortest time between two records of a token's use."""


@dataclass(frozen=True, slots=True)
class Identity:
    caller: Caller
    credential: str
    """SERVER_CREDENTIAL, ANYONE, or the digest of a named token."""
    session: BrowserSession | None = None
    """The dashboard session of the cookie, if any."""


_SERVER_IDENTITY = Identity(Caller("server", Right.ADMIN), SERVER_CREDENTIAL)


class TokenRegistry:
    """The named tokens of the store, cached for a second."""

    def __init__(self, memory: Callable[[], Engine], clock: Callable[[], float] = time.monotonic) -> None:
        self._memory = memory
        self._clock = clock
        self._tokens: Mapping[str, NamedToken] = {}
        self._read_at: float | None = None
        self._noted_at: dict[str, float] = {}
        # One read serves all waiting requests. It has its own thread, since long calls may occupy the others.
        self._reading = anyio.Lock()
        self._thread = anyio.CapacityLimiter(1)

    async def with_digest(self, digest: str) -> NamedToken | None:
        tokens = await self._current()
        return next((each for each in tokens.values() if hmac.compare_digest(each.digest, digest)), None)

    async def note_use(self, token: NamedToken) -> None:
        now = self._clock()
        last = self._noted_at.get(token.digest)
        if last is None or now - last >= NOTE_USE_SECONDS:
            self._noted_at[token.digest] = now
            await anyio.to_thread.run_sync(
                lambda: Tokens(self._memory()).note_use(token), limiter=self._thread
            )

    async def _current(self) -> Mapping[str, NamedToken]:
        async with self._reading:
            if self._read_at is None or self._clock() - self._read_at >= REFRESH_SECONDS:
                found = await anyio.to_thread.run_sync(self._read, limiter=self._thread)
                self._tokens = {each.digest: each for each in found}
                self._read_at = self._clock()
                self._noted_at = {
                    digest: at for digest, at in self._noted_at.items() if digest in self._tokens
                }
            return self._tokens

    def _read(self) -> tuple[NamedToken, ...]:
        return Tokens(self._memory()).list()


class Authenticator:
    def __init__(
        self, policy: AccessPolicy, registry: TokenRegistry, sessions: BrowserSessions | None = None
    ) -> None:
        self._policy = policy
        self._registry = registry
        self.sessions = sessions or BrowserSessions()

    @property
    def asks_for_token(self) -> bool:
        return self._policy.token is not None

    async def of_request(
        self, scope: MutableMapping[str, Any], headers: Mapping[bytes, bytes], *, cookies: bool
    ) -> Identity | None:
        """Identify the sender; None if unknown. A token takes precedence over a cookie."""
        authorization, found = headers.get(b"authorization", b""), None
        if authorization:
            scheme, _, word = authorization.decode("latin-1").partition(" ")
            found = await self.identify_token(word.strip()) if scheme.lower() == "bearer" else None
        elif cookies and (key := cookie_in(scope, headers)):
            session = self.sessions.find(key)
            known = None if session is None else await self.identify_credential(session.credential)
            found = None if known is None else replace(known, session=session)
            if known is None:  # its token was revoked
                self.sessions.end(key)
        return found or self._anyone()

    async def identify_token(self, token: str) -> Identity | None:
        if self._policy.is_token(token):
            return _SERVER_IDENTITY
        # Look up only tokens with Recollect's prefix.
        return await self.identify_credential(token_digest(token)) if token.startswith(TOKEN_PREFIX) else None

    async def identify_credential(self, credential: str) -> Identity | None:
        """Return the identity of a credential; None once it is revoked."""
        if credential == SERVER_CREDENTIAL:
            return _SERVER_IDENTITY if self.asks_for_token else None
        if credential == ANYONE:
            return self._anyone()
        token = await self._registry.with_digest(credential)
        if token is None:
            return None
        await self._registry.note_use(token)
        return Identity(Caller(token.name, Right[token.right.upper()], token.sees), token.digest)

    def _anyone(self) -> Identity | None:
        return None if self.asks_for_token else Identity(Caller("anyone here", Right.ADMIN), ANYONE)


def is_secure(scope: MutableMapping[str, Any], headers: Mapping[bytes, bytes]) -> bool:
    """Whether the browser uses TLS, to us or to a proxy. A forged header harms only its sender."""
    return scope.get("scheme") == "https" or headers.get(b"x-forwarded-proto", b"").lower() == b"https"


def cookie_name(scope: MutableMapping[str, Any], headers: Mapping[bytes, bytes]) -> str:
    """Return the cookie's name. It contains the port, since browsers share cookies between ports."""
    port = (scope.get("server") or ("", 0))[1]
    # With this prefix, browsers accept the cookie only from this host and over TLS.
    return f"{'__Host-' if is_secure(scope, headers) else ''}recollect_session_{port}"


def cookie_in(scope: MutableMapping[str, Any], headers: Mapping[bytes, bytes]) -> str | None:
    cookies = cookie_parser(headers.get(b"cookie", b"").decode("latin-1"))
    return cookies.get(cookie_name(scope, headers))


# Delays after wrong tokens

FREE_GUESSES = 20
"""Number of wrong tokens without a delay, since a client may retry with an old token."""
FIRST_DELAY_SECONDS = 0.1
LONGEST_DELAY_SECONDS = 5.0
FORGET_SECONDS = 60.0
"""After this time without a wrong token, the count of an address restarts."""
_MAX_ADDRESSES = 10_000


class TokenGuesses:
    """Recent wrong tokens per address, and the resulting delays.

    The delay applies before the token is checked, also to a right one. Otherwise, a quick answer would
    reveal that a guess was right.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        # Ordered by the time of the last wrong token.
        self._wrong: dict[str, tuple[int, float]] = {}

    def delay_seconds(self, address: str) -> float:
        count, last = self._wrong.get(address, (0, 0.0))
        if count < FREE_GUESSES or self._clock() - last > FORGET_SECONDS:
            return 0.0
        doublings = min(count - FREE_GUESSES, 10)
        return min(FIRST_DELAY_SECONDS * 2.0**doublings, LONGEST_DELAY_SECONDS)

    def add(self, address: str) -> None:
        now = self._clock()
        count, last = self._wrong.pop(address, (0, now))
        self._wrong[address] = (1 if now - last > FORGET_SECONDS else count + 1, now)
        if len(self._wrong) > _MAX_ADDRESSES:
            del self._wrong[next(iter(self._wrong))]
