"""Looking at a file before importing it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import recollect
from recollect.transfer import export_file, import_file, import_preview

if TYPE_CHECKING:
    from pathlib import Path


def test_an_official_file_is_counted_and_its_bad_lines_are_named(tmp_path: Path) -> None:
    lines = [
        {"type": "entity", "name": "Ana", "entityType": "person", "observations": ["sings", "lives here"]},
        {"type": "relation", "from": "Ana", "to": "Choir", "relationType": "sings in"},
        {"type": "elephant"},
    ]
    file = tmp_path / "memory.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    found = import_preview(file)
    assert (found.format, found.lines, found.entities, found.observations) == ("official", 3, 1, 2)
    assert (found.relations, found.texts, found.owners, found.bad_count) == (1, 0, (), 1)
    assert found.bad_lines[0].line == 3
    assert "elephant" in found.bad_lines[0].reason


def test_of_a_full_export_it_tells_what_an_import_then_creates(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "one.db", model="none") as memory:
        memory.remember("The ferry leaves at six.")
        memory.forget([memory.remember("The key hangs behind the door.").id])
        memory.scoped("ana").create_entities([{"name": "Ana", "observations": ["sings"]}])
        export_file(memory, tmp_path / "all.jsonl", format="full")
    found = import_preview(tmp_path / "all.jsonl")
    assert (found.format, found.owners, found.forgotten) == ("full", ("", "ana"), 1)
    with recollect.open(tmp_path / "two.db", model="none") as other:
        report = import_file(other, tmp_path / "all.jsonl")
    assert (found.texts, found.entities) == (report.texts_created, report.entities_created)
    assert (found.observations, found.lines) == (report.observations_added, report.lines)
