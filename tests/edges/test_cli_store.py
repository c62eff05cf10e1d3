"""The commands that look after a store, and how they fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw
import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from command_line import CommandLine

pytest_plugins = ["command_line"]
READING = [
    ["search", "tea"],
    ["find", "tea"],
    ["show", "Ana"],
    ["graph"],
    ["stats"],
    ["verify"],
    ["export", "-"],
    ["context", "tea"],
    ["history", "1"],
    ["session", "list"],
    ["session", "show", "harbour"],
    ["session", "extract", "harbour"],
    ["update", "1", "--pin"],
    ["supersede", "1", "2"],
]


@pytest.mark.parametrize("typed", [*READING, ["observe", "Ana", "x"], ["backup", "b.db"], ["reindex"]])
def test_a_mistyped_path_leaves_no_empty_store_behind(recollect: CommandLine, typed: list[str]) -> None:
    said = recollect.refused(*typed, status=3)
    assert str(recollect.store) in said
    assert "recollect import" in said
    assert not recollect.store.exists()


@pytest.mark.parametrize("typed", [*READING, ["add", "Ana"], ["remember", "tea"]])
def test_a_file_that_is_not_ours_is_refused_untouched(recollect: CommandLine, typed: list[str]) -> None:
    recollect.store.write_text("Dear diary, ")
    recollect.refused(*typed, status=3)
    assert recollect.store.read_text() == "Dear diary, "


def test_a_backup_is_put_back_after_a_question(harbour: CommandLine, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    assert harbour.json("backup", str(copy))["bytes"] == copy.stat().st_size
    harbour("delete", "Tidebook", "Marisol Vega")
    assert "add --yes" in harbour.refused("restore", str(copy), status=1)
    assert harbour.json("stats")["entities"] == 1
    harbour("restore", str(copy), "--yes")
    assert harbour.json("stats")["entities"] == 3


def test_a_backup_makes_a_store_where_there_is_none(harbour: CommandLine, tmp_path: Path) -> None:
    copy, new = tmp_path / "copy.db", str(tmp_path / "new.db")
    harbour("backup", str(copy))
    harbour("restore", str(copy), "--store", new)
    assert harbour.json("stats", "--store", new)["entities"] == 3


def test_a_backup_does_not_overwrite(harbour: CommandLine, tmp_path: Path) -> None:
    precious = tmp_path / "precious.txt"
    precious.write_text("keep me")
    harbour.refused("backup", str(precious), status=1)
    assert precious.read_text() == "keep me"


def test_restoring_takes_ids_or_one_file(harbour: CommandLine) -> None:
    harbour.refused("restore", "missing.db", status=1)
    harbour.refused("restore", "1", "missing.db", status=2)
    harbour.refused("restore", "--observation", "missing.db", status=2)


def test_a_store_that_is_well_verifies(harbour: CommandLine) -> None:
    assert harbour.json("verify") == {"ok": True, "found": [], "left": []}


def test_what_is_derived_is_repaired(harbour: CommandLine) -> None:
    connection = apsw.Connection(str(harbour.store))
    connection.execute("UPDATE passage SET live = 1 - live")
    connection.close()
    found = harbour.json("verify", status=1)
    assert found["left"]
    assert all(problem["repairable"] for problem in found["left"])
    assert "recollect verify --repair" in harbour("verify", status=1).stdout
    assert "all is well now" in harbour("verify", "--repair").stdout
    assert harbour.json("verify")["ok"] is True


def test_reindexing_switches_to_another_model(harbour: CommandLine) -> None:
    done = harbour.json("reindex", "--model", "hashing@1-64")
    assert done["switched"] is True
    assert done["embedded"] == harbour.json("stats")["passages"]
    assert harbour.json("stats")["model"] == "hashing@1-64"


def test_reindexing_embeds_what_was_written_without_a_model(recollect: CommandLine) -> None:
    result = recollect("add", "Ana", "-o", "likes tea", RECOLLECT_MODEL="none")
    assert "not yet found by meaning" in result.stderr
    assert recollect.json("stats")["due"] == 2
    assert recollect.json("reindex")["embedded"] == 2
    assert recollect.json("stats")["due"] == 0


@pytest.mark.parametrize("command", ["search", "context"])
def test_what_waits_for_a_vector_is_told_with_the_command_that_makes_it(
    harbour: CommandLine, command: str
) -> None:
    harbour("add", "Ana", "-o", "likes tea", RECOLLECT_MODEL="none")
    told = harbour(command, "tea").stderr
    assert "so only words find them. Run: recollect reindex" in told
    harbour("reindex")
    assert "reindex" not in harbour(command, "tea").stderr


def test_a_model_that_is_not_there_has_its_own_status(harbour: CommandLine) -> None:
    assert "there are: arctic-s" in harbour.refused("reindex", "--model", "psychic", status=4)
    harbour.refused("reindex", "--model", "none", status=4)


def test_statistics_count_what_is_held(harbour: CommandLine) -> None:
    counts = harbour.json("stats")
    assert (counts["entities"], counts["observations"], counts["relations"]) == (3, 4, 1)
    assert counts["store"] == str(harbour.store)
    assert "entities\t3" in harbour("stats").stdout


def test_a_locked_store_says_so(harbour: CommandLine) -> None:
    blocker = apsw.Connection(str(harbour.store))
    blocker.execute("BEGIN IMMEDIATE")
    said = harbour.refused("add", "Ana", status=3, RECOLLECT_BUSY_SECONDS="0.05")
    blocker.close()
    assert "locked by another program" in said


@pytest.mark.parametrize("name", ["", "   ", "a\0b"])
def test_a_name_that_cannot_be_kept_is_refused(harbour: CommandLine, name: str) -> None:
    harbour.refused("add", name, status=1)
    assert harbour.json("stats")["entities"] == 3


def test_a_purge_names_the_copies_that_keep_what_it_destroyed(recollect: CommandLine) -> None:
    recollect("remember", "The safe's code is 4711")
    recollect("forget", "1")
    damaged = recollect.store.with_name(f"{recollect.store.name}-damaged")
    backups = recollect.store.with_name(f"{recollect.store.name}-backups")
    recollect("backup", str(damaged))
    backups.mkdir()
    done = recollect("purge", "--before", "0d", "--yes")
    assert "Destroyed 1 forgotten thing for good" in done.stdout
    assert f"Backups in {backups}, {damaged} still hold what they held" in done.stderr
    assert "exports that you made elsewhere keep what they hold" in done.stdout
    damaged.unlink()
    backups.rmdir()
    done = recollect("purge", "--before", "0d", "--yes")
    assert "hold" not in done.stdout + done.stderr
