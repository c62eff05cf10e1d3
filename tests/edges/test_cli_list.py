"""`recollect list`, `neighbours`, `paths`, and clearing a session or an owner."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from command_line import CommandLine

pytest_plugins = ["command_line"]


def test_list_shows_notes_the_newest_first_and_how_to_go_on(recollect: CommandLine) -> None:
    for n in range(3):
        recollect("remember", f"Note number {n}", "--tag", "my tag")
    first = recollect("list", "--limit", "2", "--tag", "my tag")
    assert [line.split("\t")[4] for line in first.stdout.splitlines()] == ["Note number 2", "Note number 1"]
    assert "recollect list --tag 'my tag' --limit 2 --after 2" in first.stderr
    rest = recollect.json("list", "--limit", "2", "--after", "2")
    assert [each["text"] for each in rest["memories"]] == ["Note number 0"]
    assert rest["cursor"] is None


def test_neighbours_and_paths_are_shown(harbour: CommandLine) -> None:
    harbour("relate", "Jun Watanabe", "tests", "Tidebook")
    near = harbour("neighbours", "Marisol Vega", "--depth", "2").stdout.splitlines()
    assert near == ["1\tTidebook\tproject", "2\tJun Watanabe\tperson"]
    assert harbour("paths", "Marisol Vega", "Jun Watanabe").stdout.splitlines() == [
        "2\tMarisol Vega leads Tidebook · Jun Watanabe tests Tidebook"
    ]


def test_a_session_and_an_owner_are_cleared(recollect: CommandLine) -> None:
    recollect("session", "add", "tea", "--role", "user", "I live in Lisbon.", "--owner", "ana")
    recollect("remember", "Ana likes tea", "--owner", "ana")
    recollect("remember", "Bo likes tea", "--owner", "bo")
    recollect("session", "forget", "tea", "--yes", "--owner", "ana")
    assert recollect.json("session", "list", "--owner", "ana")["sessions"] == []
    assert [each["text"] for each in recollect.json("list", "--owner", "ana")["memories"]] == [
        "Ana likes tea"
    ]
    assert recollect.json("forget", "--all", "--yes", "--owner", "ana")["forgotten"] == 1
    assert recollect.json("list", "--owner", "ana")["memories"] == []
    recollect("purge", "--before", "0d", "--yes")
    assert [each["text"] for each in recollect.json("list", "--owner", "bo")["memories"]] == ["Bo likes tea"]
    assert "either ids, or --all" in recollect("forget", status=2).stderr


def test_a_note_that_expires_shows_when(recollect: CommandLine) -> None:
    recollect("remember", "The gate is open", "--expires", "2999-01-01", "--at", "2026-01-01")
    shown = recollect.json("show", "1")["texts"][0]
    assert shown["expires_at"] == "2999-01-01T00:00:00+00:00"
    assert shown["happened_at"] == "2026-01-01T00:00:00+00:00"
    recollect("update", "1", "--expires", "2999-02-01")
    assert "either" in recollect("update", "1", "--expires", "2999-03-01", "--no-expiry", status=2).stderr
    assert "2999-02-01" in recollect("show", "1").stdout
    recollect("update", "1", "--no-expiry")
    assert "expires_at" not in recollect.json("show", "1")["texts"][0]
    assert "which is past" in recollect("remember", "Too late", "--expires", "2020-01-01", status=1).stderr
