"""How a memory is named and described wherever people see one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.cli.phrases import ellipsize, one_line
from recollect.cli.results import Styled, Words
from recollect.cli.times import iso_day, iso_day_or_minute, iso_minute, iso_second

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import tzinfo

    from recollect.records import Memory

_USUAL_DEPTH = 2


def heading(memory: Memory, zone: tzinfo | None) -> Words:
    """Its name or speaker, then what is unusual about it, and its id."""
    if memory.kind == "entity":
        return Styled(one_line(memory.name), "entity"), "  ", Styled(facts_line(memory, zone), "muted")
    # In one piece: it must not end one line and begin the next.
    ending = f"  {superseded_text(memory)}".replace(" ", "\u00a0") if memory.superseded_at else ""
    name = Styled(one_line(speaker_of(memory) or memory.kind), "speaker")
    return name, "  ", Styled(facts_line(memory, zone), "muted"), Styled(ending, "bad")


def facts_line(memory: Memory, zone: tzinfo | None) -> str:
    """`person · paused · #12`, `message · session harbour · 2024-05-06 10:32 · #12`."""
    status = [] if memory.status == "active" else [str(memory.status)]
    if memory.kind == "entity":
        known = [memory.type, *status]
    else:
        known = [
            str(memory.kind) if speaker_of(memory) else "",
            f"session {memory.session}" if memory.session else "",
            memory.category or "",
            f"tagged {', '.join(memory.tags)}" if memory.tags else "",
            *status,
            _when(memory, zone),
        ]
    return " · ".join([*map(one_line, filter(None, known)), f"#{memory.id}"])


def speaker_of(memory: Memory) -> str:
    """Who said it: by name, else by role."""
    return memory.speaker or memory.role or ""


def spoken_at(memory: Memory, zone: tzinfo | None) -> str:
    """For a pipe: when it happened or was said; empty where nobody knows."""
    if memory.undated and memory.happened_at is None:
        return ""
    return iso_second(memory.happened_at or memory.created_at, zone)


def label(memory: Memory | None) -> str:
    """A memory in a few words."""
    if memory is None:
        return "(purged since)"
    text = memory.name or memory.text
    return ellipsize(f"{memory.speaker}: {text}" if memory.speaker else text, 200)


def name_or_id(memory: Memory) -> str:
    return memory.name or f"{memory.kind} #{memory.id}"


def superseded_text(memory: Memory) -> str:
    """`superseded by #12`, where it is."""
    if memory.superseded_at is None:
        return ""
    return f"superseded by #{memory.superseded_by}" if memory.superseded_by else "superseded"


def memory_fields(memory: Memory, zone: tzinfo | None) -> Iterator[tuple[str, str]]:
    """All that is known of a memory beside its text and name, as far as it is unusual."""
    known = (
        ("session", memory.session and _place(memory)),
        ("role", memory.role),
        ("said" if memory.kind == "message" else "noted", _created(memory, zone)),
        ("happened", memory.happened_at and iso_day_or_minute(memory.happened_at, zone)),
        ("category", memory.category),
        ("tags", ", ".join(memory.tags)),
        ("importance", "" if memory.importance == 0.5 else f"{memory.importance:g}"),
        ("status", "" if memory.status == "active" else str(memory.status)),
        *strength_fields(memory),
        ("source", memory.source),
        ("drawn from", memory.drawn_from and f"message #{memory.drawn_from}"),
        ("repeated", memory.duplicates and f"{memory.duplicates + 1:,} times in all"),
        ("nearly repeats", memory.similar_to and f"#{memory.similar_to} ({memory.similarity or 0:.2f})"),
        ("superseded", memory.superseded_at and _replaced(memory, iso_day(memory.superseded_at, zone))),
        ("forgotten", memory.deleted_at and f"on {iso_day(memory.deleted_at, zone)}"),
    )
    for name, value in known:
        if value:
            yield name, str(value)
    for former in memory.former:
        yield f"until {iso_day(former.until, zone)}", former.text


def strength_fields(memory: Memory) -> Iterator[tuple[str, str]]:
    """What keeps it from fading, and what dreams made of it."""
    if memory.pinned:
        yield "pinned", "yes"
    if memory.importance_tag is not None:
        yield "marked", memory.importance_tag
    if f"{memory.strength:.2f}" != "1.00":
        yield "strength", f"{memory.strength:.2f}"
    if f"{memory.stability:.1f}" != "1.0":
        yield "stability", f"{memory.stability:.1f} days"
    if memory.depth != _USUAL_DEPTH:
        yield "depth", "deep" if memory.depth > _USUAL_DEPTH else "shallow"
    if memory.consolidation != "staged":
        yield "stage", str(memory.consolidation)


def _when(memory: Memory, zone: tzinfo | None) -> str:
    """When it happened or was said; a message with its hour. Empty where nobody knows."""
    if memory.happened_at is not None:
        return iso_day(memory.happened_at, zone)
    if memory.undated:
        return ""
    return (iso_minute if memory.kind == "message" else iso_day)(memory.created_at, zone)


def _place(memory: Memory) -> str:
    return f"{memory.session}, turn {memory.position}" if memory.position is not None else str(memory.session)


def _created(memory: Memory, zone: tzinfo | None) -> str:
    if memory.kind == "entity":
        return ""
    return "nobody knows when" if memory.undated else iso_minute(memory.created_at, zone)


def _replaced(memory: Memory, day: str) -> str:
    return f"by #{memory.superseded_by} on {day}" if memory.superseded_by else f"on {day}"
