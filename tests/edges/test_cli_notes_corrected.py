"""Notes and messages that are shown, updated, superseded, forgotten and brought back."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from command_line import CommandLine

pytest_plugins = ["command_line"]


def _text(recollect: CommandLine, id_: int) -> dict[str, Any]:
    (text,) = recollect.json("show", str(id_))["texts"]
    assert isinstance(text, dict)
    return text


def _found(recollect: CommandLine, *typed: str) -> list[int]:
    return [hit["memory"]["id"] for hit in recollect.json("search", *typed)["hits"]]


@pytest.fixture
def notes(recollect: CommandLine) -> CommandLine:
    """#1 and #2 say nearly the same, #3 something else."""
    recollect("remember", "Tidebook ships in May", "--tag", "release", "--category", "plans_goals")
    recollect("remember", "Tidebook ships in May.", "--source", "mail")  # counted, not stored twice
    recollect("remember", "The Tidebook ships in May")
    recollect("remember", "Ana keeps bees")
    return recollect


# Showing


def test_a_note_is_shown_with_what_is_not_usual_about_it(notes: CommandLine) -> None:
    lines = notes("show", "1").stdout.splitlines()
    assert lines[0] == "note\t1\t\tTidebook ships in May"
    assert "field\t1\tcategory\tplans_goals" in lines
    assert "field\t1\ttags\trelease" in lines
    assert "field\t1\trepeated\t2 times in all" in lines
    assert not any("importance" in line or "pinned" in line or "status" in line for line in lines)


def test_a_terminal_shows_a_note_as_a_card(notes: CommandLine) -> None:
    shown = notes("show", "#1", "--color").stdout
    assert "╭─" in shown
    assert "Tidebook ships in May" in shown
    assert "plans_goals" in shown


def test_names_and_ids_are_shown_together_and_a_name_wins_over_an_id(notes: CommandLine) -> None:
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


# Updating


def test_an_update_changes_what_is_given_and_leaves_the_rest(notes: CommandLine) -> None:
    said = notes("update", "#1", "--importance", "0.9", "--pin", "--status", "pausado").stdout
    assert said.startswith("Updated note #1.\n")
    note = _text(notes, 1)
    assert (note["importance"], note["pinned"], note["status"]) == (0.9, True, "paused")
    assert (note["text"], note["tags"], note["category"]) == (
        "Tidebook ships in May",
        ["release"],
        "plans_goals",
    )
    notes("update", "1", "--no-pin", "--tag", "a", "--tag", "b", "--happened", "2024-05-06")
    note = _text(notes, 1)
    assert (note["pinned"], sorted(note["tags"])) == (False, ["a", "b"])
    assert note["happened_at"] == "2024-05-06T00:00:00+00:00"
    notes("update", "1", "--no-tags")
    assert _text(notes, 1)["tags"] == []


def test_a_former_text_is_kept(notes: CommandLine) -> None:
    notes("update", "3", "--text", "Ana keeps goats")
    note = _text(notes, 3)
    assert note["text"] == "Ana keeps goats"
    assert [each["text"] for each in note["former"]] == ["Ana keeps bees"]
    assert "Ana keeps bees" in notes("show", "3").stdout


def test_an_entity_is_updated_by_its_name(harbour: CommandLine) -> None:
    assert "Updated Tidebook (#3)." in harbour("update", "tidebook", "--importance", "0.9").stdout
    (entity,) = harbour.json("show", "Tidebook")["entities"]
    assert entity["importance"] == 0.9


