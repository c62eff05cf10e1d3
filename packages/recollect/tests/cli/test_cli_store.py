"""The commands that look after a store and move it, and how they fail."""

from __future__ import annotations

import json
import re
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import pytest

from recollect.bootstrap import engine
from recollect.cli import health
from recollect.domain.tables import COPY_MARK
from recollect.language.questions import mostly_other_than_english
from recollect.models.registry import availability
from recollect.stores.sqlite.store import SqliteStore

if TYPE_CHECKING:
    from command_line import CommandLine

    from recollect.engine import Engine
    from recollect.settings import Settings

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


def test_no_command_makes_an_empty_store_or_touches_a_file_that_is_not_ours(recollect: CommandLine) -> None:
    for typed in (*READING, ["observe", "Ana", "x"], ["backup", "b.db"], ["reindex"]):
        said = recollect.refused(*typed, status=3)
        assert str(recollect.store) in said
        assert "recollect import" in said
        assert not recollect.store.exists()
    recollect.store.write_text("Dear diary, ")
    for typed in (*READING, ["add", "Ana"], ["remember", "tea"]):
        recollect.refused(*typed, status=3)
    mark, said = _checks(recollect, status=1)["store"]
    assert mark == "problem"
    assert "not a Recollect store" in said
    assert recollect.store.read_text() == "Dear diary, "
    assert [path.name for path in recollect.store.parent.glob("memory.db*")] == ["memory.db"]
    recollect.store.unlink()
    with closing(sqlite3.connect(recollect.store)) as connection:
        connection.execute("CREATE TABLE theirs (x)")
    before = recollect.store.read_bytes()
    assert _checks(recollect, status=1)["store"][0] == "problem"
    assert recollect.store.read_bytes() == before


def test_a_locked_store_and_a_name_that_cannot_be_kept_are_refused(harbour: CommandLine) -> None:
    for name in ("", "   ", "a\0b"):
        harbour.refused("add", name, status=1)
    assert harbour.json("stats")["entities"] == 3
    blocker = apsw.Connection(str(harbour.store))
    blocker.execute("BEGIN IMMEDIATE")
    said = harbour.refused("add", "Ana", status=3, RECOLLECT_BUSY_SECONDS="0.05")
    blocker.close()
    assert "locked by another program" in said


def test_a_backup_overwrites_nothing_and_restoring_asks_first(harbour: CommandLine, tmp_path: Path) -> None:
    precious = tmp_path / "precious.txt"
    precious.write_text("keep me")
    harbour.refused("backup", str(precious), status=1)
    assert precious.read_text() == "keep me"
    harbour.refused("restore", "missing.db", status=1)
    harbour.refused("restore", "1", "missing.db", status=2)
    harbour.refused("restore", "--observation", "missing.db", status=2)
    copy, new = tmp_path / "a copy.db", str(tmp_path / "new.db")
    assert harbour.json("backup", str(copy))["bytes"] == copy.stat().st_size
    assert f"recollect restore '{copy}.2'" in harbour("backup", f"{copy}.2").stdout
    harbour("restore", str(copy), "--store", new)
    assert harbour.json("stats", "--store", new)["entities"] == 3
    harbour("delete", "Tidebook", "Marisol Vega")
    assert "add --yes" in harbour.refused("restore", str(copy), status=1)
    assert harbour.json("stats")["entities"] == 1
    harbour("restore", str(copy), "--yes")
    assert harbour.json("stats")["entities"] == 3


def test_a_healthy_memory_is_counted_and_what_is_derived_is_repaired(harbour: CommandLine) -> None:
    checks = _checks(harbour)
    assert {mark for mark, _ in checks.values()} == {"ok"}
    assert "3 entities, 4 observations, 1 relation" in checks["holds"][1]
    assert "hashing@1 is ready" in checks["model"][1]
    assert "complete for 7 passages" in checks["vectors"][1]
    assert {"Recollect", "Python", "SQLite", "settings", "store", "vector cache"} <= set(checks)
    counts = harbour.json("stats")
    assert (counts["entities"], counts["observations"], counts["relations"]) == (3, 4, 1)
    assert counts["store"] == str(harbour.store)
    assert ["entities", "3"] in harbour.rows("stats")
    assert harbour.json("verify") == {"ok": True, "found": [], "left": []}
    connection = apsw.Connection(str(harbour.store))
    connection.execute("UPDATE passage SET live = 1 - live")
    connection.close()
    found = harbour.json("verify", status=1)
    assert found["left"]
    assert all(problem["repairable"] for problem in found["left"])
    assert "recollect doctor --repair" in harbour("verify", status=1).stdout
    assert "nothing is wrong now" in harbour("verify", "--repair").stdout
    assert harbour.json("verify")["ok"] is True


