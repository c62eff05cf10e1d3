"""The commands that write and read the knowledge graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from command_line import CommandLine

pytest_plugins = ["command_line"]


def _observations(recollect: CommandLine, name: str) -> list[str]:
    (entity,) = recollect.json("show", name)["entities"]
    live = [each for each in entity["observations"] if not each["superseded_at"] and not each["deleted_at"]]
    return [each["content"] for each in live]


def _relations(recollect: CommandLine, name: str) -> set[tuple[str, str, str]]:
    return {
        (each["source"], each["type"], each["target"]) for each in recollect.json("show", name)["relations"]
    }


def test_adding_tells_created_from_merged(recollect: CommandLine) -> None:
    assert recollect("add", "Ana", "-o", "likes tea").stdout == "Created Ana (#1) with 1 observation.\n"
    assert recollect("add", "Ana", "-o", "plays chess").stdout == "Ana (#1) gained 1 new observation.\n"
    assert "was there already" in recollect("add", "Ana", "-o", "plays chess").stdout
    assert recollect.json("add", "Ana")["created"] is False


def test_adding_keeps_type_status_and_importance(recollect: CommandLine) -> None:
    recollect("add", "Tidebook", "--type", "project", "--status", "pausado", "--importance", "0.9")
    (entity,) = recollect.json("show", "Tidebook")["entities"]
    assert (entity["type"], entity["status"], entity["importance"]) == ("project", "paused", 0.9)


def test_a_near_repeat_is_kept_and_pointed_out(recollect: CommandLine) -> None:
    recollect("add", "Ana", "-o", "likes green tea")
    said = recollect("observe", "Ana", "likes green tea in the garden with friends").stdout
    assert "#2 nearly repeats #1" in said
    assert len(_observations(recollect, "Ana")) == 2


def test_observing_needs_an_entity_that_exists(harbour: CommandLine) -> None:
    assert "'Nobody'" in harbour.refused("observe", "Nobody", "is here", status=1)


def test_observations_carry_kind_and_time(harbour: CommandLine) -> None:
    harbour(
        "observe", "Tidebook", "Ships in May", "--kind", "decision", "--happened-at", "2026-02-03T10:00+00:00"
    )
    (entity,) = harbour.json("show", "Tidebook")["entities"]
    last = entity["observations"][-1]
    assert (last["kind"], last["happened_at"]) == ("decision", "2026-02-03T10:00:00+00:00")


@pytest.mark.parametrize("old", ["Sails on Sundays", "#2"])
def test_a_correction_keeps_the_old_observation_as_history(harbour: CommandLine, old: str) -> None:
    harbour("observe", "Marisol Vega", "Sails on Mondays", "--supersedes", old)
    assert _observations(harbour, "Marisol Vega") == ["Drinks oolong after lunch", "Sails on Mondays"]
    assert "Sails on Sundays" not in harbour("show", "Marisol Vega").stdout
    assert (
        "replaced\tMarisol Vega\tSails on Sundays\t2" in harbour("show", "Marisol Vega", "--history").stdout
    )


def test_a_correction_replaces_by_one_text_only(harbour: CommandLine) -> None:
    harbour.refused("observe", "Tidebook", "one", "two", "--supersedes", "#4", status=2)


def test_a_removed_observation_can_be_brought_back(harbour: CommandLine) -> None:
    removed = harbour.json("unobserve", "Marisol Vega", "Sails on Sundays", "Never said")
    assert (removed["removed"], removed["absent"]) == (1, ["Never said"])
    assert _observations(harbour, "Marisol Vega") == ["Drinks oolong after lunch"]
    harbour("restore", "--observation", str(removed["observations"][0]))
    assert "Sails on Sundays" in _observations(harbour, "Marisol Vega")


def test_declared_pairs_get_their_inverse(harbour: CommandLine) -> None:
    assert "The inverse holds too." in harbour("relate", "Tidebook", "contains", "Jun Watanabe").stdout
    assert ("Jun Watanabe", "part_of", "Tidebook") in _relations(harbour, "Tidebook")
    assert harbour.json("unrelate", "Tidebook", "contains", "Jun Watanabe")["removed"] == 2
    assert _relations(harbour, "Jun Watanabe") == set()


def test_a_relation_to_a_missing_entity_is_refused_unless_asked_for(harbour: CommandLine) -> None:
    harbour.refused("relate", "Tidebook", "uses", "SQLite", status=1)
    made = harbour.json("relate", "Tidebook", "uses", "SQLite", "--create-missing", "--context", "one file")
    assert made["also_created"] == ["SQLite"]
    (entity,) = harbour.json("show", "SQLite")["entities"]
    assert entity["type"] == "unknown"


def test_an_unknown_type_gives_way_and_a_known_one_does_not(harbour: CommandLine) -> None:
    harbour("relate", "Tidebook", "uses", "SQLite", "--create-missing")
    said = harbour("add", "SQLite", "-t", "software", "-o", "Is one file").stdout
    assert "took its type, software, and gained 1 new observation." in said
    said = harbour("add", "SQLite", "-t", "library").stdout
    assert "was there already, and knew all of this." in said
    assert "It keeps its type software." in said
    data = harbour.json("add", "SQLite", "-t", "library")
    assert (data["took_type"], data["kept_type"]) == (None, "software")


def test_a_known_relation_is_said_to_be_known(harbour: CommandLine) -> None:
    assert "known already" in harbour("relate", "Marisol Vega", "leads", "Tidebook").stdout


def test_an_ended_relation_holds_no_more(harbour: CommandLine) -> None:
    harbour("end-relation", "Marisol Vega", "leads", "Tidebook", "--at", "2026-04-01")
    assert _relations(harbour, "Tidebook") == set()
    harbour.refused("end-relation", "Marisol Vega", "leads", "Tidebook", status=1)


def test_removing_a_relation_that_is_not_there_says_so(harbour: CommandLine) -> None:
    assert "no such relation" in harbour("unrelate", "Tidebook", "leads", "Marisol Vega").stdout


def test_a_time_that_is_none_is_refused(harbour: CommandLine) -> None:
    said = harbour.refused("relate", "Tidebook", "uses", "Tidebook", "--since", "last week", status=2)
    assert "write it like 2026-03-01" in said


def test_what_was_deleted_can_be_restored_with_its_relations(harbour: CommandLine) -> None:
    said = harbour("delete", "Tidebook", "Nothing").stdout
    assert "Bring back: recollect restore 3" in said
    assert "1 of those asked for was not there" in said
    harbour.refused("show", "Tidebook", status=1)
    assert harbour("restore", "3").stdout == "Restored Tidebook.\n"
    assert _relations(harbour, "Tidebook") == {("Marisol Vega", "leads", "Tidebook")}


def test_memories_are_forgotten_by_id(harbour: CommandLine) -> None:
    assert harbour.json("forget", "1", "99", status=1) == {"forgotten": [1], "absent": 1}
    assert harbour.json("restore", "#1")["restored"][0]["name"] == "Marisol Vega"


def test_purging_asks_first_and_then_destroys(harbour: CommandLine) -> None:
    harbour("delete", "Tidebook")
    assert "add --yes" in harbour.refused("purge", "--before", "0d", status=1)
    assert harbour.json("stats")["forgotten"] == 1
    assert harbour.json("purge", "--before", "1d", "--yes")["purged"] == 0
    assert harbour.json("purge", "--before", "0d", "--yes")["purged"] > 0
    harbour.refused("restore", "3", status=1)


def test_a_status_is_set_in_english_or_spanish(harbour: CommandLine) -> None:
    assert harbour("status", "Tidebook", "Completado").stdout == "Tidebook is completed.\n"
    assert "paused" in harbour.refused("status", "Tidebook", "sleeping", status=1)


def test_showing_names_what_is_not_there(harbour: CommandLine) -> None:
    result = harbour("show", "tidebook", "Nobody")
    assert "entity\tTidebook\tproject\tactive\n" in result.stdout
    assert "'Nobody'" in result.stderr
    assert "recollect find" in harbour.refused("show", "Nobody", status=1)


def test_finding_goes_by_words_and_by_text_inside_words(harbour: CommandLine) -> None:
    def found(*text: str) -> list[str]:
        return [each["name"] for each in harbour.json("find", *text)["entities"]]

    assert found("OOLONG", "lunch") == ["Marisol Vega"]
    assert found("灯台") == ["Jun Watanabe"]
    assert found("debo") == ["Tidebook"]
    assert found("coffee") == []


def test_the_graph_is_read_page_by_page(harbour: CommandLine) -> None:
    first = harbour.json("graph", "--limit", "2")
    last = harbour.json("graph", "--limit", "2", "--after", str(first["cursor"]))
    assert [each["name"] for each in first["entities"]] == ["Marisol Vega", "Jun Watanabe"]
    assert [each["name"] for each in last["entities"]] == ["Tidebook"]
    assert last["cursor"] is None
    assert "recollect graph --limit 2 --after 2" in harbour("graph", "--limit", "2").stderr


def test_lines_of_the_graph_begin_with_what_they_are(harbour: CommandLine) -> None:
    lines = harbour("graph").stdout.splitlines()
    assert "entity\tJun Watanabe\tperson\tactive" in lines
    assert "observation\tJun Watanabe\t週末は灯台まで歩く" in lines
    assert lines[-1] == "relation\tMarisol Vega\tleads\tTidebook"


def test_scopes_do_not_see_one_another(harbour: CommandLine) -> None:
    harbour("--owner", "ana", "add", "Secret")
    assert [each["name"] for each in harbour.json("graph", "--owner", "ana")["entities"]] == ["Secret"]
    harbour.refused("show", "Secret", status=1)
    harbour.refused("show", "Tidebook", "--owner", "ana", status=1)
