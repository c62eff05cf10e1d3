"""Every MCP tool, resource and prompt is defined and answers as it was and did."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio
import tools
from compare import assert_same, frozen

if TYPE_CHECKING:
    from pathlib import Path

EXPECTED = frozen("tools.json")
ANSWERS = EXPECTED["answers"]
DEFINED = frozen("tool-definitions.json")


def test_a_life_through_mcp_answers_as_it_did(tmp_path: Path) -> None:
    lived: dict[str, Any] = anyio.run(tools.run, tmp_path, [(row["tool"], row["given"]) for row in ANSWERS])
    assert_same(by_tool(EXPECTED), by_tool(lived))


def by_tool(lived: dict[str, Any]) -> dict[str, Any]:
    """So that a difference names its tool."""
    answers = {f"{place} {row['tool']}": row for place, row in enumerate(lived["answers"])}
    return {**lived, "answers": answers}


def test_tools_resources_and_prompts_are_defined_as_they_were(tmp_path: Path) -> None:
    assert_same(by_name(DEFINED), by_name(anyio.run(tools.offered, tmp_path)))


def by_name(offered: dict[str, Any]) -> dict[str, Any]:
    """The tools by their names; that their order is the same, the sets show."""
    return {**offered, "tools": {tool["name"]: tool for tool in offered["tools"]}}


def test_every_tool_was_called() -> None:
    assert {row["tool"] for row in ANSWERS if not row["refused"]} == set(DEFINED["sets"]["all"])
