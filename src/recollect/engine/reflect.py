"""Reflections: what somebody thinks about what is remembered, kept as notes of their own sort."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.engine.graph import entity_named
from recollect.engine.recall import Question, recall
from recollect.engine.remember import remember
from recollect.engine.wanted import tags_of
from recollect.errors import Conflict
from recollect.records import Kind
from recollect.text.limits import clean_name, clean_type

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recollect.engine.parts import Parts
    from recollect.engine.results import Answer, Remembered
    from recollect.rank.pipeline import Profile
    from recollect.records import Memory

CATEGORY = "reflection"
_MOOD = "mood:"


def add_reflection(
    parts: Parts, content: str, *, about: Iterable[str], author: str | None, mood: str | None, key: str | None
) -> Remembered:
    """A note of the category `reflection`, said by its author, with its mood as a tag."""
    note = {
        "text": content,
        "category": CATEGORY,
        "speaker": author,
        "about": about,
        "tags": _tags(mood),
    }
    told = remember(parts, note, key)
    if told.category != CATEGORY:
        raise Conflict(
            f"Note {told.id} says this already, in the category {told.category!r}; say the reflection in "
            "words of its own, or update that note's category."
        )
    return told


def search_reflections(
    parts: Parts,
    profile: Profile,
    query: str,
    *,
    author: str | None,
    mood: str | None,
    about: str | None,
    limit: int | None,
    explain: bool,
    record: bool,
) -> Answer:
    question = Question(
        query,
        profile,
        limit,
        frozenset({Kind.NOTE}),
        explain,
        record,
        tags=frozenset(_tags(mood)),
        category=CATEGORY,
        speaker=None if author is None else clean_name(author, "author"),
        about=None if about is None else entity_named(parts, about),
    )
    return recall(parts, question)


def mood_of(reflection: Memory) -> str | None:
    """The mood that a reflection was written in; one of them, if it was said again in another."""
    return next((tag.removeprefix(_MOOD) for tag in reflection.tags if tag.startswith(_MOOD)), None)


def _tags(mood: str | None) -> tuple[str, ...]:
    return () if mood is None else tags_of([f"{_MOOD}{clean_type(mood, 'mood')}"])
