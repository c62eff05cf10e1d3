"""`memory.tokens`: who may use this store over HTTP, each by a token of their own."""

from __future__ import annotations

import hashlib
import re
import secrets
from contextlib import suppress
from typing import TYPE_CHECKING

from recollect.changes import CreateToken, NoteTokenUse, RevokeToken
from recollect.engine.services import asks_again
from recollect.engine.worker import Priority
from recollect.errors import InvalidInput, NotFound, RecollectError
from recollect.lazy_dataclass import dataclass
from recollect.retrieval.contents import named_tokens
from recollect.text.limits import clean_name

if TYPE_CHECKING:
    from recollect.engine.services import Services
    from recollect.records import NamedToken, Scope

RIGHTS = ("read", "write", "admin")
"""Each includes those before it."""
TOKEN_PREFIX = "recollect_"  # noqa: S105  # what every token begins with, for who finds one in a file
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_BYTES = 32


@dataclass(frozen=True, slots=True)
class Tokens:
    """Creates, lists and revokes named tokens. They belong to the store, whatever scope the memory is of."""

    services: Services

    def create(self, name: str, *, right: str = "write", sees: Scope | None = None) -> str:
        """Make a token and return it: it is kept only as its hash, so that nobody can show it again.

        `sees` is the only scope that its holder sees, with the agent None all agents of an owner; None:
        every scope.
        """
        if right not in RIGHTS:
            raise InvalidInput(f"There is no right {right!r}; there are: {', '.join(RIGHTS)}.")
        if sees is not None:
            for each, what in ((sees.owner, "owner"), (sees.agent, "agent")):
                if each:
                    clean_name(each, what)
        token = TOKEN_PREFIX + secrets.token_urlsafe(_BYTES)
        self.services.write([CreateToken(_checked(name), token_digest(token), right, sees)])
        return token

    @asks_again
    def list(self) -> tuple[NamedToken, ...]:
        """By name."""
        with self.services.read_everything() as view:
            return named_tokens(view)

    def revoke(self, name: str) -> None:
        """From now on, nobody is let in by it: a server notices within a second or two."""
        if not self.services.write([RevokeToken(_checked(name))])[0].count:
            known = ", ".join(each.name for each in self.list()) or "none yet"
            raise NotFound(f"There is no token {name!r}; there are: {known}.")

    def note_use(self, token: NamedToken) -> None:
        """In the background: nobody waits for it, and a store that is busy or cannot be written goes on."""
        if not self.services.store.read_only:
            self.services.worker.submit(Priority.USAGE, lambda: self._write_use(token))

    def _write_use(self, token: NamedToken) -> None:
        with suppress(RecollectError):
            self.services.write([NoteTokenUse(token.digest)])


def token_digest(token: str) -> str:
    """256 bits of chance cannot be guessed from a quick hash either."""
    return hashlib.sha256(token.encode()).hexdigest()


def _checked(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise InvalidInput(
            f"{name[:80]!r} is no name for a token; take up to 64 letters of ASCII, digits, dots, dashes and "
            "underscores, with a letter or digit first: laptop, ci.read"
        )
    return name
