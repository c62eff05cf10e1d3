"""How long the arguments of a call may be."""

from __future__ import annotations

from typing import Any

import pytest

from recollect.errors import InvalidInput
from recollect.serve.operations.catalogue import definitions, operations


@pytest.mark.parametrize(
    ("tool", "given", "told"),
    [
        ("recall", {"query": "x" * 20_001}, "`query`: it has 20,001 characters; pass at most 20,000."),
        (
            "recall",
            {"query": "x", "session": "s" * 1_001},
            "`session`: it has 1,001 characters; pass at most 1,000.",
        ),
        (
            "recall",
            {"query": "x", "tags": ["a"] * 10_001},
            "`tags`: there are 10,001 entries; pass at most 10,000.",
        ),
        (
            "create_entities",
            {"entities": [{"name": "n", "entityType": "t" * 201, "observations": []}]},
            "`entities.0.entityType`: it has 201 characters; pass at most 200.",
        ),
        (
            "add_observations",
            {"observations": [{"entityName": "n", "contents": [{"content": "x" * 1_000_001}]}]},
            "`observations.0.contents.0.content`: it has 1,000,001 characters; pass at most 1,000,000.",
        ),
        ("open_nodes", {"names": ["n"] * 10_001}, "`names`: there are 10,001 entries; pass at most 10,000."),
    ],
)
def test_what_is_too_long_is_told_with_its_place_and_limit(
    tool: str, given: dict[str, Any], told: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        operations()[tool].parse(given)
    assert str(caught.value) == f"{tool}: {told} Nothing was done."


def test_arguments_are_nested_so_deep_and_no_deeper() -> None:
    nested: Any = "x"
    for _ in range(100_000):
        nested = [nested]
    with pytest.raises(InvalidInput, match="nested 20 deep"):
        operations()["recall"].parse({"query": nested})


def test_the_schemas_state_the_limits_of_queries_names_and_lists() -> None:
    assert definitions()["recall"]["arguments"]["properties"]["query"]["maxLength"] == 20_000
    entities = definitions()["create_entities"]["arguments"]["properties"]["entities"]
    assert entities["maxItems"] == 10_000
    assert entities["items"]["properties"]["name"]["maxLength"] == 1_000
