"""Counts and times calls, and tells them to Prometheus and to the dashboard."""

from __future__ import annotations

import threading
import time
from bisect import bisect_left
from collections import Counter, deque
from contextlib import contextmanager
from typing import TYPE_CHECKING

from recollect.bootstrap import now
from recollect.errors import RecollectError
from recollect.serve.latency import MinuteLatency

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from recollect.ports import Clock

METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
"""Seconds; a call counts in every bucket that is no shorter."""
_MINUTE_SECONDS = 60
_MINUTES_OF_A_DAY = 24 * 60
# Of each operation and minute so many times are kept, to tell percentiles from.
_MOST_TIMES = 200


class _Histogram:
    def __init__(self) -> None:
        self.counts = [0] * (len(BUCKETS) + 1)
        self.seconds = 0.0

    def add(self, seconds: float) -> None:
        self.counts[bisect_left(BUCKETS, seconds)] += 1
        self.seconds += seconds


class _Minute:
    def __init__(self, start: int) -> None:
        self.start = start
        self.calls: Counter[str] = Counter()
        self.times: dict[str, list[float]] = {}

    def add(self, operation: str, seconds: float) -> None:
        self.calls[operation] += 1
        times = self.times.setdefault(operation, [])
        if len(times) < _MOST_TIMES:
            times.append(seconds)


class Metrics:
    """What the calls of this process took. Every method may be called from any thread."""

    def __init__(self, clock: Clock = now, timer: Callable[[], float] = time.perf_counter) -> None:
        self.started = clock()
        self._clock = clock
        self._timer = timer
        self._lock = threading.Lock()
        self._histograms: dict[str, _Histogram] = {}
        self._errors: Counter[tuple[str, str]] = Counter()
        self._minutes: deque[_Minute] = deque(maxlen=_MINUTES_OF_A_DAY)

    @contextmanager
    def timed(self, operation: str) -> Iterator[None]:
        """Record what is done within it as one call."""
        began = self._timer()
        error: str | None = None
        try:
            yield
        except RecollectError as failure:
            error = type(failure).__name__
            raise
        except TimeoutError:
            error = "TookTooLong"
            raise
        except Exception:
            error = "Unexpected"
            raise
        finally:
            self.record(operation, self._timer() - began, error)

    def record(self, operation: str, seconds: float, error: str | None = None) -> None:
        start = int(self._clock().timestamp()) // _MINUTE_SECONDS * _MINUTE_SECONDS
        with self._lock:
            self._histograms.setdefault(operation, _Histogram()).add(seconds)
            if error is not None:
                self._errors[operation, error] += 1
            if not self._minutes or self._minutes[-1].start < start:
                self._minutes.append(_Minute(start))
            self._minutes[-1].add(operation, seconds)

    def latencies(self) -> list[MinuteLatency]:
        """Of the last day, minute by minute, the oldest first; minutes without calls are left out."""
        oldest = self._clock().timestamp() - _MINUTES_OF_A_DAY * _MINUTE_SECONDS
        with self._lock:
            minutes = [
                (each.start, dict(each.calls), {name: sorted(times) for name, times in each.times.items()})
                for each in self._minutes
                if each.start >= oldest
            ]
        return [
            MinuteLatency(start, name, calls[name], _quantile(times, 0.5), _quantile(times, 0.95))
            for start, calls, by_name in minutes
            for name, times in sorted(by_name.items())
        ]

    def lines(self) -> Iterator[str]:
        """In Prometheus' text format."""
        with self._lock:
            histograms = {name: (list(one.counts), one.seconds) for name, one in self._histograms.items()}
            errors = dict(self._errors)
        name = "recollect_call_duration_seconds"
        yield from _head(name, "histogram", "How long calls took, by operation.")
        for operation, (counts, seconds) in sorted(histograms.items()):
            total = 0
            for bound, count in zip((*map(str, BUCKETS), "+Inf"), counts, strict=True):
                total += count
                yield f"{name}_bucket{_labels({'operation': operation, 'le': bound})} {total}"
            yield f"{name}_sum{_labels({'operation': operation})} {seconds:.6f}"
            yield f"{name}_count{_labels({'operation': operation})} {total}"
        yield from _head(
            "recollect_call_errors_total", "counter", "Calls that failed, by operation and kind."
        )
        for (operation, kind), count in sorted(errors.items()):
            yield f"recollect_call_errors_total{_labels({'operation': operation, 'kind': kind})} {count}"


def gauge(
    name: str, words: str, values: Iterable[tuple[Mapping[str, str], float]], *, kind: str = "gauge"
) -> Iterator[str]:
    """A metric of one number, or of one for each set of labels."""
    yield from _head(name, kind, words)
    for labels, value in values:
        yield f"{name}{_labels(labels)} {value:.10g}"


def _head(name: str, kind: str, words: str) -> tuple[str, str]:
    return f"# HELP {name} {words}", f"# TYPE {name} {kind}"


def _labels(labels: Mapping[str, str]) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items()) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _quantile(times: Sequence[float], share: float) -> float:
    """Of sorted times, the one at this place."""
    return times[min(len(times) - 1, int(share * len(times)))]
