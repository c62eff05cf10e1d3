"""Reflections: notes of their own sort, found by author, mood and what they are about."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from recollect.domain.errors import Conflict, InvalidInput, NotFound
from recollect.domain.records import Kind
from recollect.memories.notes import reflection_tag

if TYPE_CHECKING:
    from conftest import MakeEngine

    from recollect.domain.results import Answer
    from recollect.engine import Engine


def texts(answer: Answer) -> list[str]:
    return [hit.memory.text for hit in answer.hits]


def test_a_reflection_is_a_note_of_its_author_with_its_mood_as_a_tag(engine: Engine) -> None:
    engine.create_entities(["Apollo", "Zeus"])
    told = engine.upkeep.add_reflection(
        "The deadline was too tight, Zeus says", about=["Apollo"], author="Sofia", mood="frustration"
    )
    assert (told.created, told.category, told.mentions) == (True, "reflection", ("Apollo", "Zeus"))
    note = engine.get(told.id)
    assert note is not None
    assert (note.kind, note.category, note.speaker) == (Kind.NOTE, "reflection", "Sofia")
    assert (note.tags, reflection_tag(note, "mood")) == (("mood:frustration",), "frustration")
    # `about` and `author` are optional.
    bare = engine.get(engine.upkeep.add_reflection("Slow is smooth", key="k").id)
    assert bare is not None
    assert (bare.speaker, bare.tags, bare.about, reflection_tag(bare, "mood")) == (None, (), (), None)
    assert engine.upkeep.add_reflection("Slow is smooth", key="k").id == bare.id


@pytest.mark.parametrize("model", ["hashing", "none"])
def test_only_reflections_of_the_scope_are_found(make_engine: MakeEngine, model: str) -> None:
    engine = make_engine(model=model)
    engine.create_entities([{"name": "Tea", "observations": ["tea is green"]}])
    engine.remember("tea is hot")
    engine.add_messages("s", [{"role": "user", "content": "tea is wet"}])
    engine.upkeep.add_reflection("tea calms me", mood="joy")
    engine.scoped("you").upkeep.add_reflection("tea calms you", author="Sofia")
    assert texts(engine.upkeep.search_reflections("tea", mood="joy")) == ["tea calms me"]
    assert texts(engine.upkeep.search_reflections("tea")) == ["tea calms me"]
    # And recall finds them among everything else.
    assert "tea calms me" in texts(engine.recall("tea"))


def test_author_mood_and_entity_narrow_the_search_together(engine: Engine) -> None:
    engine.create_entities(["Apollo", "Zeus"])
    engine.upkeep.add_reflection("tea one", about=["Apollo"], author="Sofia", mood="doubt")
    engine.upkeep.add_reflection("tea two", about=["Zeus"], author="Sofia", mood="insight")
    engine.upkeep.add_reflection("tea three", about=["Apollo"], author="Nolan", mood="insight")
    search = engine.upkeep.search_reflections
    assert sorted(texts(search("tea", author="Sofia"))) == ["tea one", "tea two"]
    assert sorted(texts(search("tea", mood="Insight"))) == ["tea three", "tea two"]
    assert sorted(texts(search("tea", about="apollo"))) == ["tea one", "tea three"]
    assert texts(search("tea", author="Nolan", mood="insight", about="Apollo")) == ["tea three"]
    assert texts(search("tea", author="Nolan", mood="doubt")) == []


def test_the_filter_is_inside_the_search_so_the_limit_is_of_reflections(engine: Engine) -> None:
    for number in range(40):
        engine.remember(f"tea tea tea {number}")
    engine.upkeep.add_reflection("a long thought that has tea somewhere in it", author="Sofia")
    assert len(engine.upkeep.search_reflections("tea tea tea", author="Sofia", limit=1).hits) == 1


def test_the_same_words_of_another_author_are_another_reflection(engine: Engine) -> None:
    first = engine.upkeep.add_reflection("tea calms me", author="Sofia")
    again = engine.upkeep.add_reflection("Tea calms me.", author="Sofia", mood="joy")
    other = engine.upkeep.add_reflection("tea calms me", author="Nolan")
    assert (again.id, again.created) == (first.id, False)
    assert other.id != first.id
    assert [hit.memory.id for hit in engine.upkeep.search_reflections("tea", mood="joy").hits] == [first.id]


def test_a_note_of_another_sort_with_the_same_words_is_named(engine: Engine) -> None:
    note = engine.remember("tea calms me", category="health")
    with pytest.raises(Conflict, match=f"Note {note.id} has this text already, in the category 'health'"):
        engine.upkeep.add_reflection("tea calms me")
    stored = engine.get(note.id)
    assert stored is not None
    assert stored.duplicates == 0
    # One without a sort becomes a reflection.
    engine.remember("cake calms me")
    assert engine.upkeep.add_reflection("cake calms me").category == "reflection"


def test_what_cannot_be_kept_is_refused(engine: Engine) -> None:
    for text, mood in (("  ", None), ("tea", "")):
        with pytest.raises(InvalidInput):
            engine.upkeep.add_reflection(text, mood=mood)
    with pytest.raises(NotFound, match="Nobody"):
        engine.upkeep.add_reflection("tea", about=["Nobody"])
    with pytest.raises(NotFound, match="Nobody"):
        engine.upkeep.search_reflections("tea", about="Nobody")
    assert engine.counts().notes == 0
