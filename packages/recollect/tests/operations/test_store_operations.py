"""The store itself: health, backups, purging, import and export; and writing in batches."""

from __future__ import annotations

import io
import json
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from operation_calls import called, every_page

from recollect.domain.errors import Conflict, InvalidInput, NotFound, StoreUnavailable
from recollect.operations.catalogue import http_operations
from recollect.transfer import export_file

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import FixedClock

    from recollect.engine import Engine


def test_single_memories_are_purged_only_when_forgotten_and_leave_no_word(
    engine: Engine, clock: FixedClock
) -> None:
    secret = engine.remember("the safe opens with sesame", key="sesame")
    other = engine.remember("the boat is blue")
    engine.recall("does the safe open with sesame", limit=1)
    clock.now += timedelta(minutes=1)
    engine.recall("the boat is blue", limit=1)
    with pytest.raises(Conflict, match=f"Memory {secret.id} is not forgotten"):
        called(engine, "purge", ids=[secret.id])
    engine.forget([secret.id, other.id])
    with pytest.raises(NotFound, match="no memory 999"):
        called(engine, "purge", ids=[secret.id, 999])
    with pytest.raises(NotFound, match="nothing was purged"):
        called(engine.scoped("bo"), "purge", ids=[secret.id])
    assert engine.get(secret.id) is not None

    assert called(engine, "purge", ids=[secret.id])["purged"] == 1

    assert engine.get(secret.id) is None
    assert engine.get(other.id) is not None
    assert [each["query"] for each in called(engine, "list_answers")["answers"]] == ["the boat is blue"]
    assert called(engine, "verify")["problems"] == []
    with pytest.raises(InvalidInput, match="ids"):
        called(engine, "purge")
    assert called(engine, "purge_forgotten", before="2030-01-01")["purged"] == 1


def test_an_export_page_by_page_imports_into_the_same_again(engine: Engine) -> None:
    engine.create_entities([{"name": "Ana", "observations": ["likes plums"]}, {"name": "Bo"}])
    engine.graph.create_relations([{"source": "Ana", "target": "Bo", "type": "knows"}])
    engine.remember("Ana moved to Lisbon")
    engine.recall("plums in Lisbon")
    engine._services.usage.settle(None)
    whole = io.StringIO()
    export_file(engine, whole, scope_only=True)
    lines = every_page(engine, "export", "lines", limit=1)
    assert lines == whole.getvalue().splitlines()
    assert any('"record":"answer"' in line for line in lines)
    # A header, three memories, one relation.
    without = every_page(engine, "export", "lines", limit=1, learning=False)
    assert len([json.loads(line) for line in without]) == 5
    graph = every_page(engine, "export", "lines", limit=1, format="official")
    assert [json.loads(line)["type"] for line in graph] == ["entity", "entity", "relation"]

    again = called(engine, "import_text", jsonl="\n".join(lines))
    assert (again["format"], again["entities_created"], again["texts_created"]) == ("full", 0, 0)
    moved = called(engine.scoped("copy"), "import_text", jsonl="\n".join([*graph, "{broken"]))
    assert (moved["entities_created"], moved["relations_created"], moved["bad_count"]) == (2, 1, 1)
    assert called(engine.scoped("copy"), "list_entities")["entities"][0]["observations"] == 1


@pytest.mark.sqlite
def test_a_backup_goes_beside_the_store_and_is_listed(engine: Engine, tmp_path: Path) -> None:
    engine.remember("worth keeping")
    made = called(engine, "backup")
    assert (tmp_path / "memory.db-backups" / made["name"]).stat().st_size == made["bytes"]
    state = called(engine, "store_state")
    assert state["kind"] == "file"
    assert [each["name"] for each in state["backups"]] == [made["name"]]
    assert state["counts"]["notes"] == 1


def test_the_doctor_tells_what_is_in_order_and_a_server_makes_its_own_backups(engine: Engine) -> None:
    engine.remember("worth keeping")
    checks = {each["check"]: each["state"] for each in called(engine, "doctor")["checks"]}
    assert (checks["damage"], checks["vectors"]) == ("ok", "ok")
    assert called(engine, "reindex")["embedded"] == 0
    if called(engine, "store_state")["kind"] == "server":
        with pytest.raises(StoreUnavailable, match="the server's tools"):
            called(engine, "backup")


def test_many_notes_are_written_once_for_a_key_and_the_rest_is_named(engine: Engine) -> None:
    notes = [{"text": "one"}, {"text": " "}, {"text": "two", "tags": ["x"]}]
    with pytest.raises(InvalidInput):
        called(engine, "remember_many", notes=notes)
    assert called(engine, "browse")["memories"] == []
    many = http_operations()["remember_many"]
    # A key is no argument: it comes by a header.
    done = many.call(engine, {"notes": notes, "keep_going": True}, key="batch").result
    assert [each["index"] for each in done["rejected"]] == [1]
    many.call(engine, {"notes": notes, "keep_going": True}, key="batch")
    assert [each["duplicates"] for each in called(engine, "browse")["memories"]] == [0, 0]


def test_a_memory_is_superseded_by_another_or_by_a_text(engine: Engine) -> None:
    old, new = engine.remember("the mast is of oak"), engine.remember("the mast is of pine")
    assert called(engine, "supersede", old=old.id, by=new.id, copies=False)["id"] == new.id
    done = called(engine, "supersede", old=new.id, text="the mast is of steel")
    assert [each["id"] for each in done["retired"]] == [new.id]
    with pytest.raises(InvalidInput, match="either `by` or `text`"):
        called(engine, "supersede", old=new.id)
