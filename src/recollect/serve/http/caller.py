"""Who sent an HTTP request, and what they may do."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

from recollect.errors import RecollectError
from recollect.lazy_dataclass import dataclass
from recollect.records import Scope
from recollect.serve.operations.catalogue import FOR_THE_STORE

if TYPE_CHECKING:
    from recollect.engine.engine import Engine

CALLER = "caller"
"""Under this name, a request's `state` has its `Caller`."""


class Right(IntEnum):
    """Each includes those before it."""

    READ = 1
    WRITE = 2
    ADMIN = 3
    """Purging and tuning what they see."""
    STORE = 4
    """What concerns every owner, such as tokens and backups: of admins who are bound to no scope."""

    @classmethod
    def of(cls, word: str) -> Right:
        return cls[word.upper()]

    @property
    def word(self) -> str:
        return self.name.lower()


def operation_right(name: str, *, read_only: bool) -> Right:
    """What a caller needs to call an operation."""
    if name in FOR_THE_STORE:
        return Right.STORE
    return Right.READ if read_only else Right.WRITE


class Forbidden(RecollectError):
    """The caller is known, and may not do this."""


@dataclass(frozen=True, slots=True)
class Caller:
    """A token's holder, or whoever is on this machine where no token is asked for."""

    name: str
    right: Right
    scope: Scope | None = None
    """The only scope that they see; None: every scope."""

    @property
    def reach(self) -> Right:
        """The most that they may do."""
        return Right.STORE if self.right is Right.ADMIN and self.scope is None else self.right

    def may_call(self, name: str, *, read_only: bool) -> bool:
        return self.reach >= operation_right(name, read_only=read_only)

    def require_call(self, name: str, *, read_only: bool) -> None:
        self.require(operation_right(name, read_only=read_only))

    def require(self, right: Right) -> None:
        if self.reach >= right:
            return
        needed = min(right, Right.ADMIN)
        if self.right < needed:
            raise Forbidden(
                f"The token {self.name!r} may only {self.right.word}; this needs the right to {needed.word}. "
                f"`recollect token create NAME --right {needed.word}` makes such a token."
            )
        raise Forbidden(
            f"This concerns every owner's memory, and the token {self.name!r} sees one owner's; "
            "`recollect token create NAME --right admin`, without an owner, makes one that may do it."
        )

    def engine(self, memory: Engine, owner: str | None = None, agent: str | None = None) -> Engine:
        """The memory as this caller sees it; `owner` and `agent` choose among the scopes that they see."""
        if self.scope is None:
            if owner is None and agent is None:
                return memory
            return memory.scoped(owner or "", agent if agent is not None else "")
        asked = Scope(
            self.scope.owner if owner is None else owner, self.scope.agent if agent is None else agent
        )
        sees_agents = self.scope.agent is None and asked.owner == self.scope.owner
        if asked != self.scope and not sees_agents:
            raise Forbidden(f"The token {self.name!r} sees another owner's or agent's memory only.")
        return memory.scoped(asked.owner, asked.agent)
