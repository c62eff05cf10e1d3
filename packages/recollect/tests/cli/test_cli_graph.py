"""Commands about the graph and conversations, and the scopes that commands show."""

from __future__ import annotations

import json
import re
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest
from click import unstyle
from mcp_world import call_tool_ok
from rich.cells import cell_len

if TYPE_CHECKING:
    from pathlib import Path

    from command_line import CommandLine
    from mcp import Client
    from mcp_world import Served

pytest_plugins = ["command_line", "mcp_fixtures"]


def _observations(recollect: CommandLine, name: str) -> list[str]:
    (entity,) = recollect.json("show", name)["entities"]
    live = [each for each in entity["observations"] if not each["superseded_at"] and not each["deleted_at"]]
    return [each["content"] for each in live]


def _relations(recollect: CommandLine, name: str) -> set[tuple[str, str, str]]:
    return {
        (each["source"], each["type"], each["target"]) for each in recollect.json("show", name)["relations"]
    }


def test_add_says_what_was_created_merged_or_nearly_repeated(recollect: CommandLine) -> None:
    assert recollect("add", "Ana", "-o", "likes tea").stdout == "✓ Created Ana (#1) with 1 observation.\n"
    said = "✓ Ana (#1) has 1 new observation.\n  Undo: recollect observe Ana 'plays chess' --remove\n"
    assert recollect("add", "Ana", "-o", "plays chess").stdout == said
    assert "already exists with all of this" in recollect("add", "Ana", "-o", "plays chess").stdout
    assert recollect.json("add", "Ana")["created"] is False
    said = unstyle(recollect("observe", "Ana", "likes tea very much indeed", "--color").stdout)
    assert said.startswith("● Ana (#1) has")
    assert "#3 nearly repeats #1" in said
    assert len(_observations(recollect, "Ana")) == 3
    assert unstyle(recollect("add", "Bo", "--color").stdout).startswith("✓ Created Bo")


def test_an_entity_is_shown_with_its_neighbours_paths_and_history(harbour: CommandLine) -> None:
    assert "'Nobody'" in harbour.refused("observe", "Nobody", "is here", status=1)
    harbour(
        "observe", "Tidebook", "Ships in May", "--kind", "decision", "--happened-at", "2026-02-03T10:00+00:00"
    )
    (entity,) = harbour.json("show", "Tidebook")["entities"]
    last = entity["observations"][-1]
    assert (last["kind"], last["happened_at"]) == ("decision", "2026-02-03T10:00:00+00:00")
    harbour("relate", "Jun Watanabe", "tests", "Tidebook")
    near = harbour.rows("neighbours", "Marisol Vega", "--depth", "2")
    assert near[2:] == [["1", "Tidebook", "project"], ["2", "Jun Watanabe", "person"]]
    ways = harbour.rows("paths", "Marisol Vega", "Jun Watanabe")
    assert ways[2:] == [["2", "Marisol Vega leads Tidebook · Jun Watanabe tests Tidebook"]]
    harbour("observe", "Tidebook", "Ships in May")
    history = harbour.json("history", "tidebook")
    assert history["memory"]["name"] == "Tidebook"
    assert [event["what"] for event in history["events"]][:1] == ["created"]
    assert "Ships in May" in [event["detail"] for event in history["events"] if event["what"] == "observed"]
    assert "Marisol Vega leads Tidebook" in [event["detail"] for event in history["events"]]


@pytest.mark.parametrize("old", ["Sails on Sundays", "#2"])
def test_a_correction_keeps_the_old_observation_as_history(harbour: CommandLine, old: str) -> None:
    harbour("observe", "Marisol Vega", "Sails on Mondays", "--supersedes", old)
    assert _observations(harbour, "Marisol Vega") == ["Drinks oolong after lunch", "Sails on Mondays"]
    assert "Sails on Sundays" not in harbour("show", "Marisol Vega").stdout
    rows = harbour.rows("show", "Marisol Vega", "--history")
    assert ["✗", "Sails on Sundays"] in [row[:2] for row in rows]


