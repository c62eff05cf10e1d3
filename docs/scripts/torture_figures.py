"""Make the table in docs/internals/torture.md from the saved run, for `cog`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from figure_runs import Plain, markdown_table, read_run


def torture_run() -> str:
    facts = read_run("torture")["facts"]
    return (
        f"[torture.json](../../benchmarks/results/torture.json): {facts['date'][:10]}, "
        f"commit `{facts['commit'][:12]}`, "
        f"{facts['cpu']}, {facts['cores']} cores, Python {facts['python']}, model `hashing`."
    )


def torture_parts() -> str:
    """Return a Markdown table with one row for each part of the run."""
    run = read_run("torture")
    rows = [
        [
            name,
            f"{part['done']:,} {part['unit']}",
            f"{part['seconds']:,.0f} s",
            _FORMATTERS[name](part["figures"]),
            str(part["figures"].get("findings", 0)),
        ]
        for name, part in run["parts"].items()
    ]
    return markdown_table(("part", "done", "took", "figures", "findings"), rows)


def _fuzz(figures: Plain) -> str:
    tools = len(figures["calls_by_tool"])
    return (
        f"{tools} tools; {figures['answered']:,} answered, {figures['refused']:,} refused with a reason; "
        f"the slowest tool ({figures['slowest_tool']}) took {figures['slowest_ms']:,.0f} ms"
    )


def _writers(figures: Plain) -> str:
    return (
        f"{figures['acknowledged_writes']:,} writes acknowledged; "
        f"longest wait {figures['longest_wait_s']:.1f} s; "
        f"largest write-ahead log {figures['largest_wal_mb']:.1f} MB, store {figures['store_mb']:.1f} MB"
    )


def _kills(figures: Plain) -> str:
    by_way = ", ".join(f"{way} {count}" for way, count in figures["kills"].items())
    return (
        f"{by_way}; {_sum(figures['killed_in_a_write']):,} during a write; "
        f"{_sum(figures['acknowledged_writes']):,} writes acknowledged, "
        f"checked {_sum(figures['checks_of_writes']):,} times in total"
    )


def _cuts(figures: Plain) -> str:
    return f"acknowledged writes checked {figures['checks_of_writes']:,} times in total"


def _soak(figures: Plain) -> str:
    first, last = figures["over_time"][0], figures["over_time"][-1]
    grown, calls = figures.get("growth_while_reading_mb"), figures.get("calls_while_reading")
    reading = "" if grown is None else f" ({grown:+.1f} MB over the last {calls:,} calls, which only read)"
    return (
        f"memory {first['rss_mb']:.0f} MB at {first['calls']:,} calls, "
        f"{last['rss_mb']:.0f} at the end{reading}; "
        f"descriptors {first['descriptors']} and {last['descriptors']}; "
        f"store {last['store_mb']:.1f} MB, log {last['wal_mb']:.1f} MB"
    )


def _sum(counts: Mapping[str, Any]) -> int:
    return sum(counts.values())


_FORMATTERS = {"fuzz": _fuzz, "writers": _writers, "kills": _kills, "cuts": _cuts, "soak": _soak}
