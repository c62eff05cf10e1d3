"""server.json: the MCP registry's entry fits the registry's rules, the package, and what uvx makes of it."""

from __future__ import annotations

import json
import re
from copy import deepcopy
from dataclasses import fields
from typing import Any

import pytest
from jsonschema import Draft7Validator
from locked import ROOT, core

from recollect.cli.main import cli
from recollect.settings import Settings

SCHEMA_DATE = "2025-12-11"


def _closed(required: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "required": list(required),
        "properties": properties,
        "additionalProperties": False,
    }


_TEXT = {"type": "string"}
_FLAG = {"type": "boolean"}
_INPUT = {
    "description": _TEXT,
    "isRequired": _FLAG,
    "isSecret": _FLAG,
    "format": {"enum": ["string", "number", "boolean", "filepath"]},
    "value": _TEXT,
    "default": _TEXT,
    "placeholder": _TEXT,
    "choices": {"type": "array", "items": _TEXT},
    "variables": {"type": "object"},
}
_ARGUMENT = {
    "oneOf": [
        _closed(("type", "name"), type={"const": "named"}, name=_TEXT, isRepeated=_FLAG, **_INPUT),
        {
            **_closed(("type",), type={"const": "positional"}, valueHint=_TEXT, isRepeated=_FLAG, **_INPUT),
            "anyOf": [{"required": ["value"]}, {"required": ["valueHint"]}],
        },
    ]
}
_VERSION = {"type": "string", "minLength": 1, "maxLength": 255, "not": {"pattern": r"latest|[~^<>*x]"}}
# The rules of the registry's schema for an entry with packages that clients start, in our own words, and
# stricter in one: a field that it does not know is a mistake of ours.
RULES = _closed(
    ("$schema", "name", "description", "version", "packages"),
    **{
        "$schema": {
            "const": f"https://static.modelcontextprotocol.io/schemas/{SCHEMA_DATE}/server.schema.json"
        }
    },
    name={
        "type": "string",
        "minLength": 3,
        "maxLength": 200,
        "pattern": "^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$",
    },
    title={"type": "string", "minLength": 1, "maxLength": 100},
    description={"type": "string", "minLength": 1, "maxLength": 100},
    version=_VERSION,
    websiteUrl={"type": "string", "pattern": "^https://"},
    repository=_closed(("url", "source"), url=_TEXT, source=_TEXT, id=_TEXT, subfolder=_TEXT),
    packages={
        "type": "array",
        "minItems": 1,
        "items": {
            **_closed(
                ("registryType", "identifier", "version", "transport"),
                registryType={"enum": ["npm", "pypi", "oci", "nuget", "mcpb"]},
                registryBaseUrl={"type": "string", "pattern": "^https://"},
                identifier=_TEXT,
                version=_VERSION,
                fileSha256={"type": "string", "pattern": "^[a-f0-9]{64}$"},
                runtimeHint=_TEXT,
                runtimeArguments={"type": "array", "items": _ARGUMENT},
                packageArguments={"type": "array", "items": _ARGUMENT},
                environmentVariables={
                    "type": "array",
                    "items": _closed(("name",), name=_TEXT, **_INPUT),
                },
                transport=_closed(("type",), type={"const": "stdio"}),
            ),
            "dependencies": {"runtimeArguments": ["runtimeHint"]},
        },
    },
)


@pytest.fixture
def entry() -> dict[str, Any]:
    read: dict[str, Any] = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))
    return read


def test_it_fits_the_registrys_rules(entry: dict[str, Any]) -> None:
    Draft7Validator.check_schema(RULES)
    assert [error.message for error in Draft7Validator(RULES).iter_errors(entry)] == []


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("name",), "no-namespace"),
        (("description",), "x" * 101),
        (("version",), "latest"),
        (("packages", 0, "version"), "^0.2.0"),
        (("packages", 0, "transport"), {"type": "tcp"}),
        (("packages", 0, "runtimeArguments", 0), {"type": "named"}),
        (("packages", 0, "packageArguments", 0), {"type": "positional"}),
        (("packages", 0, "environmentVariables", 0), {"title": "RECOLLECT_STORE"}),
    ],
)
def test_the_rules_refuse_what_the_registry_refuses(
    entry: dict[str, Any], path: tuple[str | int, ...], value: object
) -> None:
    wrong: Any = deepcopy(entry)
    place = wrong
    for part in path[:-1]:
        place = place[part]
    place[path[-1]] = value
    assert not Draft7Validator(RULES).is_valid(wrong)


def test_it_names_the_package_its_version_and_the_extra_with_the_server(entry: dict[str, Any]) -> None:
    (package,) = entry["packages"]
    told = core()
    assert entry["version"] == package["version"] == told["version"]
    assert (package["registryType"], package["identifier"]) == ("pypi", told["name"])
    # `--with`, not `--from`: a client puts the package and its version behind it, and uvx takes those for a
    # program's name where it has --from.
    (argument,) = package["runtimeArguments"]
    assert (package["runtimeHint"], argument["name"]) == ("uvx", "--with")
    assert argument["value"] == f"{told['name']}[mcp]=={told['version']}"
    assert "mcp" in told["optional-dependencies"]
    assert told["name"] in told["scripts"]
    assert any(each.startswith("recollect-model-arctic-s") for each in told["dependencies"])


def test_its_arguments_and_variables_are_ours(entry: dict[str, Any]) -> None:
    (package,) = entry["packages"]
    for argument in package["packageArguments"]:
        cli.commands[argument["value"]].make_context(argument["value"], [])
    names = {field.name for field in fields(Settings)}
    for variable in package["environmentVariables"]:
        assert variable["name"].removeprefix("RECOLLECT_").lower() in names


def test_the_packages_readme_names_the_entry(entry: dict[str, Any]) -> None:
    """By this the registry knows that whoever made the package made the entry."""
    readme = (ROOT / "packages" / "recollect" / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"<!-- mcp-name: (\S+) -->", readme) == [entry["name"]]
