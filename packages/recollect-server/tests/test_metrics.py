"""Calls are counted and timed: for Prometheus, and minute by minute for the dashboard."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from recollect.domain.errors import NotFound
from recollect.operations.operation import MinuteLatency
from recollect_server.metrics import Metrics, gauge
from recollect_server.web.health import latencies_of


def test_a_histogram_counts_a_call_in_every_bucket_that_is_no_shorter() -> None:
    metrics = Metrics()
    metrics.record("recall", 0.004)
    metrics.record("recall", 0.05)  # exactly at a bound: within it
    metrics.record("recall", 100.0)
    lines = list(metrics.lines())
    assert 'recollect_call_duration_seconds_bucket{operation="recall",le="0.0025"} 0' in lines
    assert 'recollect_call_duration_seconds_bucket{operation="recall",le="0.005"} 1' in lines
    assert 'recollect_call_duration_seconds_bucket{operation="recall",le="0.05"} 2' in lines
    assert 'recollect_call_duration_seconds_bucket{operation="recall",le="60.0"} 2' in lines
    assert 'recollect_call_duration_seconds_bucket{operation="recall",le="+Inf"} 3' in lines
    # 0.004 + 0.05 + 100
    assert 'recollect_call_duration_seconds_sum{operation="recall"} 100.054000' in lines
    assert 'recollect_call_duration_seconds_count{operation="recall"} 3' in lines


def test_errors_are_counted_by_operation_and_kind_and_raised_all_the_same() -> None:
    metrics = Metrics()
    for error in (NotFound("gone"), NotFound("gone"), ZeroDivisionError()):
        with pytest.raises(type(error)), metrics.timed("history"):
            raise error
    lines = list(metrics.lines())
    assert 'recollect_call_errors_total{operation="history",kind="NotFound"} 2' in lines
    assert 'recollect_call_errors_total{operation="history",kind="Unexpected"} 1' in lines


def test_labels_are_escaped() -> None:
    lines = list(gauge("sizes", "Sizes.", [({"kind": 'a"b\\c\nd'}, 1)]))
    assert lines[-1] == 'sizes{kind="a\\"b\\\\c\\nd"} 1'


def test_latencies_are_kept_for_a_day_by_the_minute() -> None:
    now = [datetime(2026, 3, 1, 9, 0, 30, tzinfo=UTC)]
    metrics = Metrics(lambda: now[0])
    for tenth in range(1, 11):
        metrics.record("recall", tenth / 10)
    now[0] += timedelta(minutes=1)
    metrics.record("remember", 2.0)
    first, second = metrics.latencies()
    # Of ten sorted times, the one at place 5 is 0.6 s, the one at place 9 is 1.0 s.
    assert (first.operation, first.calls, first.median, first.p95) == ("recall", 10, 0.6, 1.0)
    assert (second.minute - first.minute).seconds == 60
    now[0] += timedelta(hours=24)
    metrics.record("forget", 1.0)
    assert [each.operation for each in metrics.latencies()] == ["forget"]


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
