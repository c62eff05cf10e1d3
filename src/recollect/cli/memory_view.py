"""How a memory is named, described and written as JSON wherever a command shows one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recollect.cli.rendering import Styled, Words, picked
from recollect.cli.times import iso_day, iso_day_or_minute, iso_minute, iso_second
from recollect.text.phrases import ellipsize
from recollect.text.untrusted import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import tzinfo

    from recollect.records import Memory

_USUAL_DEPTH = 2
# The keys of `--json` and their order are a promise to scripts.
_ENTITY = ("name", "type", "observations", "tags", "source")
_TEXT = (
    *("text", "category", "source", "session", "position", "role", "speaker", "undated", "tags"),
    *("drawn_from", "similar_to", "similarity", "former"),
)
_EVERY = (
    *("status", "importance", "importance_tag", "pinned", "consolidation", "strength", "stability"),
    *("depth", "spread", "duplicates"),
)
_TIMES = ("created_at", "updated_at", "happened_at", "superseded_by", "superseded_at", "deleted_at")


def memory_data(memory: Memory) -> dict[str, Any]:
    return {
        **picked(memory, "id", "kind", *(_ENTITY if memory.kind == "entity" else _TEXT), *_EVERY),
        **picked(memory.scope, "owner", "agent"),
        **picked(memory, *_TIMES),
        **(picked(memory, "expires_at") if memory.expires_at is not None else {}),
    }


def heading(memory: Memory, zone: tzinfo | None) -> Words:
    """Its name or speaker, then what is unusual about it, and its id."""
    facts = Styled(facts_line(memory, zone), "muted")
    if memory.kind == "entity":
        return Styled(one_line(memory.name), "entity"), "  ", facts
    # In one piece: it must not end one line and begin the next.
    ending = f"  {superseded_text(memory)}".replace(" ", "\u00a0") if memory.superseded_at else ""
    name = Styled(one_line(speaker_of(memory) or memory.kind), "speaker")
    return name, "  ", facts, Styled(ending, "bad")


def facts_line(memory: Memory, zone: tzinfo | None) -> str:
    """`person · paused · #12`, `message · session harbour · 2024-05-06 10:32 · #12`."""
    status = "" if memory.status == "active" else str(memory.status)
    known = [memory.type, status]
    if memory.kind != "entity":
        when = (
            ""
            if memory.undated
            else (iso_minute if memory.kind == "message" else iso_day)(memory.created_at, zone)
        )
        known = [
            str(memory.kind) if speaker_of(memory) else "",
            f"session {memory.session}" if memory.session else "",
            memory.category or "",
            f"tagged {', '.join(memory.tags)}" if memory.tags else "",
            status,
            when if memory.happened_at is None else iso_day(memory.happened_at, zone),
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


def shown_day(memory: Memory, zone: tzinfo | None) -> str:
    """For a terminal: the day of `spoken_at`, or `unknown`."""
    if memory.undated and memory.happened_at is None:
        return "unknown"
    return iso_day(memory.happened_at or memory.created_at, zone)


def label(memory: Memory | None) -> str:
    """A memory in a few words."""
    if memory is None:
        return "(purged since)"
    text = memory.name or memory.text
    return ellipsize(f"{memory.speaker}: {text}" if memory.speaker else text, 200)


def superseded_text(memory: Memory) -> str:
    """`superseded by #12`, where it is."""
    if memory.superseded_at is None:
        return ""
    return f"superseded by #{memory.superseded_by}" if memory.superseded_by else "superseded"


def memory_fields(memory: Memory, zone: tzinfo | None) -> Iterator[tuple[str, str]]:
    """All that is known of a memory beside its text and name, as far as it is unusual."""
    turn = "" if memory.position is None else f", turn {memory.position}"
    created = "date unknown" if memory.undated else iso_minute(memory.created_at, zone)
    by = f"by #{memory.superseded_by} " if memory.superseded_by else ""
    known = (
        ("session", memory.session and f"{memory.session}{turn}"),
        ("role", memory.role),
        ("said" if memory.kind == "message" else "noted", "" if memory.kind == "entity" else created),
        ("happened", memory.happened_at and iso_day_or_minute(memory.happened_at, zone)),
        ("category", memory.category),
        ("tags", ", ".join(memory.tags)),
        ("importance", "" if memory.importance == 0.5 else f"{memory.importance:g}"),
        ("status", "" if memory.status == "active" else str(memory.status)),
        *strengths(memory),
        ("source", memory.source),
        ("drawn from", memory.drawn_from and f"message #{memory.drawn_from}"),
        ("repeated", memory.duplicates and f"{memory.duplicates + 1:,} times in all"),
        ("nearly repeats", memory.similar_to and f"#{memory.similar_to} ({memory.similarity or 0:.2f})"),
        ("superseded", memory.superseded_at and f"{by}on {iso_day(memory.superseded_at, zone)}"),
        ("expires", memory.expires_at and iso_day_or_minute(memory.expires_at, zone)),
        ("forgotten", memory.deleted_at and f"on {iso_day(memory.deleted_at, zone)}"),
    )
    yield from ((name, str(value)) for name, value in known if value)
    yield from ((f"until {iso_day(former.until, zone)}", former.text) for former in memory.former)


def entity_fields(memory: Memory) -> Iterator[tuple[str, str]]:
    """What is known of an entity beside its name, type and observations, as far as it is unusual."""
    if memory.tags:
        yield "tags", ", ".join(memory.tags)
    yield from strengths(memory)
    if memory.source:
        yield "source", memory.source


def strengths(memory: Memory) -> Iterator[tuple[str, str]]:
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


def with_remedy(note: str) -> str:
    """Add the command that helps to a note about missing vectors."""
    from recollect.engine.recall import WAITING  # loads the engine
    from recollect.engine.why_not import MAY_WAIT

    return f"{note} Run: recollect reindex" if note.endswith((WAITING, MAY_WAIT)) else note