def test_an_unknown_type_is_replaced_and_bad_relations_are_refused(harbour: CommandLine) -> None:
    harbour.refused("observe", "Tidebook", "one", "two", "--supersedes", "#4", status=2)
    assert "no such relation" in harbour("unrelate", "Tidebook", "leads", "Marisol Vega").stdout
    said = harbour.refused("relate", "Tidebook", "uses", "Tidebook", "--since", "last week", status=2)
    assert "write it like 2026-03-01" in said
    harbour.refused("relate", "Tidebook", "uses", "SQLite", status=1)
    made = harbour.json("relate", "Tidebook", "uses", "SQLite", "--create-missing", "--context", "one file")
    assert made["also_created"] == ["SQLite"]
    (entity,) = harbour.json("show", "SQLite")["entities"]
    assert entity["type"] == "unknown"
    harbour("relate", "Tidebook", "uses", "SQLite", "--create-missing")
    said = harbour("add", "SQLite", "-t", "software", "-o", "Is one file").stdout
    assert "is now of type software and has 1 new observation." in said
    said = harbour("add", "SQLite", "-t", "library").stdout
    assert "already exists with all of this." in said
    assert "It keeps its type software." in said
    data = harbour.json("add", "SQLite", "-t", "library")
    assert (data["took_type"], data["kept_type"]) == (None, "software")


def test_a_removed_observation_comes_back_and_an_ended_relation_does_not(harbour: CommandLine) -> None:
    removed = harbour.json("unobserve", "Marisol Vega", "Sails on Sundays", "Never said")
    assert (removed["removed"], removed["absent"]) == (1, ["Never said"])
    assert _observations(harbour, "Marisol Vega") == ["Drinks oolong after lunch"]
    harbour("restore", "--observation", str(removed["observations"][0]))
    assert "Sails on Sundays" in _observations(harbour, "Marisol Vega")
    harbour("end-relation", "Marisol Vega", "leads", "Tidebook", "--at", "2026-04-01")
    assert _relations(harbour, "Tidebook") == set()
    harbour.refused("end-relation", "Marisol Vega", "leads", "Tidebook", status=1)
    assert harbour("status", "Tidebook", "Completado").stdout == "✓ Tidebook is completed.\n"
    assert "paused" in harbour.refused("status", "Tidebook", "sleeping", status=1)


def test_purging_asks_first_and_then_deletes(harbour: CommandLine) -> None:
    harbour("delete", "Tidebook")
    assert "add --yes" in harbour.refused("purge", "--before", "0d", status=1)
    assert harbour.json("stats")["forgotten"] == 1
    assert harbour.json("purge", "--before", "1d", "--yes")["purged"] == 0
    assert harbour.json("purge", "--before", "0d", "--yes")["purged"] > 0
    harbour.refused("restore", "3", status=1)


def test_graph_find_and_show_print_lists_matches_and_cards(harbour: CommandLine) -> None:
    result = harbour("show", "tidebook", "Nobody")
    assert result.stdout.startswith("Tidebook  project · #3\n  •  Says when it is safe to cross  ")
    assert "'Nobody'" in result.stderr
    assert "recollect graph" in harbour.refused("show", "Nobody", status=1)

    def names_found(*text: str) -> list[str]:
        return [each["name"] for each in harbour.json("find", *text)["entities"]]

    assert names_found("OOLONG", "lunch") == ["Marisol Vega"]
    assert names_found("灯台") == ["Jun Watanabe"]
    assert names_found("debo") == ["Tidebook"]
    assert names_found("coffee") == []
    first = harbour.json("graph", "--limit", "2")
    last = harbour.json("graph", "--limit", "2", "--after", str(first["cursor"]))
    assert [each["name"] for each in first["entities"]] == ["Marisol Vega", "Jun Watanabe"]
    assert [each["name"] for each in last["entities"]] == ["Tidebook"]
    assert last["cursor"] is None
    assert "recollect graph --limit 2 --after 2" in harbour("graph", "--limit", "2").stdout
    rows = harbour.rows("graph")
    assert ["2", "Jun Watanabe", "person", "1", "週末は灯台まで歩く"] in rows
    assert rows[-1] == ["Marisol Vega", "leads", "Tidebook"]
    card = harbour("show", "Tidebook", "Marisol Vega").stdout
    assert re.search(r"←  leads +Marisol Vega", card)
    assert re.search(r"→  leads +Tidebook", card)
    assert "person · #1" in card
    shown = unstyle(harbour("graph", "--limit", "2", "--color").stdout)
    assert re.search(r"1 +Marisol Vega +person +2 +Sails on Sundays", shown)
    assert re.search(r"Marisol Vega +leads +Tidebook", shown)
    assert "There is more: recollect graph --limit 2 --after 2" in shown
    assert "There are no such entities." in harbour("find", "zebra", "--color").stdout
    shown = harbour("find", "oolong", "--color").stdout
    assert re.search(r"Marisol Vega +person +2 +Drinks oolong after lunch", unstyle(shown))
    assert "\x1b[1;33moolong" in shown
    assert "Sails on Sundays" not in shown
    # A match may be inside a word. If only the name matches, the newest observation is shown.
    assert "Drinks oolong" in unstyle(harbour("find", "olon", "--color").stdout)
    assert "Sails on Sundays" in unstyle(harbour("find", "Vega", "--color").stdout)
    assert harbour("show", "Tidebook", "--no-color").stdout == harbour("show", "Tidebook").stdout
    assert "no memory 99" in harbour.refused("history", "99", status=1)
    assert "no entity named 'Nobody'" in harbour.refused("history", "Nobody", status=1)
    harbour.refused("history", "1", "--owner", "someone else", status=1)


