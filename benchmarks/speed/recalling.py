"""What a recall costs, beside the floor: with its parts left out, by SQL statements, and as a context."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial

from by_hand import ByHand
from floor import Floor
from stand_in import opened, settle, stand_in
from statements import counting
from timing import Figures, Way, in_turn, tell

from recollect import Engine
from stores import Filled

BUDGET = 1_000
_COUNTED = 20


def recalling(store: Filled) -> Iterator[Figures]:
    made = store.world
    known = {"kind": made.kind, "size": made.size}
    tell(f"recall: {made.size:,} of {made.kind}, the floor is made")
    floor = Floor(_texts(store), stand_in())
    floor.prepare(made.queries)
    with store.copy() as path:
        with opened(path) as engine:
            ways: dict[str, Way] = {
                "recall": engine.recall,
                "recall, not recorded": partial(engine.recall, record=False),
                "recall, explained": partial(engine.recall, record=False, explain=True),
                "context": partial(engine.context, budget_tokens=BUDGET),
                "floor": floor.both,
                "floor: vectors": floor.vectors,
                "floor: words": floor.words,
            }
            if (unjudged := _unjudged(engine)) is not None:
                ways["recall, without confidence"] = unjudged
            tell(f"recall: {made.size:,} of {made.kind}")
            samples = in_turn(ways, made.queries, partial(settle, engine), spent_embedding)
        for way, sample in samples.items():
            extra = {"how": floor.how} if way.startswith("floor") else {}
            yield {"part": "recall", "way": way} | known | sample.figures() | extra
        yield {"part": "recall", "way": "statements"} | known | {"statements": _statements(store)}


def recalling_by_hand(store: Filled, hand: ByHand) -> Figures:
    """The same questions of the hand-made store, with the same vectors given."""
    queries = store.world.queries
    vectors = {query: stand_in().query(query) for query in queries}
    samples = in_turn({"by hand": lambda query: hand.search(query, vectors[query])}, queries)
    return {"part": "recall", "way": "by hand", "kind": "notes", "size": store.world.size} | samples[
        "by hand"
    ].figures()


def spent_embedding() -> tuple[float, float]:
    return stand_in().cpu, stand_in().wall


def _texts(store: Filled) -> list[str]:
    """As many as the store has vectors."""
    made = store.world
    return ([*made.texts, *made.names] if made.kind == "graph" else made.texts)[: store.passages]


def _unjudged(engine: Engine) -> Way | None:
    """A recall that does not work out how sure it is: put together here, as no caller can ask for it."""
    try:
        from recollect.search.recall import query_of

        inside: Callable[..., object] = sys.modules["recollect.search.recall"].recall
        services = engine._services
        ranker = services.profile("recollect")

        def ask(query: str) -> object:
            return inside(
                services, query_of(services, query, ranker, record=False, with_confidence=False), ranker
            )

        ask("Where are the keys?")
    except (ImportError, AttributeError, TypeError):
        return None  # it has another shape now
    return ask


def _statements(store: Filled) -> Figures:
    """Of a recall in full, of one that is not recorded, and of a note that is remembered."""
    made = store.world
    counted: Figures = {}
    with store.copy() as path, counting() as count, opened(path) as engine:
        ways: dict[str, Way] = {
            "recall": engine.recall,
            "recall, not recorded": partial(engine.recall, record=False),
            "remember": engine.remember,
        }
        for way, call in ways.items():
            asked = made.spare if way == "remember" else made.queries
            call(asked[-1])
            settle(engine)
            before = count.statements
            for each in asked[:_COUNTED]:
                call(each)
            settle(engine)
            counted[way] = round((count.statements - before) / len(asked[:_COUNTED]), 1)
    return counted