@pytest.mark.parametrize(
    ("typed", "status"),
    [
        (["1"], 2),
        (["1", "--tag", "a", "--no-tags"], 2),
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
    found = _found(notes, "Tidebook ships")
    assert found[0] == done["by"]["id"]
    assert not {1, 2} & set(found)
    assert _text(notes, 2)["superseded_by"] == done["by"]["id"]


def test_a_correction_is_told_in_words(notes: CommandLine) -> None:
    said = notes("supersede", "1", "Tidebook ships in June").stdout
    assert "#4 supersedes #1." in said
    assert "Retired, #1: Tidebook ships in May" in said
    assert "Retired with it, a near-copy, #2: The Tidebook ships in May" in said
    assert "Take it back: recollect restore 1 2" in said


def test_an_observation_that_says_the_same_is_retired_with_it(recollect: CommandLine) -> None:
    recollect("add", "Tidebook", "-o", "ships in May")
    recollect("remember", "Tidebook: ships in May")
    said = recollect("supersede", "2", "Tidebook ships in June").stdout
    assert "Retired with it, a near-copy, observed of Tidebook: ships in May" in said
    (entity,) = recollect.json("show", "Tidebook")["entities"]
    assert entity["observations"][0]["corrected_by"] == 3


def test_only_what_was_named_is_retired_when_asked_so(notes: CommandLine) -> None:
    done = notes.json("supersede", "1", "#3", "--only")
    assert [each["id"] for each in done["retired"]] == [1]
    assert done["by"]["id"] == 3
    assert _text(notes, 2)["superseded_by"] is None


def test_a_note_cannot_supersede_itself_nor_an_entity_be_superseded(harbour: CommandLine) -> None:
    harbour("remember", "tea")
    harbour.refused("supersede", "4", "4", status=1)
    harbour.refused("supersede", "1", "tea", status=1)
    harbour.refused("supersede", "99", "tea", status=1)
    harbour.refused("supersede", "Tidebook", "tea", status=2)


# Forgetting and restoring


def test_forgetting_says_what_was_forgotten(notes: CommandLine) -> None:
    done = notes("forget", "#3", "99", status=1)
    said = done.stdout
    assert done.stderr == "recollect: #99 is not there; `recollect recall` shows ids.\n"
    assert "Forgot 1 memory: #3." in said
    assert "note #3: Ana keeps bees" in said
    assert "1 of those asked for was not there" in said
    assert 3 not in _found(notes, "bees")
    assert notes("restore", "3").stdout == "Restored note #3.\n  #3: Ana keeps bees\n"
    assert 3 in _found(notes, "bees")


def test_what_is_not_there_cannot_be_forgotten(notes: CommandLine) -> None:
    assert notes("forget", "99", "98", status=1).stderr.startswith("recollect: #98, #99 are not there;")
    notes("forget", "3")
    again = notes("forget", "3", status=1)
    assert again.stderr.startswith("recollect: #3 was forgotten already;")
    assert "Forgot 0 memories." in again.stdout


def test_restoring_what_was_superseded_says_by_what_it_was(notes: CommandLine) -> None:
    notes("supersede", "3", "Ana keeps goats", "--only")
    assert 3 not in _found(notes, "Ana keeps bees")
    said = notes("restore", "3").stdout
    assert "#3 was superseded by #4, which stays" in said
    assert "recollect forget 4" in said
    assert set(_found(notes, "Ana keeps")) >= {3, 4}


def test_what_was_superseded_and_then_forgotten_comes_back_in_two_steps(notes: CommandLine) -> None:
    notes("supersede", "3", "Ana keeps goats", "--only")
    notes("forget", "3")
    assert "#3 is still superseded by #4" in notes("restore", "3").stdout
    assert 3 not in _found(notes, "Ana keeps bees")
    assert "#3 was superseded by #4" in notes("restore", "3").stdout
    assert 3 in _found(notes, "Ana keeps bees")


def test_a_message_is_shown_among_its_neighbours(recollect: CommandLine) -> None:
    turns = [{"role": "user", "speaker": "Ana", "content": f"turn {number}"} for number in range(1, 8)]
    recollect("session", "add", "talk", "-", "--no-extract", given=json.dumps(turns))
    shown = _text(recollect, 4)
    assert [turn["text"] for turn in shown["around"]] == [f"turn {number}" for number in range(2, 7)]
    lines = recollect("show", "4").stdout.splitlines()
    assert lines[0] == "message\t4\tAna\tturn 4"
    assert "field\t4\tsession\ttalk, turn 4" in lines
    assert [line.split("\t")[2] for line in lines if line.startswith("near\t")] == ["2", "3", "5", "6"]
    said = recollect("forget", "4").stdout
    assert "message #4: Ana: turn 4" in said
