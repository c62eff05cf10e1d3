"""Every profile ranks the frozen world as it did, to the last number."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from calls import PROFILE_NAMES
from compare import assert_same, frozen_lines
from rankings import answered, missed, packed

if TYPE_CHECKING:
    from calls import Memory

pytest_plugins = ["frozen_fixtures"]


@pytest.mark.parametrize("profile", PROFILE_NAMES)
def test_each_profile_gives_the_frozen_answers_with_every_number(world: Memory, profile: str) -> None:
    rows = [row for row in frozen_lines("rankings.jsonl") if row["asked"]["profile"] == profile]
    assert len(rows) > 30
    asked = [{"asked": row["asked"], "answer": answered(world, row["asked"])} for row in rows]
    assert_same(rows, asked)


def test_each_profile_ranks_the_corner_cases_as_it_did(corners: Memory) -> None:
    rows = frozen_lines("rankings-corners.jsonl")
    assert_same(rows, [{"asked": row["asked"], "answer": answered(corners, row["asked"])} for row in rows])


def test_contexts_are_packed_as_they_were(world: Memory) -> None:
    rows = frozen_lines("contexts.jsonl")
    assert_same(rows, [{**row, "context": packed(world, row["asked"], row["options"])} for row in rows])


def test_why_not_finds_the_same_reasons(world: Memory) -> None:
    rows = frozen_lines("why_not.jsonl")
    again = [{**row, "answer": missed(world, row["query"], row["memory"], row["options"])} for row in rows]
    assert_same(rows, again)
