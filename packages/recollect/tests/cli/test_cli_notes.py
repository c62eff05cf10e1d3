"""Notes: remembered, shown, corrected and found, in any language."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import anyio
import pytest
from conftest import PATIENCE_SECONDS
from mcp_world import call_tool_ok, texts_of

import recollect as library
from recollect import bootstrap
from recollect.models import embedders as choose
from recollect.models.embedders import DefaultModel
from recollect.models.hashing import HashingEmbedder
from recollect.models.registry import availability

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from command_line import CommandLine
    from mcp_world import Served

pytest_plugins = ["command_line", "mcp_fixtures"]


def _note(recollect: CommandLine, id_: int) -> dict[str, Any]:
    (text,) = recollect.json("show", f"#{id_}")["texts"]
    assert isinstance(text, dict)
    return text


def test_a_note_keeps_what_it_was_given_and_says_whom_it_speaks_of(harbour: CommandLine) -> None:
    assert "'Nobody'" in harbour.refused("remember", "x y z", "--about", "Nobody", status=1)
    assert harbour.json("stats")["notes"] == 0
    said = harbour("remember", "Marisol", "Vega", "leads", "Tidebook").stdout
    assert said == "✓ Remembered as #4.\n  Mentions: Marisol Vega, Tidebook\n"
    assert _note(harbour, 4)["text"] == "Marisol Vega leads Tidebook"
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
    note = _note(harbour, 5)
    assert (note["importance"], note["category"], note["source"]) == (0.8, "work", "email")
    assert note["happened_at"] == "2024-05-06T00:00:00+00:00"
    assert sorted(note["tags"]) == ["crane", "safety"]
    assert note["mentions"] == [{"id": 3, "name": "Tidebook"}]


def test_repeats_are_counted_and_near_repeats_are_pointed_out(recollect: CommandLine) -> None:
    recollect("remember", "Ana likes green tea")
    said = recollect("remember", "Ana likes green tea in the garden with friends").stdout
    assert "Nearly repeats #1" in said
    assert "“Ana likes green tea”" in said
    assert "recollect supersede 1 2" in said
    recollect("remember", "The key is under the mat")
    again = recollect("remember", "the key is under the mat!").stdout
    assert "#3 already has this text; stored 2 times." in again
    told = recollect.json("remember", "The key is under the mat")
    assert (told["id"], told["created"], told["times"]) == (3, False, 3)
    assert recollect.json("stats")["notes"] == 3


def test_standard_input_is_one_note_unless_it_is_empty(recollect: CommandLine) -> None:
    for typed in ([], ["-"], ["--lines"]):
        assert "standard input is empty" in recollect.refused("remember", *typed, status=2, given=" \n \n")
    assert not recollect.store.exists()
    for id_, typed in enumerate(([], ["-"]), 1):
        recollect("remember", *typed, given=f"Line {id_}\nsecond line\n")
        assert _note(recollect, id_)["text"] == f"Line {id_}\nsecond line"


def _days_ago(days: int, zone: str) -> str:
    return (datetime.now(ZoneInfo(zone)) - timedelta(days=days)).date().isoformat()


def test_a_time_is_read_where_the_days_of_the_user_begin(recollect: CommandLine) -> None:
    for words in ("soonish", "banana last week", "before May 2024", "2024-13-01", ""):
        assert "--happened" in recollect.refused("remember", "a", "--happened", words, status=2)
    assert not recollect.store.exists()
    recollect("remember", "a", "--happened", "2024-07-01T10:00", RECOLLECT_TIME_ZONE="Europe/Madrid")
    # Madrid is two hours ahead in summer.
    assert datetime.fromisoformat(_note(recollect, 1)["happened_at"]) == datetime(2024, 7, 1, 8, tzinfo=UTC)
    for number, zone in enumerate(["Pacific/Kiritimati", "Pacific/Pago_Pago"], 2):
        before = _days_ago(1, zone)
        recollect("remember", f"note {number}", "--happened", "yesterday", RECOLLECT_TIME_ZONE=zone)
        happened = datetime.fromisoformat(_note(recollect, number)["happened_at"]).astimezone(ZoneInfo(zone))
        assert happened.date().isoformat() in {before, _days_ago(1, zone)}
        assert (happened.hour, happened.minute) == (0, 0)


# A line each


def test_each_line_is_a_note(harbour: CommandLine) -> None:
    given = "tea\n\n  Marisol Vega sails \r\ntea\n"
    rows = harbour.rows("remember", "--lines", "--tag", "list", given=given)
    new = ["5", "new", "Marisol Vega sails", "Marisol Vega"]
    assert rows[2:5] == [["4", "new", "tea"], new, ["4", "known", "tea"]]
    assert _note(harbour, 5)["tags"] == ["list"]


def test_a_line_that_cannot_be_kept_is_named_by_its_number(recollect: CommandLine) -> None:
    result = recollect("remember", "--lines", given="tea\n\na\0b\n")
    assert "1   new  tea\n" in result.stdout
    assert "left out, line 3: " in result.stderr
    data = recollect.json("remember", "--lines", given="\na\0b\ncoffee\n")
    assert [each["line"] for each in data["rejected"]] == [2]
    assert [each["text"] for each in data["notes"]] == ["coffee"]
    recollect("remember", "--lines", status=1, given="a\0b\n")
    recollect.refused("remember", "tea", "--lines", status=2, given="tea")


def test_a_note_without_a_model_says_that_meaning_does_not_find_it(recollect: CommandLine) -> None:
    result = recollect("remember", "tea", RECOLLECT_MODEL="none")
    assert result.stdout == "✓ Remembered as #1.\n"
    assert "not yet found by meaning" in result.stderr


def _ids_found(recollect: CommandLine, *typed: str) -> list[int]:
    return [hit["memory"]["id"] for hit in recollect.json("search", *typed, "-n", "10")["hits"]]


@pytest.fixture
def notes(recollect: CommandLine) -> CommandLine:
    """#1 and #2 say nearly the same, #3 something else."""
    recollect("remember", "Tidebook ships in May", "--tag", "release", "--category", "plans_goals")
    recollect("remember", "Tidebook ships in May.", "--source", "mail")  # counted, not stored twice
    recollect("remember", "The Tidebook ships in May")
    recollect("remember", "Ana keeps bees")
    return recollect


