"""Which piece of a memory to show for a search, and why it was found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.cli.wording import counted
from recollect.records import Kind
from recollect.text.passages import passage_text
from recollect.text.tokens import content_words, fold, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.engine.results import Answer, Hit
    from recollect.records import Memory

EXCERPT = 280
FOUND = 120
# Endings differ between the query and the text (walk, walking), so words are compared by how they begin.
_STEM = 5
_WORD = 20


def matched(hit: Hit, query: str) -> str:
    """The piece that the query's words are in, or the one nearest in meaning, or the first there is."""
    nearest = _without_head(hit)
    pieces = _pieces(hit.memory)
    if "words" in hit.places:
        best = max(pieces, key=lambda piece: _shared(query, piece), default="")
        if _shared(query, best) > _shared(query, nearest):
            return excerpt(best, query)
    return excerpt(nearest or next(iter(pieces), ""), query)


def found_in(entity: Memory, query: str) -> str | None:
    """The observation that holds most of what was sought; None where none holds any of it."""
    best = max(_pieces(entity), key=lambda piece: _shared(query, piece), default="")
    return excerpt(best, query, FOUND) if _shared(query, best) else None


def doubt(answer: Answer) -> str:
    """What to say where nothing seems to answer."""
    if answer.hits:
        return "Nothing here seems to answer that; these are the nearest."
    held_back = f" {counted(answer.withheld, 'guess', 'guesses')} not shown." if answer.withheld else ""
    return f"Nothing here seems to answer that.{held_back}"


def likely(hit: Hit) -> str:
    """`82 % likely`; empty where nobody can tell."""
    return "" if hit.confidence is None else f"{100 * hit.confidence:.0f} % likely"


def why(hit: Hit) -> str:
    """`words #1, meaning #3 (cosine 0.71)`: where each search put it, with the cosine of the meaning."""
    places = hit.places
    said = [f"words #{places['words'].rank}"] if "words" in places else []
    if "meaning" in places:
        said.append(f"meaning #{places['meaning'].rank} (cosine {places['meaning'].score:.2f})")
    return ", ".join(said)


def stems(query: str) -> list[str]:
    """How the query's words begin, those left out that are in every text."""
    return [word[:_STEM] for word in content_words(query)]


def excerpt(text: str, query: str, width: int = EXCERPT) -> str:
    """One line of at most this width, around the query's first word where the text is longer."""
    line = " ".join(text.split())
    if len(line) <= width:
        return line
    folded = fold(line)
    places = [place for stem in stems(query) if (place := folded.find(stem)) >= 0]
    start = max(0, min(places, default=0) - width // 3)
    end = start + width
    return f"{'…' if start else ''}{_cut(line, start, end)}{'…' if end < len(line) else ''}"


def _cut(line: str, start: int, end: int) -> str:
    """Between words where there are any near: a word in two is hard to read."""
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


def _without_head(hit: Hit) -> str:
    """The passage without the entity's name and type, which stand above it."""
    passage = hit.passage or ""
    if hit.memory.kind is not Kind.ENTITY:
        # As it was said: what the model read may begin with who said it, which stands above.
        return (hit.piece or hit.memory.text) if passage else ""
    head = passage_text(hit.memory, None, (0, 0))
    return "" if passage == head else passage.removeprefix(f"{head}: ")


def _shared(query: str, piece: str) -> int:
    """How many of the query's words the piece holds; the query as it stands counts as one more."""
    here = words(piece)
    count = sum(any(word.startswith(stem) for word in here) for stem in stems(query))
    return count + (fold(query) in fold(piece))
