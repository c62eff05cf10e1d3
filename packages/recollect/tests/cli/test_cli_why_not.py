"""`recollect why-not`: where a memory stands or fell out, and what would lift it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from click import unstyle

if TYPE_CHECKING:
    from command_line import CommandLine

pytest_plugins = ["command_line"]


@pytest.fixture
def teas(recollect: CommandLine, matched_fusion: None) -> CommandLine:
    """Three that hold `tea` and are all alike, but that the first was set aside. There is no model."""
    recollect = replace(recollect, environment={**recollect.environment, "RECOLLECT_MODEL": "none"})
    for name in ("Assam", "Bancha", "Ceylon"):
        recollect("add", name, "-t", "thing", "-o", "a tea")
    recollect("status", "Assam", "archived")
    return recollect


def test_a_step_that_cost_places_is_named(teas: CommandLine) -> None:
    why = teas.json("why-not", "tea", "Assam", "--limit", "1")
    assert why["memory"]["name"] == "Assam"
    assert why["profile"] == "recollect"
    assert why["verdict"] == "It was found by words and stands at place 3, below the limit of 1."
    standing = why["standing"]
    # 0.4 by words for each of the three, and 0.4 for holding all that was given; archived, 0.5 of it
    assert (standing["place"], standing["score"], standing["needed"]) == (3, 0.4, 0.8)
    # With the same score as the others it would be the first of them: ties go by id.
    status = next(cost for cost in standing["costs"] if cost["step"] == "status")
    assert status == {"step": "status", "value": 0.5, "place_without": 1, "places": 2}
    assert standing["reasons"][-1]["score"] == standing["score"]
    assert any("'status'" in advice for advice in why["advice"])
    lines = teas("why-not", "tea", "Assam", "-n", "1").stdout.splitlines()
    fields = [line.split("\t") for line in lines]
    assert {each[0] for each in fields} == {"verdict", "search", "place", "step", "cost", "advice"}
    assert ["place", "3", "0.4000", "0.8000"] in fields
    assert ["step", "status", "times", "0.5000", "", "0.4000"] in fields
    assert ["cost", "status", "0.5000", "2", "1"] in fields
    assert ["search", "meaning", "", "", "100"] in fields


def test_each_search_tells_its_rank_score_and_how_many_were_taken(teas: CommandLine) -> None:
    by_name = teas.json("why-not", "tea", "Assam")
    assert teas.json("why-not", "tea", "1") == by_name
    assert teas.json("why-not", "tea", "#1") == by_name
    assert "no entity named 'Zebra'" in teas.refused("why-not", "tea", "Zebra", status=1)
    assert "no memory 99" in teas.refused("why-not", "tea", "99", status=1)
    assert "no entity named" in teas.refused("why-not", "tea", "9" * 40, status=1)
    by_words = teas.json("why-not", "tea", "Assam")["searches"][1]
    assert by_words["search"] == "words"
    assert by_words["rank"] == 1  # ties by id
    assert by_words["score"] > 0
    assert by_words["taken"] == 100  # our own profile takes five times the limit, and 100 at the least
    assert by_words["reached"] is True
    teas("add", "Bosun", "-o", "a cat")
    missed = teas.json("why-not", "tea", "Bosun")
    assert [search["reached"] for search in missed["searches"]] == [False, False]
    assert "It shares no word with the query." in missed["advice"]
    teas("add", "Bosun", "-o", "a cat")
    shown = unstyle(teas("why-not", "tea", "Bosun", "--color").stdout)
    assert "No search brought it up" in shown
    assert "Taken in all the same, it would stand at place 4" in shown
    assert "It stands" not in shown


@pytest.mark.parametrize("columns", ["80", "120"])
def test_a_terminal_shows_searches_place_steps_and_advice(teas: CommandLine, columns: str) -> None:
    typed = ["why-not", "tea", "Assam", "-n", "1", "--color"]
    shown = unstyle(teas(*typed, COLUMNS=columns).stdout)
    assert shown.startswith("Assam  thing · archived · #1\nIt was found by words and stands at place 3")
    assert re.search(r"words +1 +BM25 \d\.\d\d +100 +✓ a candidate", shown)
    assert re.search(r"meaning +– +– +100 +✗ not found", shown)
    assert "It stands at place 3 with 0.4000; the last on the list has 0.8000." in shown
    assert re.search(r"status +×0\.5000 +0\.4000 +−2 places", shown)
    assert "\n→ " in shown
    assert max(map(len, shown.splitlines())) <= int(columns)
