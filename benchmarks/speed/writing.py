"""What a single durable write costs, vectors given: a note, an entity, two messages, a correction."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from by_hand import ByHand
from recalling import spent_embedding
from stand_in import opened, settle, stand_in
from timing import Figures, Way, call_by_call, tell

from recollect import Engine
from stores import Filled

WRITES = 60
SUPERSEDED_AT = 10_000
"""The most memories of a store in which notes are corrected."""


def writing(store: Filled) -> Iterator[Figures]:
    made = store.world
    tell(f"writes: into {made.size:,} of {made.kind}")
    with store.copy() as path, opened(path) as engine:
        for place, (way, call) in enumerate(_ways(engine, store).items()):
            asked = made.spare[place * WRITES : (place + 1) * WRITES]
            call(made.spare[-1 - place])
            sample = call_by_call(call, asked, partial(settle, engine), spent_embedding)
            yield {"part": "write", "way": way, "kind": made.kind, "size": made.size} | sample.figures()


def writing_by_hand(store: Filled, hand: ByHand) -> Figures:
    vectors = {text: stand_in().documents([text]) for text in store.world.spare[:WRITES]}
    sample = call_by_call(lambda text: hand.add([text], vectors[text]), store.world.spare[:WRITES])
    return {"part": "write", "way": "by hand", "kind": "notes", "size": store.world.size} | sample.figures()


def _ways(engine: Engine, store: Filled) -> dict[str, Way]:
    match store.world.kind:
        case "graph":
            return {"create_entities, one": partial(_entity, engine)}
        case "conversations":
            return {
                "add_messages, two": partial(_messages, engine, extract=True),
                "add_messages, two, no notes drawn": partial(_messages, engine, extract=False),
            }
        case _:
            ways: dict[str, Way] = {"remember": engine.remember}
            if store.world.size <= SUPERSEDED_AT:
                ids = iter(range(10, 10 + 3 * WRITES))
                ways["supersede"] = lambda text: engine.supersede(
                    next(id_ for id_ in ids if engine.get(id_) is not None), f"Corrected: {text}"
                )
            return ways


def _entity(engine: Engine, text: str) -> object:
    return engine.create_entities([{"name": f"New {text[:30]}", "type": "thing", "observations": [text]}])


def _messages(engine: Engine, text: str, *, extract: bool) -> object:
    turns = [
        {"role": "user", "content": text},
        {"role": "assistant", "content": f"Noted, and good to know. {text[:40]}"},
    ]
    return engine.add_messages("a new session", turns, extract=extract)
