"""Counts and durations of calls, for Prometheus and the dashboard."""

from __future__ import annotations

import threading
import time
from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime

from recollect.bootstrap import now
from recollect.domain.errors import RecollectError
from recollect.operations.operation import MinuteLatency
from recollect.stores.port import Clock

METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
"""Upper bounds in seconds, inclusive. A longer call counts in one more bucket without a bound."""
_MINUTE_SECONDS = 60
_MINUTES_OF_A_DAY = 24 * 60
# Durations kept per operation and minute, for percentiles.
_MAX_DURATIONS = 200


class _Histogram:
    def __init__(self) -> None:
        self.counts = [0] * (len(BUCKETS) + 1)
        self.seconds = 0.0

    def add(self, seconds: float) -> None:
        self.counts[bisect_left(BUCKETS, seconds)] += 1
        self.seconds += seconds


class _Timings:
    """Durations and errors by name. Not thread-safe."""

    def __init__(self, metric: str, label: str, what: str) -> None:
        self._metric, self._label, self._what = metric, label, what
        self._histograms: dict[str, _Histogram] = {}
        self._errors: Counter[tuple[str, str]] = Counter()

    def record(self, name: str, seconds: float, error: str | None) -> None:
        self._histograms.setdefault(name, _Histogram()).add(seconds)
        if error is not None:
            self._errors[name, error] += 1

    def counts(self, name: str) -> list[tuple[float | None, int]]:
        return list(zip((*BUCKETS, None), self._histograms[name].counts, strict=True))

    def lines(self) -> Iterator[str]:
        metric = f"recollect_{self._metric}_duration_seconds"
        yield from _header_lines(metric, "histogram", f"How long {self._what} took, by {self._label}.")
        for name, histogram in sorted(self._histograms.items()):
            labels, total = {self._label: name}, 0
            for bound, count in zip((*map(str, BUCKETS), "+Inf"), histogram.counts, strict=True):
                total += count
                yield f"{metric}_bucket{_labels({**labels, 'le': bound})} {total}"
            yield f"{metric}_sum{_labels(labels)} {histogram.seconds:.6f}"
            yield f"{metric}_count{_labels(labels)} {total}"
        metric = f"recollect_{self._metric}_errors_total"
        what = self._what.capitalize()
        yield from _header_lines(metric, "counter", f"{what} that failed, by {self._label} and kind.")
        for (name, kind), count in sorted(self._errors.items()):
            yield f"{metric}{_labels({self._label: name, 'kind': kind})} {count}"


class _Minute:
    def __init__(self, start: int) -> None:
        self.start = start
        self.calls: Counter[str] = Counter()
        self.times: dict[str, list[float]] = {}

    def add(self, operation: str, seconds: float) -> None:
        self.calls[operation] += 1
        times = self.times.setdefault(operation, [])
        if len(times) < _MAX_DURATIONS:
            times.append(seconds)


class Metrics:
    """Durations of this process's calls. Every method is safe to call from any thread."""

    def __init__(self, clock: Clock = now, timer: Callable[[], float] = time.perf_counter) -> None:
        self.started = clock()
        self.clock = clock
        self._timer = timer
        self._lock = threading.Lock()
        self._calls = _Timings("call", "operation", "calls")
        # Separate, since the calls that a screen makes are counted already.
        self._screens = _Timings("screen", "screen", "screens of the dashboard")
        self._minutes: deque[_Minute] = deque(maxlen=_MINUTES_OF_A_DAY)

    @contextmanager
    def timed(self, name: str, *, screen: bool = False) -> Iterator[None]:
        """Record the block as one call of an operation, or as one screen of the dashboard."""
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
            seconds = self._timer() - began
            if screen:
                with self._lock:
                    self._screens.record(name, seconds, error)
            else:
                self.record(name, seconds, error)

    def record(self, operation: str, seconds: float, error: str | None = None) -> None:
        start = int(self.clock().timestamp()) // _MINUTE_SECONDS * _MINUTE_SECONDS
        with self._lock:
            self._calls.record(operation, seconds, error)
            if not self._minutes or self._minutes[-1].start < start:
                self._minutes.append(_Minute(start))
            self._minutes[-1].add(operation, seconds)

    def latencies(self, minutes: int = 1) -> list[MinuteLatency]:
        """Return the last day's latencies in steps of `minutes`, oldest first, without idle steps."""
        step = minutes * _MINUTE_SECONDS
        oldest = self.clock().timestamp() - _MINUTES_OF_A_DAY * _MINUTE_SECONDS
        calls: Counter[tuple[int, str]] = Counter()
        times: dict[tuple[int, str], list[float]] = {}
        with self._lock:
            for each in self._minutes:
                for name in sorted(each.times) if each.start >= oldest else ():
                    key = each.start // step * step, name
                    calls[key] += each.calls[name]
                    times.setdefault(key, []).extend(each.times[name])
        return [
            MinuteLatency(
                datetime.fromtimestamp(start, UTC),
                name,
                calls[start, name],
                _quantile(sorted(durations), 0.5),
                _quantile(sorted(durations), 0.95),
            )
            for (start, name), durations in times.items()
        ]

    def bucket_counts(self, operation: str) -> list[tuple[float | None, int]]:
        """Return each bucket's upper bound in seconds (None: no bound) and its number of calls."""
        with self._lock:
            return self._calls.counts(operation)

    def lines(self) -> list[str]:
        with self._lock:
            return [*self._calls.lines(), *self._screens.lines()]


def gauge(name: str, words: str, values: Iterable[tuple[Mapping[str, str], float]]) -> Iterator[str]:
    yield from _header_lines(name, "gauge", words)
    for labels, value in values:
        yield f"{name}{_labels(labels)} {value:.10g}"


def _header_lines(name: str, kind: str, help_: str) -> tuple[str, str]:
    return f"# HELP {name} {help_}", f"# TYPE {name} {kind}"


def _labels(labels: Mapping[str, str]) -> str:
    if not labels:
        return ""
    escapes = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})
    return "{" + ",".join(f'{name}="{value.translate(escapes)}"' for name, value in labels.items()) + "}"


def _quantile(times: Sequence[float], share: float) -> float:
    return times[min(len(times) - 1, int(share * len(times)))]