# Showing


def test_notes_and_names_are_shown_with_what_is_not_usual_about_them(notes: CommandLine) -> None:
    rows = notes.rows("show", "#1")
    assert rows[:2] == [["note", "#1"], ["Tidebook ships in May"]]
    assert ["category", "plans_goals"] in rows
    assert ["tags", "release"] in rows
    assert ["repeated", "2 times in all"] in rows
    assert not {row[0] for row in rows} & {"importance", "pinned", "status"}
    notes("add", "1", "-t", "number")
    shown = notes.json("show", "1", "2", "#1", "99")
    assert [each["name"] for each in shown["entities"]] == ["1"]
    assert [each["id"] for each in shown["texts"]] == [2, 1]
    assert "no memory 99" in notes("show", "1", "99").stderr
    assert "no memory 99" in notes.refused("show", "#99", status=1)


def test_a_forgotten_entity_can_be_looked_at_by_its_id(notes: CommandLine) -> None:
    notes("add", "Boathouse")
    notes("delete", "Boathouse")
    assert "forgotten" in notes("show", "4").stdout
    assert "Restored Boathouse." in notes("restore", "boathouse").stdout


# Updating


def test_an_update_changes_what_is_given_and_leaves_the_rest(notes: CommandLine) -> None:
    said = notes("update", "#1", "--importance", "0.9", "--pin", "--status", "pausado").stdout
    assert said.startswith("✓ Updated note #1.\n")
    note = _note(notes, 1)
    assert (note["importance"], note["pinned"], note["status"]) == (0.9, True, "paused")
    assert (note["text"], note["tags"], note["category"]) == (
        "Tidebook ships in May",
        ["release"],
        "plans_goals",
    )
    notes("update", "1", "--no-pin", "--tag", "a", "--tag", "b", "--happened", "2024-05-06")
    note = _note(notes, 1)
    assert (note["pinned"], sorted(note["tags"])) == (False, ["a", "b"])
    assert note["happened_at"] == "2024-05-06T00:00:00+00:00"
    notes("update", "1", "--no-tags")
    assert _note(notes, 1)["tags"] == []
    said = notes("update", "1", "--text", "It ships in June").stdout
    assert "Undo: recollect update 1 --text 'Tidebook ships in May'\n" in said


