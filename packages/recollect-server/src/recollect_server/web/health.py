"""Health: checks, growth, latencies, backups and tokens of the server."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from datetime import timedelta, tzinfo
from itertools import accumulate
from math import ceil, log10
from typing import Any

from starlette.responses import Response

from recollect import Engine
from recollect.domain.errors import NotFound
from recollect.domain.records import Scope
from recollect.operations.catalogue import http_operations
from recollect.plugin import BrowseFilter, Internals, Lease, Tokens
from recollect.stores.port import Progress
from recollect_server.metrics import Metrics
from recollect_server.progress import with_progress
from recollect_server.runner import Right
from recollect_server.web.drawings import TEXTS, CountScale, Tick, count_scale, place_between, time_ticks
from recollect_server.web.templating import Screen

# Latencies

_STEP_MINUTES = 15
_DEFAULT_OPERATION = "recall"
_ONE_STEP = 10**9  # minutes, so that the whole day is one step


def latency_view(metrics: Metrics, chosen: str | None, zone: tzinfo) -> dict[str, Any] | None:
    """Return a chart of an operation's latencies: the last day by quarter hours, on a logarithmic scale."""
    operations = sorted(metrics.latencies(_ONE_STEP), key=lambda each: (-each.calls, each.operation))
    if not operations:
        return None
    by_name = {each.operation: each for each in operations}
    latency = by_name.get(chosen or "") or by_name.get(_DEFAULT_OPERATION) or operations[0]
    steps = [each for each in metrics.latencies(_STEP_MINUTES) if each.operation == latency.operation]
    now, step = metrics.clock(), timedelta(minutes=_STEP_MINUTES)
    begin, end = min(steps[0].minute, now - 4 * step), max(now, steps[-1].minute + step)
    top = 10 ** ceil(log10(max(10, 1000 * max(each.p95 for each in steps))))
    places = [place_between(at, begin, end) for at in (*(each.minute for each in steps), begin + step)]
    return {
        "operations": operations,
        "chosen": latency,
        "steps": steps,
        # The left end of each step, and last the width of a step.
        "places": places,
        "scale": CountScale(top, is_log=True),
        "times": time_ticks(begin, end, zone),
        "shares": _bucket_percentages(metrics.bucket_counts(latency.operation)),
    }


def _bucket_percentages(counts: Sequence[tuple[float | None, int]]) -> list[tuple[Tick, float]]:
    """Return the percentage of calls in each bucket, without the empty buckets at both ends."""
    used = [place for place, (_, count) in enumerate(counts) if count]
    drawn, total = counts[used[0] : used[-1] + 1], sum(count for _, count in counts)
    found = []
    for place, (bound, count) in enumerate(drawn):
        limit = "longer" if bound is None else f"≤ {1000 * bound:g} ms" if bound < 1 else f"≤ {bound:g} s"
        found.append((Tick(round(100 * (place + 0.5) / len(drawn), 2), limit), round(100 * count / total, 2)))
    return found


# Growth


def growth_view(memory: Engine) -> dict[str, Any] | None:
    """Return a chart of the number of current memories by day of storing, and their number by kind."""
    days = memory.browse.timeline(BrowseFilter(time="stored"), "day")
    if not days:
        return None
    begin, end = days[0].start, max(Internals(memory).now(), days[-1].stop)
    total = sum(day.count for day in days)
    scale, corners = count_scale([total]), [(0.0, 100.0)]
    for day, so_far in zip(days, accumulate(day.count for day in days), strict=True):
        x = place_between(day.start, begin, end)
        corners += [(x, corners[-1][1]), (x, round(100 - scale.height(so_far), 2))]
    corners += [(100.0, corners[-1][1]), (100.0, 100.0)]
    kinds, times = Internals(memory).count_memories(), time_ticks(begin, end, memory.zone)
    return {"total": total, "kinds": kinds, "corners": corners, "ticks": scale.ticks, "times": times}


# The screen

# Checking reads all texts, so a larger store is checked only on request.
_MAX_CHECKED_BYTES = 200_000_000
# Index of the process id among the parts of a lease's holder, which slashes separate.
_PROCESS_ID_PART = 3


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
        if counts.bytes < _MAX_CHECKED_BYTES or screen.params.get("check"):
            shown["checks"] = (await screen.call("doctor"))["checks"]
    else:
        shown["stats"] = await screen.call("stats")
    metrics, zone = screen.runner.metrics, screen.runner.memory().zone
    return await screen.page(
        "health.html",
        **shown,
        growth=await screen.run(growth_view),
        latencies=latency_view(metrics, screen.params.get("operation"), zone),
        titles={name: each.title for name, each in http_operations().items()} | TEXTS["operations"],
        process={"id": os.getpid(), "started": metrics.started, "python": platform.python_version()},
        holder=_holder_name,
    )


def _holder_name(lease: Lease) -> str:
    parts = lease.holder.partition(" ")[0].split("/")
    return f"process {parts[_PROCESS_ID_PART]}" if len(parts) > _PROCESS_ID_PART else "another process"


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
    """Create a token, and show it on this page only: no cookie, address or later page contains it."""
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
    return screen.redirect("/tokens", f"Revoked {name}: the server refuses it within seconds.")
