"""`recollect import` and `recollect export`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from recollect.domain.tables import COPY_MARK
from recollect.stores.sqlite.store import SqliteStore

if TYPE_CHECKING:
    from command_line import CommandLine

pytest_plugins = ["command_line"]
SAMPLE = Path(__file__).parents[4] / "examples" / "sample-graph.jsonl"
ANA = '{"type":"entity","name":"Ana","entityType":"person","observations":["likes tea"]}\n'


def test_the_sample_graph_is_imported_once(recollect: CommandLine) -> None:
    lines = [json.loads(line) for line in SAMPLE.read_text(encoding="utf-8").splitlines()]
    entities = [line for line in lines if line["type"] == "entity"]
    known, related = sum(len(each["observations"]) for each in entities), len(lines) - len(entities)
    said = recollect("import", str(SAMPLE)).stdout
    assert said == f"Imported {len(entities)} entities, {known} observations, {related} relations.\n"
    again = recollect("import", str(SAMPLE)).stdout
    assert again.startswith("Nothing new")
    assert f"Already there: {len(entities)} entities" in again


def test_standard_input_is_read(recollect: CommandLine) -> None:
    empty = recollect("import", "-", given="", status=1).stdout
    assert "Standard input is empty; nothing was imported." in empty
    recollect("import", "-", given=ANA)
    assert recollect.json("show", "Ana")["entities"][0]["type"] == "person"


def test_bad_lines_and_missing_ends_are_named(recollect: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "m.jsonl"
    file.write_text(
        ANA + "{broken\n" + '{"type":"relation","from":"Ana","to":"Ghost","relationType":"sees"}\n'
    )
    result = recollect("import", str(file))
    assert "Imported 1 entity, 1 observation, 1 relation." in result.stdout
    assert "Left out, line 2: " in result.stdout
    assert "Created with the type unknown, because relations name them: Ghost." in result.stdout
    data = recollect.json("import", str(file))
    assert (data["bad_count"], data["dangling_count"], data["also_created"]) == (1, 0, [])


def test_an_import_says_what_became_of_types(recollect: CommandLine) -> None:
    recollect("add", "Ana")
    recollect("add", "Bo", "-t", "ship")
    said = recollect("import", "-", given=ANA + ANA.replace("Ana", "Bo")).stdout
    assert "Got a type, which was unknown before: 1 entity." in said
    assert "Kept a type that differs from the file's: 1 entity." in said


def test_a_file_without_a_single_good_line_fails(recollect: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "m.jsonl"
    file.write_text("no json\nat all\n")
    recollect("import", str(file), status=1)


@pytest.mark.parametrize("more", [(), ("--format", "official"), ("--format", "markdown"), ("--dry-run",)])
def test_what_is_empty_is_no_success(recollect: CommandLine, tmp_path: Path, more: tuple[str, ...]) -> None:
    file, folder = tmp_path / "empty.json", tmp_path / "empty"
    file.write_text("\n")
    folder.mkdir()
    result = recollect("import", str(file), *more, status=1)
    assert "nothing was imported" in result.stdout + result.stderr
    if "official" not in more:
        assert f"{folder} is empty; nothing was imported." in recollect.refused(
            "import", str(folder), *more, status=1
        )


def test_other_markdown_than_an_export_is_sent_to_the_same_command(
    recollect: CommandLine, tmp_path: Path
) -> None:
    (tmp_path / "note.md").write_text("The ferry leaves at ten\n")
    said = recollect.refused("import", str(tmp_path), "--format", "markdown-export", status=1)
    assert "For other Markdown: recollect import FOLDER" in said


def test_a_file_that_is_not_there_makes_no_store(recollect: CommandLine) -> None:
    recollect.refused("import", "missing.jsonl", status=1)
    assert not recollect.store.exists()


@pytest.mark.parametrize("form", ["official", "full"])
def test_what_is_exported_can_be_imported(harbour: CommandLine, tmp_path: Path, form: str) -> None:
    file, other = str(tmp_path / "out.jsonl"), str(tmp_path / "other.db")
    said = harbour("export", file, "--format", form).stdout
    assert said.startswith("Exported 3 entities and 1 relation to ")
    harbour("import", file, "--store", other)
    assert harbour("graph", "--store", other).stdout == harbour("graph").stdout


def test_an_export_to_standard_output_is_nothing_but_the_export(harbour: CommandLine) -> None:
    result = harbour("export", "-")
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert rows[0] == {"recollect": 2}
    assert [row["name"] for row in rows if row.get("kind") == "entity"] == [
        "Marisol Vega",
        "Jun Watanabe",
        "Tidebook",
    ]
    assert "Exported 3 entities" in result.stderr


def test_a_folder_of_markdown_goes_out_and_in_and_the_ending_chooses(
    harbour: CommandLine, tmp_path: Path
) -> None:
    folder, other = str(tmp_path / "notes"), str(tmp_path / "other.db")
    said = harbour.json("export", f"{folder}/")
    assert (said["format"], said["entities"], said["relations"]) == ("markdown", 3, 1)
    assert "Left out" in said["note"]
    assert harbour("--store", other, "import", folder).stdout.startswith("Imported 3 entities, ")
    assert harbour.json("export", str(tmp_path / "tables.csv.zip"))["format"] == "csv"
    assert "--overwrite" in harbour.refused("export", folder, status=1)
    assert "name a path" in harbour.refused("export", "-", "--format", "csv", status=1)


def test_an_export_overwrites_only_when_told(harbour: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "out.jsonl"
    file.write_text("keep me")
    assert "--overwrite" in harbour.refused("export", str(file), status=1)
    assert file.read_text() == "keep me"
    harbour("export", str(file), "--overwrite")
    assert "Tidebook" in file.read_text()


def test_a_memory_is_copied_with_all_that_it_holds(recollect: CommandLine, tmp_path: Path) -> None:
    recollect("import", str(SAMPLE))
    recollect("recall", "who likes tea?")
    copied = tmp_path / "copy.db"
    said = recollect("copy", str(recollect.store), str(copied)).stdout
    assert said.startswith("Copied ")
    assert f" rows to {copied}." in said
    assert "both stores hold the same in each" in said
    asked = ("search", "who likes tea?", "--explain", "--json")
    assert recollect("--store", str(copied), *asked).stdout == recollect(*asked).stdout
    report = recollect.json("copy", str(copied), str(tmp_path / "again.db"))
    assert (report["resumed"], report["started_over"]) == (0, False)
    tables = {each["table"]: each["rows"] for each in report["tables"]}
    assert tables["memory"] == 25
    assert tables["recall"] == 1
    assert sum(tables.values()) == report["rows"]


def test_a_copy_says_what_it_cannot_do(recollect: CommandLine, tmp_path: Path) -> None:
    recollect("add", "Ana")
    store, other = str(recollect.store), tmp_path / "other.db"
    assert "There is no memory at " in recollect.refused("copy", str(other), store, status=3)
    assert not other.exists()
    assert "same store" in recollect.refused("copy", store, store, status=1)
    assert ":memory: ends with this command" in recollect.refused("copy", store, ":memory:", status=1)
    recollect("copy", store, str(other))
    assert "not empty; it has rows of: scope 1, memory 1" in recollect.refused(
        "copy", store, str(other), status=1
    )
    assert "no kind of store named 'mysql'" in recollect.refused("copy", store, "mysql://x/y", status=1)
    for one_stroke in ("postgresql:/x/y", "postgres:x"):
        assert "with two strokes" in recollect.refused("copy", store, one_stroke, status=1)


def test_an_unfinished_copy_is_not_used(recollect: CommandLine) -> None:
    recollect("add", "Ana")
    store = SqliteStore(recollect.store)
    store.transact(lambda rows: rows.put("setting", [{"name": COPY_MARK, "value": "{}"}]))
    store.close()
    told = "is a copy of another memory that is not complete. Run the same `recollect copy` again"
    assert told in recollect.refused("show", "Ana", status=3)
    assert told in recollect("doctor", status=1).stdout
