"""Notes and messages as search, recall and why-not show them."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from command_line import CommandLine

pytest_plugins = ["command_line"]


def _seen(shown: str) -> str:
    return re.sub(r"\x1b\[[\d;]*m", "", shown).replace("\u00a0", " ")


def _found(recollect: CommandLine, *typed: str) -> list[int]:
    return [hit["memory"]["id"] for hit in recollect.json("search", *typed, "-n", "10")["hits"]]


@pytest.fixture
def boats(recollect: CommandLine) -> CommandLine:
    """Messages #1 of May and #2 of June in one session, #3 in another; notes #4 and #5."""
    for session, speaker, text, at in (
        ("harbour", "Ana", "The boat is blue", "2024-05-06T18:00:00Z"),
        ("harbour", "Jun", "The boat is green", "2024-06-10T10:00:00Z"),
        ("kitchen", "Ana", "The boat is made of cake", "2024-06-11T10:00:00Z"),
    ):
        turn = json.dumps([{"speaker": speaker, "role": "user", "content": text, "at": at}])
        recollect("session", "add", session, "-", "--no-extract", given=turn)
    recollect("remember", "The boat needs paint", "--tag", "work", "--tag", "paint", "--category", "plans")
    recollect("remember", "The boat won a prize", "--tag", "work", "--happened", "2024-05-20")
    return recollect


def test_a_hit_tells_who_when_where_and_what_sort(boats: CommandLine) -> None:
    lines = {line.split("\t")[1]: line.split("\t") for line in boats("search", "boat").stdout.splitlines()}
    assert lines["1"][2:5] == ["message", "Ana", "The boat is blue"]
    # In one talk, the boat is blue in May and green in June.
    assert lines["1"][7:] == ["2024-05-06T18:00:00+00:00", "session harbour, older than #2"]
    assert lines["4"][8] == "plans, tagged paint work"
    assert lines["5"][7] == "2024-05-20T00:00:00+00:00"
    shown = _seen(boats("search", "boat", "--color").stdout)
    assert "Ana  message · session harbour · 2024-05-06 18:00 · #1" in shown
    assert "note  plans · tagged paint, work · " in shown
    assert "note  tagged work · 2024-05-20 · #5" in shown
    shown = _seen(boats("search", "blue", "--color", RECOLLECT_TIME_ZONE="Asia/Tokyo").stdout)
    assert "session harbour · 2024-05-07 03:00 · #1" in shown
    # 18:00 in London is three hours into the next day in Tokyo.
    for day, known in (("2024-05-06", []), ("2024-05-07", [1])):
        hits = boats.json("search", "boat", "--as-of", day, RECOLLECT_TIME_ZONE="Asia/Tokyo")["hits"]
        assert [hit["memory"]["id"] for hit in hits] == known
    answer = boats.json("search", "boat", "-n", "10", "--budget", "12")
    assert 0 < len(answer["hits"]) < 5
    assert answer["left_out"] == 5 - len(answer["hits"])
    assert f"{answer['left_out']} more hits did not fit" in _seen(
        boats("search", "boat", "-n", "10", "--budget", "12", "--color").stdout
    )
    time = boats.json("search", "boat in May 2024")["time"]
    assert (time["start"], time["stop"]) == ("2024-05-01T00:00:00+00:00", "2024-06-01T00:00:00+00:00")
    first, *_ = _seen(boats("search", "boat in May 2024", "--color").stdout).splitlines()
    assert first.strip() == "May 2024: 1 May – 31 May 2024"
    assert boats.json("search", "boat")["time"] is None
    assert all(line[0].isdigit() for line in boats("search", "boat in May 2024").stdout.splitlines())


@pytest.mark.parametrize(
    ("as_of", "known"),
    [
        ("2024-05-06", {1}),  # to the end of that day
        ("2024-05-06T17:00", set()),
        ("20240506", {1}),
        ("2024-W19", {1}),  # from 6 to 12 May
        ("2024-W18", set()),
        ("May 2024", {1}),
        ("2024-06-10", {1, 2}),
        ("yesterday", {1, 2, 3}),
        ("9999-12-31", {1, 2, 3, 4, 5}),
        ("0001-01-01", set()),
    ],
)
def test_the_past_is_asked_as_it_was_known_then(boats: CommandLine, as_of: str, known: set[int]) -> None:
    assert set(_found(boats, "boat", "--as-of", as_of)) == known


def test_what_was_superseded_is_found_only_when_asked_for_and_says_by_what(boats: CommandLine) -> None:
    boats("supersede", "1", "The boat is red", "--only")
    assert 1 not in _found(boats, "blue boat")
    assert 1 in _found(boats, "blue boat", "--superseded")
    assert 1 in _found(boats, "blue boat", "--as-of", "yesterday")
    lines = boats("search", "blue boat", "--superseded").stdout.splitlines()
    (line,) = (line for line in lines if line.split("\t")[1] == "1")
    assert line.endswith("session harbour, superseded by #6")
    assert "#1  superseded by #6" in _seen(boats("search", "blue boat", "--superseded", "--color").stdout)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("2024-05-06", "6 May 2024"),
        ("from 28 December 2023 to 3 January 2024", "28 December 2023 – 3 January 2024"),
        ("before May 2024", "until 30 April 2024"),
        ("2024-05-06 at 5pm", "6 May 2024, 17:00 – 18:00"),
    ],
)
def test_a_stretch_of_time_is_said_as_short_as_it_can_be(boats: CommandLine, words: str, said: str) -> None:
    first, *_ = _seen(boats("search", f"boat {words}", "--color").stdout).splitlines()
    assert first.strip().endswith(f": {said}")


def test_of_a_long_text_the_piece_that_matches_is_shown_between_words(recollect: CommandLine) -> None:
    long = "The harbour was quiet. " * 80 + "A purple walrus came by. " + "Nothing else happened. " * 80
    recollect("remember", long)
    line = recollect("search", "purple walrus").stdout.split("\t")[4]
    assert "A purple walrus came by." in line
    assert len(line) < 300
    assert line.startswith("…")
    assert line.endswith("…")
    assert set(line.strip("…").split()) <= set(long.split())


def test_why_not_says_what_the_options_leave_out(boats: CommandLine) -> None:
    def verdict(*typed: str) -> str:
        return str(boats.json("why-not", "boat", *typed)["verdict"])

    assert "returned" in verdict("1")
    assert "session 'harbour'" in verdict("1", "--session", "kitchen")
    assert "tags" in verdict("1", "--tag", "work")
    assert "not known by then" in verdict("2", "--as-of", "2024-05-31")
    boats("supersede", "1", "The boat is red", "--only")
    assert "superseded" in verdict("1")
    assert "superseded" not in verdict("1", "--superseded")
    assert "superseded" not in verdict("1", "--as-of", "yesterday")


def test_a_day_that_is_not_over_means_until_now(recollect: CommandLine) -> None:
    recollect("remember", "The boat is blue")
    today = datetime.now(UTC).date()
    for day in (str(today), str(today + timedelta(days=1)), "today"):
        if datetime.now(UTC).date() == today:  # unless midnight came between
            assert _found(recollect, "boat", "--as-of", day) == [1]
