"""What is destroyed for good leaves nothing in the file."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

import recollect
from conftest import FixedClock
from recollect.engine.writes import word_index

if TYPE_CHECKING:
    from pathlib import Path

SECRETS = (b"hollyhock", b"HOLLYHOCK", b"Hollyhock")


def _lies_in(folder: Path) -> set[str]:
    """The files that hold a word of the secret, however it is written."""
    return {
        path.name
        for path in folder.iterdir()
        if path.is_file() and any(secret in path.read_bytes() for secret in SECRETS)
    }


@pytest.mark.parametrize("unmerged", [256, 0])
def test_nothing_of_what_was_purged_is_left_in_the_files(
    tmp_path: Path, unmerged: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(word_index, "_MOST_UNMERGED", unmerged)
    clock = FixedClock()
    with recollect.open(tmp_path / "memory.db", model="hashing", clock=clock) as memory:
        kept = memory.remember("The kettle stands on the stove")
        secret = memory.remember("The password of the shed is Hollyhock")
        memory.recall("what is the hollyhock for?")
        memory.feedback([secret.id], 1.0)
        memory.update(secret.id, text="The password of the shed was HOLLYHOCK")
        memory._services.usage.settle(None)
        clock.tick(60)
        assert _lies_in(tmp_path)
        memory.forget([secret.id])
        clock.tick(60)
        assert memory.purge(clock() + timedelta(seconds=1)) == 1
        assert _lies_in(tmp_path) == set()
        assert [hit.memory.id for hit in memory.recall("kettle", record=False).hits] == [kept.id]
        assert list(memory._services.store.verify()) == []
    assert _lies_in(tmp_path) == set()
