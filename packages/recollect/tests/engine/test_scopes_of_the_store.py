"""Who has memories in a store, and whose one of them is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.admin import Internals
from recollect.domain.records import Scope

if TYPE_CHECKING:
    from recollect.engine import Engine


def test_the_store_tells_who_has_notes_and_whose_one_is(engine: Engine) -> None:
    cook = engine.scoped("ana", "cook")
    soup = cook.remember("Ana likes soup").id
    gone = cook.remember("Ana likes rain").id
    engine.scoped("ana").add_messages("today", [{"role": "user", "content": "Hello"}], extract=False)
    forgotten = engine.scoped("ben").remember("Ben likes bread").id
    cook.forget([gone])
    engine.scoped("ben").forget([forgotten])
    # Whoever asks sees all of it: it is of the store.
    for asking in (engine, cook):
        assert Internals(asking).notes_by_scope() == {Scope("ana", "cook"): 1, Scope("ana", ""): 0}
        assert set(Internals(asking).scopes()) >= {Scope("ana", "cook"), Scope("ana", ""), Scope("ben", "")}
        assert Internals(asking).scope_of_memory(soup) == Scope("ana", "cook")
        assert Internals(asking).scope_of_memory(forgotten) == Scope("ben", "")
        assert Internals(asking).scope_of_memory(soup + 1_000) is None
