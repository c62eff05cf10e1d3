"""A field that is declared for notes is settable and told wherever notes are."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from typing import TYPE_CHECKING

import recollect

if TYPE_CHECKING:
    from pathlib import Path

# What a developer adds to `records.py`, tried in a process of its own.
_DECLARED = """
import importlib.util, sys
spec = importlib.util.find_spec("recollect.domain.records")
with open(spec.origin, encoding="utf-8") as file:
    source = file.read()
kept = "    ref: str | None"
assert kept in source
source = source.replace(kept, '    mood: str | None = note_field("How its writer felt")\\n' + kept)
records = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
exec(compile(source, spec.origin, "exec"), vars(records))
"""
_TRIED = """
import io
import recollect
from click.testing import CliRunner
from recollect.cli.main import cli
from recollect.operations.catalogue import http_operations
from recollect.transfer import export_file

store = sys.argv[1]
with recollect.open(store, model="none") as memory:
    def called(name, **given):
        return http_operations()[name].call(memory, given).result

    first = memory.remember("Ana won the regatta", mood="proud").id
    second = called("remember", text="Bo came third", mood="glad")["id"]
    called("remember_many", notes=[{"text": "Cy slept", "mood": "tired"}])
    called("update", id=second, mood="calm")
    assert called("recall", query="who won the regatta?")["hits"][0]["mood"] == "proud"
    assert [each["mood"] for each in called("list_memories")["memories"]] == ["tired", "calm", "proud"]
    assert called("get_memory", id=first)["memory"]["mood"] == "proud"
    assert "mood" in http_operations()["remember"].definition()["arguments"]["properties"]
    memory.update(first, mood="")
    assert memory.get(first).mood is None
    out = io.StringIO()
    export_file(memory, out)
    assert '"mood":"calm"' in out.getvalue()
typed = ["remember", "Di sang", "--mood", "merry", "--store", store, "--json"]
done = CliRunner().invoke(cli, typed)
assert done.exit_code == 0, done.output
done = CliRunner().invoke(cli, ["show", "4", "--store", store])
assert "merry" in done.output, done.output
"""


def test_one_declaration_and_a_column_are_all_that_a_new_field_of_notes_needs(tmp_path: Path) -> None:
    store = tmp_path / "memory.db"
    recollect.open(store, model="none").close()
    with sqlite3.connect(store) as database:
        database.execute("ALTER TABLE memory ADD COLUMN mood TEXT")
    done = subprocess.run(
        [sys.executable, "-c", _DECLARED + _TRIED, str(store)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={"RECOLLECT_MODEL": "none", "HOME": str(tmp_path), "PATH": ""},
    )
    assert done.returncode == 0, done.stderr
