"""`recollect dream history`, `show` and `undo`."""

from __future__ import annotations

import os
import pty
import subprocess
from datetime import UTC
from typing import TYPE_CHECKING

import pytest
from dream_world import ALLERGY, FERRY, MEETING, knobs, opened

from recollect.cli.commands.dreams import dream_result
from recollect.cli.rendering import pipe_lines
from recollect.cli.terminal import print_blocks
from recollect.dreams.knobs import Knobs

if TYPE_CHECKING:
    from command_line import CommandLine

pytest_plugins = ["command_line", "dream_fixtures"]


def lines(recollect: CommandLine, *typed: str) -> list[list[str]]:
    return [line.split("\t") for line in recollect(*typed).stdout.splitlines()]


def test_the_dreams_are_listed_newest_first_in_a_few_words(night: CommandLine) -> None:
    assert "No dreams yet" in night("dream", "history", "--color").stdout
    night("dream")
    night("dream")
    newest, first = lines(night, "dream", "history")
    assert (newest[0], first[0]) == ("2", "1")
    assert "1 merged" in first[2]
    assert "4 faded" in newest[2]
    assert first[3] == ""
    assert len(lines(night, "dream", "history", "--limit", "1")) == 1
    night("dream", "undo", "2", "--yes")
    newest, _ = lines(night, "dream", "history")
    assert newest[3] != ""
    told = night.json("dream", "history")["dreams"]
    assert told[0]["undone_at"] is not None
    assert told[1]["report"]["merged"] == [[4, MEETING]]
    assert "Undone" in night("dream", "history", "--color").stdout


def test_one_dream_is_shown_with_texts_and_journal(night: CommandLine) -> None:
    assert "There is no dream 7; `recollect dream history`" in night.refused("dream", "show", "7", status=1)
    assert "There is no dream 7" in night.refused("dream", "undo", "7", "--yes", status=1)
    assert "is no id" in night.refused("dream", "show", "last", status=2)
    night("dream")
    told = lines(night, "dream", "show", "1")
    assert told[0][:2] == ["dream", "1"]
    assert ["merged", "4", "", str(MEETING), "Harbour team meets on Thursdays at nine"] in told
    assert not any(line[0] == "change" for line in told)
    told = lines(night, "dream", "show", "#1", "--changes")
    assert ["change", "depth", str(ALLERGY), "2", "3", "Marisol is allergic to nuts"] in told
    assert [
        "change",
        "merged",
        "4",
        "in force",
        f"superseded by #{MEETING}",
        "Harbour team meets on Thursdays at nine",
    ] in told
    assert any(line[:3] == ["change", "link", "1"] and line[3:5] == ["0", "4"] for line in told)
    assert [
        "change",
        "consolidation",
        str(FERRY),
        "staged",
        "consolidated",
        "The last ferry leaves at 21:40",
    ] in told
    shown = night("dream", "show", "1", "--changes", "--color", COLUMNS="80").stdout
    assert "Journal: " in shown
    assert "superseded by" in shown
    night("dream")
    told = night.json("dream", "show", "1")
    assert (told["id"], told["undone_at"]) == (1, None)
    assert told["memories"]["4"] == "Harbour team meets on Thursdays at nine"
    assert told["changes"]["merged"][0]["gone"] == 4
    assert {each["field"] for each in told["changes"]["lived"]} >= {"consolidation", "stability", "depth"}
    assert "merge" in told["phases"]
    night("dream")
    night("forget", str(ALLERGY))
    night("purge", "--before", "0d", "--yes")
    assert ["change", "depth", str(ALLERGY), "2", "3", "(purged since)"] in lines(
        night, "dream", "show", "1", "--changes"
    )


def test_pruned_and_merged_observations_are_in_the_journal(night: CommandLine) -> None:
    night("observe", "Marisol Vega", "Likes oolong!")
    knobs(night, prune_staleness=5, prune_signal=0.01, prune_strength=2, prune_echo=0)
    told = night.json("dream", "--no-gate")["report"]
    assert len(told["merged_observations"]) == 1
    changes = [line for line in lines(night, "dream", "show", "1", "--changes") if line[0] == "change"]
    assert [
        "change",
        "pruned",
        str(FERRY),
        "in force",
        "forgotten",
        "The last ferry leaves at 21:40",
    ] in changes
    (merged,) = (line for line in changes if line[1] == "merged observation")
    assert merged[5].startswith("Marisol Vega: Likes oolong")
    assert "→ Likes oolong" in night("dream", "show", "1", "--color").stdout