def test_an_entity_is_updated_by_its_name_but_not_superseded(harbour: CommandLine) -> None:
    assert "Updated Tidebook (#3)." in harbour("update", "tidebook", "--importance", "0.9").stdout
    (entity,) = harbour.json("show", "Tidebook")["entities"]
    assert entity["importance"] == 0.9
    harbour("remember", "tea")
    harbour.refused("supersede", "4", "4", status=1)
    harbour.refused("supersede", "1", "tea", status=1)
    harbour.refused("supersede", "99", "tea", status=1)
    harbour.refused("supersede", "Tidebook", "tea", status=2)


@pytest.mark.parametrize(
    ("typed", "status"),
    [
        (["1"], 2),
        (["1", "--importance", "2"], 2),
        (["1", "--happened", "whenever"], 2),
        (["1", "--status", "sleeping"], 1),
        (["99", "--pin"], 1),
        (["Nobody", "--pin"], 1),
    ],
)
def test_an_update_that_makes_no_sense_is_refused(notes: CommandLine, typed: list[str], status: int) -> None:
    notes.refused("update", *typed, status=status)


# Superseding


def test_a_correction_retires_near_copies_and_says_which(notes: CommandLine) -> None:
    done = notes.json("supersede", "1", "Tidebook", "ships", "in", "June")
    assert done["by"]["text"] == "Tidebook ships in June"
    assert [each["id"] for each in done["retired"]] == [1, 2]
    found = _ids_found(notes, "Tidebook ships")
    assert found[0] == done["by"]["id"]
    assert not {1, 2} & set(found)
    assert _note(notes, 2)["superseded_by"] == done["by"]["id"]


def test_a_correction_is_told_in_words(notes: CommandLine) -> None:
    said = notes("supersede", "1", "Tidebook ships in June").stdout
    assert "#4 supersedes #1." in said
    assert "Retired, #1: Tidebook ships in May" in said
    assert "Retired too, a near-copy, #2: The Tidebook ships in May" in said
    assert "Undo: recollect forget 4 && recollect restore 1 2" in said


def test_only_what_was_named_is_retired_and_restored(notes: CommandLine) -> None:
    done = notes.json("supersede", "1", "#3", "--only")
    assert [each["id"] for each in done["retired"]] == [1]
    assert done["by"]["id"] == 3
    assert _note(notes, 2)["superseded_by"] is None
    notes("supersede", "3", "Ana keeps goats", "--only")
    assert 3 not in _ids_found(notes, "Ana keeps bees")
    said = notes("restore", "3").stdout
    assert "#4, which replaced it, is valid too" in said
    assert "recollect forget 4" in said
    assert set(_ids_found(notes, "Ana keeps")) >= {3, 4}


# Forgetting and restoring


def test_what_is_forgotten_or_not_there_is_told(notes: CommandLine) -> None:
    done = notes("forget", "#3", "99", status=1)
    said = done.stdout
    assert done.stderr == "recollect: #99 does not exist; `recollect list` shows ids.\n"
    assert "Forgot 1 memory: #3." in said
    assert "note #3: Ana keeps bees" in said
    assert 3 not in _ids_found(notes, "bees")
    assert notes("restore", "3").stdout == "✓ Restored note #3.\n  #3: Ana keeps bees\n"
    assert 3 in _ids_found(notes, "bees")
    assert notes("forget", "99", "98", status=1).stderr.startswith("recollect: #98, #99 do not exist;")
    assert json.loads(notes("forget", "99", "--json", status=1).stderr)["error"] == "refused"
    assert "`recollect graph` finds names" in notes.refused("graph", "Nobody", status=1)
    notes("forget", "3")
    again = notes("forget", "3", status=1)
    assert again.stderr.startswith("recollect: #3 was already forgotten;")
    assert again.stdout == ""


def test_a_message_is_shown_among_its_neighbours(recollect: CommandLine) -> None:
    turns = [{"role": "user", "speaker": "Ana", "content": f"turn {number}"} for number in range(1, 8)]
    recollect("session", "add", "talk", "-", "--no-extract", given=json.dumps(turns))
    shown = _note(recollect, 4)
    assert [turn["text"] for turn in shown["around"]] == [f"turn {number}" for number in range(2, 7)]
    rows = recollect.rows("show", "4")
    assert rows[0] == ["Ana", "message · #4"]
    assert ["session", "talk, turn 4"] in rows
    around = [
        ["Ana", "turn 2"],
        ["Ana", "turn 3"],
        ["▸", "Ana", "turn 4"],
        ["Ana", "turn 5"],
        ["Ana", "turn 6"],
    ]
    assert rows[-5:] == around
    said = recollect("forget", "4").stdout
    assert "message #4: Ana: turn 4" in said