def test_a_card_strikes_out_what_was_replaced_and_shows_an_inverse_once(harbour: CommandLine) -> None:
    harbour("observe", "Tidebook", "Crosses by itself", "--supersedes", "#4", "--kind", "state")
    assert "Says when" not in harbour("show", "Tidebook", "--color").stdout
    history = harbour("show", "Tidebook", "--history", "--color").stdout
    assert "\x1b[2;9mSays when it is safe to cross" in history
    assert "state · 2" in unstyle(history)
    harbour("relate", "Tidebook", "contains", "Jun Watanabe")
    for name, arrow in (("Tidebook", "→  contains  Jun"), ("Jun Watanabe", "→  part_of  Tidebook")):
        card = unstyle(harbour("show", name, "--color").stdout)
        assert arrow in card
        assert ("part_of" in card) != ("contains" in card)


def test_find_shows_the_matching_part_of_a_long_text(recollect: CommandLine) -> None:
    recollect("add", "Ana", "-o", f"{'before ' * 200}the oolong cup{' after' * 200}", "-o", "sang")
    assert "oolong cup" in unstyle(recollect("find", "oolong", "--color").stdout)


@pytest.mark.parametrize(
    "arguments",
    [
        ["stats"],
        ["settings"],
        ["models"],
        ["doctor"],
        ["verify"],
        ["find", "person"],
        ["profile", "list"],
        ["profile", "diff", "limbic", "cognis"],
    ],
)
def test_every_table_fits_the_terminal(harbour: CommandLine, arguments: list[str]) -> None:
    lines = harbour(*arguments, COLUMNS="80").stdout.splitlines()
    assert lines
    assert max(map(len, lines)) <= 80


def test_list_shows_the_newest_notes_first_and_the_command_for_more(recollect: CommandLine) -> None:
    for n in range(3):
        recollect("remember", f"Note number {n}", "--tag", "my tag")
    first = recollect("list", "--limit", "2", "--tag", "my tag")
    assert re.findall(r"Note number \d", first.stdout) == ["Note number 2", "Note number 1"]
    assert "recollect list --tag 'my tag' --limit 2 --after 2" in first.stdout
    rest = recollect.json("list", "--limit", "2", "--after", "2")
    assert [each["text"] for each in rest["memories"]] == ["Note number 0"]
    assert rest["cursor"] is None


def test_list_sorts_by_the_date_of_storing_and_shows_that_of_the_event(recollect: CommandLine) -> None:
    for day in ("2024-05-06", "2026-01-01", "2025-03-04"):
        recollect("remember", f"Said on {day}", "--happened", day)
    heads, _, *rows = recollect.rows("list")
    assert heads[1:3] == ["Stored", "Happened"]
    assert [row[2] for row in rows] == ["2025-03-04", "2026-01-01", "2024-05-06"]
    assert len({row[1] for row in rows}) == 1
    moved = recollect("export", "-").stdout.replace(
        '2,"kind":"note","created_at":"2', '2,"kind":"note","created_at":"3'
    )
    recollect("import", "-", "--store", f"{recollect.store}.2", given=moved)
    ids = [row[0] for row in recollect.rows("list", "--store", f"{recollect.store}.2")[2:]]
    assert ids == ["2", "3", "1"]


