"""The published material for clients: the MCP registry's entry, instructions, and the pages about clients."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from dataclasses import fields
from typing import Any

import pytest
from jsonschema import Draft7Validator
from locked import ROOT, core

from recollect.cli.command import Group
from recollect.cli.main import cli
from recollect.operations.catalogue import SETS
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
    name={"type": "string", "minLength": 3, "maxLength": 200, "pattern": "^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$"},
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
                environmentVariables={"type": "array", "items": _closed(("name",), name=_TEXT, **_INPUT)},
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


def test_it_fits_the_registrys_rules_and_the_packages_readme(entry: dict[str, Any]) -> None:
    Draft7Validator.check_schema(RULES)
    assert [error.message for error in Draft7Validator(RULES).iter_errors(entry)] == []
    # The registry verifies with this line that the package and the entry have the same author.
    readme = (ROOT / "packages" / "recollect" / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"<!-- mcp-name: (\S+) -->", readme) == [entry["name"]]
    (package,) = entry["packages"]
    for argument in package["packageArguments"]:
        cli.commands[argument["value"]].make_context(argument["value"], [])
    names = {field.name for field in fields(Settings)}
    for variable in package["environmentVariables"]:
        assert variable["name"].removeprefix("RECOLLECT_").lower() in names


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
    assert any(each.startswith("recollect-model-arctic-memory") for each in told["dependencies"])


HOOKS = ROOT / "examples" / "hooks"


def test_the_instructions_name_tools_that_exist_to_every_client() -> None:
    text = (HOOKS / "AGENTS.md").read_text()
    named = set(re.findall(r"call\s+`(\w+)`", text))
    assert named == {"recall", "remember"}
    assert named <= set(SETS["all"])
    front, _, body = (HOOKS / "cursor-rule.mdc").read_text().partition("---\n\n")
    assert "alwaysApply: true" in front
    assert body == (HOOKS / "AGENTS.md").read_text()


@pytest.mark.parametrize("name", ["clients.md", "hooks.md"])
def test_a_page_about_clients_shows_what_can_be_typed_and_read(name: str) -> None:
    page = (ROOT / "docs" / "guides" / name).read_text(encoding="utf-8")
    blocks = re.findall(r"```(\w+)\n(.*?)```", page, re.DOTALL)
    for language, block in blocks:
        if language == "json":
            assert json.loads(block)
        if language == "toml":
            assert tomllib.loads(block)
    typed = [line for _, block in blocks for line in block.splitlines() if line.startswith("recollect ")]
    assert len(typed) > 3
    for line in typed:
        _, name, *arguments = shlex.split(line, comments=True)
        group = cli.commands[name]
        assert isinstance(group, Group)
        context = group.make_context(name, arguments)
        group.commands[arguments[0]].make_context(arguments[0], arguments[1:], parent=context)
