"""Passages: how a memory's text is cut into the pieces that get vectors of their own."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING

from recollect.records import Kind
from recollect.text.lazy_pattern import compile_later

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from recollect.records import Memory, Observation

# About 300 tokens: well inside every model's limit, and short enough that one passage is about one thing.
WIDTH = 1200
OVERLAP = 200
# A letter beyond Latin, Greek and Cyrillic is about a token of its own, where four Latin ones make one.
_WIDE_FROM = 0x0600
_WIDE = 4
# Possessive, and not from the middle of a run: a row of ten thousand dots is looked at once.
_SENTENCE_END = compile_later(r"(?<![.!?…])[.!?…]++[\"'»”’)\]]*+\s+|[。！？]+|\n+")


def passage_spans(text: str) -> tuple[tuple[int, int], ...]:
    """Cut a text at sentence ends into overlapping spans that cover it whole, in order."""
    if len(text) * _WIDE <= WIDTH or (len(text) <= WIDTH and text.isascii()):
        return ((0, len(text)),)  # as nearly always, without a look at each letter
    reach = _reach(text)
    if reach[-1] <= WIDTH:
        return ((0, len(text)),)
    return tuple(_spans(text, reach))


def _reach(text: str) -> Sequence[int]:
    """How wide the text is up to each letter."""
    if text.isascii():
        return range(len(text) + 1)
    return [0, *accumulate(_WIDE if ord(letter) >= _WIDE_FROM else 1 for letter in text)]


def passage_text(memory: Memory, observation: Observation | None, span: tuple[int, int]) -> str:
    """What the embedder reads: the piece, and who or what it is about."""
    start, stop = span
    if memory.kind is Kind.ENTITY:
        known = memory.type and memory.type != "unknown"
        head = f"{memory.name} ({memory.type})" if known else memory.name
        return f"{head}: {observation.content[start:stop]}" if observation else head
    return _spoken(memory.text[start:stop], memory.speaker)


def passage_texts(text: str, speaker: str | None) -> tuple[str, ...]:
    """What the embedder will read of a note or message."""
    return tuple(_spoken(text[start:stop], speaker) for start, stop in passage_spans(text))


def _spoken(piece: str, speaker: str | None) -> str:
    return f'{speaker} said, "{piece}"' if speaker else piece


def _spans(text: str, reach: Sequence[int]) -> Iterator[tuple[int, int]]:
    ends = [match.end() for match in _SENTENCE_END.finditer(text)]
    start = 0
    while True:
        furthest = max(start + 1, bisect_right(reach, reach[start] + WIDTH) - 1)
        if furthest == len(text):
            yield start, furthest
            return
        # The last end of a sentence or a word in the second half of the span: a tiny passage says little.
        middle = start + (furthest - start) // 2
        end = bisect_right(ends, furthest) - 1
        if end >= 0 and ends[end] > middle:
            stop = ends[end]
        else:
            stop = text.rfind(" ", middle, furthest) + 1 or furthest
        yield start, stop
        # Begin the next one a little earlier, at a sentence or a word, so that nothing is cut in two.
        earliest = bisect_left(reach, reach[stop] - OVERLAP)
        end = bisect_left(ends, earliest)
        if end < len(ends) and ends[end] < stop:
            again = ends[end]
        else:
            again = text.find(" ", earliest, stop) + 1 or earliest
        start = max(again, start + 1)
