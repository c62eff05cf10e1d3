"""How long the arguments of a call may be."""

from __future__ import annotations

import re
from typing import Any

import pytest
from typing_extensions import TypedDict

from recollect.domain.errors import InvalidInput
from recollect.operations.catalogue import definitions, operations
from recollect.operations.schema import check_lengths, plain_schema, with_limits


class Part(TypedDict):
    ids: list[int]
    names: list[str] | None


class Whole(TypedDict):
    part: Part | None


def test_what_is_too_long_is_told_with_its_place_and_limit() -> None:
    thing = {"name": "n", "entityType": "t" * 201, "observations": []}
    added = {"entityName": "n", "contents": [{"content": "x" * 1_000_001}]}
    calls: list[tuple[str, dict[str, Any], str, str, int, int]] = [
        ("recall", {"query": "x" * 20_001}, "query", "it has {} characters", 20_001, 20_000),
        ("recall", {"query": "x", "session": "s" * 1_001}, "session", "it has {} characters", 1_001, 1_000),
        ("recall", {"query": "x", "tags": ["a"] * 10_001}, "tags", "there are {} entries", 10_001, 10_000),
        ("create_entities", {"entities": [thing]}, "entities.0.entityType", "it has {} characters", 201, 200),
        (
            "add_observations",
            {"observations": [added]},
            "observations.0.contents.0.content",
            "it has {} characters",
            1_000_001,
            1_000_000,
        ),
        ("open_nodes", {"names": ["n"] * 10_001}, "names", "there are {} entries", 10_001, 10_000),
    ]
    for tool, given, place, what, size, most in calls:
        with pytest.raises(InvalidInput) as caught:
            operations()[tool].parse(given)
        told = f"`{place}`: {what.format(f'{size:,}')}; pass at most {most:,}."
        assert str(caught.value) == f"{tool}: {told} Nothing was done."


def test_what_may_also_be_null_has_its_limits_too() -> None:
    schema = with_limits(plain_schema(Whole))
    check_lengths("undo", schema, {"part": None})
    check_lengths("undo", schema, {"part": {"ids": [1] * 100_000, "names": None}})
    for part, told in (
        ({"ids": [1] * 100_001}, "`part.ids`: there are 100,001 entries; pass at most 100,000."),
        ({"ids": [], "names": ["n"] * 10_001}, "`part.names`: there are 10,001 entries"),
        ({"ids": [], "names": ["n" * 1_001]}, "`part.names.0`: it has 1,001 characters"),
    ):
        with pytest.raises(InvalidInput, match=re.escape(told)):
            check_lengths("undo", schema, {"part": part})


def test_arguments_have_at_most_20_levels_of_nesting() -> None:
    nested: Any = "x"
    for _ in range(100_000):
        nested = [nested]
    with pytest.raises(InvalidInput, match="at most 20 levels"):
        operations()["recall"].parse({"query": nested})


def test_the_schemas_state_the_limits_of_queries_names_and_lists() -> None:
    assert definitions()["recall"]["arguments"]["properties"]["query"]["maxLength"] == 20_000
    entities = definitions()["create_entities"]["arguments"]["properties"]["entities"]
    assert entities["maxItems"] == 10_000
    assert entities["items"]["properties"]["name"]["maxLength"] == 1_000
