"""`recollect session`: conversations, turn by turn."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from rich.cells import cell_len

if TYPE_CHECKING:
    from pathlib import Path

    from command_line import CommandLine

pytest_plugins = ["command_line"]
TALK = [
    {"role": "user", "speaker": "Ana", "content": "I moved to Vigo in May", "at": "2024-05-06T10:00:00Z"},
    {"role": "assistant", "content": "How is the sea?", "at": "2024-05-06T10:01:00Z"},
    {"role": "user", "speaker": "Ana", "content": "I'm allergic to nuts.", "at": "2024-05-07T23:30:00Z"},
]


def _lines(turns: list[dict[str, str]]) -> str:
    return "".join(json.dumps(turn) + "\n" for turn in turns)


@pytest.fixture
def talk(recollect: CommandLine, tmp_path: Path) -> CommandLine:
    file = tmp_path / "talk.jsonl"
    file.write_text(_lines(TALK))
    recollect("session", "add", "harbour", str(file), "--no-extract")
    return recollect


def test_a_file_of_turns_becomes_a_session(recollect: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "talk.jsonl"
    file.write_text(_lines(TALK))
    assert recollect("session", "add", "harbour", str(file), "--no-extract").stdout == (
        "Added 3 turns to harbour.\n"
    )
    shown = [line.split("\t") for line in recollect("session", "show", "harbour").stdout.splitlines()]
    assert shown == [
        ["1", "2024-05-06T10:00:00+00:00", "Ana", "I moved to Vigo in May"],
        ["2", "2024-05-06T10:01:00+00:00", "assistant", "How is the sea?"],
        ["3", "2024-05-07T23:30:00+00:00", "Ana", "I'm allergic to nuts."],
    ]


@pytest.mark.parametrize(
    "content", [_lines(TALK), json.dumps(TALK), json.dumps({"messages": TALK}, indent=1)]
)
def test_turns_are_read_from_standard_input_in_any_json(recollect: CommandLine, content: str) -> None:
    for name, typed in (("one", ["-"]), ("other", [])):
        recollect("session", "add", name, *typed, "--no-extract", given=content)
        turns = recollect.json("session", "show", name)["turns"]
        assert [turn["text"] for turn in turns] == [turn["content"] for turn in TALK]


def test_what_someone_said_is_added_as_it_is_typed(recollect: CommandLine) -> None:
    recollect(
        *("session", "add", "harbour", "--role", "user", "--speaker", "Ana", "--at", "2024-05-06"),
        *("I", "keep", "bees", "--no-extract"),
    )
    (turn,) = recollect.json("session", "show", "harbour")["turns"]
    assert (turn["role"], turn["speaker"], turn["text"]) == ("user", "Ana", "I keep bees")
    assert turn["created_at"] == "2024-05-06T00:00:00+00:00"


def test_notes_are_drawn_out_and_named(recollect: CommandLine) -> None:
    result = recollect("session", "add", "harbour", "--speaker", "Ana", "I'm allergic to nuts.")
    assert "Drawn out of it: 1 new note." in result.stdout
    assert "#2 wellness: I'm allergic to nuts." in result.stdout
    (note,) = recollect.json("show", "2")["texts"]
    assert (note["kind"], note["drawn_from"], note["speaker"]) == ("note", 1, "Ana")
    recollect("session", "add", "small", "--role", "user", "Hello!")
    assert "Nothing in small was found worth a note." in recollect("session", "extract", "small").stdout


def test_the_list_tells_turns_days_and_speakers(talk: CommandLine) -> None:
    for typed in (["show", "nope"], ["extract", "nope"]):
        assert "recollect session show" in talk.refused("session", *typed, status=1)

    def days(zone: str) -> list[str]:
        shown = talk("session", "show", "harbour", "--color", RECOLLECT_TIME_ZONE=zone).stdout
        return re.findall(r"(\w+, \d+ \w+ 2024) ", re.sub(r"\x1b\[[\d;]*m", "", shown))

    assert days("UTC") == ["Monday, 6 May 2024", "Tuesday, 7 May 2024"]
    # 23:30 in London's winter is past midnight in Madrid.
    assert days("Europe/Madrid") == ["Monday, 6 May 2024", "Wednesday, 8 May 2024"]
    talk("session", "add", "later", "--speaker", "Jun", "Hi")
    first, second = (line.split("\t") for line in talk("session", "list").stdout.splitlines())
    assert first[:2] == ["later", "1"]
    assert second[:4] == ["harbour", "3", "2024-05-06", "2024-05-07"]
    assert set(second[4].split(", ")) >= {"Ana"}
    listed = talk.json("session", "list")["sessions"]
    assert [each["name"] for each in listed] == ["later", "harbour"]
    assert talk.json("session", "list", "--owner", "nobody") == {"sessions": []}


@pytest.mark.parametrize("columns", ["60", "80", "120"])
def test_talks_cards_and_timelines_fit_the_terminal(talk: CommandLine, columns: str) -> None:
    long = "灯台まで歩く。" * 20 + " and a_word_that_is_too_long_for_any_terminal" * 4
    talk("session", "add", "harbour", "--speaker", "Jun Watanabe of the Harbour Works", long)
    talk("supersede", "4", "Nobody walks to the lighthouse", "--only")
    for typed in (
        ["session", "show", "harbour"],
        ["session", "list"],
        ["show", "3", "4"],
        ["history", "4"],
        ["search", "灯台", "--superseded"],
    ):
        shown = re.sub(r"\x1b\[[\d;]*m", "", talk(*typed, "--color", COLUMNS=columns).stdout)
        assert max(map(cell_len, shown.splitlines())) <= int(columns), typed
    shown = talk("session", "show", "harbour", "--color", COLUMNS=columns).stdout
    assert "too_long" in shown
    assert "superseded by" in re.sub(r"\s+", " ", shown)


def test_bad_turns_are_left_out_and_named(recollect: CommandLine) -> None:
    content = '{"content": "one"}\n{broken\n{"content": 7}\n{"content": "two", "at": "soon"}\n'
    result = recollect("session", "add", "talk", "--no-extract", given=content)
    assert "Added 1 turn to talk." in result.stdout
    for line in (2, 3, 4):
        assert f"left out, line {line}: " in result.stderr
    assert len(recollect.json("session", "add", "talk", "-", given=content)["rejected"]) == 3
    recollect.refused("session", "add", "other", "--stop-at-bad-line", status=1, given=content)
    assert [each["name"] for each in recollect.json("session", "list")["sessions"]] == ["talk"]


@pytest.mark.parametrize(
    ("typed", "status", "given"),
    [
        (["missing.jsonl"], 1, None),
        (["one", "two"], 2, None),
        (["-"], 1, "no json at all"),
        (["-"], 1, "[]"),
        (["--at", "yesterday"], 2, "[]"),
        (["--speaker", "Ana"], 2, ""),
        (["--speaker", "Ana", "--at", "whenever", "hi"], 2, None),
    ],
)
def test_what_is_no_turn_makes_no_store(
    recollect: CommandLine, typed: list[str], status: int, given: str | None
) -> None:
    recollect.refused("session", "add", "talk", *typed, status=status, given=given)
    assert not recollect.store.exists()


def test_statistics_and_the_doctor_count_sessions_of_every_scope(talk: CommandLine) -> None:
    talk("session", "add", "harbour", "--speaker", "Jun", "Hi", "--owner", "jun", "--no-extract")
    counts = talk.json("stats")
    assert (counts["messages"], counts["sessions"]) == (4, 2)
    assert "4 messages in 2 sessions" in talk("doctor").stdout
