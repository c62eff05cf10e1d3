"""For whoever watches the server: does it live, is it ready, how much does it do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
from starlette.responses import JSONResponse, Response

from recollect.errors import RecollectError
from recollect.lazy_dataclass import dataclass
from recollect.serve.http.face import TookTooLong, caller_of
from recollect.serve.http.metrics import METRICS_TYPE, gauge
from recollect.serve.http.problems import TITLES, problem_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.requests import Request

    from recollect.engine.engine import Engine
    from recollect.serve.http.face import Face

# A probe that waits longer has given up.
_READY_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Probes:
    """The handlers of `/healthz`, `/readyz` and `/metrics`."""

    face: Face

    async def live(self, request: Request) -> Response:  # noqa: ARG002  # whatever it asks
        return JSONResponse({"status": "ok"})

    async def ready(self, request: Request) -> Response:  # noqa: ARG002  # whatever it asks
        """Whether the store opens and answers; anyone may ask, so the answer names no place and no cause in
        the words of a store."""
        try:
            with anyio.fail_after(_READY_SECONDS):
                await self.face.calls.in_thread(lambda: self.face.memory().upkeep.version())  # noqa: PLW0108  # it may open
        except TimeoutError:
            problem = problem_of(TookTooLong(""))
        except RecollectError as error:
            problem = problem_of(error)
        else:
            return JSONResponse({"status": "ready"})
        return JSONResponse(
            {"status": "not ready", "reason": f"{TITLES[problem.kind]}; `recollect doctor` says more."},
            503,
            {"Retry-After": "5"},
        )

    async def metrics(self, request: Request) -> Response:
        is_bound = caller_of(request).scope is not None
        try:
            sizes = await self.face.run(request, lambda memory: list(_sizes(memory, own=is_bound)))
        except RecollectError as error:
            return problem_of(error).response()
        text = "\n".join([*self.face.metrics.lines(), *sizes]) + "\n"
        return Response(text, media_type=METRICS_TYPE)


def _sizes(memory: Engine, *, own: bool) -> Iterator[str]:
    """How much the store holds; with `own`, only what belongs to the caller's scope."""
    if own:
        kinds = {str(kind): count for kind, count in memory.upkeep.how_many().items()}
        scope = memory.upkeep.own_counts()
        rows = {**kinds, "observation": scope.observations, "relation": scope.relations}
        due, vectors, forgotten = scope.due, scope.vectors, scope.forgotten
        sessions = len(memory.sessions.list())
    else:
        counts = memory.counts()
        rows = {
            "entity": counts.entities,
            "note": counts.notes,
            "message": counts.messages,
            "observation": counts.observations,
            "relation": counts.relations,
        }
        due, vectors, forgotten = counts.due, counts.vectors, counts.forgotten
        sessions = memory.upkeep.session_count()
        lag = memory.upkeep.replica_lag_seconds()
        yield from gauge("recollect_store_bytes", "Bytes that the store takes.", [({}, counts.bytes)])
        yield from gauge("recollect_scopes", "Owners and agents with a memory.", [({}, counts.scopes)])
        if lag is not None:
            yield from gauge("recollect_replica_lag_seconds", "How far the replica is behind.", [({}, lag)])
    yield from gauge(
        "recollect_rows", "Rows in force, by kind.", [({"kind": kind}, n) for kind, n in sorted(rows.items())]
    )
    yield from gauge("recollect_forgotten", "Memories that `restore` could bring back.", [({}, forgotten)])
    yield from gauge("recollect_vectors", "Texts with a vector.", [({}, vectors)])
    yield from gauge("recollect_vectors_pending", "Texts that wait for a vector.", [({}, due)])
    yield from gauge("recollect_sessions", "Conversations.", [({}, sessions)])
