"""A note that expires: gone from search then, never destroyed, and found by a look at the time before."""

from __future__ import annotations

import io
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

import recollect
from recollect.admin import Internals
from recollect.domain.errors import InvalidInput
from recollect.domain.records import Kind
from recollect.transfer import export_file, import_file

if TYPE_CHECKING:
    from conftest import FixedClock

    from recollect.domain.results import Answer
    from recollect.engine import Engine

HOUR = 3600.0


def texts(answer: Answer) -> list[str]:
    return [hit.memory.text for hit in answer.hits]


def test_a_note_is_found_until_it_expires_and_then_only_in_the_past(
    engine: Engine, clock: FixedClock
) -> None:
    lasting = "The harbour code is 4711"
    passing = "The harbour code is 0815 this morning"
    engine.remember(lasting)
    note = engine.remember(passing, expires_at=clock.now + timedelta(hours=1))
    before = clock.tick(HOUR / 2)
    for profile in engine.profiles:
        found = engine.search("harbour code", limit=5, profile=profile)
        assert sorted(texts(found)) == [passing, lasting], profile
    clock.tick(HOUR / 2)
    for profile in engine.profiles:
        assert texts(engine.search("harbour code", limit=5, profile=profile)) == [lasting], profile
    assert passing not in engine.context("what is the harbour code?").text
    assert [each.text for each in engine.list().memories] == [lasting]
    assert engine.why_not("harbour code", note.id).verdict == "It expired on 2026-03-01."
    for options in ({"as_of": before}, {"include_superseded": True}):
        found = engine.search("harbour code", limit=5, **options)
        assert sorted(texts(found)) == [passing, lasting]
    # Whatever happens, it is there.
    engine.purge(clock.tick(HOUR))
    kept = engine.get(note.id)
    assert kept is not None
    assert (kept.text, kept.deleted_at) == (passing, None)
    assert kept.expires_at == clock.now - timedelta(hours=1)


def test_what_is_said_again_lasts_as_it_is_said_now(engine: Engine, clock: FixedClock) -> None:
    other = engine.scoped("Bo")
    other.remember("The gate is open")
    note = engine.remember("The gate is open", expires_at=clock.now + timedelta(hours=1))
    clock.tick(2 * HOUR)
    assert texts(engine.search("is the gate open?")) == []
    assert texts(other.search("is the gate open?")) == ["The gate is open"]
    # It is no near-duplicate of what is new.
    assert engine.remember("The gate is open to carts").similar is None
    again = engine.remember("The gate is open")
    assert (again.id, again.created) == (note.id, False)
    assert "The gate is open" in texts(engine.search("is the gate open?"))
    engine.update(note.id, expires_at=clock.now + timedelta(hours=1))
    clock.tick(HOUR)
    assert "The gate is open" not in texts(engine.search("is the gate open?"))


def test_an_expiry_can_be_taken_back_before_and_after_it(engine: Engine, clock: FixedClock) -> None:
    note = engine.remember("The gate is open", expires_at=clock.now + timedelta(hours=1))
    clock.tick(2 * HOUR)
    assert texts(engine.search("is the gate open?")) == []
    assert engine.why_not("is the gate open?", note.id).advice == (
        "If it still holds: recollect update 1 --no-expiry",
    )
    assert engine.update(note.id, expires_at="never").expires_at is None
    assert texts(engine.search("is the gate open?")) == ["The gate is open"]
    engine.update(note.id, expires_at=clock.now + timedelta(hours=1))
    engine.update(note.id, importance=0.9)
    assert engine.get(note.id).expires_at is not None  # type: ignore[union-attr]
    engine.update(note.id, expires_at="never")
    clock.tick(2 * HOUR)
    assert texts(engine.search("is the gate open?")) == ["The gate is open"]


def test_dreams_self_tests_and_reports_leave_out_what_has_expired(engine: Engine, clock: FixedClock) -> None:
    lasting = engine.remember("The lighthouse keeper paints the railing green")
    passing = engine.remember("The ferry to Corfu leaves at nine", expires_at=clock.now + timedelta(hours=1))
    clock.tick(HOUR)
    before = engine.get_many([lasting.id, passing.id])
    assert engine.self_test().memories == 1
    assert engine.upkeep.consolidation_report().notes == 1
    clock.tick(100 * 24 * HOUR)
    engine.dream()
    after = engine.get_many([lasting.id, passing.id])
    assert after[passing.id] == before[passing.id]
    # So the dream did something.
    assert after[lasting.id] != before[lasting.id]


def test_only_notes_expire_and_only_later(engine: Engine, clock: FixedClock) -> None:
    with pytest.raises(InvalidInput, match="is past"):
        engine.remember("Too late", expires_at=clock.now)
    with pytest.raises(InvalidInput, match="without a time zone"):
        engine.remember("Whose midnight?", expires_at=clock.now.replace(tzinfo=None))
    engine.create_entities(["Ada"])
    with pytest.raises(InvalidInput, match="Only a note expires"):
        engine.update(1, expires_at=clock.now + timedelta(hours=1))
    assert Internals(engine).count_memories() == {Kind.ENTITY: 1}


def test_an_export_keeps_when_a_note_expires(engine: Engine, clock: FixedClock) -> None:
    at = clock.now + timedelta(hours=1)
    engine.remember("The gate is open", expires_at=at)
    written = io.StringIO()
    export_file(engine, written, format="full")
    with recollect.open(":memory:", model="none") as other:
        import_file(other, io.StringIO(written.getvalue()))
        (note,) = other.list(include_superseded=True).memories
    assert note.expires_at == at
