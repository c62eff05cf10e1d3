"""A source that is damaged in any place is read as far as it goes: rows are named, and nothing else fails."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path
from typing import Any

import pytest
from foreign_rows import ROWS, Row, write_database
from test_basic_memory import ANA
from test_graphiti import GRAPH
from test_letta import NEW, OLD
from test_recognised import CLAUDE_MEMORY, CLAUDE_PROJECT

from recollect.domain.errors import InvalidInput
from recollect.transfer import preview_path

JUNK: tuple[Any, ...] = (None, 7, -1.5, True, "", "x", "\ud800\0", [], [None], {}, {"a": [1]}, [["x"]], "{")
DOCUMENTS = (
    ("letta", NEW),
    ("letta", OLD),
    ("graphiti", GRAPH),
    ("claude-memory", [CLAUDE_MEMORY]),
    ("claude-memory", [CLAUDE_PROJECT]),
)


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every container with every key or index in it."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    return [(value, key) for key in keys] + [place for key in keys for place in places(value[key])]


@pytest.mark.parametrize(("format_", "whole"), DOCUMENTS)
def test_any_value_may_be_another(tmp_path: Path, format_: str, whole: Any) -> None:
    chance = random.Random(7)  # noqa: S311  # a test, not a secret
    file = tmp_path / "source.json"
    formats = set()
    for container_place in range(len(places(whole))):
        for junk in chance.sample(JUNK, 4):
            document = copy.deepcopy(whole)
            container, key = places(document)[container_place]
            container[key] = junk
            file.write_text(json.dumps(document), "utf-8")
            try:
                formats.add(preview_path(file).format)
            except InvalidInput:
                continue  # it is no longer what it was
    assert format_ in formats


def test_any_line_may_be_cut_or_doubled(tmp_path: Path) -> None:
    chance = random.Random(7)  # noqa: S311  # a test, not a secret
    file = tmp_path / "ana.md"
    lines = ANA.splitlines()
    for place, line in enumerate(lines):
        half = line[: len(line) // 2]
        for other in ("", half, f"  {line}", f"{line}\n{line}", "---", "- [[", '- "a [[b]]'):
            file.write_text("\n".join([*lines[:place], other, *lines[place + 1 :]]), "utf-8")
            report = preview_path(file)
            assert report.bad_count <= 1, (other, report)
    letters = "[]()#-\"'|>: \nab`"
    for _ in range(300):
        body = "".join(chance.choice(letters) for _ in range(200))
        file.write_text(f"---\ntitle: a\ntype: b\npermalink: c\n---\n{body}", "utf-8")
        assert preview_path(file).format == "basic-memory"


def write_rows(file: Path, tables: dict[str, Row]) -> Path:
    return write_database(file, {table: [row] for table, row in tables.items()})


@pytest.mark.parametrize("format_", ROWS)
def test_any_column_of_a_database_may_hold_another_type_or_be_missing(tmp_path: Path, format_: str) -> None:
    file = write_rows(tmp_path / "source.db", ROWS[format_])
    whole = preview_path(file)
    assert (whole.format, whole.bad_count) == (format_, 0)
    for table, row in ROWS[format_].items():
        for column in row:
            for junk in (None, 7, -1.5, "", b"\xff\x00", "\ud800".encode("utf-8", "surrogatepass")):
                write_rows(file, {**ROWS[format_], table: {**row, column: junk}})
                assert preview_path(file).format == format_
            # Another version of the program may lack a column, as long as it is known for what it is.
            without = {name: value for name, value in row.items() if name != column}
            write_rows(file, {**ROWS[format_], table: without})
            try:
                assert preview_path(file).format == format_
            except InvalidInput as error:
                assert "cannot be imported" in str(error) or column in {"id", "memory_id"}  # noqa: PT017
