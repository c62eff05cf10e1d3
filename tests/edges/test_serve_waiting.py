"""Embedding in the background: to the end, or as far as the server lives, and never a reason to fail."""

from __future__ import annotations

import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from conftest import PATIENCE_SECONDS
from recollect.embedders.hashing import HashingEmbedder
from recollect.serve import waiting
from recollect.serve.waiting import Waiting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conftest import MakeEngine
    from recollect.ports import Vectors

TEXTS = 200
BATCH = 64
"""Of `engine.meaning`: what is embedded between two looks at whether to go on."""


class Watched(HashingEmbedder):
    """Says when it has begun, and goes on when it may."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.may_go_on = threading.Event(), threading.Event()

    def documents(self, texts: Sequence[str]) -> Vectors:
        self.begun.set()
        assert self.may_go_on.wait(PATIENCE_SECONDS)
        return super().documents(texts)


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "_GIVE_WAY_SECONDS", 0)


@pytest.fixture
def unembedded(make_engine: MakeEngine) -> MakeEngine:
    """A store whose texts all wait, since they were saved without a model."""
    names = [{"name": f"Imp {number}", "type": "sprite"} for number in range(TEXTS)]
    make_engine(lambda _: None, model="none").create_entities(names)
    return make_engine


def test_what_waits_is_embedded_to_the_end(unembedded: MakeEngine) -> None:
    memory = unembedded()
    assert memory.counts().due == TEXTS
    with Waiting() as background:
        background.begin(memory)
        assert background._thread is not None
        background._thread.join(PATIENCE_SECONDS)
    assert (memory.counts().due, memory.counts().vectors) == (0, TEXTS)


def test_a_server_that_ends_stops_after_the_batch_and_the_next_goes_on(unembedded: MakeEngine) -> None:
    slow = Watched()
    memory = unembedded(lambda _: slow)
    with Waiting() as background:
        background.begin(memory)
        assert slow.begun.wait(PATIENCE_SECONDS)
        background._ends.set()
        slow.may_go_on.set()
    assert (memory.counts().due, memory.counts().vectors) == (TEXTS - BATCH, BATCH)
    with Waiting() as background:
        background.begin(memory)
        assert background._thread is not None
        background._thread.join(PATIENCE_SECONDS)
    assert memory.counts().due == 0


def test_without_a_model_everything_waits_on(unembedded: MakeEngine) -> None:
    memory = unembedded(lambda _: None, model="none")
    with Waiting() as background:
        background.begin(memory)
    assert memory.counts().due == TEXTS


def test_a_client_does_not_wait_for_what_only_the_background_needs() -> None:
    loads = "import sys, recollect.serve.waiting, recollect.serve.first_start; print('numpy' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", loads], capture_output=True, text=True, check=True)
    assert told.stdout == "False\n"


def test_a_memory_that_was_never_opened_leaves_nothing_to_end() -> None:
    with Waiting():
        pass
