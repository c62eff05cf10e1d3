"""No answer floods: whatever is stored, every reading tool stays within its budget, and pages hold it all."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from recollect.serve import wire
from recollect.serve.catalogue import TOOLS
from recollect.serve.paging import FRAME
from recollect.serve.tool import Call
from recollect.text.tokens import tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from recollect.engine.engine import Engine

LONG = "The keeper of the light wrote a long account of the storm and of the ships it drove ashore. " * 60
WIDE = "週末は灯台まで歩く。" * 200
BUDGETS = (50, 300, 2_000, 10_000)
# What each reading tool is asked, and the name of the list that it answers with.
ASKED: dict[str, tuple[dict[str, Any], str | None]] = {
    "recall": ({"query": "storm at the light", "include_superseded": True}, "hits"),
    "context": ({"query": "storm at the light", "session": "night"}, None),
    "read_graph": ({}, "entities"),
    "search_nodes": ({"query": "storm"}, "entities"),
    "open_nodes": ({"names": ["Log", "灯台" * 300, "Ship 1"]}, "entities"),
    "search_semantic": ({"query": "storm at the light"}, "results"),
    "history": ({"id": 1}, "events"),
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


@pytest.fixture
def crowded(engine: Engine) -> Engine:
    """An overgrown entity, long names, long and wide texts, many small entities and many of everything."""
    topics = ("storm over the light", "oolong from Porto", "rope and tar", "letters from home")
    log = [f"{topics[n % 4]}, day {n}, in words that differ: {n * 7919}" for n in range(240)]
    engine.create_entities(
        [
            {"name": "Log", "type": "log", "observations": log},
            {"name": "灯台" * 300, "type": "place" * 30, "observations": [LONG, WIDE, "storm light"]},
        ]
    )
    engine.create_entities(
        {"name": f"Ship {n}", "type": "ship", "observations": ["storm took a sail", "Storm took a sail!"]}
        for n in range(60)
    )
    engine.create_relations([("Log", "names", f"Ship {n}") for n in range(60)])
    engine.add_observations({"Log": [{"content": "calm again", "supersedes": log[0]}]})
    engine.remember_many([f"Storm {n} at the light: {LONG if n % 3 else WIDE}" for n in range(12)])
    engine.add_messages("night", [{"content": f"{n}: {LONG}"} for n in range(6)], extract=False)
    for n in range(12):
        engine.add_reflection(f"Reef before storm {n}: {LONG}", mood="doubt")
    engine.parts.signals.settle(None)
    return engine


def pages(engine: Engine, tool: str, given: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    """Every page of an answer: its data, and its texts."""
    cursor = None
    while True:
        reply = TOOLS[tool].run(Call(engine, {**given, "cursor": cursor} if cursor else given))
        text = wire.shown(reply.data) if reply.text is None else reply.text
        yield dict(reply.data), f"{text}\n{reply.also or ''}"
        cursor = reply.data.get("cursor")
        if cursor is None:
            return


def test_every_reading_tool_is_asked() -> None:
    assert set(ASKED) == {tool.name for tool in TOOLS.values() if tool.reads}


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("tool", ASKED)
def test_text_and_data_of_every_page_stay_within_the_budget(crowded: Engine, tool: str, budget: int) -> None:
    given, _ = ASKED[tool]
    allowed = TOOLS[tool].takes["properties"].get("budget_tokens")
    if allowed is not None:
        budget = max(budget, allowed["minimum"])
        given = {**given, "budget_tokens": budget}
    for number, (data, text) in enumerate(pages(crowded, tool, given)):
        assert tokens(text) <= budget + FRAME, (tool, number)
        assert tokens(json.dumps(data, ensure_ascii=False)) <= budget + FRAME, (tool, number)
        if number == 12:
            break


@pytest.mark.parametrize("tool", ASKED)
def test_what_the_caller_names_no_budget_for_has_one_of_its_own(crowded: Engine, tool: str) -> None:
    given, _ = ASKED[tool]
    data, text = next(pages(crowded, tool, given))
    assert tokens(text) <= 10_000 + FRAME
    assert tokens(json.dumps(data, ensure_ascii=False)) <= 10_000 + FRAME


KEYS: dict[str, Callable[[dict[str, Any]], object]] = {
    "recall": lambda row: row["id"],
    "search_semantic": lambda row: row["name"][:40],
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
    most = TOOLS[tool].takes["properties"]["limit"]["maximum"]
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
    proposal = crowded.propose_split("Log")
    assert len(proposal.parts) > 1
    joined: dict[str, list[str]] = {}
    given = {"entity_name": "Log", "limit": 30, "budget_tokens": 400}
    for data, _ in pages(crowded, "propose_entity_split", given):
        for part in data["suggested_splits"]:
            joined.setdefault(part["name"], []).extend(part["observations"])
    assert joined == {part.name: list(part.observations) for part in proposal.parts}


def test_pages_of_the_report_hold_every_section_whole(crowded: Engine) -> None:
    report = crowded.consolidation_report(stale_days=0)
    seen: dict[str, list[Any]] = {}
    given = {"stale_days": 0, "limit": 9, "budget_tokens": 3_000}
    for data, _ in pages(crowded, "consolidation_report", given):
        for name, found in data["found"].items():
            seen.setdefault(name, []).extend(data[name])
            assert found >= len(seen[name])
    assert [row["name"] for row in seen["stale_entities"]] == [one.name for one in report.stale]
    assert [row["id"] for row in seen["flagged_notes"]] == [one.id for one in report.flagged_notes]
    assert len(seen["flagged_observations"]) == len(report.flagged_observations) > 0
