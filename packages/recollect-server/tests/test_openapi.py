"""The OpenAPI document: valid, whole, without duplicates, with examples that fit."""

from __future__ import annotations

import json
from itertools import groupby
from typing import TYPE_CHECKING, Any

import jsonschema_rs
import pytest
from jsonschema import Draft202012Validator
from schemathesis.specs.openapi.definitions import OPENAPI_31

from recollect.operations.catalogue import http_operations
from recollect_server.api.endpoints import ENDPOINTS, ROOT
from recollect_server.api.openapi import fixed_parts, openapi

if TYPE_CHECKING:
    from collections.abc import Iterator

    from command_line import CommandLine
    from starlette.testclient import TestClient

pytest_plugins = ["api_fixtures", "command_line"]


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    # As a client reads it.
    read: dict[str, Any] = json.loads(json.dumps(openapi()))
    return read


def references(part: Any) -> Iterator[str]:
    match part:
        case dict():
            if isinstance(part.get("$ref"), str):
                yield part["$ref"]
            for value in part.values():
                yield from references(value)
        case list():
            for value in part:
                yield from references(value)


def test_it_is_valid_by_the_schema_of_openapi_3_1(document: dict[str, Any]) -> None:
    assert document["openapi"].startswith("3.1.")
    jsonschema_rs.Draft202012Validator(OPENAPI_31).validate(document)
    for schema in document["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)


def test_every_reference_leads_somewhere_and_every_component_is_used(document: dict[str, Any]) -> None:
    named = set(references(document))
    places = {
        f"#/components/{group}/{name}"
        for group in ("schemas", "parameters", "responses")
        for name in document["components"][group]
    }
    assert named == places


def test_no_two_components_are_the_same(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    written = [json.dumps(schema) for schema in schemas.values() if schema.get("properties")]
    twice = [name for name, schema in schemas.items() if written.count(json.dumps(schema)) > 1]
    # These differ by what they mean: bodies of requests and answers that happen to look alike.
    assert not [name for name in twice if not name.endswith(("Request", "Output"))]


def test_the_table_names_every_operation_and_its_arguments_and_nothing_twice() -> None:
    assert {each.operation for each in ENDPOINTS} == set(http_operations())
    ids = [each.operation_id for each in ENDPOINTS]
    places = [(each.method, each.path) for each in ENDPOINTS]
    tags = [tag for tag, _ in groupby(ENDPOINTS, key=lambda each: each.tag)]
    for listed in (ids, places, tags):
        assert len(listed) == len(set(listed))
    for each in ENDPOINTS:
        known = http_operations()[each.operation].definition()["arguments"]["properties"]
        assert set(each.arguments.values()) <= known.keys(), each.path


def test_every_endpoint_is_in_it_under_its_id(document: dict[str, Any]) -> None:
    ids = {
        (method.upper(), path): made["operationId"]
        for path, methods in document["paths"].items()
        for method, made in methods.items()
    }
    assert len(set(ids.values())) == len(ids)
    for each in ENDPOINTS:
        assert ids[each.method, f"{ROOT}{each.path}"] == each.operation_id


def test_examples_fit_the_bodies_that_they_are_of(document: dict[str, Any]) -> None:
    bodies = {
        made["operationId"]: made["requestBody"]["content"]["application/json"]["schema"]["$ref"]
        for methods in document["paths"].values()
        for made in methods.values()
        if "requestBody" in made
    }
    examples = fixed_parts()["examples"]
    assert examples.keys() <= bodies.keys()
    for name, example in examples.items():
        Draft202012Validator({**document, "$ref": bodies[name]}).validate(example)


def test_it_says_which_right_is_needed(document: dict[str, Any]) -> None:
    paths = document["paths"]
    assert paths["/v1/recall"]["post"]["description"].endswith("Needs the right to read.")
    assert "Needs the right to admin." in paths["/v1/upkeep/purge"]["post"]["description"]
    doctor = paths["/v1/upkeep/doctor"]["get"]["description"]
    assert doctor.endswith("Needs the right to admin and a token that is bound to no owner.")


def test_it_says_what_may_be_repeated(document: dict[str, Any]) -> None:
    """A retry of anything else needs a key, or does it twice."""
    paths = document["paths"]
    repeatable = {
        made["operationId"]: made["x-idempotent"]
        for path, methods in paths.items()
        for made in methods.values()
        if path.startswith(ROOT)
    }
    assert len(repeatable) == len(ENDPOINTS)
    assert all(repeatable[name] for name in ("recall", "update", "forget", "get_memory"))
    assert not any(repeatable[name] for name in ("remember", "add_messages", "dream", "create_token"))


def test_the_command_line_prints_it_and_makes_no_store(
    recollect: CommandLine, document: dict[str, Any]
) -> None:
    assert json.loads(recollect("serve", "--openapi").stdout) == document
    assert not recollect.store.exists()


def test_it_is_served_and_the_page_to_try_it_has_every_endpoint_without_inline_script(
    rest: TestClient, document: dict[str, Any]
) -> None:
    assert rest.get("/openapi.json").json() == document
    page = rest.get("/docs")
    assert "'unsafe-inline'" not in page.headers["content-security-policy"]
    assert "style=" not in page.text
    assert "onclick" not in page.text
    for each in ENDPOINTS:
        assert f'data-method="{each.method}" data-path="{ROOT}{each.path}"' in page.text
