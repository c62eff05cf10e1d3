"""The frozen worlds, built once for all tests, for those that only read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from calls import Memory


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    import calls
    import frozen_world

    path = tmp_path_factory.mktemp("frozen") / "world.db"
    clock = calls.Clock(calls.at(frozen_world.BEGINS))
    with calls.open_memory(path, clock) as memory:
        frozen_world.build(memory, clock)
    with frozen_world.open_world(path) as memory:
        yield memory


@pytest.fixture(scope="session")
def corners(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    import frozen_corners

    path = tmp_path_factory.mktemp("frozen") / "corners.db"
    frozen_corners.build(path)
    with frozen_corners.open_corners(path) as memory:
        yield memory
