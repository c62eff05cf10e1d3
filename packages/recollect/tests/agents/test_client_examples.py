"""The instructions that we offer, and what the pages about clients show: what they name is there."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from pathlib import Path

import pytest

from recollect.cli.command import Group
from recollect.cli.main import cli
from recollect.operations.catalogue import SETS

ROOT = Path(__file__).parents[4]
HOOKS = ROOT / "examples" / "hooks"


def test_the_instructions_name_tools_that_exist() -> None:
    text = (HOOKS / "AGENTS.md").read_text()
    named = set(re.findall(r"call\s+`(\w+)`", text))
    assert named == {"recall", "remember"}
    assert named <= set(SETS["all"])


def test_the_rule_for_cursor_is_the_same_text() -> None:
    front, _, body = (HOOKS / "cursor-rule.mdc").read_text().partition("---\n\n")
    assert "alwaysApply: true" in front
    assert body == (HOOKS / "AGENTS.md").read_text()


@pytest.mark.parametrize("name", ["clients.md", "hooks.md"])
def test_a_page_about_clients_shows_what_can_be_typed_and_read(name: str) -> None:
    page = (ROOT / "docs" / name).read_text(encoding="utf-8")
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
