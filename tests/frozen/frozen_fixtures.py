"""The frozen world, built once for all tests; those that write get a copy."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from calls import Memory


@pytest.fixture(scope="session")
def world_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The world, closed; not to be written to."""
    import calls
    import frozen_world

    path = tmp_path_factory.mktemp("frozen") / "world.db"
    clock = calls.Clock(calls.at(frozen_world.BEGINS))
    with calls.open_memory(path, clock) as memory:
        frozen_world.build(memory, clock)
    return path


@pytest.fixture(scope="session")
def world(world_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """The world, open, for those that only read."""
    import frozen_world

    path = tmp_path_factory.mktemp("read") / "world.db"
    shutil.copy(world_file, path)
    with frozen_world.open_world(path) as memory:
        yield memory
