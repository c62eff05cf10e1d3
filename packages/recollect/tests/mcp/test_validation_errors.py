"""Error messages for invalid arguments."""

from __future__ import annotations

from typing import Any

import pytest

from recollect.domain.errors import InvalidInput
from recollect.operations.catalogue import definitions, operations


def message_for(tool: str, given: dict[str, Any]) -> str:
    with pytest.raises(InvalidInput) as caught:
        operations()[tool].parse(given)
    return str(caught.value)


CONTENTS = "`observations.0.contents.0"
WRONG: list[tuple[str, dict[str, Any], str]] = [
    (
        "context",
        {"query": "tea", "sesion": "x"},
        "there is no argument 'sesion'; there are: query, messages, session, budget_tokens",
    ),
    ("stats", {"deep": True}, "there is no argument 'deep'; it takes none"),
    (
        "create_entities",
        {"entities": [{"name": "Ada", "observations": []}]},
        "`entities.0`: `entityType` is missing; it takes name, entityType, observations",
    ),
    (
        "create_entities",
        {"entities": '[{"name": "Ada"}]'},
        """`entities`: '[{"name": "Ada"}]' is a string; pass an array, not a string that holds one""",
    ),
    ("recall", {"query": "tea", "limit": 51}, "`limit`: 51: input should be less than or equal to 50"),
    ("recall", {"query": "tea", "limit": 2.5}, "`limit`: 2.5: input should be a valid integer"),
    ("recall", {"query": "tea", "limit": True}, "`limit`: True: input should be a valid integer"),
    (
        "recall",
        {"query": "tea", "kinds": ["fact"]},
        "`kinds.0`: 'fact': input should be 'entity', 'note' or 'message'",
    ),
    (
        "recall",
        {"query": "tea", "include_superseded": 1},
        "`include_superseded`: 1: input should be a valid boolean",
    ),
    ("remember", {"text": "tea", "importance": "x"}, "`importance`: 'x': input should be a valid number"),
    ("feedback", {"ids": [1] * 51, "helpful": True}, "`ids`: there are 51 entries; pass at most 50"),
    (
        "end_relation",
        {"from": 1, "to": "b", "relationType": "c"},
        "`from`: 1: input should be a valid string",
    ),
    (
        "undo_entity_split",
        {"undo": "1"},
        "`undo`: '1' is a string; pass an object, not a string that holds one",
    ),
]
# A content has one of two forms. The message names only mistakes in the form that was meant.
WRONG_CONTENTS: list[tuple[object, str]] = [
    (7, "`: 7 is neither a string nor an object with content and perhaps kind, supersedes"),
    (
        {"content": "sails", "replaces": "rows"},
        "`: there is no argument 'replaces'; there are: content, kind, supersedes",
    ),
    ({"content": 7}, ".content`: 7: input should be a valid string"),
]


def test_a_mistake_is_named_with_its_place_and_what_would_be_right(subtests: pytest.Subtests) -> None:
    nested: list[tuple[str, dict[str, Any], str]] = [
        (
            "add_observations",
            {"observations": [{"entityName": "Ada", "contents": [content]}]},
            CONTENTS + what,
        )
        for content, what in WRONG_CONTENTS
    ]
    for tool, given, what in WRONG + nested:
        with subtests.test(what):
            assert message_for(tool, given) == f"{tool}: {what}. Nothing was done."


def test_a_long_value_is_not_repeated_whole() -> None:
    assert len(message_for("recall", {"query": ["tea"] * 100_000})) < 500
    assert len(message_for("create_entities", {"entities": "x" * 100_000})) < 300


def test_a_wrong_value_is_told_before_an_unknown_name_and_that_before_a_missing_one() -> None:
    assert "`limit`" in message_for("recall", {"limit": "x", "qery": "tea"})
    assert "no argument 'qery'" in message_for("recall", {"qery": "tea"})
    nested = {"observations": [{"entityName": "Ada"}], "surprise": 1}
    assert "`contents` is missing" in message_for("add_observations", nested)


@pytest.mark.parametrize("tool", definitions())
def test_what_is_left_out_may_be_null(tool: str) -> None:
    schema = definitions()[tool]["arguments"]
    optional = set(schema["properties"]) - set(schema.get("required", ()))
    why = "" if "required" not in schema else message_for(tool, dict.fromkeys(optional))
    assert not why or "is missing" in why
