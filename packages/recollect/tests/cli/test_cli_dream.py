"""`recollect dream`: what it says, what it writes, when it refuses, and how it is undone."""

from __future__ import annotations

import re
from datetime import UTC
from typing import TYPE_CHECKING

import pytest
from dream_world import ALLERGY, ASKED, FERRY, MEETING, knobs, opened

from recollect.cli.commands.dreams import PHASES, dream_result
from recollect.cli.terminal import draw
from recollect.domain.changes import TakeLease
from recollect.dreams.knobs import Knobs, Phase

if TYPE_CHECKING:
    from command_line import CommandLine

pytest_plugins = ["command_line", "dream_fixtures"]

HARBOUR, LAST_FERRY = "Harbour team meets on Thursdays at nine", "The last ferry leaves at 21:40"
# Prune every memory without recent recalls, even if no other memory says the same.
GREEDY = {"prune_staleness": 5, "prune_signal": 0.01, "prune_strength": 2, "prune_echo": 0}


def test_without_memories_there_is_nothing_to_dream_of(recollect: CommandLine) -> None:
    assert "There is no memory at" in recollect.refused("dream", status=3)
    assert not recollect.store.exists()
    recollect("remember", "tea")
    recollect("forget", "1")
    assert recollect.json("dream")["report"]["memories"] == 0
    shown = recollect("dream", "--color").stdout
    assert "Nothing to do: the memory is empty." in shown
    assert list(PHASES) == list(Phase)


def test_a_first_dream_tells_what_it_did(night: CommandLine) -> None:
    shown = night("dream", COLUMNS="80").stdout
    assert shown.startswith("✓ Dream 1  ")
    assert "First dream: 5 memories, 4 answers so far." in shown
    assert "● Merged 1 " in shown
    assert "● Settled 4 " in shown  # the fifth lives on in another
    assert re.search(rf"4 +{HARBOUR}\n +→ .* #{MEETING}\n", shown)
    assert f"{ALLERGY}  2 → 3  Marisol is allergic to nuts\n" in shown
    for title in ("Last longer", "Deeper", "Linked", "Test passed"):
        assert title in shown
    assert max(map(len, shown.splitlines())) <= 80
    assert re.search(r" questions \(.*\n  \w", shown)  # indented where it is wrapped
    assert "Undo: recollect dream undo 1" in shown


def test_what_is_told_as_json_can_be_worked_with(night: CommandLine) -> None:
    told = night.json("dream")
    assert (told["id"], told["dry_run"], told["written"], told["gate_open"]) == (1, False, True, True)
    assert told["report"]["merged"] == [[4, MEETING]]
    assert told["memories"]["4"] == HARBOUR
    assert told["left"] == []


def test_a_dry_run_writes_nothing_and_phases_are_chosen_or_left_out(night: CommandLine) -> None:
    told = night.json("dream", "--dry-run")
    assert (told["id"], told["dry_run"], told["written"]) == (None, True, False)
    assert told["report"]["merged"] == [[4, MEETING]]
    assert "What a dream would do now; nothing was written." in night("dream", "--dry-run").stdout
    assert night.json("dream", "history")["dreams"] == []
    assert night.json("show", "4")["texts"][0]["superseded_by"] is None
    only = night.json("dream", "--dry-run", "--phase", "link", "--phase", "merge")["report"]
    assert only["phases"] == ["merge", "link"]
    assert only["upkeep"] is None
    rest = night.json("dream", "--dry-run", "--without", "merge", "--without", "report")["report"]
    assert "merge" not in rest["phases"]
    assert rest["merged"] == []
    out = "merge,link"
    usual = night.json("dream", "--dry-run", RECOLLECT_DREAM_WITHOUT=out)["report"]
    assert not {"merge", "link"} & set(usual["phases"])
    asked = night.json("dream", "--dry-run", "--phase", "merge", RECOLLECT_DREAM_WITHOUT=out)["report"]
    assert asked["phases"] == ["merge"]
    night("recall", ASKED, RECOLLECT_DREAM="on")
    assert night.json("dream", "history")["dreams"] == []


def test_a_later_dream_tells_what_grew_stronger_and_what_faded(night: CommandLine) -> None:
    with opened(night.store, 3) as memory:
        memory.dream()
    with opened(night.store, 0.01) as memory:
        memory.recall(ASKED, limit=1)
    # 0.95 ** 3 = 0.86 of everything is left; what was asked a quarter of an hour ago got something back.
    assert ["1", "1.00 → 0.86", "Marisol Vega"] in night.rows("dream")
    shown = night("dream", "show", "2", "--color", COLUMNS="80").stdout
    assert "Faded" in shown
    assert "3.0 days ago" in shown


