"""`recollect remember`: notes, one or a line each."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import pytest

if TYPE_CHECKING:
    from command_line import CommandLine

pytest_plugins = ["command_line"]


def _note(recollect: CommandLine, id_: int) -> dict[str, Any]:
    (text,) = recollect.json("show", f"#{id_}")["texts"]
    assert isinstance(text, dict)
    return text


def test_a_note_is_remembered_and_says_whom_it_speaks_of(harbour: CommandLine) -> None:
    said = harbour("remember", "Marisol", "Vega", "leads", "Tidebook").stdout
    assert said == "Remembered as #4.\n  Mentions: Marisol Vega, Tidebook\n"
    assert _note(harbour, 4)["text"] == "Marisol Vega leads Tidebook"


def test_the_same_words_again_are_counted(recollect: CommandLine) -> None:
    recollect("remember", "The key is under the mat")
    assert (
        "#1 says so already; that makes 2 times." in recollect("remember", "the key is under the mat!").stdout
    )
    again = recollect.json("remember", "The key is under the mat")
    assert (again["id"], again["created"], again["times"]) == (1, False, 3)
    assert recollect.json("stats")["notes"] == 1


def test_a_near_repeat_is_kept_and_pointed_out_with_what_to_do(recollect: CommandLine) -> None:
    recollect("remember", "Ana likes green tea")
    said = recollect("remember", "Ana likes green tea in the garden with friends").stdout
    assert "Nearly repeats #1" in said
    assert "“Ana likes green tea”" in said
    assert "recollect supersede 1 2" in said
    assert recollect.json("stats")["notes"] == 2


def test_a_note_keeps_what_it_was_given(harbour: CommandLine) -> None:
    harbour(
        "remember",
        "The crane was inspected",
        *("--importance", "0.8"),
        *("--category", "work"),
        *("--happened", "2024-05-06"),
        *("--tag", "crane", "--tag", "safety"),
        *("--about", "tidebook"),
        *("--source", "email"),
    )
    note = _note(harbour, 4)
    assert (note["importance"], note["category"], note["source"]) == (0.8, "work", "email")
    assert note["happened_at"] == "2024-05-06T00:00:00+00:00"
    assert sorted(note["tags"]) == ["crane", "safety"]
    assert note["mentions"] == [{"id": 3, "name": "Tidebook"}]


def test_what_a_note_is_about_must_exist(harbour: CommandLine) -> None:
    assert "'Nobody'" in harbour.refused("remember", "x y z", "--about", "Nobody", status=1)
    assert harbour.json("stats")["notes"] == 0


@pytest.mark.parametrize("typed", [[], ["-"]])
def test_standard_input_is_one_note(recollect: CommandLine, typed: list[str]) -> None:
    recollect("remember", *typed, given="First line\nsecond line\n")
    assert _note(recollect, 1)["text"] == "First line\nsecond line"


@pytest.mark.parametrize("typed", [[], ["-"], ["--lines"]])
def test_nothing_to_remember_makes_no_store(recollect: CommandLine, typed: list[str]) -> None:
    assert "standard input is empty" in recollect.refused("remember", *typed, status=2, given=" \n \n")
    assert not recollect.store.exists()


# Times


def _days_ago(days: int, zone: str) -> str:
    return (datetime.now(ZoneInfo(zone)) - timedelta(days=days)).date().isoformat()


def test_words_for_a_time_are_read_where_the_days_of_the_user_begin(recollect: CommandLine) -> None:
    for number, zone in enumerate(["Pacific/Kiritimati", "Pacific/Pago_Pago"], 1):
        before = _days_ago(1, zone)
        recollect("remember", f"note {number}", "--happened", "yesterday", RECOLLECT_TIME_ZONE=zone)
        happened = datetime.fromisoformat(_note(recollect, number)["happened_at"]).astimezone(ZoneInfo(zone))
        assert happened.date().isoformat() in {before, _days_ago(1, zone)}
        assert (happened.hour, happened.minute) == (0, 0)


def test_a_time_without_a_zone_is_of_the_zone_of_the_settings(recollect: CommandLine) -> None:
    recollect("remember", "a", "--happened", "2024-07-01T10:00", RECOLLECT_TIME_ZONE="Europe/Madrid")
    # Madrid is two hours ahead in summer.
    assert datetime.fromisoformat(_note(recollect, 1)["happened_at"]) == datetime(2024, 7, 1, 8, tzinfo=UTC)


def test_a_stretch_of_time_is_kept_by_its_start(recollect: CommandLine) -> None:
    recollect("remember", "a", "--happened", "May 2024")
    assert _note(recollect, 1)["happened_at"] == "2024-05-01T00:00:00+00:00"


@pytest.mark.parametrize("words", ["soonish", "banana last week", "before May 2024", "2024-13-01", ""])
def test_a_time_that_is_not_understood_is_refused_before_anything_is_made(
    recollect: CommandLine, words: str
) -> None:
    said = recollect.refused("remember", "a", "--happened", words, status=2)
    assert "--happened" in said
    assert not recollect.store.exists()


# A line each


def test_each_line_is_a_note(harbour: CommandLine) -> None:
    shown = harbour(
        "remember", "--lines", "--tag", "list", given="tea\n\n  Marisol Vega sails \r\ntea\n"
    ).stdout.splitlines()
    assert shown == ["4\tnew\ttea\t", "5\tnew\tMarisol Vega sails\tMarisol Vega", "4\tknown\ttea\t"]
    assert _note(harbour, 5)["tags"] == ["list"]


def test_a_line_that_cannot_be_kept_is_named_by_its_number(recollect: CommandLine) -> None:
    result = recollect("remember", "--lines", given="tea\n\na\0b\n")
    assert result.stdout == "1\tnew\ttea\t\n"
    assert "left out, line 3: " in result.stderr
    data = recollect.json("remember", "--lines", given="\na\0b\ncoffee\n")
    assert [each["line"] for each in data["rejected"]] == [2]
    assert [each["text"] for each in data["notes"]] == ["coffee"]


def test_one_bad_line_can_stop_all(recollect: CommandLine) -> None:
    recollect.refused("remember", "--lines", "--stop-at-bad-line", status=1, given="tea\na\0b\n")
    assert recollect.json("stats")["notes"] == 0


def test_lines_that_are_all_bad_fail(recollect: CommandLine) -> None:
    recollect("remember", "--lines", status=1, given="a\0b\n")


def test_lines_and_words_do_not_go_together(recollect: CommandLine) -> None:
    recollect.refused("remember", "tea", "--lines", status=2, given="tea")


def test_a_note_without_a_model_says_that_meaning_does_not_find_it(recollect: CommandLine) -> None:
    result = recollect("remember", "tea", RECOLLECT_MODEL="none")
    assert result.stdout == "Remembered as #1.\n"
    assert "not yet found by meaning" in result.stderr
