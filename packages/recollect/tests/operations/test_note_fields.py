"""A field declared for notes can be set and read in every interface."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from typing import TYPE_CHECKING

import recollect

if TYPE_CHECKING:
    from pathlib import Path

# A developer's addition to `records.py`, tested in a separate process.
_DECLARED = """
import importlib.util, sys
spec = importlib.util.find_spec("recollect.domain.records")
with open(spec.origin, encoding="utf-8") as file:
    source = file.read()
kept = "    ref: str | None"
assert kept in source
source = source.replace(kept, '    made_up_field: str | None = note_field("Made up")\\n' + kept)
records = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
exec(compile(source, spec.origin, "exec"), vars(records))
"""
_TRIED = """
import io, sqlite3
import recollect
from click.testing import CliRunner
from recollect.cli.main import cli
from recollect.operations.catalogue import http_operations
from recollect.services import memory_version
from recollect.transfer import export_file

store = sys.argv[1]
with recollect.open(store, model="none") as memory:
    def called(name, **given):
        return http_operations()[name].call(memory, given).result

    assert memory.upkeep.verify() == []
    first = memory.remember("Ana won the regatta", made_up_field="proud").id
    second = called("remember", text="Bo came third", made_up_field="glad")["id"]
    called("remember_many", notes=[{"text": "Cy slept", "made_up_field": "tired"}])
    called("update", id=second, made_up_field="calm")
    assert called("recall", query="who won the regatta?")["hits"][0]["made_up_field"] == "proud"
    listed = called("list_memories")["memories"]
    assert [each.get("made_up_field") for each in listed] == ["tired", "calm", "proud", None]
    assert called("get_memory", id=first)["memory"]["made_up_field"] == "proud"
    assert "made_up_field" in http_operations()["remember"].definition()["arguments"]["properties"]
    corrected = memory.supersede(first, "Ana came second in the regatta").by
    assert corrected.made_up_field == "proud"
    corrected = memory.supersede(corrected.id, {"text": "Ana came last", "made_up_field": "sad"}).by
    assert corrected.made_up_field == "sad"
    version = memory_version(memory.get(second))
    memory.update(second, made_up_field="calm again")
    assert memory_version(memory.get(second)) != version
    assert memory.upkeep.verify() == []
    memory.update(first, made_up_field="")
    assert memory.get(first).made_up_field is None
    out = io.StringIO()
    export_file(memory, out)
    assert '"made_up_field":"calm again"' in out.getvalue()
typed = ["remember", "Di sang", "--made-up-field", "merry", "--store", store, "--json"]
done = CliRunner().invoke(cli, typed)
assert done.exit_code == 0, done.output
done = CliRunner().invoke(cli, ["show", "7", "--store", store])
assert "merry" in done.output, done.output
with sqlite3.connect(store) as database:
    database.execute("UPDATE memory SET made_up_field = 'angry' WHERE made_up_field = 'merry'")
with recollect.open(store, model="none") as memory:
    (problem,) = memory.upkeep.verify()
    assert "memory 7 has changed" in problem.what
"""


def test_one_declaration_and_a_column_are_all_that_a_new_field_of_notes_needs(tmp_path: Path) -> None:
    store = tmp_path / "memory.db"
    with recollect.open(store, model="none") as memory:
        memory.remember("Eve was here before the field was declared")
    with sqlite3.connect(store) as database:
        database.execute("ALTER TABLE memory ADD COLUMN made_up_field TEXT")
    done = subprocess.run(
        [sys.executable, "-c", _DECLARED + _TRIED, str(store)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={"RECOLLECT_MODEL": "none", "HOME": str(tmp_path), "PATH": ""},
    )
    assert done.returncode == 0, done.stderr
