"""Every MCP tool, resource and prompt is defined and answers as it was and did."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio
import pytest
import tools
from compare import assert_same, frozen

if TYPE_CHECKING:
    from pathlib import Path

EXPECTED = frozen("tools.json")
ANSWERS = EXPECTED["answers"]
DEFINED = frozen("tool-definitions.json")


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    made = [(row["tool"], row["given"]) for row in ANSWERS]
    lived: dict[str, Any] = anyio.run(tools.live, tmp_path_factory.mktemp("tools"), made)
    return lived


@pytest.mark.parametrize("place", range(len(ANSWERS)), ids=lambda place: f"{place}-{ANSWERS[place]['tool']}")
def test_a_tool_answers_as_it_did(lived: dict[str, Any], place: int) -> None:
    assert_same(ANSWERS[place], lived["answers"][place])


@pytest.mark.parametrize("what", ["resources", "prompts"])
def test_resources_and_prompts_read_as_they_did(lived: dict[str, Any], what: str) -> None:
    assert_same(EXPECTED[what], lived[what])


def test_tools_resources_and_prompts_are_defined_as_they_were(tmp_path: Path) -> None:
    assert_same(DEFINED, anyio.run(tools.offered, tmp_path))


def test_every_tool_was_called() -> None:
    assert {row["tool"] for row in ANSWERS if not row["refused"]} == set(DEFINED["sets"]["all"])
