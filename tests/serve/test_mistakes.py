"""What a model is told about arguments that are wrong."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from recollect.serve.catalogue import TOOLS
from recollect.serve.mistakes import mistake


def told(tool: str, given: dict[str, Any]) -> str:
    error = next(iter(Draft202012Validator(TOOLS[tool].takes).iter_errors(given)))
    return mistake(tool, error)


def test_an_unknown_argument_is_named_with_those_there_are() -> None:
    assert told("context", {"query": "tea", "sesion": "x"}) == (
        "context: there is no argument 'sesion'; there are: query, messages, session, budget_tokens. "
        "Nothing was done."
    )
    assert told("stats", {"deep": True}) == (
        "stats: there is no argument 'deep'; it takes none. Nothing was done."
    )


def test_what_is_missing_is_named_with_its_place() -> None:
    assert told("create_entities", {"entities": [{"name": "Ada", "observations": []}]}) == (
        "create_entities: `entities.0`: `entityType` is missing; it takes name, entityType, observations. "
        "Nothing was done."
    )


@pytest.mark.parametrize("given", ['[{"name": "Ada"}]', "Ada"])
def test_a_string_for_an_array_is_answered_with_what_to_pass(given: str) -> None:
    assert told("create_entities", {"entities": given}) == (
        f"create_entities: `entities`: {given!r} is a string; pass an array, not a string that holds one. "
        "Nothing was done."
    )


def test_what_fits_none_of_several_forms_is_answered_with_the_forms() -> None:
    observations = [{"entityName": "Ada", "contents": [7]}]
    assert told("add_observations", {"observations": observations}) == (
        "add_observations: `observations.0.contents.0`: 7 is neither a string nor an object with content and "
        "perhaps kind, supersedes. Nothing was done."
    )


def test_a_mistake_in_the_form_that_was_meant_is_the_one_told() -> None:
    observations = [{"entityName": "Ada", "contents": [{"content": "sails", "replaces": "rows"}]}]
    assert told("add_observations", {"observations": observations}) == (
        "add_observations: `observations.0.contents.0`: there is no argument 'replaces'; there are: content, "
        "kind, supersedes. Nothing was done."
    )
    observations = [{"entityName": "Ada", "contents": [{"content": 7}]}]
    assert told("add_observations", {"observations": observations}) == (
        "add_observations: `observations.0.contents.0.content`: 7 is not of type 'string'. Nothing was done."
    )


def test_a_long_value_is_not_repeated_whole() -> None:
    assert len(told("recall", {"query": ["tea"] * 100_000})) < 500
    assert len(told("create_entities", {"entities": "x" * 100_000})) < 300
