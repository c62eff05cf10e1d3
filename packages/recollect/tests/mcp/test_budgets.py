"""Every reading tool stays within its token budget, whatever is stored, and its pages are complete."""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator

from recollect.admin import Upkeep
from recollect.operations.catalogue import definitions, operations
from recollect.operations.operation import RecentAnswers
from recollect.operations.paging import FRAME
from recollect.text.tokens import count_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conftest import MakeWorld

    from recollect.engine import Engine

TOOLS = definitions()
LONG = "The keeper of the light wrote a long account of the storm and of the ships it drove ashore. " * 60
LONG_NAME = "灯台" * 300
WIDE = "週末は灯台まで歩く。" * 200
BOATS = 40
BUDGETS = (300, 2_000, 10_000)
# From below every tool's least budget, in steps smaller than any row.
SMALL = range(50, 2_001, 150)
PROSE = {"text", "observations", "superseded", "detail", "older", "newer", "observation", "similar", "note"}
WHOLE = ("find_duplicate_observations", "consolidation_report", "find_split_candidates", "propose_split")
# Arguments for each reading tool, and the name of the list in its answer.
ASKED: dict[str, tuple[dict[str, Any], str | None]] = {
    "recall": ({"query": "storm at the light", "include_superseded": True}, "hits"),
    "context": ({"query": "storm at the light", "session": "night"}, None),
    "read_graph": ({}, "entities"),
    "search_nodes": ({"query": "storm"}, "entities"),
    "open_nodes": ({"names": ["Log", LONG_NAME, "Ship 1"]}, "entities"),
    "search_semantic": ({"query": "storm at the light"}, "results"),
    "history": ({"id": 1}, "events"),
    "list_memories": ({"kinds": ["note", "message", "entity"]}, "memories"),
    "neighbours": ({"name": "Log"}, "neighbours"),
    "find_paths": ({"from": "Log", "to": "Ship 1"}, "paths"),
    "explain": ({"query": "storm at the light"}, "hits"),
    "why_not": ({"query": "storm", "name": "Ship 1"}, None),
    "stats": ({}, None),
    "search_reflections": ({"query": "storm"}, "results"),
    "find_duplicate_observations": ({}, "duplicates"),
    "consolidation_report": ({"stale_days": 0}, None),
    "find_split_candidates": ({}, "candidates"),
    "analyze_entity_split": ({"entity_name": "Log"}, None),
    "propose_entity_split": ({"entity_name": "Log"}, "suggested_splits"),
}