def test_one_process_at_a_time_dreams_and_reports_what_could_be_tidied(night: CommandLine) -> None:
    told = night("dream", "--phase", "report").stdout
    assert "Report\n    1 entity, 1 observation, 4 notes.\n" in told
    with opened(night.store, 0) as memory:
        memory._services.store.apply([TakeLease("dream", "somebody else", 120)], at=memory._services.clock())
    said = night.refused("dream", status=1)
    assert "Another process is dreaming on this memory. Try again when it is done" in said
    assert night.json("dream", "--dry-run")["dry_run"] is True


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        (["--phase", "nap"], "'nap' is not one of"),
        (["--without", "nap"], "'nap' is not one of"),
        (["--phase", "prune", "--without", "prune"], "leaves no phase"),
        (["--dry-run", "history"], "work only with `recollect dream` itself"),
        (["--no-gate", "undo", "1"], "work only with `recollect dream` itself"),
        (["tonight"], "No such command 'tonight'"),
    ],
)
def test_what_makes_no_sense_is_refused(night: CommandLine, typed: list[str], says: str) -> None:
    assert says in night.refused("dream", *typed, status=2)


# The gate


def test_a_closed_gate_says_who_is_to_blame_and_what_would_be_lost(night: CommandLine) -> None:
    knobs(night, **GREEDY)
    told = night.json("dream", status=1)
    assert (told["id"], told["written"], told["gate_open"]) == (None, False, False)
    assert told["report"]["gate"]["blame"] == "prune"
    assert FERRY in [loss["memory"] for loss in told["report"]["gate"]["losses"]]
    assert night.json("dream", "history")["dreams"] == []

    assert any(row[:2] == ["prune", str(FERRY)] for row in night.rows("dream", status=1))
    # At the end, since who looks at a memory uses it.
    assert night.json("show", str(FERRY))["texts"][0]["deleted_at"] is None

    shown = night("dream", "--color", status=1, COLUMNS="80").stdout
    assert "The dream was refused: nothing was written." in shown
    assert "The phase prune would lose too many answers." in shown
    assert "The last ferry leaves at" in shown
    assert "recollect dream --without prune" in shown


def test_the_gate_can_be_left_open_and_what_was_pruned_be_restored(night: CommandLine) -> None:
    knobs(night, **GREEDY)
    told = night.json("dream", "--no-gate")
    assert FERRY in told["report"]["pruned"]
    assert told["report"]["gate"] is None
    assert night.json("show", str(FERRY))["texts"][0]["deleted_at"] is not None
    night("restore", str(FERRY))
    assert night.json("show", str(FERRY))["texts"][0]["deleted_at"] is None


# Others


def test_settings_tell_of_dreams_and_go_along_to_a_client(recollect: CommandLine) -> None:
    told = recollect.json(
        "mcp", "install", "generic", RECOLLECT_DREAM="on", RECOLLECT_DREAM_WITHOUT="prune,link"
    )
    variables = told["entry"]["env"]
    assert (variables["RECOLLECT_DREAM"], variables["RECOLLECT_DREAM_WITHOUT"]) == ("on", "prune,link")
    recollect.store.with_name("config.toml").write_text(
        'dream = true\ndream_without = ["prune"]\nallow_hosts = ["box.local"]\n[dream_knobs]\ndaily = 0.9\n'
    )
    told = {each["name"]: each["value"] for each in recollect.json("settings")["settings"]}
    assert (told["dream"], told["dream_without"], told["dream_knobs"]) == ("on", "prune", "daily = 0.9")
    assert told["allow_hosts"] == "box.local"


# Memories in the output


def test_a_memory_shows_what_dreams_made_of_it(night: CommandLine) -> None:
    assert not any(row[0] == "stage" for row in night.rows("show", str(ALLERGY)))
    night("dream")
    told = night.rows("show", str(ALLERGY))
    assert ["stage", "consolidated"] in told
    assert ["depth", "deep"] in told
    assert any(row[0] == "stability" for row in told)
    assert ["comes up with", "Marisol Vega", "#1, 4 answers"] in told
    (text,) = night.json("show", str(ALLERGY))["texts"]
    assert text["links"] == [{"id": 1, "text": "Marisol Vega", "answers": 4}]
    assert (text["depth"], text["consolidation"]) == (3, "consolidated")
    night("update", "Marisol Vega", "--mark", "family", "--pin")
    night("dream")
    told = night.rows("show", "Marisol Vega")
    assert ["marked", "family"] in told
    assert ["pinned", "yes"] in told
    assert ["comes up with", "Marisol is allergic to nuts", f"#{ALLERGY}, 4 answers"] in told
    (entity,) = night.json("show", "Marisol Vega")["entities"]
    assert entity["links"][0]["id"] == ALLERGY


