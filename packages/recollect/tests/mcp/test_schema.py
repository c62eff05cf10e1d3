"""Models and typed dictionaries as JSON schemas, in the form that language models read."""

from __future__ import annotations

from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from recollect.domain.records import Kind
from recollect.operations.operation import Arguments, Many, described, optional
from recollect.operations.schema import plain_schema


class Part(TypedDict):
    """For those who read the code."""

    name: Annotated[str, described("Its name")]
    size: NotRequired[int | None]


class Whole(Arguments):
    """For those who read the code, too."""

    source: str = Field(alias="from")
    parts: Many[Part] = described("Its parts")
    spare: Many[str | Part] | None = optional("More of them", most=3)
    limit: int = Field(default=5, ge=1)
    kind: Annotated[Kind, Field(strict=False)] | None = None


def test_a_typed_dictionary_is_a_closed_object_without_titles() -> None:
    assert plain_schema(Part) == {
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "Its name"},
            "size": {"type": ["integer", "null"]},
        },
        "additionalProperties": False,
        "required": ["name"],
    }


def test_what_a_model_refers_to_stands_in_it_and_what_may_be_left_out_is_never_null() -> None:
    part = plain_schema(Part)
    assert plain_schema(Whole) == {
        "type": "object",
        "properties": {
            "from": {"type": "string"},
            "parts": {"type": "array", "description": "Its parts", "items": part},
            "spare": {
                "type": "array",
                "description": "More of them",
                "items": {"anyOf": [{"type": "string"}, part]},
                "maxItems": 3,
            },
            "limit": {"type": "integer", "minimum": 1},
            "kind": {"type": "string", "enum": ["entity", "note", "message"]},
        },
        "additionalProperties": False,
        "required": ["from", "parts"],
    }


def test_what_must_be_there_comes_first() -> None:
    class Row(TypedDict):
        note: NotRequired[str]
        id: int

    assert list(plain_schema(Row)["properties"]) == ["id", "note"]
