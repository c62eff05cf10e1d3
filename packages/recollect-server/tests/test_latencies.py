"""Latencies as the dashboard shows them."""

from __future__ import annotations

from datetime import UTC, datetime

from recollect.operations.operation import MinuteLatency
from recollect_server.web.health import latencies_of


def test_the_most_called_comes_first_and_its_middle_minute_counts_by_calls() -> None:
    first, second = (datetime.fromtimestamp(each, UTC) for each in (0, 60))
    measured = [
        MinuteLatency(first, "recall", 1, 0.9, 0.9),
        MinuteLatency(first, "remember", 2, 0.5, 0.6),
        MinuteLatency(second, "recall", 8, 0.1, 0.2),
    ]
    found = latencies_of(measured, None)
    # Of nine recalls, the fifth took a tenth of a second.
    assert [(each.name, each.calls, each.median, each.worst) for each in found.operations] == [
        ("recall", 9, 0.1, 0.9),
        ("remember", 2, 0.5, 0.6),
    ]
    assert found.chosen == "recall"
    assert found.drawing == {"at": [0, 60], "median": [900.0, 100.0], "p95": [900.0, 200.0]}
    assert [each.minute for each in found.minutes] == [second, first]
    assert latencies_of(measured, "remember").drawing["at"] == [0]
    assert latencies_of([], "recall").chosen is None