def test_a_mark_is_set_and_taken_off(night: CommandLine) -> None:
    assert "marked: vital" in night("update", str(FERRY), "--mark", " vital ").stdout
    assert night.json("show", str(FERRY))["texts"][0]["importance_tag"] == "vital"
    night("update", str(FERRY), "--importance", "0.9")
    assert night.json("show", str(FERRY))["texts"][0]["importance_tag"] == "vital"
    night("update", str(FERRY), "--no-mark")
    assert night.json("show", str(FERRY))["texts"][0]["importance_tag"] is None
    night("update", str(FERRY), "--mark", "vital", "--tag", "tide", "--expires", "2999-01-01")
    night("update", str(FERRY), "--mark", "", "--tag", "", "--expires", "never")
    (text,) = night.json("show", str(FERRY))["texts"]
    assert (text["importance_tag"], text["tags"], text.get("expires_at")) == (None, [], None)


def test_stats_and_doctor_tell_of_the_last_dream_and_the_schedule(night: CommandLine) -> None:
    assert ["last dream", "never"] in night.rows("stats")
    assert ["automatic dreams", "off"] in night.rows("stats")
    assert "no dream yet; automatic: off" in night("doctor").stdout
    night("dream")
    settings = night.store.with_name("config.toml")
    settings.write_text('dream = "on"\ndream_every_minutes = 90\n')
    told = night.json("stats")
    assert told["dream"] is True
    assert told["last_dream"] == night.json("dream", "history")["dreams"][0]["at"]
    assert ["automatic dreams", "every 90 minutes"] in night.rows("stats")
    assert "automatic: every 90 minutes" in night("doctor").stdout
    night("dream", "undo", "1", "--yes")
    assert night.json("stats")["last_dream"] is None


def test_the_dreams_are_listed_newest_first_in_a_few_words(night: CommandLine) -> None:
    assert "No dreams yet" in night("dream", "history", "--color").stdout
    night("dream")
    night("dream")
    newest, first = night.rows("dream", "history")[2:4]
    assert (newest[0], first[0]) == ("2", "1")
    assert "1 merged" in first[2]
    assert "4 faded" in newest[2]
    assert len(first) == len(newest) == 3
    assert "1 merged" not in night("dream", "history", "--limit", "1").stdout
    night("dream", "undo", "2", "--yes")
    newest = night.rows("dream", "history")[2]
    assert len(newest) == 4
    told = night.json("dream", "history")["dreams"]
    assert told[0]["undone_at"] is not None
    assert told[1]["report"]["merged"] == [[4, MEETING]]
    assert "Undone" in night("dream", "history", "--color").stdout


def test_one_dream_is_shown_with_texts_and_journal(night: CommandLine) -> None:
    assert "There is no dream 7; `recollect dream history`" in night.refused("dream", "show", "7", status=1)
    assert "There is no dream 7" in night.refused("dream", "undo", "7", "--yes", status=1)
    assert "is not an id" in night.refused("dream", "show", "last", status=2)
    night("dream")
    told = night("dream", "show", "1").stdout
    assert told.startswith("✓ Dream 1  ")
    assert "Journal" not in told
    rows = night.rows("dream", "show", "#1", "--changes")
    assert ["depth", str(ALLERGY), "2", "3", "Marisol is allergic to nuts"] in rows
    assert ["merged", "4", "in force", f"superseded by #{MEETING}", HARBOUR] in rows
    assert any(row[:4] == ["link", "1", "0", "4"] for row in rows)
    assert ["consolidation", str(FERRY), "staged", "consolidated", LAST_FERRY] in rows
    shown = night("dream", "show", "1", "--changes", "--color", COLUMNS="80").stdout
    assert "Journal: " in shown
    assert "superseded by" in shown
    night("dream")
    told = night.json("dream", "show", "1")
    assert (told["id"], told["undone_at"]) == (1, None)
    assert told["memories"]["4"] == HARBOUR
    assert told["changes"]["merged"][0]["gone"] == 4
    assert {each["field"] for each in told["changes"]["lived"]} >= {"consolidation", "stability", "depth"}
    assert "merge" in told["phases"]
    night("dream")
    night("forget", str(ALLERGY))
    night("purge", "--before", "0d", "--yes")
    rows = night.rows("dream", "show", "1", "--changes")
    assert ["depth", str(ALLERGY), "2", "3", "(purged since)"] in rows


