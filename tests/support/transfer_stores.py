"""An engine on an empty store, and another beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from transfer_world import engine_at

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from recollect.engine import Engine


@pytest.fixture
def mine(tmp_path: Path) -> Iterator[Engine]:
    with engine_at(tmp_path / "one.db") as one:
        yield one
        assert list(one.upkeep.verify()) == []


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Engine]:
    with engine_at(tmp_path / "other.db") as another:
        yield another
        assert list(another.upkeep.verify()) == []
