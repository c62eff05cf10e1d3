"""A dream: how long it takes, and its longest block of other writers."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from children import meanwhile
from stand_in import NOW, opened, settle
from timing import Figures, tell, timed

from stores import Filled

_ANSWERS = 60
"""Answers of the day before, which the dream replays."""


def dreaming(store: Filled) -> Iterator[Figures]:
    made = store.world
    known = {"part": "dream", "kind": made.kind, "size": made.size}
    with store.copy() as path:
        with opened(path, NOW) as engine:
            for query in made.queries[:_ANSWERS]:
                engine.recall(query)
            settle(engine)
        for way, days in (("the first", 1), ("after 40 days away", 41)):
            tell(f"dream: {made.size:,}, {way}")
            with opened(path, NOW + timedelta(days=days)) as engine:
                with meanwhile("lock", path) as lock, timed() as whole:
                    report = engine.dream(drop_failing=True).report
                yield (
                    known
                    | {
                        "way": way,
                        "cpu_ms": round(whole.cpu * 1000, 1),
                        "wall_ms": round(whole.wall * 1000, 1),
                        "faded": report.faded,
                        "stronger": report.stronger,
                    }
                    | lock
                )
