"""Taking times: of a stretch of work, of one call among others, and of calls in turn."""

from __future__ import annotations

import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any


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


def rate(time_: Time, count: int) -> dict[str, float]:
    return {
        "per_second": round(count / time_.wall, 1),
        "wall_ms_each": round(time_.wall * 1000 / count, 4),
        "cpu_ms_each": round(time_.cpu * 1000 / count, 4),
    }


class Spent:
    """CPU seconds by what they were spent on. What a watched call spends in another is the other's alone."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._inner: list[float] = []

    @contextmanager
    def watching(self, owner: object, name: str, what: str) -> Iterator[None]:
        """Until the end of the block, calls of `owner.name` are timed."""
        function: Callable[..., Any] = getattr(owner, name)

        def watched(*given: Any, **named: Any) -> Any:
            self._inner.append(0.0)
            start = time.process_time()
            try:
                return function(*given, **named)
            finally:
                whole = time.process_time() - start
                self.seconds[what] += whole - self._inner.pop()
                if self._inner:
                    self._inner[-1] += whole

        setattr(owner, name, watched)
        try:
            yield
        finally:
            setattr(owner, name, function)

    def each(self, count: int, whole: Time) -> dict[str, float]:
        """Milliseconds of CPU for one of so many, and what is left of the whole."""
        rest = whole.cpu - sum(self.seconds.values())
        return {
            what: round(seconds * 1000 / count, 4)
            for what, seconds in (*sorted(self.seconds.items()), ("rest", rest))
        }


def in_turn(ways: Mapping[str, Callable[[str], object]], queries: Sequence[str]) -> dict[str, Any]:
    """Each query by every way, beginning with another one each time: a busy machine disturbs all alike.

    The first way is what the others are compared with: `ratio` is of the medians.
    """
    waits: dict[str, list[float]] = defaultdict(list)
    spent: dict[str, float] = defaultdict(float)
    for query in queries[:5]:  # the model, the vectors and the pages into memory
        for ask in ways.values():
            ask(query)
    for turn, query in enumerate(queries):
        for place in range(len(ways)):
            name = list(ways)[(turn + place) % len(ways)]
            with timed() as one:
                ways[name](query)
            waits[name].append(one.wall * 1000)
            spent[name] += one.cpu * 1000
    base = next(iter(ways))
    return {"queries": len(queries)} | {
        name: {
            "p50_ms": round(statistics.median(waits[name]), 3),
            "p95_ms": round(statistics.quantiles(waits[name], n=20)[-1], 3),
            "cpu_ms": round(spent[name] / len(queries), 3),
            "ratio": round(statistics.median(waits[name]) / statistics.median(waits[base]), 3),
            "cpu_ratio": round(spent[name] / spent[base], 3),
        }
        for name in ways
    }


def number(text: str) -> int:
    return int(float(text.lower().removesuffix("k")) * 1000) if text.lower().endswith("k") else int(text)


def tell(what: str) -> None:
    print(what, file=sys.stderr, flush=True)
