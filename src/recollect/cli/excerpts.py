"""Which piece of a memory to show for a query, with the query's words marked."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from recollect.cli.rendering import Styled, Words
from recollect.records import Kind
from recollect.text.passages import passage_text
from recollect.text.tokens import content_words, fold, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.engine.results import Hit
    from recollect.records import Memory

_WIDTH = 280
_WIDTH_IN_TABLE = 120
# Endings differ between the query and the text (walk, walking), so words are compared by how they begin.
_STEM = 5
_WORD = 20


def hit_excerpt(hit: Hit, query: str) -> str:
    """The piece with the query's words, or the one nearest in meaning, or the first there is."""
    nearest = _nearest_piece(hit)
    pieces = _pieces(hit.memory)
    if "words" in hit.places:
        best = max(pieces, key=lambda piece: _shared_words(query, piece), default="")
        if _shared_words(query, best) > _shared_words(query, nearest):
            return _excerpt(best, query, _WIDTH)
    return _excerpt(nearest or next(iter(pieces), ""), query, _WIDTH)


def matching_observation(entity: Memory, query: str) -> str | None:
    """The observation with most of the query's words; None where none has any."""
    best = max(_pieces(entity), key=lambda piece: _shared_words(query, piece), default="")
    return _excerpt(best, query, _WIDTH_IN_TABLE) if _shared_words(query, best) else None


def highlighted(text: str, query: str) -> Words:
    begins = "|".join(map(re.escape, _stems(query)))
    if not begins:
        return text
    pieces = re.split(rf"\b((?:{begins})\w*)", text, flags=re.IGNORECASE)
    return tuple(Styled(piece, "match") if place % 2 else piece for place, piece in enumerate(pieces))


def _stems(query: str) -> list[str]:
    """How the query's words begin, without stopwords."""
    return [word[:_STEM] for word in content_words(query)]


def _excerpt(text: str, query: str, width: int) -> str:
    """One line of at most this width, around the query's first word where the text is longer."""
    line = " ".join(text.split())
    if len(line) <= width:
        return line
    folded = fold(line)
    places = [place for stem in _stems(query) if (place := folded.find(stem)) >= 0]
    start = max(0, min(places, default=0) - width // 3)
    end = start + width
    return f"{'…' if start else ''}{_between_words(line, start, end)}{'…' if end < len(line) else ''}"


def _between_words(line: str, start: int, end: int) -> str:
    """Cut at spaces where there are any near: half a word is hard to read."""
    if start:
        space = line.find(" ", start, start + _WORD)
        start = space + 1 if space >= 0 else start
    if end < len(line):
        space = line.rfind(" ", end - _WORD, end)
        end = space if space > start else end
    return line[start:end].strip()


def _pieces(memory: Memory) -> Sequence[str]:
    if memory.kind is not Kind.ENTITY:
        return [memory.text]
    return [observation.content for observation in memory.in_force]


def _nearest_piece(hit: Hit) -> str:
    """What was nearest in meaning, without the name and type or the speaker, which stand above it."""
    passage = hit.passage or ""
    if hit.memory.kind is not Kind.ENTITY:
        return (hit.piece or hit.memory.text) if passage else ""
    head = passage_text(hit.memory, None, (0, 0))
    return "" if passage == head else passage.removeprefix(f"{head}: ")


def _shared_words(query: str, piece: str) -> int:
    """How many of the query's words the piece has; the whole query in it counts as one more."""
    here = words(piece)
    count = sum(any(word.startswith(stem) for word in here) for stem in _stems(query))
    return count + (fold(query) in fold(piece))
