"""Calls are counted and timed: for Prometheus, and minute by minute for the dashboard."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from recollect.domain.errors import NotFound
from recollect_server.metrics import Metrics, gauge
from recollect_server.web.health import latency_view


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


def test_the_most_called_operation_comes_first_and_its_day_is_drawn_by_quarters() -> None:
    now = [datetime(2026, 3, 1, 9, tzinfo=UTC)]
    metrics = Metrics(lambda: now[0])
    assert latency_view(metrics, "recall", UTC) is None
    metrics.record("recall", 0.9)
    metrics.record("remember", 0.5)
    now[0] += timedelta(minutes=30)
    for _ in range(8):
        metrics.record("recall", 0.1)
    found = latency_view(metrics, None, UTC)
    assert found is not None
    # Of nine recalls, the fifth took a tenth of a second, and the last 0.9 s.
    assert [(each.operation, each.calls, each.median, each.p95) for each in found["operations"]] == [
        ("recall", 9, 0.1, 0.9),
        ("remember", 1, 0.5, 0.5),
    ]
    # From 8:30, an hour ago, to 9:45, the end of the last quarter: 9:00 is 30/75 of the way, 9:30 is 60/75.
    assert [each.calls for each in found["steps"]] == [1, 8]
    assert found["places"] == [40.0, 80.0, 20.0]
    # Eight of nine within 100 ms, none within 250 or 500 ms, one within a second.
    assert [(tick.label, share) for tick, share in found["shares"]] == [
        ("≤ 100 ms", 88.89),
        ("≤ 250 ms", 0),
        ("≤ 500 ms", 0),
        ("≤ 1 s", 11.11),
    ]
    other = latency_view(metrics, "remember", UTC)
    assert other is not None
    assert other["chosen"].operation == "remember"