def test_reindexing_switches_to_another_model_that_is_there(harbour: CommandLine) -> None:
    assert "there are: arctic-memory, e5-memory" in harbour.refused("reindex", "--model", "psychic", status=4)
    harbour.refused("reindex", "--model", "none", status=4)
    done = harbour.json("reindex", "--model", "hashing@1-64")
    assert done["switched"] is True
    assert done["embedded"] == harbour.json("stats")["passages"]
    assert harbour.json("stats")["model"] == "hashing@1-64"


def test_what_waits_for_a_vector_is_counted_told_and_embedded(recollect: CommandLine) -> None:
    result = recollect("add", "Ana", "-o", "likes tea", RECOLLECT_MODEL="none")
    assert "not yet found by meaning" in result.stderr
    assert recollect.json("stats")["due"] == 2
    mark, said = _checks(recollect)["vectors"]
    assert mark == "note"
    assert said.startswith("2 of 2 passages have no vector")
    assert said.endswith("recollect reindex")
    assert recollect.json("reindex")["embedded"] == 2
    assert recollect.json("stats")["due"] == 0


@pytest.mark.parametrize("command", ["search", "context"])
def test_missing_vectors_are_reported_with_the_command_for_them(harbour: CommandLine, command: str) -> None:
    harbour("add", "Ana", "-o", "likes tea", RECOLLECT_MODEL="none")
    told = harbour(command, "tea").stderr
    assert "so only words find them. Run: recollect reindex" in told
    harbour("reindex")
    assert "reindex" not in harbour(command, "tea").stderr


def test_a_purge_names_the_copies_that_keep_what_it_destroyed(recollect: CommandLine) -> None:
    recollect("remember", "The safe's code is 4711")
    recollect("forget", "1")
    damaged = recollect.store.with_name(f"{recollect.store.name}-damaged")
    backups = recollect.store.with_name(f"{recollect.store.name}-backups")
    recollect("backup", str(damaged))
    backups.mkdir()
    done = recollect("purge", "--before", "0d", "--yes")
    assert "Deleted 1 forgotten row for good" in done.stdout
    assert f"Backups still hold their text: {backups}, {damaged}." in done.stderr
    assert "backups and exports still hold their text" in done.stdout
    damaged.unlink()
    backups.rmdir()
    done = recollect("purge", "--before", "0d", "--yes")
    assert "hold" not in done.stdout + done.stderr


def _settings(recollect: CommandLine, *typed: str, key: str = "") -> dict[str, tuple[str | None, str]]:
    rows = recollect.json("settings", *typed, RECOLLECT_MODEL_KEY=key)["settings"]
    return {row["name"]: (row["value"], row["origin"]) for row in rows}


def test_each_setting_and_model_is_shown_with_its_origin(recollect: CommandLine) -> None:
    data = recollect.json("settings")
    assert data["file"] == recollect.environment["RECOLLECT_CONFIG"]
    assert data["file_exists"] is True
    assert _settings(recollect, key="sesame")["model_key"][0] == "(hidden)"
    assert "sesame" not in recollect("settings", RECOLLECT_MODEL_KEY="sesame").stdout
    said = recollect.refused("settings", status=1, RECOLLECT_BUSY_SECONDS="soon")
    assert "busy_seconds" in said
    models = recollect.json("models")
    assert models["preferred"] == "hashing"
    by_name = {each["name"]: each for each in models["models"]}
    assert {"arctic-memory", "e5-memory", "arctic-s", "e5-small", "potion", "hashing", "ollama:…"} <= set(
        by_name
    )
    for each in by_name.values():
        assert each["ready"] or each["command"].startswith("pip install")
    assert ["hashing", "ready"] in [row[:2] for row in recollect.rows("models")]
    lines = recollect("settings", COLUMNS="80").stdout.splitlines()
    names = [row["name"] for row in data["settings"]]
    assert [line.split(" ")[0] for line in lines[2 : 2 + len(names)]] == names  # a line each
    assert max(map(len, lines)) <= 80
    assert "seconds to wait while" in recollect("settings", "busy_seconds").stdout
    assert recollect.refused("settings", "speed", status=2).strip().endswith("list them: recollect settings")
    assert "recollect reindex --model NAME\n" in recollect("models", COLUMNS="80").stdout  # not broken
    config = Path(str(recollect.environment["RECOLLECT_CONFIG"]))
    config.write_text('agent = "scribe"\nmodel = "potion"\n', encoding="utf-8")
    rows = _settings(recollect, "--owner", "ana")
    assert rows["owner"] == ("ana", "option")
    assert rows["model"] == ("hashing", "RECOLLECT_MODEL")
    assert rows["agent"] == ("scribe", str(config))
    assert rows["busy_seconds"] == ("10.0", "default")
    Path(str(recollect.environment["RECOLLECT_CONFIG"])).write_text("store = [", encoding="utf-8")
    assert _checks(recollect, status=1)["settings"][0] == "problem"


