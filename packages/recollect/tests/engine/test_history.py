"""`history`: the events of a memory, in order."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from recollect.domain.errors import NotFound

if TYPE_CHECKING:
    from datetime import datetime

    from conftest import FixedClock

    from recollect.engine import Engine


def events(engine: Engine, id_: int) -> list[tuple[datetime, str, str]]:
    return [(event.at, event.what, event.detail) for event in engine.history(id_).events]


def test_a_note_tells_what_it_said_and_what_became_of_it(engine: Engine, clock: FixedClock) -> None:
    noted = clock()
    id_ = engine.remember("The kettle is red").id
    updated = clock.tick(60)
    engine.update(id_, text="The kettle is blue")
    again = clock.tick(60)
    engine.update(id_, text="The kettle is green")
    corrected = clock.tick(60)
    by = engine.supersede(id_, "The kettle is white").by.id
    gone = clock.tick(60)
    engine.forget([id_])
    assert events(engine, id_) == [
        (noted, "noted", "The kettle is red"),
        (updated, "updated", "The kettle is blue"),
        (again, "updated", "The kettle is green"),
        (corrected, "superseded", f"by memory {by}"),
        (gone, "forgotten", f"`recollect restore {id_}` brings it back"),
    ]
    assert engine.history(id_).memory == engine.get(id_)
    assert events(engine, by) == [
        (corrected, "noted", "The kettle is white"),
        (corrected, "supersedes", f"memory {id_}: The kettle is green"),
    ]


def test_a_correction_tells_all_that_it_retired_and_an_observation_by_which(
    engine: Engine, clock: FixedClock
) -> None:
    entity = engine.create_entities([{"name": "Alice", "observations": ["works at Google"]}]).entities[0].id
    first = engine.remember("Alice works at Google").id
    second = engine.remember("Alice is working at Google").id
    now = clock.tick(60)
    by = engine.supersede(first, "Alice works at Apple").by.id
    assert events(engine, by)[1:] == [
        (now, "supersedes", f"memory {first}: Alice works at Google"),
        (now, "supersedes", f"memory {second}: Alice is working at Google"),
    ]
    assert events(engine, entity)[-1] == (now, "superseded", f"works at Google by memory {by}")


def test_a_message_tells_who_said_it(engine: Engine, clock: FixedClock) -> None:
    said = clock() - timedelta(days=9)
    turns = [{"speaker": "Ada", "role": "user"}, {"role": "assistant"}, {}]
    told = engine.add_messages("s", [{"content": "hello", "at": said, **turn} for turn in turns])
    assert [events(engine, id_) for id_ in told.ids] == [
        [(said, "said", f"{who}: hello")] for who in ("Ada", "assistant", "someone")
    ]


def test_an_entity_tells_its_observations_and_relations(engine: Engine, clock: FixedClock) -> None:
    made = clock()
    ada = {"name": "Ada", "entityType": "person", "observations": ["works at Google"]}
    id_ = engine.create_entities([ada, "Bob"]).entities[0].id
    related = clock.tick(60)
    engine.graph.create_relations([("Ada", "knows", "Bob")])
    changed = clock.tick(60)
    engine.graph.add_observations(
        {"Ada": [{"content": "works at Apple", "supersedes": "works at Google"}, "likes tea"]}
    )
    removed = clock.tick(60)
    engine.graph.delete_observations({"Ada": ["likes tea"]})
    ended = clock.tick(60)
    engine.graph.end_relation("Ada", "knows", "Bob")
    assert events(engine, id_) == [
        (made, "created", "Ada (person)"),
        (made, "observed", "works at Google"),
        (related, "related", "Ada knows Bob"),
        (changed, "superseded", "works at Google by: works at Apple"),
        (changed, "observed", "works at Apple"),
        (changed, "observed", "likes tea"),
        (removed, "removed", "likes tea"),
        (ended, "ended", "Ada knows Bob"),
    ]


def test_a_relation_that_was_removed_says_so_and_one_that_went_with_its_end_does_not(
    engine: Engine, clock: FixedClock
) -> None:
    ids = [made.id for made in engine.create_entities(["Ada", "Bob", "Carl"]).entities]
    engine.graph.create_relations([("Ada", "knows", "Bob"), ("Ada", "knows", "Carl")])
    clock.tick(60)
    engine.graph.delete_relations([("Ada", "knows", "Bob")])
    clock.tick(60)
    engine.graph.delete_entities(["Ada"])
    told = [(what, detail) for _, what, detail in events(engine, ids[0])]
    assert told[-2:] == [
        ("unrelated", "Ada knows Bob"),
        ("forgotten", f"`recollect restore {ids[0]}` brings it back"),
    ]
    assert ("unrelated", "Ada knows Carl") not in told


def test_history_is_told_oldest_first(engine: Engine, clock: FixedClock) -> None:
    """A correction may be of later than what it is given for: an old memory takes over from a newer one."""
    right = engine.remember("The kettle is blue").id
    clock.tick(60)
    wrong = engine.remember("The kettle is red").id
    clock.tick(60)
    engine.supersede(wrong, right)
    times = [at for at, _, _ in events(engine, right)]
    assert times == sorted(times)
    assert len(times) == 2


def test_nobody_elses_memory_has_a_history_here(engine: Engine) -> None:
    id_ = engine.remember("tea").id
    for other in (engine.scoped("someone"), engine.scoped("", "an agent")):
        with pytest.raises(NotFound, match=f"There is no memory {id_}"):
            other.history(id_)
    with pytest.raises(NotFound):
        engine.history(99)


def test_a_clock_that_jumps_back_does_not_turn_history_round(engine: Engine, clock: FixedClock) -> None:
    id_ = engine.remember("The kettle is red").id
    clock.tick(3600)
    engine.update(id_, text="The kettle is blue")
    clock.tick(-1800)
    engine.update(id_, text="The kettle is green")
    clock.tick(-600)
    by = engine.supersede(id_, "The kettle is white").by.id
    clock.tick(-86_400)
    engine.forget([id_])
    told = ["noted", "updated", "updated", "superseded", "forgotten"]
    assert [what for _, what, _ in events(engine, id_)] == told
    wordings = [detail for _, _, detail in events(engine, id_)][:3]
    assert wordings == [f"The kettle is {colour}" for colour in ("red", "blue", "green")]
    clock.tick(-86_400)
    engine.restore(id_)
    # Forgotten and superseded in one moment, as far as the clock can tell.
    whats = [what for _, what, _ in events(engine, id_)]
    assert whats[:3] == told[:3]
    assert sorted(whats[3:]) == ["forgotten", "restored", "superseded"]
    assert whats.index("forgotten") < whats.index("restored")
    assert [what for _, what, _ in events(engine, by)] == ["noted", "supersedes"]


def test_nor_that_of_an_entity(engine: Engine, clock: FixedClock) -> None:
    (ada, _) = engine.create_entities([{"name": "Ada", "observations": ["rides"]}, {"name": "Bob"}]).entities
    clock.tick(-3600)
    engine.graph.add_observations({"Ada": [{"content": "walks", "supersedes": "rides"}]})
    clock.tick(-3600)
    engine.graph.create_relations([("Ada", "knows", "Bob")])
    clock.tick(-3600)
    engine.graph.delete_observations({"Ada": ["walks"]})
    engine.graph.delete_relations([("Ada", "knows", "Bob")])
    told = [(what, detail) for _, what, detail in events(engine, ada.id)]
    for earlier, later in (
        (("observed", "rides"), ("superseded", "rides by: walks")),
        (("observed", "walks"), ("removed", "walks")),
        (("related", "Ada knows Bob"), ("unrelated", "Ada knows Bob")),
    ):
        assert told.index(earlier) < told.index(later)
