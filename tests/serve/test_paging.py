"""Pages and budgets of the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from recollect.errors import InvalidInput
from recollect.serve import wire
from recollect.serve.paging import after, fitted, id_of
from recollect.serve.tool import Call
from recollect.text.tokens import tokens

if TYPE_CHECKING:
    from recollect.engine.engine import Engine


@pytest.fixture
def buoys(engine: Engine) -> Engine:
    """Five entities of equal cost, each tied to the next."""
    engine.create_entities([{"name": f"Buoy {n}", "type": "buoy", "observations": ["red"]} for n in range(5)])
    engine.create_relations([(f"Buoy {n}", "before", f"Buoy {n + 1}") for n in range(4)])
    return engine


def test_a_graph_that_fits_comes_whole_and_without_a_cursor(buoys: Engine) -> None:
    graph = buoys.read_graph()
    assert fitted(graph, 10_000) == wire.graph(graph)


def test_a_budget_cuts_after_the_last_entity_that_fits_with_its_relations(buoys: Engine) -> None:
    graph = buoys.read_graph()
    entity = tokens(wire.shown(wire.entity(graph.entities[0])))
    relation = tokens(wire.shown(wire.relation(graph.relations[0])))
    # Buoy 0 brings 0–1; Buoy 1 brings 1–2; Buoy 2 would bring 2–3.
    budget = 2 * entity + 2 * relation
    page = fitted(graph, budget)
    assert [one["name"] for one in page["entities"]] == ["Buoy 0", "Buoy 1"]
    assert [(one["from"], one["to"]) for one in page["relations"]] == [
        ("Buoy 0", "Buoy 1"),
        ("Buoy 1", "Buoy 2"),
    ]
    assert page["cursor"] == str(graph.entities[1].id)
    assert page["note"] == f"3 more did not fit {budget} tokens; go on with `cursor`, or ask more narrowly."
    assert len(fitted(graph, budget - 1)["entities"]) == 1


def test_without_pages_there_is_no_cursor_and_the_note_does_not_speak_of_one(buoys: Engine) -> None:
    page = fitted(buoys.read_graph(), 1, pages=False)
    assert "cursor" not in page
    assert (
        page["note"] == "4 more did not fit 1 tokens; allow more with `budget_tokens`, or ask more narrowly."
    )


def test_the_first_entity_comes_whatever_it_costs(buoys: Engine) -> None:
    assert [one["name"] for one in fitted(buoys.read_graph(), 1)["entities"]] == ["Buoy 0"]


def test_an_entity_with_too_many_relations_says_that_some_are_missing(buoys: Engine) -> None:
    buoys.create_relations([("Hub", "sees", f"Buoy {n}") for n in range(5)], create_missing=True)
    graph = buoys.open_nodes(["Hub"])
    relation = tokens(wire.shown(wire.relation(graph.relations[0])))
    budget = tokens(wire.shown(wire.entity(graph.entities[0]))) + 3 * relation
    page = fitted(graph, budget, pages=False)
    assert [one["to"] for one in page["relations"]] == ["Buoy 0", "Buoy 1", "Buoy 2"]
    assert page["note"] == f"Some relations did not fit {budget} tokens; allow more with `budget_tokens`."


@pytest.mark.parametrize("budget", [110, 150, 300, 10_000])
@pytest.mark.parametrize("limit", [2, 1000])
def test_pages_join_to_the_whole(buoys: Engine, budget: int, limit: int) -> None:
    whole = wire.graph(buoys.read_graph())
    seen: list[object] = []
    related: list[object] = []
    cursor: int | None = 0
    while cursor is not None:
        page = fitted(buoys.read_graph(after=cursor, limit=limit), budget)
        seen += page["entities"]
        related += [one for one in page["relations"] if one not in related]
        cursor = id_of(page["cursor"]) if "cursor" in page else None
    assert seen == whole["entities"]
    assert related == whole["relations"]


@pytest.mark.parametrize(("written", "id_"), [("0", 0), ("17", 17), ("9" * 18, 10**18 - 1)])
def test_an_id_is_written_in_digits(written: str, id_: int) -> None:
    assert id_of(written) == id_


@pytest.mark.parametrize("written", ["", " 1", "-1", "+1", "1.0", "1_0", "²", "٣", "9" * 19, "9" * 5000])
def test_what_no_row_could_have_is_no_id(engine: Engine, written: str) -> None:
    assert id_of(written) is None
    with pytest.raises(InvalidInput, match="pass on the `cursor` of the last answer, or none"):
        after(Call(engine, {"cursor": written}))


def test_no_cursor_begins_at_the_first(engine: Engine) -> None:
    assert after(Call(engine, {})) == 0