def test_an_empty_answer_names_the_owners_that_have_memories(recollect: CommandLine) -> None:
    recollect("remember", "Ana likes tea", "--owner", "ana")
    recollect("remember", "Ana sails", "--owner", "ana", "--agent", "boat")
    recollect("remember", "Bo likes tea", "--owner", "bo smith", "--agent", "cook")
    said = (
        "2 memories belong to owner ana: add --owner ana; "
        "1 memory belongs to owner bo smith: add --owner 'bo smith'.\n"
    )
    for arguments in (["list"], ["recall", "tea"], ["context", "tea"]):
        assert recollect(*arguments).stderr == said
    assert "--owner ana" not in recollect("recall", "zebra", "--owner", "ana").output
    assert recollect("list", "--tag", "none", "--owner", "ana").stderr == ""
    said = recollect("list", "--owner", "bo smith", "--agent", "pilot").stderr
    assert "owner bo smith: add --owner 'bo smith' --agent cook" in said
    other = str(recollect.store.with_name("other.db"))
    recollect("remember", "Ana likes tea", "--store", other)
    for asked, way, owner in (
        ("--agent a1", "leave out --agent", ""),
        ("--owner nobody", "leave out --owner", ""),
        ("", "add --owner ''", "nobody"),
    ):
        said = recollect("list", "--store", other, *asked.split(), RECOLLECT_OWNER=owner).stderr
        assert said == f"1 memory belongs to no owner: {way}.\n"


def test_a_part_of_a_name_is_enough_to_show_an_entity(harbour: CommandLine) -> None:
    assert harbour("show", "marisol").stdout == harbour("show", "Marisol Vega").stdout
    harbour("add", "Marina")
    harbour("add", "Route 99")
    assert "no memory 99" in harbour.refused("show", "99", status=1)
    said = harbour.refused("show", "mari", status=1)
    assert "Similar names: 'Marina', 'Marisol Vega'." in said or "'Marisol Vega', 'Marina'." in said


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
    assert "Give ids or names, --session, or --all." in recollect("forget", status=2).stderr


def test_a_note_that_expires_shows_when(recollect: CommandLine) -> None:
    said = recollect("remember", "The gate is open", "--expires", "2999-01-01", "--at", "2026-01-01").stdout
    assert said == "✓ Remembered as #1. Expires 2999-01-01.\n"
    shown = recollect.json("show", "1")["texts"][0]
    assert shown["expires_at"] == "2999-01-01T00:00:00+00:00"
    assert shown["happened_at"] == "2026-01-01T00:00:00+00:00"
    recollect("update", "1", "--expires", "2999-02-01")
    assert "2999-02-01" in recollect("show", "1").stdout
    recollect("update", "1", "--no-expiry")
    assert recollect.json("show", "1")["texts"][0]["expires_at"] is None
    assert "is past; give" in recollect("remember", "Too late", "--expires", "2020-01-01", status=1).stderr


def test_history_lists_the_texts_and_changes_of_a_note_oldest_first(recollect: CommandLine) -> None:
    recollect("remember", "Ana keeps bees")
    recollect("update", "1", "--text", "Ana keeps goats")
    recollect("supersede", "1", "Ana keeps hens", "--only")
    _, *rows = recollect.rows("history", "1")
    assert [row[1:] for row in rows] == [
        ["noted", "Ana keeps bees"],
        ["updated", "Ana keeps goats"],
        ["superseded", "by memory 2"],
    ]
    times = [datetime.fromisoformat(event["at"]) for event in recollect.json("history", "1")["events"]]
    assert times == sorted(times)
    assert all(at.tzinfo is not None for at in times)


def test_times_are_shown_in_the_time_zone_of_the_settings(recollect: CommandLine) -> None:
    recollect("session", "add", "talk", "--speaker", "Ana", "--at", "2024-01-01T12:00+00:00", "Hello")
    _, event = recollect.rows("history", "1", RECOLLECT_TIME_ZONE="Asia/Tokyo")
    assert event == ["2024-01-01 21:00", "said", "Ana: Hello"]


