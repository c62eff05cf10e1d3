"""What the hooks did in a day, counted from the lines of the log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any

_AS_THEY_ARE = ("answered", "silent", "late", "starting", "skipped")


def activity_of(events: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Counts for each client, and the errors."""
    clients = sorted({str(event.get("client")) for event in events if event.get("client")})
    return {
        "clients": [
            _counts(client, [each for each in events if each.get("client") == client]) for client in clients
        ],
        "errors": [
            f"{event.get('at')} {event.get('event')}: {event.get('detail', '')}"
            for event in events
            if event.get("outcome") == "error"
        ],
    }


def _counts(client: str, events: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    prompts = [event for event in events if event.get("event") == "prompt"]
    outcomes = [event.get("outcome") for event in prompts]
    counts: dict[str, Any] = {outcome: outcomes.count(outcome) for outcome in _AS_THEY_ARE}
    captures = [event for event in events if event.get("event") == "capture"]
    took = sorted(int(event["ms"]) for event in prompts if isinstance(event.get("ms"), int | float))
    return {
        "client": client,
        "prompts": len(prompts),
        **counts,
        "memories": _total(prompts, "memories"),
        "captured": sum(event.get("outcome") == "captured" for event in captures),
        "repeated": sum(event.get("outcome") == "repeated" for event in captures),
        "notes": _total(captures, "notes"),
        "secrets": _total(captures, "secrets"),
        "errors": sum(event.get("outcome") == "error" for event in events),
        "p50_ms": percentile(took, 0.5),
        "p95_ms": percentile(took, 0.95),
    }


def percentile(ordered: Sequence[int], share: float) -> int | None:
    """The smallest number that so large a share does not exceed; None of none."""
    return ordered[max(0, ceil(share * len(ordered)) - 1)] if ordered else None


def _total(events: Sequence[Mapping[str, Any]], name: str) -> int:
    return sum(value for event in events if isinstance(value := event.get(name), int))
