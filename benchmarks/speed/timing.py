"""Timing of a block, of successive calls, and of several ways to do the same work."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

Figures = dict[str, Any]
Way = Callable[[str], object]


@dataclass(slots=True)
class Time:
    """Seconds."""

    cpu: float = 0.0
    wall: float = 0.0


@contextmanager
def timed() -> Iterator[Time]:
    time_ = Time()
    cpu, wall = time.process_time(), time.perf_counter()
    yield time_
    time_.cpu, time_.wall = time.process_time() - cpu, time.perf_counter() - wall


def rate(time_: Time, count: int) -> Figures:
    return {
        "count": count,
        "per_second": round(count / time_.wall, 1),
        "per_cpu_second": round(count / time_.cpu, 1),
        "cpu_ms": round(time_.cpu * 1000 / count, 4),
        "wall_ms": round(time_.wall * 1000 / count, 4),
    }


@dataclass(slots=True)
class Sample:
    """Seconds of calls, one by one."""

    cpu: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)

    def add(self, cpu: float, wall: float) -> None:
        self.cpu.append(cpu)
        self.wall.append(wall)

    def figures(self) -> Figures:
        """Return the median and the 99th percentile in milliseconds."""
        return {
            "calls": len(self.cpu),
            "cpu_ms": milliseconds(statistics.median(self.cpu)),
            "cpu_ms_mean": milliseconds(statistics.fmean(self.cpu)),
            "cpu_ms_p99": milliseconds(percentile(self.cpu, 0.99)),
            "wall_ms": milliseconds(statistics.median(self.wall)),
            "wall_ms_p99": milliseconds(percentile(self.wall, 0.99)),
        }


def waits(seconds: Sequence[float]) -> Figures:
    """Milliseconds that callers waited."""
    return {
        "p50_ms": milliseconds(statistics.median(seconds)),
        "p99_ms": milliseconds(percentile(seconds, 0.99)),
        "longest_ms": milliseconds(max(seconds)),
    }


def percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def milliseconds(seconds: float) -> float:
    return round(seconds * 1000, 4)


def call_by_call(
    call: Way,
    asked: Sequence[str],
    settle: Callable[[], object] = lambda: None,
    aside: Callable[[], tuple[float, float]] = lambda: (0.0, 0.0),
    into: Sample | None = None,
) -> Sample:
    """Time calls one after another. CPU time is that of the whole process, including background work.

    `aside` returns the CPU and wall seconds spent so far on work that must not count.
    """
    sample = Sample() if into is None else into
    for place, each in enumerate(asked):
        aside_cpu, aside_wall = aside()
        cpu, wall = time.process_time(), time.perf_counter()
        call(each)
        waited = time.perf_counter() - wall
        if place == len(asked) - 1:
            settle()
        spent = time.process_time() - cpu
        now_cpu, now_wall = aside()
        sample.add(spent - (now_cpu - aside_cpu), waited - (now_wall - aside_wall))
    return sample


def in_turn(
    ways: Mapping[str, Way],
    asked: Sequence[str],
    settle: Callable[[], object] = lambda: None,
    aside: Callable[[], tuple[float, float]] = lambda: (0.0, 0.0),
    rounds: int = 4,
) -> dict[str, Sample]:
    """Time each way on a part of the questions, in rounds, so that a busy machine affects all equally."""
    samples = {name: Sample() for name in ways}
    for name in ways:  # load vectors and pages into memory
        for each in asked[:2]:
            ways[name](each)
        settle()
    names = list(ways)
    for turn in range(rounds):
        for place in range(len(names)):
            name = names[(turn + place) % len(names)]
            call_by_call(ways[name], asked[turn::rounds], settle, aside, samples[name])
    return samples


def number(text: str) -> int:
    """Parse a number such as `10k` or `1M`."""
    factors = {"k": 1_000, "m": 1_000_000}
    factor = factors.get(text[-1].lower(), 1)
    return int(float(text[:-1]) * factor) if factor > 1 else int(text)


def tell(what: str) -> None:
    print(what, file=sys.stderr, flush=True)