def test_former_names_of_commands_still_work(harbour: CommandLine) -> None:
    harbour("add", "1", "-t", "pier")
    assert "Forgot 1 entity" in harbour("delete", "1").stdout  # a name, not the id of another memory
    assert harbour.json("show", "1")["entities"][0]["name"] == "Marisol Vega"
    assert harbour("neighbours", "Tidebook").stdout == harbour("graph", "Tidebook").stdout
    assert (
        harbour("paths", "Marisol Vega", "Tidebook").stdout
        == harbour("graph", "Marisol Vega", "Tidebook").stdout
    )
    assert harbour("find", "safe", "to").stdout == harbour("graph", "--find", "safe to").stdout
    assert harbour("history", "Tidebook").stdout == harbour("show", "Tidebook", "--events").stdout
    assert harbour("models").stdout == harbour("reindex", "--list").stdout
    assert harbour("session", "list").stdout == harbour("session", "show").stdout
    assert harbour("unrelate", "Marisol Vega", "leads", "Tidebook").stdout.startswith("✓ Removed: ")
    assert "at most two names" in harbour.refused("graph", "a", "b", "c", status=2)
    assert "takes one memory" in harbour.refused("show", "1", "2", "--events", status=2)


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
        "✓ Added 3 turns to harbour.\n"
    )
    assert recollect.rows("session", "show", "harbour") == [
        ["── Monday, 6 May 2024 ──"],
        ["10:00", "Ana", "I moved to Vigo in May", "#1"],
        ["10:01", "assistant", "How is the sea?", "#2"],
        [""],
        ["── Tuesday, 7 May 2024 ──"],
        ["23:30", "Ana", "I'm allergic to nuts.", "#3"],
    ]


@pytest.mark.parametrize(
    "content", [_lines(TALK), json.dumps(TALK), json.dumps({"messages": TALK}, indent=1)]
)
def test_turns_are_read_from_standard_input_in_any_json(recollect: CommandLine, content: str) -> None:
    for name, arguments in (("one", ["-"]), ("other", [])):
        recollect("session", "add", name, *arguments, "--no-extract", given=content)
        turns = recollect.json("session", "show", name)["turns"]
        assert [turn["text"] for turn in turns] == [turn["content"] for turn in TALK]


def test_a_turn_can_be_typed_on_the_command_line(recollect: CommandLine) -> None:
    recollect(
        *("session", "add", "harbour", "--role", "user", "--speaker", "Ana", "--at", "2024-05-06"),
        *("I", "keep", "bees", "--no-extract"),
    )
    (turn,) = recollect.json("session", "show", "harbour")["turns"]
    assert (turn["role"], turn["speaker"], turn["text"]) == ("user", "Ana", "I keep bees")
    assert turn["created_at"] == "2024-05-06T00:00:00+00:00"


def test_extracted_notes_are_listed(recollect: CommandLine) -> None:
    result = recollect("session", "add", "harbour", "--speaker", "Ana", "I'm allergic to nuts.")
    assert "Extracted: 1 new note." in result.stdout
    assert "#2 wellness: I'm allergic to nuts." in result.stdout
    (note,) = recollect.json("show", "2")["texts"]
    assert (note["kind"], note["drawn_from"], note["speaker"]) == ("note", 1, "Ana")
    recollect("session", "add", "small", "--role", "user", "Hello!")
    assert "small has nothing new worth a note." in recollect("session", "extract", "small").stdout


def test_session_list_shows_turns_days_and_speakers(talk: CommandLine) -> None:
    for arguments in (["show", "nope"], ["extract", "nope"]):
        assert "recollect session show" in talk.refused("session", *arguments, status=1)

    def days(zone: str) -> list[str]:
        shown = talk("session", "show", "harbour", "--color", RECOLLECT_TIME_ZONE=zone).stdout
        return re.findall(r"(\w+, \d+ \w+ 2024) ", unstyle(shown))

    assert days("UTC") == ["Monday, 6 May 2024", "Tuesday, 7 May 2024"]
    # 23:30 UTC is past midnight in Madrid.
    assert days("Europe/Madrid") == ["Monday, 6 May 2024", "Wednesday, 8 May 2024"]
    talk("session", "add", "later", "--speaker", "Jun", "Hi")
    first, second = talk.rows("session", "list")[2:4]
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
    for arguments in (
        ["session", "show", "harbour"],
        ["session", "list"],
        ["show", "3", "4"],
        ["history", "4"],
        ["search", "灯台", "--superseded"],
    ):
        shown = unstyle(talk(*arguments, "--color", COLUMNS=columns).stdout)
        assert max(map(cell_len, shown.splitlines())) <= int(columns), arguments
    shown = talk("session", "show", "harbour", "--color", COLUMNS=columns).stdout
    assert "too_long" in shown
    assert "superseded by" in re.sub(r"\s+", " ", shown)


