"""Both export formats of the frozen world are as they were, and come back through an import."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import calls
import frozen_world
import pytest
from compare import HERE, assert_same, frozen, frozen_lines

if TYPE_CHECKING:
    from pathlib import Path

    from calls import Memory

pytest_plugins = ["frozen_fixtures"]
FORMATS = ("official", "full")


@pytest.mark.parametrize("format_", FORMATS)
def test_an_export_says_the_same_in_the_same_order(world: Memory, format_: str) -> None:
    expected = frozen_lines(f"export-{format_}.jsonl")
    actual = [json.loads(line) for line in calls.exported(world, format_).splitlines()]
    assert_same(expected, actual)
    # Two exports of the same memories are equal byte for byte, so the order of keys counts, too.
    assert [list(line) for line in actual] == [list(line) for line in expected]


@pytest.mark.parametrize("format_", FORMATS)
def test_a_frozen_export_comes_back_byte_for_byte_from_a_new_store(tmp_path: Path, format_: str) -> None:
    text = (HERE / f"export-{format_}.jsonl").read_text(encoding="utf-8")
    with calls.open_memory(tmp_path / "new.db", calls.Clock(calls.at(frozen_world.NOW))) as memory:
        reports = [calls.plain(calls.imported(memory, text)) for _ in range(2)]
        assert calls.exported(memory, format_) == text
        assert calls.verify(memory) == []
    assert_same(frozen("imports.json")[format_], reports)


# Names in the frozen file: the table of today and its columns.
LEARNT = {
    "use": "usage memory_id count last_at",
    "use_day": "usage_day memory_id day",
    "together": "cooccurrence first_id second_id count last_at",
    "link": "link first_id second_id weight",
    "recall": "recall id at session scope_id query profile ordinal",
    "recalled": "recall_hit memory_id recall_id place",
    "shadow": "answer_log id scope_id at bytes bytes_before handle session query profile arm "
    "shown ranked baseline",
    "feedback": "feedback id answer_id memory_id at kind grade",
    "tuned": "tuning id scope_id profile at knobs why report",
    "dream": "dream id scope_id at through phases report undone_at",
}


def test_an_export_of_0_2_0_brings_what_was_learnt_along(tmp_path: Path) -> None:
    text = (HERE / "export-full-0.2.0.jsonl").read_text(encoding="utf-8")
    with calls.open_memory(tmp_path / "new.db", calls.Clock(calls.at(frozen_world.NOW))) as memory:
        reports = [calls.plain(calls.imported(memory, text)) for _ in range(2)]
        rows = {
            name: sorted(calls.table_rows(memory, table, columns))
            for name, (table, *columns) in ((name, words.split()) for name, words in LEARNT.items())
        }
        assert calls.verify(memory) == []
    assert_same(frozen("export-full-0.2.0.rows.json"), {"reports": reports, **rows})