def test_pruned_and_merged_observations_are_in_the_journal(night: CommandLine) -> None:
    night("observe", "Marisol Vega", "Likes oolong!")
    knobs(night, prune_staleness=5, prune_signal=0.01, prune_strength=2, prune_echo=0)
    told = night.json("dream", "--no-gate")["report"]
    assert len(told["merged_observations"]) == 1
    changes = night.rows("dream", "show", "1", "--changes")
    assert ["pruned", str(FERRY), "in force", "forgotten", LAST_FERRY] in changes
    (merged,) = (row for row in changes if row[0] == "merged observation")
    assert merged[4].startswith("Marisol Vega: Likes oolong")
    assert "→ Likes oolong" in night("dream", "show", "1", "--color").stdout


def test_what_somebody_changed_meanwhile_is_named(night: CommandLine) -> None:
    with opened(night.store, 0) as memory:

        def meanwhile(stage: int, _: int | None) -> None:
            if stage == 4:  # planned, and not yet written
                memory.forget([FERRY])

        result = dream_result(memory, memory.dream(progress=meanwhile), UTC, dry_run=False)
    assert list(result.data["left"]) == [FERRY]
    shown = list(draw(result.view, width=80, color=False))
    place = shown.index("Skipped, since they changed during the dream: 1")
    assert shown[place + 1] == f"{FERRY}  {LAST_FERRY}"


# Undoing


def test_undoing_puts_everything_back(night: CommandLine) -> None:
    before = night.json("show", "1", "2", "3", "4", "5")
    night("dream")
    assert night.json("show", "1", "2", "3", "4", "5") != before
    told = night.json("dream", "undo", "1", "--yes")
    assert told["undone"] == [1]
    assert told["changes"] > 5
    assert told["left"] == []
    after = night.json("show", "1", "2", "3", "4", "5")
    assert after == before
    assert "was undone already" in night.refused("dream", "undo", "1", "--yes", status=1)


def test_a_terminal_shows_how_far_a_dream_has_come_and_undoing_asks_first(night: CommandLine) -> None:
    shown = night.in_terminal("dream")
    assert "Reading memories" in shown
    assert "Dream 1" in shown
    said = night.refused("dream", "undo", "1", status=1)
    assert "Undo dream 1? Standard input is not a terminal; add --yes" in said
    assert night.json("dream", "history")["dreams"][0]["undone_at"] is None
    assert "Nothing was changed" in night.in_terminal("dream", "undo", "1", keys="n\n", status=1)
    assert night.json("dream", "history")["dreams"][0]["undone_at"] is None
    assert "Undid dream 1" in night.in_terminal("dream", "undo", "1", keys="y\n")
    assert night.json("dream", "history")["dreams"][0]["undone_at"] is not None


def test_what_was_changed_since_is_left_and_named(night: CommandLine) -> None:
    with opened(night.store, 2) as memory:
        memory.dream()
    night("restore", "4")  # in force again, by a person's will
    said = night("dream", "undo", "1", "--yes").stdout
    assert said.startswith("● Undid dream 1: ")
    assert "kept 1 memory that changed since." in said
    assert "Kept, because it changed since: #4 Harbour team meets on Thursdays at nine" in said


def test_a_dream_that_others_built_on_is_undone_with_them(night: CommandLine) -> None:
    before = night.json("show", "1", "2", "3", "4", "5")
    night("dream")
    night("dream")
    said = night.refused("dream", "undo", "1", "--yes", status=1)
    assert "Dream 2 came after dream 1" in said
    assert "recollect dream undo 1 --later" in said
    said = night.refused("dream", "undo", "1", "--later", status=1)
    assert "Undo dream 1 and the 1 dream since?" in said
    assert "Undid dreams 2, 1: " in night("dream", "undo", "1", "--later", "--yes").stdout
    assert night.json("show", "1", "2", "3", "4", "5") == before


def test_a_phase_that_the_night_left_out_is_named(night: CommandLine) -> None:
    with opened(night.store, 0) as memory:
        greedy = Knobs(prune_staleness=5, prune_signal=0.01, prune_strength=2, prune_echo=0)
        assert memory.dream(knobs=greedy, drop_failing=True).id == 1
    assert night.rows("dream", "history")[2][2].endswith("without prune")
    shown = night("dream", "show", "1").stdout
    assert "Skipped phases, which would lose too many answers: prune" in shown
