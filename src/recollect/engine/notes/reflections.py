"""Reflections: notes of what somebody thinks about what is remembered, with their mood as a tag."""

from __future__ import annotations

from recollect.engine.inputs import tags_of
from recollect.records import Memory
from recollect.text.limits import clean_type

CATEGORY = "reflection"
_MOOD = "mood:"


def mood_of(reflection: Memory) -> str | None:
    """The mood that a reflection was written in; one of them, if it was said again in another."""
    return next((tag.removeprefix(_MOOD) for tag in reflection.tags if tag.startswith(_MOOD)), None)


def mood_tags(mood: str | None) -> tuple[str, ...]:
    return () if mood is None else tags_of([f"{_MOOD}{clean_type(mood, 'mood')}"])
