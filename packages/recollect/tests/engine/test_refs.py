"""Notes that programs keep: under a name of theirs, with data of their own, exactly as they left them."""

from __future__ import annotations

import io
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

import recollect
from recollect.domain.errors import Conflict, InvalidInput
from recollect.transfer import export_file, import_file

if TYPE_CHECKING:
    from conftest import FixedClock

    from recollect.domain.records import Memory
    from recollect.engine import Engine

ANYTHING: dict[str, Any] = {
    "text": "naïve \0 \U0001f40e",
    "numbers": [0, -1, 1.5, 1e300, 2**70],
    "nothing": None,
    "nested": {"": [True, {"a.b": []}]},
}


def under(engine: Engine, *refs: str) -> list[Memory]:
    return list(engine.list(refs=refs).memories)


def test_a_note_is_found_by_its_ref_and_its_metadata_comes_back_exactly(engine: Engine) -> None:
    note = engine.remember("Ada rides on Sundays", ref="app/ada ", metadata=ANYTHING)
    (found,) = under(engine, "app/ada ", "app/bo")
    assert (found.id, found.ref, found.metadata) == (note.id, "app/ada ", ANYTHING)
    assert under(engine, "app/ada") == under(engine) == []
    assert engine.recall("when does Ada ride?").hits[0].memory == found
    engine.add_messages("today", [{"content": "Hello", "metadata": {"tool": [1]}}], extract=False)
    assert engine.sessions.turns("today")[0].metadata == {"tool": [1]}


def test_stored_again_under_its_ref_a_note_is_replaced(engine: Engine, clock: FixedClock) -> None:
    soon = clock.now + timedelta(hours=1)
    first = engine.remember("The code is 4711", ref="code", metadata={"n": 1}, tags=["door"], expires_at=soon)
    clock.tick(60)
    again = engine.remember("The code is 0815", ref="code", category="codes")
    assert (again.id, again.created) == (first.id, False)
    (found,) = under(engine, "code")
    assert (found.text, found.category) == ("The code is 0815", "codes")
    assert (found.tags, found.expires_at, found.metadata) == ((), None, None)
    assert found.updated_at - found.created_at == timedelta(seconds=60)
    assert [former.text for former in found.former] == ["The code is 4711"]
    assert [hit.memory.text for hit in engine.search("what is the code?").hits] == ["The code is 0815"]
    batch = engine.remember_many([{"text": "The code is 1", "ref": "code"}, {"text": "A", "ref": "a"}])
    assert [note.created for note in batch.notes] == [False, True]
    assert engine.update(first.id, metadata={"n": 2}).metadata == {"n": 2}


def test_stored_again_a_note_has_another_speaker_and_is_about_others(engine: Engine) -> None:
    engine.create_entities(["Ada", "Bo"])
    (bo,) = engine.graph.open_nodes(["Bo"]).entities
    for speaker, about in (("Charles", "Ada"), ("Dorothy", "Bo")):
        said = {"text": "Nobody rides today", "ref": "r", "speaker": speaker, "about": [about]}
        engine.remember_many([said])
    (found,) = under(engine, "r")
    assert (found.speaker, found.about) == ("Dorothy", (bo.id,))
    assert [hit.memory.id for hit in engine.search("Dorothy").hits if hit.places.get("words")] == [found.id]
    assert [hit for hit in engine.search("Charles").hits if hit.places.get("words")] == []
    assert list(engine.upkeep.verify()) == []


def test_notes_of_programs_are_never_one_with_another(engine: Engine) -> None:
    text = "Ada rides on Sundays"
    given: list[dict[str, Any]] = [{}, {"ref": "a"}, {"ref": "b"}, {"metadata": {}}, {"metadata": {}}]
    notes = [engine.remember(text, **each) for each in given]
    assert len({note.id for note in notes}) == 5
    assert engine.remember(text).id == notes[0].id
    engine.dream(gate=False)
    assert all(
        memory.superseded_at is None and memory.deleted_at is None
        for memory in engine.get_many(note.id for note in notes).values()
    )


def test_a_ref_is_free_once_its_note_is_forgotten(engine: Engine) -> None:
    old = engine.remember("The code is 4711", ref="code")
    engine.forget([old.id])
    assert under(engine, "code") == []
    new = engine.remember("The code is 0815", ref="code")
    assert new.created
    with pytest.raises(Conflict, match=rf"Memory {new.id} was stored as 'code' since; forget it before"):
        engine.restore(old.id)
    engine.forget([new.id])
    assert engine.restore(old.id).ref == "code"


def test_refs_of_two_scopes_are_two(engine: Engine) -> None:
    one, other = engine.scoped("ada", "a"), engine.scoped("ada", "b")
    assert one.remember("One", ref="r").id != other.remember("Other", ref="r").id
    assert [memory.text for memory in under(one, "r")] == ["One"]
    assert {memory.text for memory in under(engine.scoped("ada", None), "r")} == {"One", "Other"}


def test_an_export_has_refs_and_metadata(engine: Engine) -> None:
    texts = [engine.remember("Same", ref=ref, metadata=ANYTHING).id for ref in ("a", "b")]
    out = io.StringIO()
    export_file(engine, out, format="full")
    with recollect.open(":memory:", model="none") as other:
        import_file(other, io.StringIO(out.getvalue()))
        copied = {note.ref: note.metadata for note in other.list().memories}
        assert copied == dict.fromkeys(("a", "b"), ANYTHING)
        # Brought again, it is there.
        import_file(other, io.StringIO(out.getvalue()))
        assert len(other.list().memories) == len(texts)


def test_what_cannot_be_kept_is_refused(engine: Engine) -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"ref": " "}, "The ref is empty"),
        ({"ref": "x" * 1001}, "at most 1,000"),
        ({"metadata": [1]}, "`metadata` is a mapping"),
        *(({"metadata": {"a": odd}}, "written as JSON") for odd in (object(), float("nan"), "\ud800")),
        ({"metadata": {"a": "x" * 4_000_000}}, "at most 4,000,000"),
    ]
    for given, message in wrong:
        with pytest.raises(InvalidInput, match=message):
            engine.remember("Ada", **given)
    assert engine.list().memories == ()


def test_an_answer_shows_each_note_of_a_program_that_says_the_same(engine: Engine) -> None:
    notes = {engine.remember("Ada rides on Sundays", ref=ref).id for ref in ("a", "b")}
    for profile in engine.profiles:
        hits = engine.search("when does Ada ride?", limit=3, profile=profile).hits
        assert {hit.memory.id for hit in hits} == notes, profile


def test_several_who_store_under_one_ref_at_once_make_one_note(engine: Engine) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: engine.remember(f"The code is {n}", ref="code"), range(24)))
    (note,) = under(engine, "code")
    assert note.revisions == 23
