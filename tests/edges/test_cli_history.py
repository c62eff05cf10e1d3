"""`recollect history`: a memory's life as a timeline."""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from command_line import CommandLine

pytest_plugins = ["command_line"]


def test_what_a_note_said_and_what_became_of_it_is_told_oldest_first(recollect: CommandLine) -> None:
    recollect("remember", "Ana keeps bees")
    recollect("update", "1", "--text", "Ana keeps goats")
    recollect("supersede", "1", "Ana keeps hens", "--only")
    lines = [line.split("\t") for line in recollect("history", "1").stdout.splitlines()]
    assert [line[1:] for line in lines] == [
        ["noted", "Ana keeps bees"],
        ["updated", "Ana keeps goats"],
        ["superseded", "by memory 2"],
    ]
    times = [datetime.fromisoformat(line[0]) for line in lines]
    assert times == sorted(times)
    assert all(at.tzinfo is not None for at in times)


def test_times_are_told_in_the_zone_of_the_settings(recollect: CommandLine) -> None:
    recollect("session", "add", "talk", "--speaker", "Ana", "--at", "2024-01-01T12:00+00:00", "Hello")
    line = recollect("history", "1", RECOLLECT_TIME_ZONE="Asia/Tokyo").stdout
    assert line == "2024-01-01T21:00:00+09:00\tsaid\tAna: Hello\n"


def test_an_entity_is_told_by_its_name(harbour: CommandLine) -> None:
    harbour("observe", "Tidebook", "Ships in May")
    told = harbour.json("history", "tidebook")
    assert told["memory"]["name"] == "Tidebook"
    assert [event["what"] for event in told["events"]][:1] == ["created"]
    assert "Ships in May" in [event["detail"] for event in told["events"] if event["what"] == "observed"]
    assert "Marisol Vega leads Tidebook" in [event["detail"] for event in told["events"]]


def test_a_terminal_gets_a_timeline(recollect: CommandLine) -> None:
    recollect("remember", "Ana keeps bees")
    shown = recollect("history", "1", "--color").stdout
    assert re.search(r"\d\d:\d\d.* noted", click.unstyle(shown))


def test_what_is_not_there_has_no_history(harbour: CommandLine) -> None:
    assert "no memory 99" in harbour.refused("history", "99", status=1)
    assert "no entity named 'Nobody'" in harbour.refused("history", "Nobody", status=1)
    harbour.refused("history", "1", "--owner", "someone else", status=1)