def test_what_somebody_changed_meanwhile_is_named(
    night: CommandLine, capsys: pytest.CaptureFixture[str]
) -> None:
    with opened(night.store, 0) as memory:

        def meanwhile(stage: int, _: int | None) -> None:
            if stage == 4:  # planned, and not yet written
                memory.forget([FERRY])

        result = dream_result(memory, memory.dream(progress=meanwhile), UTC, dry_run=False)
    assert f"left\t{FERRY}\tThe last ferry leaves at 21:40" in list(pipe_lines(result))
    assert list(result.data["left"]) == [FERRY]
    print_blocks(result.view, color=False)
    assert "Changed meanwhile, and left as they are: 1" in capsys.readouterr().out


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


def test_undoing_asks_first(night: CommandLine) -> None:
    night("dream")
    said = night.refused("dream", "undo", "1", status=1)
    assert "Put everything back as it was before dream 1? Nobody is there to answer; add --yes" in said
    assert night.json("dream", "history")["dreams"][0]["undone_at"] is None
    assert "nothing was changed" in _typed(night, "n\n", "dream", "undo", "1")
    assert night.json("dream", "history")["dreams"][0]["undone_at"] is None
    assert "Undid dream 1" in _typed(night, "y\n", "dream", "undo", "1")
    assert night.json("dream", "history")["dreams"][0]["undone_at"] is not None


def test_what_was_changed_since_is_left_and_named(night: CommandLine) -> None:
    with opened(night.store, 2) as memory:
        memory.dream()
    night("restore", "4")  # in force again, by a person's will
    said = night("dream", "undo", "1", "--yes").stdout
    assert said.startswith("Undid dream 1: ")
    assert "but for 1 memory." in said
    assert "Changed since, and left as it is, #4: Harbour team meets on Thursdays at nine" in said


def test_a_dream_that_others_built_on_is_undone_with_them(night: CommandLine) -> None:
    before = night.json("show", "1", "2", "3", "4", "5")
    night("dream")
    night("dream")
    said = night.refused("dream", "undo", "1", "--yes", status=1)
    assert "Dream 2 came after dream 1" in said
    assert "recollect dream undo 1 --later" in said
    said = night.refused("dream", "undo", "1", "--later", status=1)
    assert "before dream 1 and the 1 dream since?" in said
    assert "Undid dreams 2, 1: " in night("dream", "undo", "1", "--later", "--yes").stdout
    assert night.json("show", "1", "2", "3", "4", "5") == before


# A terminal


def test_a_terminal_sees_how_far_a_dream_has_come(night: CommandLine) -> None:
    shown = _typed(night, "", "dream")
    assert "Looking at the day" in shown
    assert "Dream 1" in shown


def _typed(recollect: CommandLine, keys: str, *typed: str) -> str:
    """In a terminal, with these keys pressed; everything that it showed."""
    ours, theirs = pty.openpty()
    running = subprocess.Popen(
        [*recollect.program, *typed],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=recollect.variables(TERM="xterm-256color"),
        close_fds=True,
    )
    os.close(theirs)
    os.write(ours, keys.encode())
    shown = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # Linux says so when the other side is closed
            break
        if not piece:
            break
        shown += piece
    running.wait()
    os.close(ours)
    return shown.decode(errors="replace")


def test_a_phase_that_the_night_left_out_is_named(night: CommandLine) -> None:
    with opened(night.store, 0) as memory:
        greedy = Knobs(prune_staleness=5, prune_signal=0.01, prune_strength=2, prune_echo=0)
        assert memory.dream(knobs=greedy, drop_failing=True).id == 1
    assert ["skipped", "prune"] in lines(night, "dream", "show", "1")
    assert lines(night, "dream", "history")[0][2].endswith("without prune")
    shown = night("dream", "show", "1", "--color").stdout
    assert "Left out, since people would have found less: prune" in shown
