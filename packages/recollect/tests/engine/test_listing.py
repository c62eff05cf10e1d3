"""Listing what is remembered, page by page, and clearing a session or a scope."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from recollect.admin import Internals
from recollect.domain.errors import InvalidInput, NotFound
from recollect.domain.records import Kind

if TYPE_CHECKING:
    from recollect.domain.results import MemoryPage
    from recollect.engine import Engine


def texts(page: MemoryPage) -> list[str]:
    return [memory.text or memory.name for memory in page.memories]


def test_notes_are_listed_the_newest_first_in_pages_that_join_to_the_whole(engine: Engine) -> None:
    notes = [f"Note number {n}" for n in range(7)]
    engine.remember_many(notes)
    engine.create_entities(["Ada"])
    engine.add_messages("tea", [{"content": "Hello"}], extract=False)
    seen: list[str] = []
    after: int | None = 0
    while after is not None:
        page = engine.list(limit=3, after=after)
        seen += texts(page)
        after = page.cursor
    assert seen == notes[::-1]
    assert texts(engine.list(kinds=tuple(Kind)))[:2] == ["Hello", "Ada"]


def test_a_list_is_narrowed_and_shows_what_is_in_force(engine: Engine) -> None:
    engine.remember("Ada sails", tags=["boats"], category="hobbies")
    engine.remember("Ada rows", tags=["boats"])
    engine.add_messages("tea", [{"content": "Hello"}], extract=False)
    engine.add_messages("cake", [{"content": "Good bye"}], extract=False)
    assert texts(engine.list(tags=["Boats"])) == ["Ada rows", "Ada sails"]
    assert texts(engine.list(tags=["boats"], category="hobbies")) == ["Ada sails"]
    assert texts(engine.list(kinds=["message"], session="tea")) == ["Hello"]
    engine.supersede(1, "Ada sails on Sundays")
    engine.forget([2])
    assert texts(engine.list()) == ["Ada sails on Sundays"]
    assert texts(engine.list(include_superseded=True)) == ["Ada sails on Sundays", "Ada sails"]
    assert texts(engine.scoped("somebody else").list()) == []
    for wrong in (0, 1_001, "x"):
        with pytest.raises(InvalidInput, match="A page holds 1 to 1,000"):
            engine.list(limit=wrong)  # type: ignore[arg-type]


def test_a_session_is_forgotten_with_what_was_drawn_out_of_it_and_comes_back(engine: Engine) -> None:
    said = engine.add_messages("tea", [{"content": "I live in Lisbon."}], extract=False)
    drawn = engine.remember_many([{"text": "Ana lives in Lisbon", "session": "tea"}]).notes[0]
    kept = engine.remember("Ana lives in Lisbon, as the letter says")
    other = engine.add_messages("cake", [{"content": "Hello"}], extract=False)
    gone = engine.sessions.forget("tea")
    assert set(gone) == {*said.ids, drawn.id}
    assert [session.name for session in engine.sessions.list()] == ["cake"]
    assert {memory.id for memory in engine.list(kinds=tuple(Kind)).memories} == {kept.id, *other.ids}
    engine.restore(said.ids[0])
    assert [turn.id for turn in engine.sessions.turns("tea")] == [said.ids[0]]
    with pytest.raises(NotFound, match="no session named 'coffee'"):
        engine.sessions.forget("coffee")


def test_all_of_a_scope_is_forgotten_and_nothing_of_another(engine: Engine) -> None:
    other = engine.scoped("Bo")
    other.remember("Bo sails")
    engine.remember("Ada sails")
    engine.supersede(2, "Ada rows")
    engine.create_entities(["Ada"])
    assert Internals(engine).forget_all() == 3
    assert Internals(engine).forget_all() == 0
    assert texts(engine.list(kinds=tuple(Kind), include_superseded=True)) == []
    assert texts(other.list()) == ["Bo sails"]
    assert engine.restore(3).text == "Ada rows"
