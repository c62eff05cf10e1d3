"""mem0's filters on rows."""

from __future__ import annotations

from typing import Any

import pytest

from recollect.domain.errors import InvalidInput
from recollect_server.mem0.requests import all_needed, holds, needed_tags, places, row_filter

ROW = {
    "id": "7",
    "memory": "Ana eats no meat",
    "user_id": "ana",
    "agent_id": None,
    "app_id": None,
    "run_id": "r1",
    "metadata": {"topic": "food", "rank": 2, "seen": True},
    "categories": ["diet", "health"],
    "created_at": "2026-03-31T18:00:00+00:00",
    "updated_at": "2026-04-01T00:00:00+00:00",
}


@pytest.mark.parametrize(
    ("filters", "passes"),
    [
        ({}, True),
        ({"user_id": "ana"}, True),
        ({"user_id": "ana", "run_id": "r2"}, False),
        ({"AND": [{"user_id": "ana"}, {"OR": [{"run_id": "r2"}, {"topic": "food"}]}]}, True),
        ({"NOT": [{"run_id": "r2"}, {"topic": "work"}]}, True),
        ({"NOT": [{"run_id": "r2"}, {"topic": "food"}]}, False),
        # An object excludes a row only if all of its conditions hold.
        ({"NOT": {"run_id": "r2", "topic": "food"}}, True),
        ({"agent_id": "*"}, False),
        ({"run_id": "*"}, True),
        ({"run_id": {"ne": "*"}}, False),
        ({"metadata": {"topic": "food"}}, True),
        ({"metadata": {"topic": {"in": ["work", "food"]}}}, True),
        ({"topic": {"nin": ["work", "food"]}}, False),
        ({"rank": {"gt": 1, "lt": 3}}, True),
        ({"rank": {"gte": 3}}, False),
        ({"rank": {"gt": "many"}}, False),
        ({"rank": {"lte": 2}, "absent": {"lte": 2}}, False),
        # JSON distinguishes true from 1.
        ({"seen": 1}, False),
        ({"categories": {"contains": "diet"}}, True),
        ({"categories": {"in": ["sport", "health"]}}, True),
        ({"keywords": {"contains": "ana"}}, False),
        ({"keywords": {"icontains": "ana EATS"}}, True),
        ({"memory_ids": ["7", "8"]}, True),
        ({"created_at": {"gte": "2026-03-31", "lte": "2026-03-31"}}, True),
        ({"created_at": {"gt": "2026-03-31"}}, False),
        ({"created_at": "2026-03-31"}, True),
        ({"created_at": {"lt": "2026-03-31T18:00:00Z"}}, False),
        ({"created_at": {"lte": 1_800_000_000}}, True),
    ],
)
def test_a_filter_holds_or_does_not(filters: dict[str, Any], passes: bool) -> None:
    assert holds(row_filter(filters), ROW) is passes


@pytest.mark.parametrize(
    ("filters", "advice"),
    [
        ({"topic": {"like": "f"}}, "'like' for 'topic'; use one of: eq, ne, in"),
        ({"topic": {"in": "food"}}, "'in' takes a list"),
        ({"AND": "user_id"}, "an object or a list"),
        ({"user_id": "*"}, "name the users"),
        ({"created_at": {"gte": "yesterday"}}, "'yesterday' is not a time"),
        ({"OR": [{"user_id": str(number)} for number in range(101)]}, "100 conditions"),
    ],
)
def test_a_filter_that_means_nothing_is_refused(filters: dict[str, Any], advice: str) -> None:
    with pytest.raises(InvalidInput, match=advice):
        row_filter(filters)


def test_a_filter_that_is_nested_too_deep_is_refused() -> None:
    filters: dict[str, Any] = {"user_id": "ana"}
    for _ in range(20):
        filters = {"AND": [filters]}
    with pytest.raises(InvalidInput, match="write them flatter"):
        row_filter(filters)


def test_a_filter_tells_whose_memories_to_look_through() -> None:
    one_of_two = {"OR": [{"user_id": "ana"}, {"agent_id": "cook"}]}
    assert places(row_filter(one_of_two)) == {("ana", None), (None, "cook")}
    both = {"AND": [one_of_two, {"user_id": {"in": ["ana", "ben"]}}]}
    assert places(row_filter(both)) == {("ana", None), ("ana", "cook"), ("ben", "cook")}
    assert places(row_filter({"AND": [{"user_id": "ana"}, {"user_id": "ben"}]})) == set()
    assert places(row_filter({"NOT": {"user_id": "ana"}})) == {(None, None)}
    # Many alternatives, many times over: worked out step by step, not all with all.
    many = {"OR": [{"user_id": str(number)} for number in range(9)]}
    assert len(places(row_filter({"AND": [many] * 10}))) == 9


def test_a_filter_tells_what_every_row_must_have() -> None:
    tree = row_filter({"AND": [{"user_id": "ana", "topic": "food"}, {"rank": {"gte": 2}}]})
    assert needed_tags(tree) == ('topic="food"',)
    assert all_needed(tree) is None
    assert all_needed(row_filter({"user_id": "ana", "run_id": "r1"})) == {"user_id": "ana", "run_id": "r1"}
    # Filters that must not match all of a user's memories.
    assert all_needed(row_filter({"AND": []})) == {}
    assert all_needed(row_filter({"NOT": {"user_id": "ana"}})) is None
    assert all_needed(row_filter({"agent_id": "*"})) is None
