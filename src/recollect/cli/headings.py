"""How a memory is named in a terminal, and what is worth saying of one beside its text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.cli.dates import day, day_or_moment, moment
from recollect.cli.visible import one_line
from recollect.records import Consolidation, Kind, Status

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import tzinfo

    from rich.text import Text

    from recollect.records import Memory


_USUAL_DEPTH = 2


def heading(memory: Memory, zone: tzinfo | None = None) -> Text:
    from rich.text import Text  # noqa: PLC0415  # a pipe needs none

    if memory.kind is Kind.ENTITY:
        return Text.assemble((one_line(memory.name), "bold cyan"), "  ", (facts(memory), "dim"))
    return Text.assemble(
        (one_line(who(memory) or memory.kind), "bold magenta"),
        "  ",
        (facts(memory, zone), "dim"),
        # In one piece: it must not end one line and begin the next.
        (f"  {retired(memory)}".replace(" ", "\u00a0") if memory.superseded_at else "", "red"),
    )


def who(memory: Memory) -> str:
    """Who said it: by name, else by role."""
    return memory.speaker or memory.role or ""


def facts(memory: Memory, zone: tzinfo | None = None) -> str:
    """`person · paused · #12`, `message · harbour · 6 May 2024, 10:32 · #12`: what is unusual, and its id."""
    status = [] if memory.status is Status.ACTIVE else [str(memory.status)]
    if memory.kind is Kind.ENTITY:
        return " · ".join([one_line(memory.type), *status, f"#{memory.id}"])
    said = [
        str(memory.kind) if who(memory) else "",
        f"session {memory.session}" if memory.session else "",
        memory.category or "",
        f"tagged {', '.join(memory.tags)}" if memory.tags else "",
        *status,
        when_of(memory, zone),
    ]
    return " · ".join([*map(one_line, filter(None, said)), f"#{memory.id}"])


def retired(memory: Memory) -> str:
    """`superseded by #12`, where it is."""
    if memory.superseded_at is None:
        return ""
    return f"superseded by #{memory.superseded_by}" if memory.superseded_by else "superseded"


def when_of(memory: Memory, zone: tzinfo | None) -> str:
    """When it happened or was said; a message with its hour. Empty where nobody knows."""
    if memory.happened_at is not None:
        return day(memory.happened_at, zone)
    if memory.undated:
        return ""
    return (moment if memory.kind is Kind.MESSAGE else day)(memory.created_at, zone)


def _place(memory: Memory) -> str:
    return f"{memory.session}, turn {memory.position}" if memory.position is not None else str(memory.session)


def fields(memory: Memory, zone: tzinfo | None) -> Iterator[tuple[str, str]]:
    """All that a memory is beside its text and its name, as far as it is not what most are."""
    known = (
        ("session", memory.session and _place(memory)),
        ("role", memory.role),
        ("said" if memory.kind is Kind.MESSAGE else "noted", _made(memory, zone)),
        ("happened", memory.happened_at and day_or_moment(memory.happened_at, zone)),
        ("category", memory.category),
        ("tags", ", ".join(memory.tags)),
        ("importance", "" if memory.importance == 0.5 else f"{memory.importance:g}"),
        ("status", "" if memory.status is Status.ACTIVE else str(memory.status)),
        *life(memory),
        ("source", memory.source),
        ("drawn from", memory.drawn_from and f"message #{memory.drawn_from}"),
        ("repeated", memory.duplicates and f"{memory.duplicates + 1:,} times in all"),
        ("nearly repeats", memory.similar_to and f"#{memory.similar_to} ({memory.similarity or 0:.2f})"),
        ("superseded", memory.superseded_at and _replaced(memory, day(memory.superseded_at, zone))),
        ("forgotten", memory.deleted_at and f"on {day(memory.deleted_at, zone)}"),
    )
    for name, value in known:
        if value:
            yield name, str(value)
    for former in memory.former:
        yield f"until {day(former.until, zone)}", former.text


def life(memory: Memory) -> Iterator[tuple[str, str]]:
    """What keeps it from fading, and what dreams have made of it."""
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
    if memory.consolidation is not Consolidation.STAGED:
        yield "stage", str(memory.consolidation)


def _made(memory: Memory, zone: tzinfo | None) -> str:
    if memory.kind is Kind.ENTITY:
        return ""
    return "nobody knows when" if memory.undated else moment(memory.created_at, zone)


def _replaced(memory: Memory, on: str) -> str:
    return f"by #{memory.superseded_by} on {on}" if memory.superseded_by else f"on {on}"
