"""Pages of the graph: whole entities in order, and of an overgrown one, a stretch at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from recollect.domain.errors import InvalidInput
from recollect.domain.json_values import to_json
from recollect.operations.catalogue import operations
from recollect.operations.graph import GraphPosition, graph_page
from recollect.operations.paging import row_tokens
from recollect.operations.rows import entity_row, relation_row

if TYPE_CHECKING:
    from recollect.domain.results import Graph
    from recollect.engine import Engine


@pytest.fixture
def buoys(engine: Engine) -> Engine:
    """Five entities of equal cost, each tied to the next."""
    engine.create_entities([{"name": f"Buoy {n}", "type": "buoy", "observations": ["red"]} for n in range(5)])
    engine.graph.create_relations([(f"Buoy {n}", "before", f"Buoy {n + 1}") for n in range(4)])
    return engine


@pytest.fixture
def log(engine: Engine) -> Engine:
    """One entity with far more than a page of observations and relations, between two small ones."""
    rows = [f"day {n}: calm sea" for n in range(60)]
    known: dict[str, list[str]] = {"Pier": [], "Log": rows, "Quay": ["stone"]}
    engine.create_entities(
        [{"name": name, "type": "thing", "observations": seen} for name, seen in known.items()]
    )
    engine.graph.create_relations([("Log", "names", f"Ship {n:02}") for n in range(40)], create_missing=True)
    return engine


def page(graph: Graph, budget: int) -> dict[str, Any]:
    keyed = [(one.id, one) for one in graph.entities]
    found: dict[str, Any] = to_json(graph_page(keyed, graph.relations, budget, more_after=graph.cursor))
    return found


def join_pages(engine: Engine, tool: str, **given: Any) -> tuple[dict[str, list[str]], list[dict[str, str]]]:
    """Return the contents of all pages of a tool: observations by name, and relations without repeats."""
    seen: dict[str, list[str]] = {}
    relations: list[dict[str, str]] = []
    operation = operations()[tool]
    cursor = None
    while True:
        # Unchecked, so that budgets may be below what a caller may ask for.
        asked = operation.arguments.model_construct(**given, cursor=cursor)
        data = operation.answer(engine, asked).result
        for one in data["entities"]:
            seen.setdefault(one["name"], []).extend(one["observations"])
        relations += [one for one in data["relations"] if one not in relations]
        cursor = data.get("cursor")
        if cursor is None:
            return seen, relations


def test_a_graph_that_fits_comes_whole_and_without_a_cursor(buoys: Engine) -> None:
    graph = buoys.graph.read_graph()
    assert page(graph, 10_000) == {
        "entities": to_json(list(map(entity_row, graph.entities))),
        "relations": to_json(list(map(relation_row, graph.relations))),
    }


def test_a_budget_cuts_after_the_last_entity_that_fits_with_its_relations(buoys: Engine) -> None:
    graph = buoys.graph.read_graph()
    entity = row_tokens({**to_json(entity_row(graph.entities[0])), "observations": []}) + row_tokens("red")
    relation = row_tokens(relation_row(graph.relations[0]))
    # Buoy 0 brings 0–1; Buoy 1 brings 1–2; Buoy 2 would bring 2–3.
    budget = 2 * entity + 2 * relation
    first = page(graph, budget)
    assert [one["name"] for one in first["entities"]] == ["Buoy 0", "Buoy 1"]
    assert [(one["from"], one["to"]) for one in first["relations"]] == [
        ("Buoy 0", "Buoy 1"),
        ("Buoy 1", "Buoy 2"),
    ]
    assert first["cursor"] == str(graph.entities[1].id)
    assert first["note"] == f"3 more did not fit {budget} tokens; go on with `cursor`, or ask more narrowly."
    assert len(page(graph, budget - 1)["entities"]) == 1


@pytest.mark.parametrize("budget", [50, 110, 300, 10_000])
@pytest.mark.parametrize("limit", [2, 1000])
def test_pages_join_to_the_whole(buoys: Engine, budget: int, limit: int) -> None:
    whole = buoys.graph.read_graph()
    seen, relations = join_pages(buoys, "read_graph", budget_tokens=budget, limit=limit)
    assert list(seen) == [one.name for one in whole.entities]
    assert relations == to_json(list(map(relation_row, whole.relations)))


@pytest.mark.parametrize("budget", [60, 150, 500, 100_000])
@pytest.mark.parametrize(
    ("tool", "given"),
    [("open_nodes", {"names": ["Quay", "Log", "Pier"]}), ("read_graph", {}), ("search_nodes", {"query": ""})],
)
def test_an_overgrown_entity_is_paged_through(
    log: Engine, budget: int, tool: str, given: dict[str, Any]
) -> None:
    seen, relations = join_pages(log, tool, budget_tokens=budget, **given)
    graph = log.graph.open_nodes(["Log", "Quay"], record=False)
    for entity in graph.entities:
        assert seen[entity.name] == [one.content for one in entity.in_force]
    assert [one for one in relations if one["from"] == "Log"] == to_json(
        list(map(relation_row, graph.relations))
    )


def test_what_is_missing_of_an_entity_is_counted_with_the_way_to_it(log: Engine) -> None:
    first = page(log.graph.open_nodes(["Log"]), 200)
    (entity,) = first["entities"]
    left = 60 - len(entity["observations"])
    assert 0 < left < 60
    assert first["note"] == (
        f"{left} observations and 40 relations of 'Log' did not fit 200 tokens; go on with `cursor`."
    )


def test_a_text_that_no_page_could_hold_is_cut_and_says_so(engine: Engine) -> None:
    engine.create_entities([{"name": "Log", "type": "log", "observations": ["calm sea " * 500]}])
    cut = page(engine.graph.read_graph(), 100)
    (text,) = cut["entities"][0]["observations"]
    assert isinstance(text, str)
    assert text.endswith("…")
    assert ("calm sea " * 500).startswith(text.removesuffix("…"))
    assert row_tokens(cut["entities"][0]) <= 100
    assert cut["note"] == "A text of 'Log' was cut to fit 100 tokens; allow more with `budget_tokens`."
    assert "cursor" not in cut
    assert len(page(engine.graph.read_graph(), 2_000)["entities"][0]["observations"][0]) == 4_500


def test_a_name_comes_whole_whatever_the_budget_and_with_the_beginning_of_a_text(engine: Engine) -> None:
    rows = [{"name": "Log" * 300, "type": "log", "observations": ["calm sea " * 500, "fog"]}]
    engine.create_entities(rows)
    first = page(engine.graph.read_graph(), 60)
    assert first["entities"][0]["name"] == "Log" * 300
    (text,) = first["entities"][0]["observations"]
    assert isinstance(text, str)
    assert text.startswith("calm sea calm sea")
    name = f"{'Log' * 300}"[:40]
    assert first["note"] == (
        f"A text of {name!r} was cut to fit 60 tokens; allow more with `budget_tokens`. "
        f"1 observations of {name!r} did not fit 60 tokens; go on with `cursor`."
    )


def test_another_entity_at_the_place_of_a_half_read_one_is_read_from_its_start(buoys: Engine) -> None:
    graph = buoys.graph.read_graph()
    elsewhere = GraphPosition(1, graph.entities[3].in_force[0].id)
    data = graph_page([(1, graph.entities[4])], (), 1_000, elsewhere)
    assert data.entities[0].observations == ["red"]


def test_a_place_reads_back_as_it_was_written_and_nothing_else_is_one() -> None:
    for numbers in ((), (7,), (7, 0, 3), (7, 31), (7, 31, 0)):
        place = GraphPosition(*numbers)
        assert GraphPosition.of(str(place)) == place
    for written in ("", "x", "1.", ".1", "1.2.3.4", "1.-2", "²", "9" * 19):
        with pytest.raises(InvalidInput, match="pass on the `cursor` of the last answer, or none"):
            GraphPosition.of(written)
