"""Reflections: notes of what somebody thinks about what is remembered.

Their mood, and the conversations and relations that they are about, are tags.
"""

from __future__ import annotations

from recollect.engine.inputs import tags_of
from recollect.errors import Conflict
from recollect.records import Memory
from recollect.text.limits import clean_type

CATEGORY = "reflection"
_MOOD = "mood:"
_SESSION = "session:"
_RELATION = "relation:"


def mood_of(reflection: Memory) -> str | None:
    """The mood that a reflection was written in; one of them, if it was said again in another."""
    return _tagged(reflection, _MOOD)


def session_of_reflection(reflection: Memory) -> str | None:
    """The conversation that a reflection is about."""
    return _tagged(reflection, _SESSION)


def relation_of_reflection(reflection: Memory) -> str | None:
    """The relation that a reflection is about, as `Ada works_at Harbour`."""
    return _tagged(reflection, _RELATION)


def reflection_tags(
    mood: str | None = None, session: str | None = None, relation: tuple[str, str, str] | None = None
) -> tuple[str, ...]:
    """The tags of reflections in a mood, about a conversation or a (source, type, target)."""
    tags = [] if mood is None else [f"{_MOOD}{clean_type(mood, 'mood')}"]
    tags += [] if session is None else [f"{_SESSION}{session}"]
    tags += [] if relation is None else [f"{_RELATION}{' '.join(relation)}"]
    return tags_of(tags)


def _tagged(reflection: Memory, begins: str) -> str | None:
    return next((tag.removeprefix(begins) for tag in reflection.tags if tag.startswith(begins)), None)


def check_category(note: Memory) -> None:
    """Refuse to count a reflection as said again by a note that is none."""
    if note.category != CATEGORY:
        raise Conflict(
            f"Note {note.id} says this already, in the category {note.category!r}; say the reflection in "
            "words of its own, or update that note's category."
        )
