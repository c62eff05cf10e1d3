"""What the API, mem0's routes and the dashboard share: the memory as a request's caller sees it."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, TypeVar

import anyio

from recollect.errors import RecollectError
from recollect.lazy_dataclass import dataclass
from recollect.serve.calls import CALL_SECONDS, Calls
from recollect.serve.http.caller import CALLER, Caller, Right, operation_right
from recollect.serve.http.metrics import Metrics
from recollect.serve.operations.catalogue import http_operations

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from starlette.requests import Request

    from recollect.engine.engine import Engine
    from recollect.serve.http.access_policy import AccessPolicy
    from recollect.serve.operations.operation import Operation, OperationReply

_Work = TypeVar("_Work")


class TookTooLong(RecollectError):
    """A call that only reads was given up."""


@dataclass(frozen=True, slots=True)
class Face:
    """Lets a handler work on the memory: in a thread, in the caller's scope, within their rights."""

    memory: Callable[[], Engine]
    calls: Calls
    policy: AccessPolicy
    metrics: Metrics = field(default_factory=Metrics)

    async def call(
        self, request: Request, name: str, given: Mapping[str, Any], **more: Any
    ) -> OperationReply[Any]:
        """Do one operation of the catalogue; `more` are fields of the call."""
        operation = http_operations()[name]
        right = right_for(operation)
        with self.metrics.timed(name):
            return await self.run(
                request,
                lambda memory: operation.answer(
                    memory, operation.parse(given), latencies=self.metrics.latencies, **more
                ),
                right=right,
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
        """Do what no operation does. What only `reads` has a deadline, and ends when its client goes; so it
        is with whatever needs no more than the right to read."""
        caller = caller_of(request)
        caller.require(right)
        reads = right is Right.READ if reads is None else reads
        owner, agent = request.query_params.get("owner"), request.query_params.get("agent")
        address = request.client.host if request.client else ""
        try:
            async with self.calls.places_of(address):
                with anyio.fail_after(CALL_SECONDS if reads else None):
                    return await self.calls.in_thread(
                        lambda: work(caller.engine(self.memory(), owner, agent)), abandon=reads
                    )
        except TimeoutError:
            raise TookTooLong(
                f"It was given up after {CALL_SECONDS:.0f} seconds; ask for less, or try again when the "
                "server has less to do."
            ) from None


def right_for(operation: Operation[Any]) -> Right:
    if operation.of_every_owner:
        return Right.STORE
    if operation.admin:
        return Right.ADMIN
    return operation_right(operation.name, read_only=operation.read_only)


def caller_of(request: Request) -> Caller:
    found: Caller = getattr(request.state, CALLER)
    return found
