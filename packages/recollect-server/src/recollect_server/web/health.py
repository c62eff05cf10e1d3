"""Health: checks, size, latencies, backups and tokens of the server."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from typing import Any

from starlette.responses import Response

from recollect import Engine
from recollect.domain.errors import NotFound
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.records import Scope
from recollect.operations.operation import MinuteLatency
from recollect.plugin import Internals, Lease, Tokens
from recollect.stores.port import Progress
from recollect_server.progress import with_progress
from recollect_server.runner import Right
from recollect_server.web.templating import Screen

# Latencies

_MINUTES_LISTED = 30
_USUALLY_ASKED = "recall"


@dataclass(frozen=True, slots=True)
class OperationLatency:
    name: str
    calls: int
    median: float
    """Seconds: the median over minutes, weighted by their calls."""
    worst: float
    """The p95 of its slowest minute."""


@dataclass(frozen=True, slots=True)
class LatencyView:
    operations: tuple[OperationLatency, ...]
    chosen: str | None
    minutes: tuple[MinuteLatency, ...]
    """Minutes of the chosen operation, newest first."""
    drawing: dict[str, Any]
    """Columns for uPlot: times, and milliseconds."""


def latencies_of(measured: Sequence[MinuteLatency], chosen: str | None) -> LatencyView:
    by_name: dict[str, list[MinuteLatency]] = {}
    for each in measured:
        by_name.setdefault(each.operation, []).append(each)
    found = [
        OperationLatency(
            name, sum(each.calls for each in rows), _middle(rows), max(each.p95 for each in rows)
        )
        for name, rows in by_name.items()
    ]
    found.sort(key=lambda each: (-each.calls, each.name))
    named = next((name for name in (chosen, _USUALLY_ASKED) if name in by_name), None)
    named = named or (found[0].name if found else None)
    rows = by_name.get(named or "", [])
    drawing = {
        "at": [int(each.minute.timestamp()) for each in rows],
        "median": [round(1000 * each.median, 2) for each in rows],
        "p95": [round(1000 * each.p95, 2) for each in rows],
    }
    return LatencyView(tuple(found), named, tuple(reversed(rows[-_MINUTES_LISTED:])), drawing)


def _middle(rows: Sequence[MinuteLatency]) -> float:
    half = sum(each.calls for each in rows) / 2
    for each in sorted(rows, key=lambda row: row.median):
        half -= each.calls
        if half <= 0:
            return each.median
    return 0.0


# The screen

# Checking reads all texts: a store beyond this size is checked only on request.
_CHECKED_AT_ONCE = 200_000_000
# A lease names its holder by parts with slashes between, the fourth of which is the process.
_PROCESS_PART = 3


async def health_screen(screen: Screen) -> Response:
    shown: dict[str, Any] = {"checks": None, "store": None, "stats": None}
    # Only callers who see every owner's memory see the whole store.
    if screen.caller.reach >= Right.STORE:
        state, counts, model = await screen.run(
            lambda memory: (memory.upkeep.store_state(), memory.counts(), memory.model),
            right=Right.STORE,
            reads=True,
        )
        shown["store"] = {"state": state, "counts": counts, "model": model}
        if counts.bytes < _CHECKED_AT_ONCE or screen.params.get("check"):
            shown["checks"] = (await screen.call("doctor"))["checks"]
    else:
        shown["stats"] = await screen.call("stats")
    metrics = screen.runner.metrics
    return await screen.page(
        "health.html",
        **shown,
        latencies=latencies_of(metrics.latencies(), screen.params.get("operation")),
        process={"id": os.getpid(), "started": metrics.started, "python": platform.python_version()},
        holder=_holder,
    )


def _holder(lease: Lease) -> str:
    parts = lease.holder.partition(" ")[0].split("/")
    return f"process {parts[_PROCESS_PART]}" if len(parts) > _PROCESS_PART else "another process"


async def make_backup(screen: Screen) -> Response:
    def work(memory: Engine, progress: Progress) -> str:
        return f"/health?backup={memory.upkeep.backup(progress=progress).name}#backups"

    return await with_progress(screen, work, right=Right.STORE)


async def embed_waiting(screen: Screen) -> Response:
    def work(memory: Engine, progress: Progress) -> str:
        Internals(memory).embed_pending(progress)
        return "/health"

    return await with_progress(screen, work, right=Right.STORE)


# Tokens


async def tokens_screen(screen: Screen, made: str | None = None, token: str | None = None) -> Response:
    tokens = await screen.run(lambda memory: Tokens(memory).list(), right=Right.STORE)
    asked = screen.params.get("revoke")
    if asked is not None and asked not in {each.name for each in tokens}:
        raise NotFound(f"There is no token {asked[:80]!r}; it may have been revoked already.")
    return await screen.page(
        "tokens.html", here="/health", tokens=tokens, revoking=asked, made=made, token=token
    )


async def make_token(screen: Screen) -> Response:
    """Show the new token on this very page: it goes into no cookie, no address and no other page."""
    fields = await screen.form()
    name, right = fields.text("name"), fields.text("right")
    owner, agent = fields.text("owner"), fields.text("agent")
    sees = Scope(owner, agent or None) if owner or agent else None
    token = await screen.run(
        lambda memory: Tokens(memory).create(name, right=right, sees=sees), right=Right.STORE
    )
    return await tokens_screen(screen, name, token)


async def withdraw_token(screen: Screen) -> Response:
    name = (await screen.form()).text("name")
    await screen.run(lambda memory: Tokens(memory).revoke(name), right=Right.STORE)
    return screen.redirect("/tokens", f"Revoked {name}: whoever uses it is refused within seconds.")