def test_bad_turns_are_skipped_and_reported(recollect: CommandLine) -> None:
    content = '{"content": "one"}\n{broken\n{"content": 7}\n{"content": "two", "at": "soon"}\n'
    result = recollect("session", "add", "talk", "--no-extract", given=content)
    assert "Added 1 turn to talk." in result.stdout
    for line in (2, 3, 4):
        assert f"left out, line {line}: " in result.stderr
    assert len(recollect.json("session", "add", "talk", "-", given=content)["rejected"]) == 3
    recollect.refused("session", "add", "other", "--stop-at-bad-line", status=1, given=content)
    assert [each["name"] for each in recollect.json("session", "list")["sessions"]] == ["talk"]


@pytest.mark.parametrize(
    ("arguments", "status", "given"),
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
def test_refused_turns_create_no_store(
    recollect: CommandLine, arguments: list[str], status: int, given: str | None
) -> None:
    recollect.refused("session", "add", "talk", *arguments, status=status, given=given)
    assert not recollect.store.exists()


def test_statistics_and_the_doctor_count_sessions_of_every_scope(talk: CommandLine) -> None:
    talk("session", "add", "harbour", "--speaker", "Jun", "Hi", "--owner", "jun", "--no-extract")
    counts = talk.json("stats")
    assert (counts["messages"], counts["sessions"]) == (4, 2)
    assert "4 messages in 2 sessions" in talk("doctor").stdout


@pytest.fixture
def house(recollect: CommandLine) -> CommandLine:
    for owner, agent in (("ana", ""), ("ana", "cook"), ("bob", "cook"), ("", "")):
        scope = ["--owner", owner, "--agent", agent]
        recollect("remember", f"kettle of {owner or 'nobody'} {agent or 'alone'}", *scope)
        recollect("add", f"Kettle of {owner or 'nobody'}", "-o", f"seen by {agent or 'none'}", *scope)
    return recollect


def _texts(found: Any) -> set[str]:
    return {hit["memory"]["text"] for hit in found["hits"] if hit["memory"]["kind"] == "note"}


def test_without_an_agent_commands_show_all_memories_of_the_owner(house: CommandLine) -> None:
    search = ["search", "kettle", "--limit", "20"]
    assert _texts(house.json(*search, "--owner", "ana")) == {"kettle of ana alone", "kettle of ana cook"}
    assert _texts(house.json(*search, "--owner", "ana", "--agent", "cook")) == {"kettle of ana cook"}
    assert _texts(house.json(*search, RECOLLECT_OWNER="bob")) == {"kettle of bob cook"}
    assert _texts(house.json(*search)) == {"kettle of nobody alone"}
    search = ["search", "kettle", "--owner", "ana", "--agent", "cook"]
    for found in house.json(*search)["hits"]:
        shown = house.json("show", str(found["memory"]["id"]), "--owner", "ana")
        assert found["memory"]["id"] in {each["id"] for each in (*shown["texts"], *shown["entities"])}
        house("show", str(found["memory"]["id"]), "--owner", "bob", status=1)


@pytest.mark.parametrize("format_", ["official", "full"])
def test_an_owners_export_has_only_their_memories(house: CommandLine, tmp_path: Path, format_: str) -> None:
    file = tmp_path / "ana.jsonl"
    house("export", str(file), "--format", format_, "--owner", "ana")
    text = file.read_text(encoding="utf-8")
    assert text.count('"Kettle of ana"') == 2
    assert "bob" not in text
    assert "nobody" not in text
    assert ("kettle of ana cook" in text) == (format_ == "full")
    house("export", str(file), "--format", format_, "--owner", "ana", "--agent", "cook", "--overwrite")
    assert file.read_text(encoding="utf-8").count('"Kettle of ana"') == 1


def test_without_an_agent_tools_show_all_memories_of_the_owner(house: CommandLine, served: Served) -> None:
    async def ask(client: Client) -> tuple[list[str], dict[str, Any]]:
        found = await call_tool_ok(client, "recall", query="kettle", limit=20, kinds=["note"])
        return [hit["text"] for hit in found["hits"]], await call_tool_ok(client, "stats")

    texts, stats = served.visit(ask, "--owner", "ana", "--tools", "all")
    assert sorted(texts) == ["kettle of ana alone", "kettle of ana cook"]
    assert (stats["notes"], stats["entities"], stats["store"]["observations"]) == (2, 2, 2)
    texts, stats = served.visit(ask, "--owner", "ana", "--agent", "cook", "--tools", "all")
    assert texts == ["kettle of ana cook"]
    assert (stats["notes"], stats["entities"], stats["store"]["observations"]) == (1, 1, 1)
