"""A source that is damaged in any place is read as far as it goes: rows are named, and nothing else fails."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path
from typing import Any

import pytest
from test_basic_memory import ANA
from test_graphiti import GRAPH
from test_letta import NEW, OLD
from test_recognised import CLAUDE_MEMORY, CLAUDE_PROJECT

from recollect.errors import InvalidInput
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
        for other in (
            "",
            line[: len(line) // 2],
            f"  {line}",
            f"{line}\n{line}",
            "---",
            "- [[",
            '- "a [[b]]',
        ):
            file.write_text("\n".join([*lines[:place], other, *lines[place + 1 :]]), "utf-8")
            report = preview_path(file)
            assert report.bad_count <= 1, (other, report)
    letters = "[]()#-\"'|>: \nab`"
    for _ in range(300):
        body = "".join(chance.choice(letters) for _ in range(200))
        file.write_text(f"---\ntitle: a\ntype: b\npermalink: c\n---\n{body}", "utf-8")
        assert preview_path(file).format == "basic-memory"
