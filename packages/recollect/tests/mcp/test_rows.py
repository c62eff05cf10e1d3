"""The engine's records as answers of tools."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from recollect.domain.json_values import to_json
from recollect.operations import rows
from recollect.operations.catalogue import operations
from recollect.operations.operation import as_json

if TYPE_CHECKING:
    from conftest import FixedClock

    from recollect.domain.results import Answer
    from recollect.engine import Engine


def test_json_is_written_as_the_official_server_writes_it() -> None:
    assert as_json({"name": "灯台", "observations": []}) == '{\n  "name": "灯台",\n  "observations": []\n}'


def test_an_entity_and_a_relation_have_the_official_names_and_show_only_what_is_in_force(
    engine: Engine,
) -> None:
    engine.create_entities([{"name": "Ada", "type": "person", "observations": ["sails", "rows"]}])
    engine.graph.add_observations({"Ada": [{"content": "sails on Sundays", "supersedes": "sails"}]})
    engine.graph.create_relations([("Ada", "leads", "Tidebook")], create_missing=True)
    graph = engine.graph.open_nodes(["Ada"])
    observations = ["rows", "sails on Sundays"]
    assert to_json([*map(rows.entity_row, graph.entities), *map(rows.relation_row, graph.relations)]) == [
        {"name": "Ada", "entityType": "person", "observations": observations},
        {"from": "Ada", "to": "Tidebook", "relationType": "leads"},
    ]


def test_a_hit_leaves_out_what_is_not_known(engine: Engine) -> None:
    note = engine.remember("Ada sails")
    (hit,) = engine.recall("who sails?").hits
    plain = to_json(rows.hit_row(replace(hit, score=0.47012, confidence=0.87654)))
    assert plain == {
        "id": note.id,
        "kind": "note",
        "text": "Ada sails",
        # Three digits of each.
        "score": 0.47,
        "confidence": 0.877,
        "at": "2026-03-01T12:00:00+00:00",
    }


def lines_of(found: Answer) -> str:
    return rows.hit_lines(to_json([*map(rows.hit_row, found.hits)]), [found.note] if found.note else [])


def test_an_answer_is_a_line_for_each_hit(engine: Engine) -> None:
    assert lines_of(engine.recall("who sails?")) == "Nothing was found."
    assert rows.hit_lines([], ["2 more"]) == "Nothing was found.\n(2 more)"
    engine.remember("Ada sails\non Sundays")
    found = engine.recall("who sails?")
    likely = f"{found.hits[0].confidence:.0%} likely".replace("%", " %")
    assert lines_of(found) == f'#1 [note 2026-03-01 12:00 UTC, {likely}] "Ada sails on Sundays"'


def test_a_corrected_note_names_what_corrected_it(engine: Engine) -> None:
    engine.remember("Ada sails on Mondays")
    engine.supersede(1, "Ada sails on Sundays")
    found = engine.recall("when does Ada sail?", include_superseded=True)
    (line,) = [
        line for line in lines_of(found).splitlines() if line.startswith("#1 [note 2026-03-01 12:00 UTC")
    ]
    assert line.endswith('] "Ada sails on Mondays" (superseded by #2)')


def test_what_was_found_comes_first_then_what_shares_words_with_the_query() -> None:
    facts = ["rows", "drinks oolong", "was born in Porto", "sells oolong in Porto"]
    assert rows.best_observations_first(facts, "oolong from Porto") == [
        "sells oolong in Porto",
        "drinks oolong",
        "was born in Porto",
        "rows",
    ]
    assert rows.best_observations_first(facts, "oolong", "Ada: rows")[0] == "rows"


def test_a_note_tells_of_one_that_it_nearly_repeats(engine: Engine) -> None:
    remember = operations()["remember"]
    plain = remember.call(engine, {"text": "Ada sails every Sunday at noon"}).result
    assert plain == {"id": 1, "created": True, "mentions": []}
    again = remember.call(engine, {"text": "Ada sails every Sunday at noon!"}).result
    assert again == {"id": 1, "created": False, "mentions": []}
    like = remember.call(engine, {"text": "Ada sails every Sunday at noon with Bo"}).result
    # Six words, and eight of which six are the same: 6 / √(6 · 8) ≈ 0.866.
    similar = {"id": 1, "text": "Ada sails every Sunday at noon", "similarity": 0.866}
    assert like == {"id": 2, "created": True, "mentions": [], "similar": similar}


def test_a_memory_is_told_with_its_former_texts(engine: Engine, clock: FixedClock) -> None:
    engine.remember("Ada sails", tags=["boats"], category="hobbies")
    clock.tick(60)
    engine.update(1, text="Ada rows")
    memory = engine.get(1)
    assert memory is not None
    assert json.loads(as_json(to_json(rows.memory_row(memory)))) == {
        "id": 1,
        "kind": "note",
        "text": "Ada rows",
        "created_at": "2026-03-01T12:00:00+00:00",
        "updated_at": "2026-03-01T12:01:00+00:00",
        "category": "hobbies",
        "tags": ["boats"],
        "importance": 0.5,
        "former_texts": ["Ada sails"],
    }
