"""Once something is committed, the caller learns so, whatever fails afterwards."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from conftest import FixedClock, engine_of

from recollect.admin import Internals
from recollect.domain.errors import StoreUnavailable
from recollect.services import UNFINISHED
from recollect.write.repository import Repository

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from recollect.engine import Engine
    from recollect.stores.port import Snapshot, Store

FULL = "There is no space left to write it. Free some and try again. Nothing was written."


class FailsAfterCommit:
    """A store of which nothing works any more once one transaction was committed."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.commits = 0
        self.failing = False

    def read(self, within: Any = None) -> AbstractContextManager[Snapshot]:
        self._fail()
        return self.store.read(within)

    def transact(self, work: Callable[[Any], Any], within: Any = None) -> Any:
        self._fail()
        result = self.store.transact(work, within)
        self.commits += 1
        return result

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)

    def _fail(self) -> None:
        if self.failing and self.commits:
            raise StoreUnavailable(FULL)


WRITES: dict[str, Callable[[Engine], object]] = {
    "remember": lambda memory: memory.remember("Ana prefers oolong, and says so to Bosun"),
    "remember again": lambda memory: memory.remember("Ana drinks tea"),
    "remember_many": lambda memory: memory.remember_many(["Ana sails on Sundays", "Ana drinks tea daily"]),
    "create_entities": lambda memory: memory.create_entities(
        [{"name": "Bosun", "type": "cat", "observations": ["likes fish a lot"]}]
    ),
    "add_observations": lambda memory: memory.graph.add_observations({"Bosun": ["likes fish very much"]}),
    "create_relations": lambda memory: memory.graph.create_relations(
        [("Bosun", "lives_in", "Boathouse")], create_missing=True
    ),
    "add_messages": lambda memory: memory.add_messages(
        "today", [{"role": "user", "speaker": "Ana", "content": "I moved to Vigo in May."}]
    ),
    "update": lambda memory: memory.update(1, text="Ana drinks green tea"),
    "supersede": lambda memory: memory.supersede(1, "Ana drinks coffee"),
    "restore": lambda memory: memory.restore(2),
    "reflection": lambda memory: memory.upkeep.add_reflection("Tea was a good idea", about=["Bosun"]),
}


@pytest.mark.parametrize("what", WRITES)
def test_what_is_committed_is_never_reported_as_failed(
    store: Repository, clock: FixedClock, what: str
) -> None:
    with engine_of(store, clock) as memory:
        memory.remember("Ana drinks tea")
        memory.remember("Ana has a boat")
        memory.forget([2])
        memory.create_entities([{"name": "Bosun", "type": "unknown", "observations": ["likes fish"]}])
        failing: Any = FailsAfterCommit(store.store)
        clock.tick()
        with_trouble = engine_of(Repository(failing), clock)
        failing.failing = True
        result = WRITES[what](with_trouble)
        assert failing.commits == 1
        failing.failing = False
        note = getattr(result, "note", None) or getattr(result, "model_note", None)
        assert note is None or (UNFINISHED in note and "no space left" in note)
        assert note is None or "Nothing was written" not in note
        # The next write embeds what is still pending.
        memory.remember("A later note")
        Internals(memory).embed_pending()
        assert memory.counts().due == 0
        assert list(memory.upkeep.verify()) == []


def test_what_could_not_follow_is_a_note_on_the_result(store: Repository, clock: FixedClock) -> None:
    failing: Any = FailsAfterCommit(store.store)
    memory = engine_of(Repository(failing), clock)
    failing.failing = True
    batch = memory.remember_many(["Ana drinks tea"])
    assert (batch.notes[0].id, batch.notes[0].created) == (1, True)
    assert batch.note == f"{UNFINISHED}: {FULL.removesuffix(' Nothing was written.')}"
    failing.failing, failing.commits = False, 0
    failing.failing = True
    assert memory.create_entities([{"name": "Bosun", "observations": ["likes fish"]}]).note == batch.note
