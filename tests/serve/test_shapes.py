"""Shapes are JSON Schemas."""

from __future__ import annotations

import pytest
from jsonschema import Draft202012Validator

from recollect.serve.catalogue import TOOLS
from recollect.serve.shapes import flag, listed, maybe, number, one_of, table, text, whole


def test_a_table_needs_every_field_unless_told_which() -> None:
    assert table(name=text("Its name"), size=whole(minimum=1)) == {
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "Its name"},
            "size": {"type": "integer", "minimum": 1},
        },
        "additionalProperties": False,
        "required": ["name", "size"],
    }
    assert table(needs=("name",), name=text(), size=whole())["required"] == ["name"]
    assert "required" not in table(needs=(), name=text())


def test_fields_that_python_cannot_name_come_first() -> None:
    assert list(table({"from": text()}, to=text())["properties"]) == ["from", "to"]


def test_maybe_also_takes_null() -> None:
    assert maybe(number("A share")) == {"type": ["number", "null"], "description": "A share"}


def test_a_list_says_what_it_holds() -> None:
    assert listed(flag(), "Answers", maxItems=3) == {
        "type": "array",
        "description": "Answers",
        "items": {"type": "boolean"},
        "maxItems": 3,
    }


def test_one_of_takes_those_words_only() -> None:
    valid = Draft202012Validator(one_of("red", "green")).is_valid
    assert valid("red")
    assert not valid("blue")


@pytest.mark.parametrize("tool", TOOLS.values(), ids=lambda tool: tool.name)
def test_the_schemas_of_every_tool_are_valid(tool: object) -> None:
    from recollect.serve.tool import Tool

    assert isinstance(tool, Tool)
    Draft202012Validator.check_schema(tool.takes)
    Draft202012Validator.check_schema(tool.gives)
