"""The name, description and JSON of a memory, the same in every command."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from recollect.cli.options import iso_day, iso_day_or_minute, iso_minute
from recollect.cli.rendering import Styled, Words
from recollect.domain.json_values import to_json
from recollect.domain.records import NOTE_FIELDS
from recollect.text.phrases import ellipsize, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import tzinfo

    from recollect.domain.records import Memory
    from recollect.domain.results import Hit


_USUAL_DEPTH = 2


def memory_data(memory: Memory) -> dict[str, Any]:
    """Return the fields that all interfaces show, and the memory's former texts."""
    return {**to_json(memory), "former": memory.former}


def heading(memory: Memory, zone: tzinfo | None) -> Words:
    """Return the memory's name or speaker, its unusual properties, and its id."""
    facts = Styled(facts_line(memory, zone), "muted")
    if memory.kind == "entity":
        return Styled(one_line(memory.name), "entity"), "  ", facts
    # Without spaces, so that a line break cannot split it.
    ending = f"  {superseded_text(memory)}".replace(" ", "\u00a0") if memory.superseded_at else ""
    name = Styled(one_line(speaker_of(memory) or memory.kind), "speaker")
    return name, "  ", facts, Styled(ending, "bad")


def facts_line(memory: Memory, zone: tzinfo | None) -> str:
    """Return `person · paused · #12` or `message · session harbour · 2024-05-06 10:32 · #12`."""
    status = "" if memory.status == "active" else str(memory.status)
    known = [memory.type, status]
    if memory.kind != "entity":
        when = (iso_minute if memory.kind == "message" else iso_day)(memory.created_at, zone)
        known = [
            str(memory.kind) if speaker_of(memory) else "",
            f"session {memory.session}" if memory.session else "",
            memory.category or "",
            f"tagged {', '.join(memory.tags)}" if memory.tags else "",
            status,
            iso_day(memory.happened_at, zone) if memory.happened_at else "" if memory.undated else when,
        ]
    return " · ".join([*map(one_line, filter(None, known)), f"#{memory.id}"])


def speaker_of(memory: Memory) -> str:
    """Return the speaker's name, else the role."""
    return memory.speaker or memory.role or ""


def label(memory: Memory | None) -> str:
    """Return the name or text of a memory, cut to 200 characters, after its speaker."""
    if memory is None:
        return "(purged since)"
    text = memory.name or memory.text
    return ellipsize(f"{memory.speaker}: {text}" if memory.speaker else text, 200)


def superseded_text(memory: Memory) -> str:
    """Return `superseded by #12`; empty if the memory is current."""
    if memory.superseded_at is None:
        return ""
    return f"superseded by #{memory.superseded_by}" if memory.superseded_by else "superseded"


def memory_fields(memory: Memory, zone: tzinfo | None) -> Iterator[tuple[str, str]]:
    """Yield the fields that differ from their defaults, except the text and the name."""
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
        *((name.replace("_", " "), getattr(memory, name)) for name in NOTE_FIELDS),
        ("expires", memory.expires_at and iso_day_or_minute(memory.expires_at, zone)),
        ("forgotten", memory.deleted_at and f"on {iso_day(memory.deleted_at, zone)}"),
    )
    yield from ((name, str(value)) for name, value in known if value)
    yield from ((f"until {iso_day(former.until, zone)}", former.text) for former in memory.former)


def entity_fields(memory: Memory) -> Iterator[tuple[str, str]]:
    """Yield the fields that differ from their defaults, except name, type and observations."""
    if memory.tags:
        yield "tags", ", ".join(memory.tags)
    yield from strengths(memory)
    if memory.source:
        yield "source", memory.source


def strengths(memory: Memory) -> Iterator[tuple[str, str]]:
    """Yield the fields that dreams read and write, if they differ from their defaults."""
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
    """Add the command to run to a note about missing vectors."""
    from recollect.search.recall import WAITING  # loads the engine
    from recollect.search.why_not import MAY_WAIT

    return f"{note} Run: recollect reindex" if note.endswith((WAITING, MAY_WAIT)) else note


# The part of a memory to show for a query, with the query's words highlighted

_WIDTH = 280
_WIDTH_IN_TABLE = 120
# Word endings may differ between the query and the text (walk, walking), so compare how words begin.
_STEM = 5
_WORD = 20


def hit_excerpt(hit: Hit, query: str) -> str:
    """Return an excerpt of the piece with most query words, else the nearest in meaning, else the first."""
    # The passage nearest in meaning, without the name and type or the speaker, which the heading shows.
    nearest = hit.passage or ""
    if nearest and hit.memory.kind != "entity":
        nearest = hit.piece or hit.memory.text
    elif nearest:
        from recollect.text.passages import passage_text  # loads the grammar of words

        head = passage_text(hit.memory, None, (0, 0))
        nearest = "" if nearest == head else nearest.removeprefix(f"{head}: ")
    pieces = _pieces(hit.memory)
    if "words" in hit.places:
        best = max(pieces, key=lambda piece: _shared_words(query, piece), default="")
        if _shared_words(query, best) > _shared_words(query, nearest):
            return _excerpt(best, query, _WIDTH)
    return _excerpt(nearest or next(iter(pieces), ""), query, _WIDTH)


def matching_observation(entity: Memory, query: str) -> str | None:
    """Return the observation with most of the query's words; None if no observation has one."""
    best = max(_pieces(entity), key=lambda piece: _shared_words(query, piece), default="")
    return _excerpt(best, query, _WIDTH_IN_TABLE) if _shared_words(query, best) else None


def highlighted(text: str, query: str) -> Words:
    begins = "|".join(map(re.escape, _stems(query)))
    if not begins:
        return text
    pieces = re.split(rf"\b((?:{begins})\w*)", text, flags=re.IGNORECASE)
    return tuple(Styled(piece, "match") if place % 2 else piece for place, piece in enumerate(pieces))


def _stems(query: str) -> list[str]:
    """Return the beginnings of the query's words, without stopwords."""
    from recollect.text.tokens import content_words  # loads the grammar of words

    return [word[:_STEM] for word in content_words(query)]


def _excerpt(text: str, query: str, width: int) -> str:
    """Return one line of at most this width; of a longer text, the part around the query's first word."""
    line = " ".join(text.split())
    if len(line) <= width:
        return line
    from recollect.text.tokens import fold  # loads the grammar of words

    folded = fold(line)
    places = [place for stem in _stems(query) if (place := folded.find(stem)) >= 0]
    start = max(0, min(places, default=0) - width // 3)
    end = start + width
    before, after = "…" if start else "", "…" if end < len(line) else ""
    # Cut at a space nearby, if there is one, because half a word is hard to read.
    if before:
        space = line.find(" ", start, start + _WORD)
        start = space + 1 if space >= 0 else start
    if after:
        space = line.rfind(" ", end - _WORD, end)
        end = space if space > start else end
    return f"{before}{line[start:end].strip()}{after}"


def _pieces(memory: Memory) -> Sequence[str]:
    if memory.kind != "entity":
        return [memory.text]
    return [observation.content for observation in memory.in_force]


def _shared_words(query: str, piece: str) -> int:
    """Return how many of the query's words the piece has, plus one if it contains the whole query."""
    from recollect.text.tokens import fold, words  # loads the grammar of words

    here = words(piece)
    count = sum(any(word.startswith(stem) for word in here) for stem in _stems(query))
    return count + (fold(query) in fold(piece))
