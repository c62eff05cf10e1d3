"""Health: whether all is well, how large the store is, how fast it answers, who works on it, its backups."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from recollect.lazy_dataclass import dataclass
from recollect.serve.http.caller import Right
from recollect.serve.http.face import caller_of
from recollect.serve.web.latencies import latencies_of
from recollect.serve.web.progress import with_progress
from recollect.serve.web.templating import page

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from recollect.engine.engine import Engine
    from recollect.engine.upkeep.store_state import Lease, StoreState
    from recollect.ports import Progress
    from recollect.records import Counts, Model
    from recollect.serve.http.face import Face

TABS = {"/health": "Health", "/tokens": "Tokens", "/health/transfer": "Import and export"}
# All texts are read to check them: beyond so many bytes only when somebody asks for it.
_CHECKED_AT_ONCE = 200_000_000
_KINDS = {"file": "SQLite file", "server": "PostgreSQL", "memory": "in memory"}
# A lease names its holder by parts with slashes between, the fourth of which is the process.
_PROCESS_PART = 3


@dataclass(frozen=True, slots=True)
class WholeStore:
    """What concerns every owner, and so only who may administrate sees."""

    state: StoreState
    counts: Counts
    model: Model | None
    lag_seconds: float | None
    """Of the replica that answers questions."""


async def health_screen(face: Face, request: Request) -> Response:
    shown: dict[str, Any] = {"tabs": TABS, "checks": None, "store": None, "stats": None, "kinds": _KINDS}
    if caller_of(request).reach >= Right.STORE:
        store = await face.run(request, _whole_store, right=Right.STORE, reads=True)
        shown["store"] = store
        if store.counts.bytes < _CHECKED_AT_ONCE or request.query_params.get("check"):
            shown["checks"] = (await face.call(request, "doctor", {})).result["checks"]
    else:
        shown["stats"] = (await face.call(request, "stats", {})).result
    return await page(
        face,
        request,
        "health.html",
        **shown,
        latencies=latencies_of(face.metrics.latencies(), request.query_params.get("operation")),
        minute=lambda seconds: datetime.fromtimestamp(seconds, UTC),
        process={"id": os.getpid(), "started": face.metrics.started, "python": platform.python_version()},
        holder=_holder,
    )


def _whole_store(memory: Engine) -> WholeStore:
    return WholeStore(
        memory.upkeep.store_state(),
        memory.counts(),
        memory.model,
        memory.upkeep.replica_lag_seconds(),
    )


def _holder(lease: Lease) -> str:
    parts = lease.holder.partition(" ")[0].split("/")
    return f"process {parts[_PROCESS_PART]}" if len(parts) > _PROCESS_PART else "another process"


async def make_backup(face: Face, request: Request) -> Response:
    def work(memory: Engine, progress: Progress) -> str:
        return f"/health?backup={memory.upkeep.backup_beside(progress).name}#backups"

    return await with_progress(face, request, work, right=Right.STORE)


async def embed_waiting(face: Face, request: Request) -> Response:
    """Give texts that wait for a vector theirs."""

    def work(memory: Engine, progress: Progress) -> str:
        memory.upkeep.embed_pending(progress)
        return "/health"

    return await with_progress(face, request, work, right=Right.STORE)
