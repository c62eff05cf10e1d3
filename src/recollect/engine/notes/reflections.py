"""Reflections: notes of what somebody thinks about what is remembered, with their mood as a tag."""

from __future__ import annotations

from recollect.engine.inputs import tags_of
from recollect.errors import Conflict
from recollect.records import Memory
from recollect.text.limits import clean_type

CATEGORY = "reflection"
_MOOD = "mood:"


def mood_of(reflection: Memory) -> str | None:
    """The mood that a reflection was written in; one of them, if it was said again in another."""
    return next((tag.removeprefix(_MOOD) for tag in reflection.tags if tag.startswith(_MOOD)), None)


def mood_tags(mood: str | None) -> tuple[str, ...]:
    return () if mood is None else tags_of([f"{_MOOD}{clean_type(mood, 'mood')}"])


def check_category(note: Memory) -> None:
    """Refuse to count a reflection as said again by a note that is none."""
    if note.category != CATEGORY:
        raise Conflict(
            f"Note {note.id} says this already, in the category {note.category!r}; say the reflection in "
            "words of its own, or update that note's category."
        )
