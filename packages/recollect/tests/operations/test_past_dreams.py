"""Dreams as a person looks at them."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from operation_calls import called, every_page

from recollect.domain.errors import NotFound

if TYPE_CHECKING:
    from conftest import FixedClock

    from recollect.engine import Engine


def test_a_dream_is_shown_with_every_change_before_and_after(engine: Engine, clock: FixedClock) -> None:
    first = engine.remember("Ada drinks tea in the garden")
    twin = engine.remember("Ada drinks the tea in the garden!")
    engine.remember("Ana likes plums")
    engine.recall("where does Ada drink tea")
    clock.now += timedelta(days=1)
    engine.dream()
    clock.now += timedelta(days=10)
    done = engine.dream()

    newest, oldest = every_page(engine, "list_dreams", "dreams", limit=1)
    assert newest["id"] == done.id
    assert newest["at"] == "2026-03-12T12:00:00+00:00"
    assert newest["faded"] > 0
    assert newest["gate"]["losses"] == []
    merged = called(engine, "get_dream", id=oldest["id"], what="merged")["changes"]
    assert [(each["id"], each["other"], each["after"]) for each in merged] == [
        (twin.id, first.id, "superseded")
    ]
    assert merged[0]["text"] == "Ada drinks the tea in the garden!"
    faded = every_page(engine, "get_dream", "changes", id=newest["id"], what="strength", limit=1)
    assert faded
    for change in faded:
        assert called(engine, "get_memory", id=change["id"])["memory"]["strength"] == change["after"]
    called(engine, "undo_dream", id=newest["id"])
    for change in faded:
        assert called(engine, "get_memory", id=change["id"])["memory"]["strength"] == change["before"]
    assert called(engine, "list_dreams")["dreams"][0]["undone_at"] == "2026-03-12T12:00:00+00:00"
    with pytest.raises(NotFound, match="no dream 999"):
        called(engine, "get_dream", id=999)