Checks = dict[str, tuple[str, str]]


def _checks(recollect: CommandLine, *typed: str, status: int = 0, **set_: str) -> Checks:
    """By what was looked at: the mark, and what was said with its remedy."""
    found = recollect.json("doctor", *typed, status=status, **set_)["checks"]
    return {each["what"]: (each["mark"], f"{each['said']} {each['remedy']}") for each in found}


def test_without_a_store_the_doctor_makes_none_and_checks_models_and_extractor(
    recollect: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark, said = _checks(recollect)["store"]
    assert mark == "note"
    assert "does not exist yet" in said
    assert re.search(
        r"You could:\n1\. +store +recollect remember 'My first note'\n$", recollect("doctor").stdout
    )
    assert not recollect.store.exists()
    recollect("remember", "My first note")
    recollect.store.chmod(0o600)
    assert recollect("doctor").stdout.endswith("\nNothing to do.\n")
    recollect.store.unlink()
    mark, said = _checks(recollect, status=1, RECOLLECT_MODEL="psychic")["model"]
    assert mark == "problem"
    assert "No model named 'psychic'" in said
    assert _checks(recollect)["extractor"][0] == "ok"
    assert _checks(recollect, RECOLLECT_EXTRACTOR="none")["extractor"][0] == "note"
    recollect("remember", "My first note", RECOLLECT_MODEL="none")
    for model, remedy in (("none", "words find them "), ("hashing", "words find them recollect reindex")):
        assert _checks(recollect, RECOLLECT_MODEL=model)["vectors"][1].endswith(remedy)
    for module in ("cli.health", "stores.sqlite.store", "stores.sqlite.connection", "stores.sqlite.access"):
        monkeypatch.setattr(f"recollect.{module}.why_unwritable", lambda _: "the disk is mounted read-only")
    assert recollect("doctor").stdout.endswith("\nNothing to do.\n")
    assert "Usage is not recorded: the disk" in recollect("recall", "note").stderr
    assert recollect("list").stderr == recollect("recall", "note", "--no-record").stderr == ""
    recollect.store.write_bytes(recollect.store.read_bytes()[:63] + b"\1" + recollect.store.read_bytes()[64:])
    mark, said = _checks(recollect, status=1)["store"]
    assert said.endswith("read-only Copy it to a folder that you can write to, and open the copy.")
    for wrong in ("magic", "openai:small"):
        assert _checks(recollect, status=1, RECOLLECT_EXTRACTOR=wrong)["extractor"][0] == "problem"


def test_a_damaged_store_is_a_problem(harbour: CommandLine) -> None:
    content = bytearray(harbour.store.read_bytes())
    content[100:] = b"\xff" * (len(content) - 100)
    harbour.store.write_bytes(content)
    harbour.store.with_name("memory.db-wal").unlink(missing_ok=True)
    result = harbour("doctor", status=1)
    assert "✗  store  " in result.stdout
    assert "restore" in result.stdout
    assert harbour.store.read_bytes() == content


@pytest.mark.parametrize(("schema", "mark", "word"), [(99, "problem", "upgrade"), (0, "note", "older")])
def test_another_schema_is_not_opened(harbour: CommandLine, schema: int, mark: str, word: str) -> None:
    content = bytearray(harbour.store.read_bytes())
    content[60:64] = schema.to_bytes(4, "big")
    harbour.store.write_bytes(content)
    found, said = _checks(harbour, status=1 if mark == "problem" else 0)["store"]
    assert (found, word in said) == (mark, True)
    assert harbour.store.read_bytes() == content


def test_the_doctor_tells_of_preferences_old_passages_a_full_disk_and_damage(
    harbour: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def remedies(model: str) -> list[str]:
        found = harbour.json("doctor", RECOLLECT_MODEL=model)["checks"]
        return [each["remedy"] for each in found if each["what"] == "model"]

    assert remedies("hashing@1") == [""]
    assert remedies("potion") == ["", "recollect reindex --model potion"]
    assert "tokens" not in _checks(harbour)
    monkeypatch.setattr("recollect.admin.Internals.passages_without_tokens", lambda _: 2)
    mark, said = _checks(harbour)["tokens"]
    assert mark == "note"
    assert said.startswith("2 of ")
    assert said.endswith("recollect reindex")
    # A disk of the tests' own would take a mount; what is asked of the system is how much is free.
    monkeypatch.setattr(health, "_MIN_FREE_BYTES", 1 << 60)
    mark, said = _checks(harbour, status=1)["disk"]
    assert mark == "problem"
    assert "Free some space" in said
    content = harbour.store.read_bytes()
    flipped = content.replace(b"Says when it is safe to cross", b"Says when it is safe to crass")
    assert flipped != content
    harbour.store.write_bytes(flipped)
    mark, said = _checks(harbour, status=1)["damage"]
    assert mark == "problem"
    assert "its checksum differs" in said
    assert "recollect doctor --repair" in said


@pytest.mark.skipif(
    not availability("potion").ready, reason="needs the small model: pip install ./models/potion"
)
def test_texts_that_an_english_model_cannot_read_are_told(recollect: CommandLine) -> None:
    recollect("add", "Inés", "-o", "Riega las plantas de la oficina los lunes", "--model", "potion")
    recollect("add", "Jun", "-o", "週末は灯台まで歩く", "--model", "potion")
    mark, said = _checks(recollect, RECOLLECT_MODEL="auto")["language"]
    assert mark == "note"
    assert "recollect reindex --model e5-memory" in said
    # 2 of 9 are less than a quarter.
    for number in range(7):
        recollect("add", f"Ana {number}", "-o", "This is the one that waters the plants of the office")
    assert "language" not in _checks(recollect)


@pytest.mark.parametrize(
    ("other", "texts"),
    [
        (False, ["The kettle is on the stove", "She was at the harbour"]),
        (True, ["La tetera está en la cocina y el gato también"]),
        (True, ["灯台まで歩く"]),
        (True, ["Чайник на плите"]),
        (True, ["Der Kessel steht auf dem Herd und ist nicht heiß"]),
        (False, ["kettle", "C++", "2026-03-01", ""]),
        (False, []),
        # One of each gives no majority.
        (False, ["The kettle is on the stove", "La tetera está en la cocina"]),
    ],
)
def test_the_language_of_texts_is_guessed(texts: list[str], other: bool) -> None:
    assert mostly_other_than_english(texts) is other


def test_answers_that_were_not_logged_are_told(harbour: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "signals" not in _checks(harbour)

    def with_failures(settings: Settings) -> Engine:
        memory = engine(settings)
        memory._services.usage.failures = 2
        memory._services.usage.last_failure = "the disk is full"
        return memory

    monkeypatch.setattr("recollect.cli.health.engine", with_failures)
    mark, said = _checks(harbour)["signals"]
    assert mark == "note"
    assert "2 answers could not be recorded: the disk is full" in said


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other permissions")
def test_a_store_that_others_can_read_is_a_problem_where_they_can_reach_it(harbour: CommandLine) -> None:
    harbour.store.chmod(0o644)
    reached = [folder for folder in harbour.store.absolute().parents if not folder.stat().st_mode & 0o001]
    if reached:
        assert "privacy" not in _checks(harbour)
    for folder in reached:
        modes = folder.stat().st_mode & 0o777
        folder.chmod(modes | 0o011)
    try:
        mark, said = _checks(harbour, status=1)["privacy"]
    finally:
        for folder in reached:
            folder.chmod(0o700)
    assert mark == "problem"
    assert f"chmod 600 {harbour.store}*" in said


SAMPLE = Path(__file__).parents[4] / "examples" / "sample-graph.jsonl"
ANA = '{"type":"entity","name":"Ana","entityType":"person","observations":["likes tea"]}\n'


def test_the_sample_graph_is_imported_once(recollect: CommandLine) -> None:
    lines = [json.loads(line) for line in SAMPLE.read_text(encoding="utf-8").splitlines()]
    entities = [line for line in lines if line["type"] == "entity"]
    known, related = sum(len(each["observations"]) for each in entities), len(lines) - len(entities)
    said = recollect("import", str(SAMPLE)).stdout
    assert said == f"✓ Imported {len(entities)} entities, {known} observations, {related} relations.\n"
    again = recollect("import", str(SAMPLE)).stdout
    assert again.startswith("✓ Nothing new")
    assert f"Already stored: {len(entities)} entities" in again


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
    assert "Type added, unknown before: 1 entity." in said
    assert "Type kept, which differs from the file's: 1 entity." in said


def test_a_file_that_brings_nothing_is_no_success(recollect: CommandLine, tmp_path: Path) -> None:
    recollect.refused("import", "missing.jsonl", status=1)
    assert not recollect.store.exists()
    (tmp_path / "note.md").write_text("The ferry leaves at ten\n")
    said = recollect.refused("import", str(tmp_path), "--format", "markdown-export", status=1)
    assert "For other Markdown: recollect import FOLDER" in said
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


@pytest.mark.parametrize("form", ["official", "full"])
def test_what_is_exported_can_be_imported(harbour: CommandLine, tmp_path: Path, form: str) -> None:
    file, other = str(tmp_path / "out.jsonl"), str(tmp_path / "other.db")
    said = harbour("export", file, "--format", form).stdout
    assert said.startswith("✓ Exported 3 entities and 1 relation to ")
    harbour("import", file, "--store", other)
    assert harbour("graph", "--store", other).stdout == harbour("graph").stdout


def test_an_export_goes_to_a_file_a_folder_or_standard_output(harbour: CommandLine, tmp_path: Path) -> None:
    result = harbour("export", "-")
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert rows[0] == {"recollect": 2}
    assert [row["name"] for row in rows if row.get("kind") == "entity"] == [
        "Marisol Vega",
        "Jun Watanabe",
        "Tidebook",
    ]
    assert "Exported 3 entities" in result.stderr
    file = tmp_path / "out.jsonl"
    file.write_text("keep me")
    assert "--overwrite" in harbour.refused("export", str(file), status=1)
    assert file.read_text() == "keep me"
    harbour("export", str(file), "--overwrite")
    assert "Tidebook" in file.read_text()
    folder, other = str(tmp_path / "notes"), str(tmp_path / "other.db")
    said = harbour.json("export", f"{folder}/")
    assert (said["format"], said["entities"], said["relations"]) == ("markdown", 3, 1)
    assert "Left out" in said["note"]
    assert harbour("--store", other, "import", folder).stdout.startswith("✓ Imported 3 entities, ")
    assert harbour.json("export", str(tmp_path / "tables.csv.zip"))["format"] == "csv"
    assert "--overwrite" in harbour.refused("export", folder, status=1)
    assert "name a path" in harbour.refused("export", "-", "--format", "csv", status=1)


def test_a_memory_is_copied_with_all_that_it_holds(recollect: CommandLine, tmp_path: Path) -> None:
    recollect("import", str(SAMPLE))
    recollect("recall", "who likes tea?", "-n", "3")
    copied = tmp_path / "copy.db"
    said = recollect("copy", str(recollect.store), str(copied)).stdout
    assert said.startswith("✓ Copied ")
    assert f" rows to {copied}." in said
    assert "both stores hold the same" in said
    asked = ("search", "who likes tea?", "-n", "3", "--explain", "--json")
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
        assert "with two slashes" in recollect.refused("copy", store, one_stroke, status=1)


def test_an_unfinished_copy_is_not_used(recollect: CommandLine) -> None:
    recollect("add", "Ana")
    store = SqliteStore(recollect.store)
    store.transact(lambda rows: rows.put("setting", [{"name": COPY_MARK, "value": "{}"}]))
    store.close()
    told = "is an incomplete copy of another memory. Run the same `recollect copy` again"
    assert told in recollect.refused("show", "Ana", status=3)
    assert told.replace(".", "") in _checks(recollect, status=1)["store"][1]
