"""Graph, history, conversations, dreams and reports of the frozen world read as they did."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from compare import assert_same, frozen
from reads import READS, read

if TYPE_CHECKING:
    from calls import Memory

pytest_plugins = ["frozen_fixtures"]


@pytest.mark.parametrize("name", READS)
def test_the_frozen_world_reads_the_same(world: Memory, name: str) -> None:
    assert_same(frozen("reads.json")[name], read(world, name))


def test_every_frozen_reading_is_tested() -> None:
    assert set(frozen("reads.json")) == set(READS)