OLD, NEW = "Ana lives in Lisbon.", "Ana lives in Porto now."


def test_a_hit_names_its_contradiction_and_a_note_the_command_that_settles_it(recollect: CommandLine) -> None:
    recollect("remember", OLD, "--at", "2023-02-01")
    shown = recollect("remember", NEW, "--at", "2024-06-01").stdout
    assert f"Seems to contradict #1: “{OLD}”" in shown
    assert "recollect supersede 1 2" in shown
    assert "Nearly repeats" not in shown
    first, second = recollect("recall", "where does Ana live?", "-n", "2").stdout.split("\n\n")
    assert f"{NEW} " in first
    assert f"newer than #1: “{OLD}”\n" in first
    assert f"older than #2: “{NEW}”\n" in second
    hits = recollect.json("recall", "where does Ana live?", "-n", "2")["hits"]
    others = [(each["id"], each["is_newer"]) for hit in hits for each in hit["conflicts_with"]]
    assert others == [(1, False), (2, True)]
    again = recollect.json("remember", "Ana lives in Faro now.")
    assert {each["id"] for each in again["contradicts"]} == {1, 2}


def test_observe_names_what_it_contradicts(recollect: CommandLine) -> None:
    recollect("add", "Ana")
    recollect("observe", "Ana", "Lives in Lisbon", "--happened-at", "2023-02-01")
    shown = recollect("observe", "Ana", "Lives in Porto now").stdout
    assert "#2 seems to contradict #1: “Lives in Lisbon”" in shown
    command = "recollect observe Ana 'Lives in Porto now' --supersedes '#1'"
    assert command in shown
    recollect("observe", "Ana", "Lives in Porto now", "--supersedes", "#1")
    (entity,) = recollect.json("show", "Ana")["entities"]
    assert [each["content"] for each in entity["observations"] if each["superseded_at"] is None] == [
        "Lives in Porto now"
    ]


@pytest.mark.anyio
@pytest.mark.usefixtures("undoubted")
async def test_tools_say_what_contradicts_what(served: Served) -> None:
    async with served.inside("all") as client:
        await call_tool_ok(client, "remember", text=OLD, happened_at="2023-02-01")
        remembered = await client.call_tool("remember", {"text": NEW, "happened_at": "2024-06-01"})
        assert f'It seems to contradict #1: "{OLD}"' in " ".join(texts_of(remembered))
        recalled = await client.call_tool("recall", {"query": "where does Ana live?"})
        assert f'"{NEW}" (newer than #1)' in " ".join(texts_of(recalled))
        assert f'"{OLD}" (older than #2)' in " ".join(texts_of(recalled))
        told = await call_tool_ok(client, "recall", query="where does Ana live?")
        assert [each["id"] for each in told["hits"][0]["conflicts_with"]] == [1]
        context = await call_tool_ok(client, "context", query="where does Ana live?")
        assert 'older than "' in context["text"]
        report = await call_tool_ok(client, "consolidation_report")
        assert [each["command"] for each in report["contradictions"]] == ["recollect supersede 1 2"]
        # Follow the remark.
        await call_tool_ok(client, "remember", text=NEW, supersedes=1)
        told = await call_tool_ok(client, "recall", query="where does Ana live?")
        assert [hit["text"] for hit in told["hits"]] == [NEW]


def _plain(shown: str) -> str:
    return re.sub(r"\x1b\[[\d;]*m", "", shown).replace("\u00a0", " ")


def _ids_of(recollect: CommandLine, *typed: str) -> list[int]:
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


