"""Items for a person to decide: listed, decided and undone."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from operation_calls import called, every_page

from recollect.domain.changes import FlagSimilar
from recollect.domain.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conftest import FixedClock

    from recollect.engine import Engine
    from recollect.review.results import ConsolidationReport


def to_settle(engine: Engine, kind: str, **given: Any) -> list[Any]:
    return every_page(engine, "to_settle", "items", kind=kind, limit=1, **given)


def in_force(engine: Engine, id_: int) -> bool:
    memory = engine.get(id_)
    assert memory is not None
    return memory.deleted_at is None and memory.superseded_at is None


def test_a_contradiction_is_settled_for_the_newer_one_and_taken_back(
    engine: Engine, clock: FixedClock
) -> None:
    old = engine.remember("Ana lives in Porto")
    clock.now += timedelta(days=30)
    new = engine.remember("Ana lives in Lisbon now")

    (found,) = to_settle(engine, "contradiction")
    assert (found["older"]["id"], found["newer"]["id"]) == (old.id, new.id)
    assert found["actions"] == ["supersede_older", "forget_older", "forget_newer", "keep"]
    undo = called(engine, "settle", key=found["key"], action="supersede_older")["undo"]
    assert (in_force(engine, old.id), in_force(engine, new.id)) == (False, True)
    assert to_settle(engine, "contradiction") == []
    called(engine, "undo_settling", undo=undo)
    assert in_force(engine, old.id)
    assert to_settle(engine, "contradiction") == [found]

    undo = called(engine, "settle", key=found["key"], action="forget_newer")["undo"]
    assert (in_force(engine, old.id), in_force(engine, new.id)) == (True, False)
    called(engine, "undo_settling", undo=undo)
    assert to_settle(engine, "contradiction") == [found]


def test_notes_that_only_share_a_subject_are_nobody_s_to_settle(engine: Engine) -> None:
    one = engine.remember("Marta celebrates her birthday on the third of May")
    other = engine.remember("Marta would like fewer meetings on Friday afternoons")
    services = engine._services  # as a model flags what it finds close
    services.write([FlagSimilar("memory", other.id, one.id, 0.9, services.scope)])
    assert to_settle(engine, "similar_notes") == []
    services.write([FlagSimilar("memory", other.id, one.id, 0.96, services.scope)])
    assert [each["similarity"] for each in to_settle(engine, "similar_notes")] == [0.96]


def test_what_is_kept_is_not_asked_again_until_that_is_taken_back(engine: Engine) -> None:
    first = engine.remember("Ada drinks tea in the garden")
    second = engine.remember("Ada drinks the tea in the garden!")
    (found,) = to_settle(engine, "similar_notes")
    assert (found["older"]["id"], found["newer"]["id"]) == (first.id, second.id)

    undo = called(engine, "settle", key=found["key"], action="keep")["undo"]

    assert to_settle(engine, "similar_notes") == []
    assert to_settle(engine, "similar_notes", dismissed=True) == [{**found, "dismissed": True}]
    # Another owner decided nothing.
    assert called(engine.scoped("bo"), "to_settle", kind="similar_notes", dismissed=True)["items"] == []
    called(engine, "undo_settling", undo=undo)
    assert to_settle(engine, "similar_notes") == [found]


def test_settling_a_contradiction_retires_near_copies_of_the_error_and_the_undo_brings_all_back(
    engine: Engine, clock: FixedClock
) -> None:
    old = engine.remember("Ana lives in Porto")
    copy = engine.remember("Ana still lives in Porto")
    engine.create_entities([{"name": "Ana", "observations": ["lives in Porto"]}])
    other = engine.remember("Ana likes Porto for its river")
    clock.now += timedelta(days=90)
    new = engine.remember("Ana lives in Lisbon now")
    every = to_settle(engine, "contradiction")
    key = f"contradiction:{old.id}:{new.id}"
    assert key in [each["key"] for each in every]

    undo = called(engine, "settle", key=key, action="supersede_older")["undo"]

    assert sorted(undo["memories"]) == [old.id, copy.id]
    assert len(undo["observations"]) == 1
    assert [in_force(engine, each.id) for each in (old, copy, other, new)] == [False, False, True, True]
    assert engine.graph.open_nodes(["Ana"]).entities[0].in_force == ()
    assert to_settle(engine, "contradiction") == []
    called(engine, "undo_settling", undo=undo)
    assert to_settle(engine, "contradiction") == every

    # A copy that was kept by an earlier decision stays.
    called(engine, "settle", key=f"contradiction:{copy.id}:{new.id}", action="keep")
    undo = called(engine, "settle", key=key, action="supersede_older")["undo"]
    assert (undo["memories"], in_force(engine, copy.id)) == ([old.id], True)


def test_dreams_and_the_report_heed_what_somebody_decided_to_keep(engine: Engine, clock: FixedClock) -> None:
    first = engine.remember("Ada drinks tea in the garden")
    second = engine.remember("Ada drinks the tea in the garden!")
    engine.create_entities([{"name": "Ada", "observations": ["Ada drinks tea in the garden"]}])
    engine.graph.add_observations({"Ada": ["Ada drinks the tea in the garden!"]})
    wrong = engine.remember("Ana lives in Porto")
    right = engine.supersede(wrong.id, "Ana lives in Lisbon").by
    clock.now += timedelta(days=90)
    copy = engine.remember("Ana still lives in Porto")
    clock.now += timedelta(days=1)
    would = engine.dream(dry_run=True, phases=["merge", "correct"]).report
    assert would.merged == ((second.id, first.id),)
    assert len(would.merged_observations) == 1
    assert would.corrected == ((copy.id, right.id),)
    before = engine.upkeep.consolidation_report()
    assert [len(each) for each in _pairs(before)] == [1, 1, 1]

    kept = [
        to_settle(engine, kind)[0]["key"]
        for kind in ("similar_notes", "similar_observations", "contradiction")
    ]
    undos = [called(engine, "settle", key=key, action="keep")["undo"] for key in kept]

    report = engine.dream(phases=["merge", "correct"]).report
    assert (report.merged, report.merged_observations, report.corrected) == ((), (), ())
    assert [len(each) for each in _pairs(engine.upkeep.consolidation_report())] == [0, 0, 0]
    for undo in undos:
        called(engine, "undo_settling", undo=undo)
    assert engine.upkeep.consolidation_report().text == before.text
    assert engine.dream(dry_run=True, phases=["merge"]).report.merged == would.merged


def _pairs(report: ConsolidationReport) -> tuple[Sequence[object], ...]:
    return report.flagged_notes, report.flagged_observations, report.contradictions


def test_near_copies_of_an_entity_are_removed_by_observation_and_come_back(engine: Engine) -> None:
    engine.create_entities([{"name": "Ada", "observations": ["Ada drinks tea in the garden"]}])
    engine.graph.add_observations({"Ada": ["Ada drinks the tea in the garden!"]})

    (found,) = to_settle(engine, "similar_observations")

    assert found["newer"]["text"] == "Ada drinks the tea in the garden!"
    with pytest.raises(InvalidInput, match="'forget_newer' is no action for"):
        called(engine, "settle", key=found["key"], action="forget_newer")
    undo = called(engine, "settle", key=found["key"], action="remove_newer")["undo"]
    (ada,) = engine.graph.open_nodes(["Ada"]).entities
    assert [each.content for each in ada.in_force] == ["Ada drinks tea in the garden"]
    with pytest.raises(NotFound, match="no longer current"):
        called(engine, "settle", key=found["key"], action="remove_newer")
    called(engine, "undo_settling", undo=undo)
    assert [each["key"] for each in to_settle(engine, "similar_observations")] == [found["key"]]


def test_a_stale_entity_is_archived_and_comes_back_with_its_former_status(
    engine: Engine, clock: FixedClock
) -> None:
    engine.create_entities([{"name": "Tidebook", "type": "project", "status": "paused"}])
    clock.now += timedelta(days=91)
    engine.create_entities([{"name": "Ana"}])

    (found,) = to_settle(engine, "stale")

    assert found["older"]["name"] == "Tidebook"
    assert found["detail"] == "neither seen nor changed for 91 days"
    undo = called(engine, "settle", key=found["key"], action="archive")["undo"]
    assert to_settle(engine, "stale") == []
    assert called(engine, "get_memory", id=found["older"]["id"])["memory"]["status"] == "archived"
    called(engine, "undo_settling", undo=undo)
    assert called(engine, "get_memory", id=found["older"]["id"])["memory"]["status"] == "paused"
    with pytest.raises(InvalidInput, match="pass the `key` of an item of `to_settle`"):
        called(engine, "settle", key="nonsense", action="keep")


def test_an_entity_that_grew_too_large_is_split_and_put_together_again(engine: Engine) -> None:
    topics = (
        "The login of user {} takes a password and a code",
        "The database keeps the orders table of month {} with a backup",
        "The team in Lisbon meets for lunch on day {}",
    )
    facts = [topic.format(number) for number in range(9) for topic in topics]
    engine.create_entities(
        [
            {"name": "Apollo", "type": "project", "observations": facts},
            {"name": "Few", "observations": facts[:9]},
        ]
    )

    (found,) = to_settle(engine, "split")

    assert found["detail"].startswith("27 observations, at most 25; topics: ")
    undo = called(engine, "settle", key=found["key"], action="split")["undo"]
    assert to_settle(engine, "split") == []
    called(engine, "undo_settling", undo=undo)
    assert to_settle(engine, "split") == [found]
