"""Every command answers with the JSON and the exit status that it had."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import calls
import commands
import pytest
from compare import SINGLE, assert_same, frozen_lines

if TYPE_CHECKING:
    from pathlib import Path

EXPECTED = frozen_lines("commands.jsonl")


def test_a_life_on_the_command_line_answers_as_it_did(tmp_path: Path) -> None:
    lived = commands.live(tmp_path, [row["typed"] for row in EXPECTED])
    assert_same(by_command(EXPECTED), by_command(lived), SINGLE)


def by_command(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """So that a difference names its command."""
    return {f"{place} {' '.join(row['typed'])[:40]}": row for place, row in enumerate(rows)}


def test_every_command_is_frozen() -> None:
    typed = [" ".join(row["typed"]) for row in EXPECTED]
    missing = [name for name in calls.command_names() if not any(each.startswith(name) for each in typed)]
    assert set(missing) <= commands.NOT_RUN


def test_the_bench_answers_as_it_did(tmp_path: Path) -> None:
    # It has no wheel for some machines.
    pytest.importorskip("pytrec_eval", exc_type=ImportError)
    expected = frozen_lines("bench.jsonl")
    assert_same(expected, commands.live(tmp_path, [row["typed"] for row in expected]), SINGLE)
