"""`recollect context`: text for a prompt, and nothing else."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from command_line import CommandLine

pytest_plugins = ["command_line"]


@pytest.fixture
def told(recollect: CommandLine) -> CommandLine:
    recollect("remember", "Ana drinks oolong tea after lunch")
    recollect("remember", "Ana drinks strong coffee for breakfast")
    turns = [
        {"role": "user", "speaker": "Jun", "content": "Where is the boat?", "at": "2024-05-06T10:00:00Z"},
        {"role": "assistant", "content": "In the harbour.", "at": "2024-05-06T10:01:00Z"},
    ]
    recollect("session", "add", "harbour", "-", "--no-extract", given=json.dumps(turns))
    return recollect


def test_standard_output_is_the_text_and_nothing_else(told: CommandLine) -> None:
    result = told("context", "what", "does", "Ana", "drink?", "--session", "harbour")
    data = told.json("context", "what does Ana drink?", "--session", "harbour")
    assert result.stdout == data["text"] + "\n"
    assert "Ana drinks oolong tea after lunch" in result.stdout
    assert "In the harbour." in result.stdout
    assert [turn["text"] for turn in data["turns"]] == ["Where is the boat?", "In the harbour."]
    first = told("context", "what does Ana drink?").stdout
    assert told("context", "what does Ana drink?").stdout == first
    data = told.json("context", "what does Ana drink?", "--budget", "45")
    assert 0 < data["tokens"] <= 45
    assert data["left_out"] > 0
    said = told("context", "what does Ana drink?", "--budget", "45").stderr
    assert f"{data['tokens']} of 45 tokens: 1 memory" in said
    assert "did not fit" in said


def test_the_messages_at_hand_can_take_the_place_of_a_query(told: CommandLine, tmp_path: Path) -> None:
    messages = [
        {"role": "user", "content": "Good morning"},
        {"role": "user", "content": "Does Ana drink oolong tea?"},
    ]
    file = tmp_path / "last.json"
    file.write_text(json.dumps(messages))
    data = told.json("context", "--messages", str(file))
    assert data["query"] == "Does Ana drink oolong tea?"
    assert [turn["text"] for turn in data["turns"]] == ["Good morning", "Does Ana drink oolong tea?"]
    assert "Ana drinks oolong tea after lunch" in [item["text"] for item in data["memories"]]
    assert told.json("context", "--messages", "-", given=json.dumps(messages)) == data


@pytest.mark.parametrize(
    ("typed", "status", "given"),
    [
        (["tea", "--messages", "-"], 2, "[]"),
        (["--messages", "-"], 1, "[]"),
        (["--messages", "-"], 1, '[{"content": 7}]'),
        (["--messages", "missing.json"], 1, None),
        (["tea", "--budget", "0"], 2, None),
        (["tea", "--as-of", "whenever"], 2, None),
        (["tea", "--profile", "moody"], 1, None),
        ([], 2, ""),
    ],
)
def test_what_cannot_be_asked_is_refused(
    told: CommandLine, typed: list[str], status: int, given: str | None
) -> None:
    told.refused("context", *typed, status=status, given=given)
