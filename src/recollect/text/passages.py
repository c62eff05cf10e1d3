"""Passages: how a memory's text is cut into the pieces that get vectors of their own."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING

from recollect.records import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recollect.records import Memory, Observation

# About 300 tokens: well inside every model's limit, and short enough that one passage is about one thing.
WIDTH = 1200
OVERLAP = 200
# A letter beyond Latin, Greek and Cyrillic is about a token of its own, where four Latin ones make one.
_WIDE_FROM = 0x0600
_WIDE = 4
# Possessive, and not from the middle of a run: a row of ten thousand dots is looked at once.
_SENTENCE_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'»”’)\]]*+\s+|[。！？]+|\n+")


def passage_spans(text: str) -> tuple[tuple[int, int], ...]:
    """Cut a text at sentence ends into overlapping spans that cover it whole, in order."""
    if len(text) * _WIDE <= WIDTH or (len(text) <= WIDTH and text.isascii()):
        return ((0, len(text)),)  # as nearly always, without a look at each letter
    reach = [0, *accumulate(_WIDE if ord(letter) >= _WIDE_FROM else 1 for letter in text)]
    if reach[-1] <= WIDTH:
        return ((0, len(text)),)
    return tuple(_spans(text, reach))


def passage_text(memory: Memory, observation: Observation | None, span: tuple[int, int]) -> str:
    """What the embedder reads: the piece, and who or what it is about."""
    start, stop = span
    if memory.kind is Kind.ENTITY:
        known = memory.type and memory.type != "unknown"
        head = f"{memory.name} ({memory.type})" if known else memory.name
        return f"{head}: {observation.content[start:stop]}" if observation else head
    piece = memory.text[start:stop]
    return f'{memory.speaker} said, "{piece}"' if memory.speaker else piece


def _spans(text: str, reach: list[int]) -> Iterator[tuple[int, int]]:
    ends = [match.end() for match in _SENTENCE_END.finditer(text)]
    start = 0
    while True:
        furthest = _furthest(reach, start, WIDTH)
        if furthest == len(text):
            yield start, furthest
            return
        stop = _last_end(ends, start, furthest) or _last_space(text, start, furthest) or furthest
        yield start, stop
        # Begin the next one a little earlier, at a sentence or a word, so that nothing is cut in two.
        earliest = _earliest(reach, stop, OVERLAP)
        again = _first_end(ends, earliest, stop)
        start = max(again if again is not None else _word_start(text, earliest, stop), start + 1)


def _furthest(reach: list[int], start: int, width: int) -> int:
    low, high = start + 1, len(reach) - 1
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if reach[middle] - reach[start] <= width else (low, middle - 1)
    return low


def _earliest(reach: list[int], stop: int, width: int) -> int:
    start = stop
    while start > 0 and reach[stop] - reach[start - 1] <= width:
        start -= 1
    return start


def _last_end(ends: list[int], start: int, furthest: int) -> int | None:
    """The last sentence end in the second half of the span: a tiny passage says little."""
    place = bisect_right(ends, furthest)
    return ends[place - 1] if place and ends[place - 1] > start + (furthest - start) // 2 else None


def _first_end(ends: list[int], earliest: int, stop: int) -> int | None:
    place = bisect_left(ends, earliest)
    return ends[place] if place < len(ends) and ends[place] < stop else None


def _last_space(text: str, start: int, furthest: int) -> int | None:
    space = text.rfind(" ", start + (furthest - start) // 2, furthest)
    return space + 1 if space >= 0 else None


def _word_start(text: str, earliest: int, stop: int) -> int:
    space = text.find(" ", earliest, stop)
    return space + 1 if space >= 0 else earliest