@pytest.fixture(autouse=True)
def computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cache computations that each page repeats. These tests write nothing, so the results are the same."""
    known: dict[tuple[object, ...], object] = {}

    def once(computed: Callable[..., object]) -> Callable[..., object]:
        def answer(upkeep: Upkeep, *given: object, progress: object = None, **options: object) -> object:
            key = computed, id(upkeep._services), given, *options.items()
            if key not in known:
                known[key] = computed(upkeep, *given, **options)
            return known[key]

        return answer

    for name in WHOLE:
        monkeypatch.setattr(Upkeep, name, once(getattr(Upkeep, name)))


@pytest.fixture
def crowded(make_world: MakeWorld) -> Engine:
    return make_world(crowd)


def crowd(engine: Engine) -> None:
    """An overgrown entity, long names, long and wide texts, many small entities and many of everything."""
    topics = ("storm over the light", "oolong from Porto", "rope and tar", "letters from home")
    log = [f"{topics[n % 4]}, day {n}, in words that differ: {n * 7919}" for n in range(120)]
    engine.create_entities(
        [
            {"name": "Log", "type": "log", "observations": log},
            {"name": LONG_NAME, "type": "place" * 30, "observations": [LONG, WIDE, "storm light"]},
        ]
    )
    engine.create_entities(
        {"name": f"Ship {n}", "type": "ship", "observations": ["storm took a sail", "Storm took a sail!"]}
        for n in range(24)
    )
    engine.graph.create_relations([("Log", "names", f"Ship {n}") for n in range(24)])
    engine.graph.add_observations({"Log": [{"content": "calm again", "supersedes": log[0]}]})
    engine.remember_many([f"Storm {n} at the light: {LONG if n % 3 else WIDE}" for n in range(12)])
    engine.add_messages("night", [{"content": f"{n}: {LONG}"} for n in range(6)], extract=False)
    for n in range(12):
        engine.upkeep.add_reflection(f"Reef before storm {n}: {LONG}", mood="doubt")


@pytest.fixture
def harbour(make_world: MakeWorld) -> Engine:
    return make_world(fill_harbour)


def fill_harbour(engine: Engine) -> None:
    """Many small entities, each with five short facts, and some notes."""
    engine.create_entities(
        {
            "name": f"Boat {n}",
            "type": "boat",
            "observations": [f"fact {fact} of boat {n} at the harbour, written down" for fact in range(5)],
        }
        for n in range(BOATS)
    )
    engine.remember_many(f"The harbour was quiet on day {n}, with few boats" for n in range(10))
    for n in range(12):
        engine.upkeep.add_reflection(f"Look at the harbour {n} before the boats", mood="doubt", author="Otto")


def test_every_reading_tool_is_asked() -> None:
    assert set(ASKED) == {name for name, tool in TOOLS.items() if tool["read_only"]}


def pages(engine: Engine, tool: str, given: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    """Every page of an answer: its data, and its texts."""
    cursor, recent = None, RecentAnswers()
    while True:
        given_ = {**given, "cursor": cursor} if cursor else given
        reply = operations()[tool].call(engine, given_, offered=frozenset(TOOLS), recent=recent)
        yield dict(reply.result), "\n".join(reply.texts())
        cursor = reply.result.get("cursor")
        if cursor is None:
            return


@pytest.mark.parametrize(
    "budget", [50, *(pytest.param(each, marks=pytest.mark.slow) for each in BUDGETS), None]
)
@pytest.mark.parametrize("tool", ASKED)
def test_text_and_data_of_every_page_stay_within_the_budget(
    crowded: Engine, tool: str, budget: int | None
) -> None:
    given, rows = ASKED[tool]
    # A caller who names no budget gets at most 10,000 tokens.
    budget, given = (10_000, given) if budget is None else budgeted(tool, budget, given)
    for number, (data, text) in enumerate(pages(crowded, tool, given)):
        written = json.dumps(data, ensure_ascii=False)
        # Names are never cut. A very long one may exceed the budget if it is alone on a page.
        alone = rows is None or len(data[rows]) == 1
        most = budget + FRAME + (written.count(LONG_NAME) * count_tokens(LONG_NAME) if alone else 0)
        assert count_tokens(text) <= most, (tool, number)
        assert count_tokens(written) <= most, (tool, number)
        if number == 12:
            break


def budgeted(tool: str, budget: int, given: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    """The call with this budget, or with the least that the tool takes, if it takes one."""
    allowed = TOOLS[tool]["arguments"]["properties"].get("budget_tokens")
    if allowed is None:
        return budget, given
    budget = max(budget, allowed["minimum"])
    return budget, {**given, "budget_tokens": budget}


HARBOUR: dict[str, dict[str, Any]] = {
    "recall": {"query": "harbour boats"},
    "search_semantic": {"query": "harbour boats"},
    "search_nodes": {"query": "harbour"},
    "open_nodes": {"names": [f"Boat {n}" for n in range(20)]},
    "explain": {"query": "harbour boats"},
    "search_reflections": {"query": "harbour"},
    "context": {"query": "harbour boats"},
    "find_duplicate_observations": {"threshold": 0.2},
    "analyze_entity_split": {"entity_name": "Boat 1"},
    "propose_entity_split": {"entity_name": "Boat 1"},
    "why_not": {"query": "harbour", "name": "Boat 1"},
    "neighbours": {"name": "Boat 1"},
    "find_paths": {"from": "Boat 1", "to": "Boat 2"},
}


@pytest.mark.parametrize("world", [pytest.param("crowded", marks=pytest.mark.slow), "harbour"])
@pytest.mark.parametrize("tool", ASKED)
def test_every_page_at_every_small_budget_has_the_form_that_the_tool_promises(
    request: pytest.FixtureRequest, tool: str, world: str
) -> None:
    engine = request.getfixturevalue(world)
    asked = ASKED[tool][0] if world == "crowded" else HARBOUR.get(tool, ASKED[tool][0])
    form = Draft202012Validator(TOOLS[tool]["result"])
    # Below the least that a tool takes, and for a tool that takes none, all budgets ask for the same.
    calls = [budgeted(tool, budget, asked)[1] for budget in SMALL]
    for call in {str(call): call for call in calls}.values():
        for data, _ in islice(pages(engine, tool, call), 3):
            form.validate(data)
            assert not list(cut_off(data)), call
            if "note" in TOOLS[tool]["result"]["properties"] and "…" in json.dumps(data, ensure_ascii=False):
                assert "cut to fit" in data["note"], call


def cut_off(data: object, field: str = "") -> Iterator[object]:
    """Yield shortened values ("…") in fields that programs read. No stored text contains “…”."""
    match data:
        case dict():
            for name, value in data.items():
                yield from cut_off(value, name)
        case list():
            for value in data:
                yield from cut_off(value, field)
        case str() if "…" in data and field not in PROSE:
            yield data


@pytest.mark.parametrize("budget", [250, 500, 1_000, 1_200])
@pytest.mark.parametrize("limit", [10, 50])
def test_a_search_by_meaning_shows_facts_of_every_row_it_shows(
    harbour: Engine, budget: int, limit: int
) -> None:
    given = {"query": "harbour boats", "limit": limit, "budget_tokens": budget}
    for data, _ in islice(pages(harbour, "search_semantic", given), 4):
        assert data["results"]
        for row in data["results"]:
            # The first fact and a half take the forty tokens that a row has at least.
            assert row["observations"][0].startswith("fact ")
            assert len(row["observations"][0]) > 30


@pytest.mark.parametrize("tool", ["recall", "search_semantic", "search_reflections", "explain"])
@pytest.mark.parametrize("budget", [50, 400, 1_000, 2_000])
@pytest.mark.usefixtures("undoubted")
def test_pages_of_a_small_budget_name_every_row_once(harbour: Engine, tool: str, budget: int) -> None:
    name = {"search_semantic": "results", "search_reflections": "results"}.get(tool, "hits")
    given = budgeted(tool, budget, HARBOUR[tool])[1]
    seen = [KEYS[tool](row) for data, _ in pages(harbour, tool, given) for row in data[name]]
    assert len(seen) == len(set(seen)) >= 12
    if tool == "search_semantic":
        assert set(seen) == {f"Boat {n}" for n in range(BOATS)}
    if tool in {"recall", "explain"}:
        assert len(seen) == BOATS + 10 + 12


@pytest.mark.parametrize("tool", ["read_graph", "search_nodes"])
@pytest.mark.parametrize("budget", [100, 175, 400, 2_000])
def test_pages_of_the_graph_name_every_entity(harbour: Engine, tool: str, budget: int) -> None:
    given = {"query": "harbour"} if tool == "search_nodes" else {}
    facts: dict[str, int] = {}
    for data, _ in pages(harbour, tool, {**given, "budget_tokens": budget}):
        for one in data["entities"]:
            facts[one["name"]] = facts.get(one["name"], 0) + len(one["observations"])
    assert facts == {f"Boat {n}": 5 for n in range(BOATS)}


KEYS: dict[str, Callable[[dict[str, Any]], object]] = {
    "recall": lambda row: row["id"],
    "search_semantic": lambda row: row["name"],
    "history": lambda row: (row["at"], row["what"], row["detail"]),
    "explain": lambda row: row["id"],
    "search_reflections": lambda row: row["id"],
    "find_duplicate_observations": lambda row: (row["entity"], row["older"], row["newer"]),
    "find_split_candidates": lambda row: row["entity_name"],
}


@pytest.mark.parametrize("tool", KEYS)
def test_pages_hold_every_row_once_in_order(crowded: Engine, tool: str) -> None:
    given, name = ASKED[tool]
    assert name is not None
    most = TOOLS[tool]["arguments"]["properties"]["limit"]["maximum"]
    (whole, _), *further = pages(crowded, tool, {**given, "limit": most, "budget_tokens": 1_000_000})
    wanted = [KEYS[tool](row) for row in whole[name]]
    wanted += [KEYS[tool](row) for data, _ in further for row in data[name]]
    small = [
        KEYS[tool](row)
        for data, _ in pages(crowded, tool, {**given, "limit": 15, "budget_tokens": 8_000})
        for row in data[name]
    ]
    assert len(small) == len(set(small))
    # How many are asked for is part of a question, so searches may rank the same finds another way.
    if tool in {"history", "find_duplicate_observations", "find_split_candidates"}:
        assert small == wanted
    else:
        assert set(small) == set(wanted)


def test_pages_of_a_proposal_join_to_what_would_be_split(crowded: Engine) -> None:
    proposal = crowded.upkeep.propose_split("Log")
    assert len(proposal.parts) > 1
    joined: dict[str, list[str]] = {}
    given = {"entity_name": "Log", "limit": 30, "budget_tokens": 400}
    for data, _ in pages(crowded, "propose_entity_split", given):
        for part in data["suggested_splits"]:
            joined.setdefault(part["name"], []).extend(part["observations"])
    assert joined == {part.name: list(part.observations) for part in proposal.parts}


def test_pages_of_the_report_hold_every_section_whole(crowded: Engine) -> None:
    report = crowded.upkeep.consolidation_report(stale_days=0)
    seen: dict[str, list[Any]] = {}
    given = {"stale_days": 0, "limit": 9, "budget_tokens": 3_000}
    for data, _ in pages(crowded, "consolidation_report", given):
        for name, found in data["found"].items():
            seen.setdefault(name, []).extend(data[name])
            assert found >= len(seen[name])
    assert [row["name"] for row in seen["stale_entities"]] == [one.name for one in report.stale]
    assert [row["id"] for row in seen["flagged_notes"]] == [one.id for one in report.flagged_notes]
    assert len(seen["flagged_observations"]) == len(report.flagged_observations) > 0