@pytest.mark.usefixtures("undoubted")
def test_a_hit_tells_who_when_where_and_what_sort(
    boats: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Pairs are named from a higher probability on; here it matters how they look.
    monkeypatch.setattr("recollect.search.contradictions.SURE", 0.05)
    shown = _plain(boats("search", "boat", "-n", "10").stdout)
    assert "older than #3: “The boat is made of cake”" in shown
    assert "Ana  message · session harbour · 2024-05-06 18:00 · #1" in shown
    assert "note  plans · tagged paint, work · " in shown
    assert "note  tagged work · 2024-05-20 · #5" in shown
    shown = _plain(boats("search", "blue", "--color", RECOLLECT_TIME_ZONE="Asia/Tokyo").stdout)
    assert "session harbour · 2024-05-07 03:00 · #1" in shown
    # 18:00 in London is three hours into the next day in Tokyo.
    for day, known in (("2024-05-06", []), ("2024-05-07", [1])):
        hits = boats.json("search", "boat", "--as-of", day, RECOLLECT_TIME_ZONE="Asia/Tokyo")["hits"]
        assert [hit["memory"]["id"] for hit in hits] == known
    answer = boats.json("search", "boat", "-n", "10", "--budget", "12")
    assert 0 < len(answer["hits"]) < 5
    assert answer["left_out"] == 5 - len(answer["hits"])
    assert f"{answer['left_out']} more hits did not fit" in _plain(
        boats("search", "boat", "-n", "10", "--budget", "12", "--color").stdout
    )
    time = boats.json("search", "boat in May 2024")["time"]
    assert (time["start"], time["stop"]) == ("2024-05-01T00:00:00+00:00", "2024-06-01T00:00:00+00:00")
    first, *_ = _plain(boats("search", "boat in May 2024", "--color").stdout).splitlines()
    assert first.strip() == "May 2024: 1 May – 31 May 2024"
    assert boats.json("search", "boat")["time"] is None


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
    assert set(_ids_of(boats, "boat", "--as-of", as_of)) == known


def test_what_was_superseded_is_found_only_when_asked_for_and_says_by_what(boats: CommandLine) -> None:
    boats("supersede", "1", "The boat is red", "--only")
    assert 1 not in _ids_of(boats, "blue boat")
    assert 1 in _ids_of(boats, "blue boat", "--superseded")
    assert 1 in _ids_of(boats, "blue boat", "--as-of", "yesterday")
    assert "#1  superseded by #6" in _plain(boats("search", "blue boat", "--superseded").stdout)


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
    first, *_ = _plain(boats("search", f"boat {words}", "--color").stdout).splitlines()
    assert first.strip().endswith(f": {said}")


@pytest.mark.usefixtures("undoubted")
def test_of_a_long_text_the_piece_that_matches_is_shown_between_words(recollect: CommandLine) -> None:
    long = "The harbour was quiet. " * 80 + "A purple walrus came by. " + "Nothing else happened. " * 80
    recollect("remember", long)
    line = recollect.rows("search", "purple walrus")[1][0]
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
            assert _ids_of(recollect, "boat", "--as-of", day) == [1]


SPANISH = "Mi hermana Lucía es alérgica a los frutos secos"
INSTALL = "pip install recollect-model-potion"
E5 = availability("e5-memory")
needs_e5 = pytest.mark.skipif(not E5.ready, reason=E5.reason)


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> Callable[[str | None], None]:
    """The usual model is `hashing`, said to read only English, and the multilingual one is `potion`."""

    def stand_in(install: str | None) -> None:
        monkeypatch.setattr(choose, "default_choice", lambda: DefaultModel("hashing", "the default model"))
        monkeypatch.setattr(choose, "MULTILINGUAL", "potion")
        monkeypatch.setattr(choose, "multilingual_install_command", lambda: install)
        monkeypatch.setattr(choose, "reads_only_english", lambda name: name.startswith("hashing"))

    return stand_in


@pytest.fixture
def automatic(recollect: CommandLine) -> CommandLine:
    return replace(recollect, environment={**recollect.environment, "RECOLLECT_MODEL": "auto"})


def test_a_spanish_note_takes_the_multilingual_model_and_the_command_line_says_so(
    automatic: CommandLine, models: Callable[[str | None], None]
) -> None:
    models(None)
    first = automatic("remember", SPANISH)
    assert first.stdout == "✓ Remembered as #1.\n"
    assert first.stderr == (
        "recollect: Texts are not in English, so this memory uses the model potion. For English alone, run: "
        "recollect reindex --model hashing\n"
    )
    assert automatic("remember", "El dentista es el lunes a las nueve").stderr == ""
    assert automatic.json("stats")["model"].startswith("potion@")
    listed = automatic.json("models")
    assert (listed["preferred"], listed["for_other_languages"]) == ("hashing", "potion")
    assert automatic.json("models", "--model", "hashing")["for_other_languages"] is None


def test_a_model_that_is_missing_is_named_with_the_command_that_installs_it(
    automatic: CommandLine, models: Callable[[str | None], None]
) -> None:
    models(INSTALL)
    remedy = f"{INSTALL}, then: recollect reindex --model potion"
    first = automatic("remember", SPANISH)
    assert remedy in first.stderr
    checks = automatic.json("doctor")["checks"]
    (check,) = [each for each in checks if each["what"] == "language"]
    assert (check["mark"], check["remedy"]) == ("note", remedy)
    assert automatic("remember", "El dentista es el lunes a las nueve").stderr == ""


def test_the_model_option_takes_effect(automatic: CommandLine, models: Callable[[str | None], None]) -> None:
    models(None)
    told = automatic.json("remember", SPANISH, "--model", "hashing")
    assert told["model_note"].endswith("Run: recollect reindex --model potion")
    assert automatic.json("stats")["model"] == "hashing@1"
    automatic("remember", "El dentista es el lunes a las nueve")
    assert automatic.json("stats")["model"] == "hashing@1"
    assert "language" in {each["what"] for each in automatic.json("doctor")["checks"]}
    automatic("reindex", "--model", "potion")
    assert "language" not in {each["what"] for each in automatic.json("doctor")["checks"]}


def test_imports_choose_by_what_they_bring(
    automatic: CommandLine, models: Callable[[str | None], None], tmp_path: Path
) -> None:
    models(None)
    turns = tmp_path / "talk.jsonl"
    turns.write_text(json.dumps({"role": "user", "content": SPANISH}) + "\n")
    report = automatic.json("import", str(turns))
    assert "this memory uses the model potion" in report["model_note"]
    assert automatic.json("stats")["model"].startswith("potion@")


@pytest.mark.anyio
async def test_an_agent_is_told_as_well(served: Served, models: Callable[[str | None], None]) -> None:
    models(INSTALL)
    async with served.inside("all") as client:
        with anyio.fail_after(PATIENCE_SECONDS):
            first = await client.call_tool("remember", {"text": SPANISH})
        assert first.structured_content is not None
        assert first.structured_content["note"].endswith("recollect reindex --model potion")
        assert INSTALL in " ".join(texts_of(first))
        assert "note" not in await call_tool_ok(
            client, "remember", text="El dentista es el lunes a las nueve"
        )


@needs_e5
def test_spanish_notes_are_found_by_an_english_question_with_nothing_set(tmp_path: Path) -> None:
    with library.open(tmp_path / "memory.db", model="auto") as memory:
        first = memory.remember(SPANISH)
        assert first.model_note is not None
        assert "e5-memory" in first.model_note
        for text in ("El dentista es el lunes a las nueve", "Aparco el coche en la planta tres"):
            assert memory.remember(text).similar is None
        hits = memory.recall("What is my sister allergic to?").hits
        assert hits[0].memory.id == first.id


@needs_e5
def test_english_notes_are_found_by_a_spanish_question_with_nothing_set(tmp_path: Path) -> None:
    with library.open(tmp_path / "memory.db", model="auto") as memory:
        memory.remember_many(["The dentist is on Monday at nine", "We park on level three"])
        nuts = memory.remember("My sister Lucy is allergic to nuts")
        answer = memory.recall("¿A qué es alérgica mi hermana?")
        assert answer.hits[0].memory.id == nuts.id
        assert memory.model is not None
        assert memory.model.name.startswith("e5-memory@")
        assert "now uses the model e5-memory" in (answer.note or "")


@needs_e5
def test_an_english_memory_never_makes_the_multilingual_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []

    def make(name: str, _: object) -> HashingEmbedder:
        made.append(name)
        return HashingEmbedder()

    monkeypatch.setattr(bootstrap, "_embedder", make)
    with library.open(tmp_path / "memory.db", model="auto") as memory:
        memory.remember("My sister Lucy is allergic to nuts")
        memory.recall("What is my sister allergic to?")
    assert made
    assert not any(name.startswith("e5-memory") for name in made)
