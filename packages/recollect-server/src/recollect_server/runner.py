"""Work on the memory for a request, within the caller's scope and rights."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from enum import IntEnum
from typing import Any, TypeVar

import anyio
from starlette.requests import Request

from recollect import Engine
from recollect.domain.errors import RecollectError
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.records import Scope
from recollect.mcp.server import CALL_SECONDS, CALLER, Calls
from recollect.operations.catalogue import FOR_THE_STORE, http_operations
from recollect.operations.operation import Answered, Operation
from recollect_server.access_policy import AccessPolicy
from recollect_server.metrics import Metrics

# Callers and rights


class Right(IntEnum):
    """The rights of a caller. Each includes the ones before it."""

    READ = 1
    WRITE = 2
    ADMIN = 3
    """Purge and tune memories in the caller's scope."""
    STORE = 4
    """Manage the whole store, such as tokens and backups: for admins without a scope."""

    @property
    def word(self) -> str:
        return self.name.lower()


def operation_right(name: str, *, read_only: bool) -> Right:
    if name in FOR_THE_STORE:
        return Right.STORE
    return Right.READ if read_only else Right.WRITE


class Forbidden(RecollectError):
    """The caller lacks a right or access to a scope."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The holder of a token, or any client of a server without a token."""

    name: str
    right: Right
    scope: Scope | None = None
    """The only visible scope; None: every scope."""

    @property
    def reach(self) -> Right:
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
                f"To create a token with it: `recollect token create NAME --right {needed.word}`."
            )
        raise Forbidden(
            f"This needs access to every owner's memory, but the token {self.name!r} sees one owner's. "
            "To create a token for all owners: `recollect token create NAME --right admin`."
        )

    def engine(self, memory: Engine, owner: str | None = None, agent: str | None = None) -> Engine:
        """Return the memory in the caller's scope, or in that of `owner` and `agent` if it is visible."""
        if self.scope is None:
            if owner is None and agent is None:
                return memory
            return memory.scoped(owner or "", agent if agent is not None else "")
        asked = Scope(
            self.scope.owner if owner is None else owner, self.scope.agent if agent is None else agent
        )
        sees_agents = self.scope.agent is None and asked.owner == self.scope.owner
        if asked != self.scope and not sees_agents:
            raise Forbidden(f"The token {self.name!r} has no access to this owner's or agent's memory.")
        return memory.scoped(asked.owner, asked.agent)


# Running work

_Work = TypeVar("_Work")


class TookTooLong(RecollectError):
    """A call that only reads exceeded its deadline."""


@dataclass(frozen=True, slots=True)
class MemoryRunner:
    """Runs a handler's work on the memory: in a thread, within the caller's scope and rights."""

    memory: Callable[[], Engine]
    calls: Calls
    policy: AccessPolicy
    metrics: Metrics = field(default_factory=Metrics)

    async def call(self, request: Request, name: str, given: Mapping[str, Any], **more: Any) -> Answered:
        """Run one operation of the catalogue; `more` are further arguments of `Operation.call`."""
        operation, more = http_operations()[name], {"latencies": self.metrics.latencies, **more}
        with self.metrics.timed(name):
            return await self.run(
                request,
                lambda memory: operation.call(memory, given, **more),
                right=right_for(operation),
                reads=operation.read_only,
            )

    async def run(
        self,
        request: Request,
        work: Callable[[Engine], _Work],
        *,
        right: Right = Right.READ,
        reads: bool | None = None,
    ) -> _Work:
        """Run a function on the memory, in a thread.

        Work that only `reads` has a deadline and ends when the client disconnects. This is the default for
        the right to read.
        """
        caller = caller_of(request)
        caller.require(right)
        reads = right is Right.READ if reads is None else reads
        owner, agent = request.query_params.get("owner"), request.query_params.get("agent")
        address = request.client.host if request.client else ""
        try:
            async with self.calls.limiter_of(address):
                with anyio.fail_after(CALL_SECONDS if reads else None):
                    return await self.calls.in_thread(
                        lambda: work(caller.engine(self.memory(), owner, agent)), abandon=reads
                    )
        except TimeoutError:
            raise TookTooLong(
                f"The call was stopped after {CALL_SECONDS:.0f} seconds; ask for less, or try again when the "
                "server is less busy."
            ) from None


def right_for(operation: Operation) -> Right:
    if operation.of_every_owner:
        return Right.STORE
    if operation.admin:
        return Right.ADMIN
    return operation_right(operation.name, read_only=operation.read_only)


def caller_of(request: Request) -> Caller:
    found: Caller = getattr(request.state, CALLER)
    return found
