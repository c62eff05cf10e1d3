"""Tells who sent a request: by the server's own token, a named one, or a session of the dashboard."""

from __future__ import annotations

import hmac
import time
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
from starlette.requests import cookie_parser

from recollect.engine.tokens import TOKEN_PREFIX, token_digest
from recollect.lazy_dataclass import dataclass
from recollect.serve.http.browser_sessions import BrowserSession, BrowserSessions
from recollect.serve.http.caller import Caller, Right

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, MutableMapping
    from typing import Any

    from recollect.engine.engine import Engine
    from recollect.records import NamedToken
    from recollect.serve.http.access_policy import AccessPolicy

IDENTITY = "identity"
"""Under this name, a request's `state` has its `Identity`, if it has one."""
OWN = "own"
"""The credential of the token that the server was started with."""
OPEN = "open"
"""The credential of whoever reaches a server that asks for no token."""
REFRESH_SECONDS = 1.0
"""How soon a server notices that a token was created or revoked."""
NOTE_USE_SECONDS = 5 * 60.0
"""How exactly the last use of a token is known."""


@dataclass(frozen=True, slots=True)
class Identity:
    caller: Caller
    credential: str
    """Of every caller another one: OWN, OPEN, or the digest of a named token."""
    session: BrowserSession | None = None
    """The dashboard's, where a cookie named it."""


class TokenRegistry:
    """The named tokens of the store, as they were a second ago at most."""

    def __init__(self, memory: Callable[[], Engine], clock: Callable[[], float] = time.monotonic) -> None:
        self._memory = memory
        self._clock = clock
        self._tokens: Mapping[str, NamedToken] = {}
        self._read_at: float | None = None
        self._noted_at: dict[str, float] = {}
        # One reads for all who ask meanwhile, beside the calls: those may take all their threads for long.
        self._reading = anyio.Lock()
        self._thread = anyio.CapacityLimiter(1)

    async def with_digest(self, digest: str) -> NamedToken | None:
        """The token with this digest, if it is in force."""
        tokens = await self._current()
        return next((each for each in tokens.values() if hmac.compare_digest(each.digest, digest)), None)

    async def note_use(self, token: NamedToken) -> None:
        now = self._clock()
        last = self._noted_at.get(token.digest)
        if last is None or now - last >= NOTE_USE_SECONDS:
            self._noted_at[token.digest] = now
            await anyio.to_thread.run_sync(
                lambda: self._memory().tokens.note_use(token), limiter=self._thread
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
        return self._memory().tokens.list()


class Authenticator:
    """Knows the server's own token, the named ones and the open sessions."""

    def __init__(
        self,
        policy: AccessPolicy,
        registry: TokenRegistry | None = None,
        sessions: BrowserSessions | None = None,
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
        """Who it is; None: nobody knows. A token that is shown counts for more than a cookie."""
        authorization = headers.get(b"authorization", b"")
        if authorization:
            scheme, _, word = authorization.decode("latin-1").partition(" ")
            found = await self.of_token(word.strip()) if scheme.lower() == "bearer" else None
            return found or self._anyone()
        found = await self._of_cookie(scope, headers) if cookies else None
        return found or self._anyone()

    async def of_token(self, token: str) -> Identity | None:
        if self._policy.is_token(token):
            return self._own()
        # What does not look like one of ours is not worth a look into the store.
        return await self.of_credential(token_digest(token)) if token.startswith(TOKEN_PREFIX) else None

    async def of_credential(self, credential: str) -> Identity | None:
        """Whoever has this credential now; None once it is revoked."""
        if credential == OWN:
            return self._own() if self.asks_for_token else None
        if credential == OPEN:
            return self._anyone()
        token = None if self._registry is None else await self._registry.with_digest(credential)
        if token is None or self._registry is None:
            return None
        await self._registry.note_use(token)
        return Identity(Caller(token.name, Right.of(token.right), token.sees), token.digest)

    async def _of_cookie(
        self, scope: MutableMapping[str, Any], headers: Mapping[bytes, bytes]
    ) -> Identity | None:
        key = cookie_in(scope, headers)
        session = self.sessions.find(key) if key else None
        if key is None or session is None:
            return None
        found = await self.of_credential(session.credential)
        if found is None:
            self.sessions.end(key)
            return None
        return Identity(found.caller, found.credential, session)

    @staticmethod
    def _own() -> Identity:
        return Identity(Caller("server", Right.ADMIN), OWN)

    def _anyone(self) -> Identity | None:
        return None if self.asks_for_token else Identity(Caller("anyone here", Right.ADMIN), OPEN)


def is_secure(scope: MutableMapping[str, Any], headers: Mapping[bytes, bytes]) -> bool:
    """Whether the browser came by TLS: to us, or to a proxy before us. Who lies about it harms themselves."""
    return scope.get("scheme") == "https" or headers.get(b"x-forwarded-proto", b"").lower() == b"https"


def cookie_name(scope: MutableMapping[str, Any], headers: Mapping[bytes, bytes]) -> str:
    """Browsers keep the cookies of all ports of a host together, so that the name has the port."""
    port = (scope.get("server") or ("", 0))[1]
    # With this prefix, browsers take it from this very host alone, and only by TLS.
    return f"{'__Host-' if is_secure(scope, headers) else ''}recollect_session_{port}"


def cookie_in(scope: MutableMapping[str, Any], headers: Mapping[bytes, bytes]) -> str | None:
    cookies = cookie_parser(headers.get(b"cookie", b"").decode("latin-1"))
    return cookies.get(cookie_name(scope, headers))
