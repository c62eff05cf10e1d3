"""How long calls took, minute by minute, as a table and for a drawing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recollect.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.serve.latency import MinuteLatency

_MINUTES_LISTED = 30
# What people wait for most.
_USUALLY_ASKED = "recall"


@dataclass(frozen=True, slots=True)
class OperationLatency:
    """One operation over the last day."""

    name: str
    calls: int
    median: float
    """Seconds: that of the minute that stands in the middle, each counting by its calls."""
    worst: float
    """The p95 of its slowest minute."""


@dataclass(frozen=True, slots=True)
class Latencies:
    operations: tuple[OperationLatency, ...]
    """The most called first."""
    chosen: str | None
    minutes: tuple[MinuteLatency, ...]
    """Of the chosen one, the newest first, as many as a table shows."""
    drawing: dict[str, Any]
    """Columns for uPlot: times, and milliseconds."""


def latencies_of(measured: Sequence[MinuteLatency], chosen: str | None) -> Latencies:
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
        "at": [each.minute for each in rows],
        "median": [round(1000 * each.median, 2) for each in rows],
        "p95": [round(1000 * each.p95, 2) for each in rows],
    }
    return Latencies(tuple(found), named, tuple(reversed(rows[-_MINUTES_LISTED:])), drawing)


def _middle(rows: Sequence[MinuteLatency]) -> float:
    half = sum(each.calls for each in rows) / 2
    for each in sorted(rows, key=lambda row: row.median):
        half -= each.calls
        if half <= 0:
            return each.median
    return 0.0
