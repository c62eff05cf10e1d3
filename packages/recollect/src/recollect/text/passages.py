"""Split texts into passages, which are embedded one by one, and into sentences."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING

from recollect.domain.records import Kind
from recollect.language.words import alternatives
from recollect.text.tokens import compile_later

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from recollect.domain.records import Memory, Observation


# About 300 tokens: well below every model's limit, and short enough for a passage to have one topic.
WIDTH = 1200
OVERLAP = 200
# From Arabic on, a character is about one token. In the alphabets before it, four letters are.
_WIDE_FROM = 0x0600
_WIDE = 4
# The regex reads a long run of dots only once: it is possessive, and never starts inside a run.
_SENTENCE_END = compile_later(r"(?<![.!?…])[.!?…]++[\"'»”’)\]]*+\s+|[。！？]+|\n+")


def passage_spans(text: str) -> tuple[tuple[int, int], ...]:
    """Cut a text at sentence ends into overlapping spans that cover it whole, in order."""
    if len(text) * _WIDE <= WIDTH or (len(text) <= WIDTH and text.isascii()):
        return ((0, len(text)),)  # the usual case, without reading each character
    # The width of the text before each character.
    reach: Sequence[int] = range(len(text) + 1)
    if not text.isascii():
        reach = [0, *accumulate(_WIDE if ord(letter) >= _WIDE_FROM else 1 for letter in text)]
    return tuple(_spans(text, reach)) if reach[-1] > WIDTH else ((0, len(text)),)


def passage_text(memory: Memory, observation: Observation | None, span: tuple[int, int]) -> str:
    """Return the text to embed: a piece of the memory, after the name of its entity or speaker."""
    start, stop = span
    if memory.kind is Kind.ENTITY:
        known = memory.type and memory.type != "unknown"
        head = f"{memory.name} ({memory.type})" if known else memory.name
        return f"{head}: {observation.content[start:stop]}" if observation else head
    return _with_speaker(memory.text[start:stop], memory.speaker)


def passage_texts(text: str, speaker: str | None) -> tuple[str, ...]:
    """Return the texts to embed for a note or message."""
    return tuple(_with_speaker(text[start:stop], speaker) for start, stop in passage_spans(text))


def _with_speaker(piece: str, speaker: str | None) -> str:
    return f'{speaker} said, "{piece}"' if speaker else piece


def _spans(text: str, reach: Sequence[int]) -> Iterator[tuple[int, int]]:
    ends = [match.end() for match in _SENTENCE_END.finditer(text)]
    start = 0
    while True:
        furthest = max(start + 1, bisect_right(reach, reach[start] + WIDTH) - 1)
        if furthest == len(text):
            yield start, furthest
            return
        # Cut at the last end of a sentence or word in the second half, so that no passage is tiny.
        middle = start + (furthest - start) // 2
        end = bisect_right(ends, furthest) - 1
        if end >= 0 and ends[end] > middle:
            stop = ends[end]
        else:
            stop = text.rfind(" ", middle, furthest) + 1 or furthest
        yield start, stop
        # Start the next passage a little earlier, at a sentence or word, so that passages overlap.
        earliest = bisect_left(reach, reach[stop] - OVERLAP)
        end = bisect_left(ends, earliest)
        if end < len(ends) and ends[end] < stop:
            again = ends[end]
        else:
            again = text.find(" ", earliest, stop) + 1 or earliest
        start = max(again, start + 1)


# Sentences of a message, without code, quotations and headings.

Span = tuple[int, int]

LONGEST = 600
"""A longer piece without a sentence end was pasted; it is not a statement."""

_FENCE = compile_later(r"\s*(```|~~~)")
# Lines that begin like a quotation, heading, table row, shell prompt, tag, comment, program or log.
_NO_PROSE = compile_later(
    r"\s*(?:>|#{1,6}\s|\||\$ |<[/!\w]|//|/\*|@\w+\(?$|[{}\[\]]|--\s*\w+:|(?:import|from \S+ import|def"
    r"|class|function|const|let \w+ =|var|return|public|private|async|await|elif|SELECT|INSERT|UPDATE"
    r"|DELETE|CREATE|ALTER|DROP|sudo|pip|npm|git|docker|curl)\s+\S+.*[(){};=:*,'\"-]|Traceback \(|File \""
    r"|\w+(?:Error|Exception): |at [\w.$]+\(|\[?\d{4}-\d\d-\d\d[T ]\d\d:)"
)
_SYMBOLS = compile_later(r"[{}\[\]()<>=;|&$\\_^~]")
_CODE_SHARE = 0.12

# Each run of marks is tried once, from its start, so that matching takes linear time.
_END = compile_later(r"(?<![.!?…])[.!?…]++[\"'»”’)\]*_]{0,4}+(?=\s|$)|[。！？]++|(?<=\S\s)(?=[¿¡])")
_QUOTED = compile_later(r"(?<!\w)\"[^\"\n]{1,300}\"(?!\w)|“[^”\n]{1,300}”|«[^»\n]{1,300}»")
_LAST_WORD = compile_later(r"[\w.]+$")
# A full stop after one of these words does not end a sentence.
_ABBREVIATED = compile_later(alternatives("words", "abbreviations"))
# A short question after a statement: `…, right?`, `… and you?`.
_TAIL_QUESTION = compile_later(
    rf"(?:,\s*(?:{alternatives('words', 'question_tags')})"
    rf"|,?\s+(?:{alternatives('words', 'and_words')})\s+(?:{alternatives('words', 'you_words')}))\s*\?+\W*$",
    re.IGNORECASE,
)
# Marks before a sentence that do not belong to it: bullets, numbers of lists, rules, marks of emphasis.
LIST_MARKER = compile_later(
    r"(?:\s|[-–—*•·#>|+=~_,;:.!?)\]…]|`{3,}|\[[ xX]\]|\(?\d{1,2}[.)](?=\s)|[a-zA-Z]\)(?=\s))+"
)
_TRAILING = compile_later(r"[\s,;:–—*_#>|+=~`-]+$")
# A line that begins like this starts a new block, even in lower case.
_BEGINS = compile_later(rf"(?:{alternatives('words', 'line_beginnings')})\b")


def sentences(text: str) -> Iterator[Span]:
    """Yield the sentences of the prose in a text, in order, without list marks."""
    for block in _blocks(text):
        for start, end in _pieces(text, *block):
            if end - start > LONGEST + 100:
                continue
            tail = _TAIL_QUESTION.search(text, max(start, end - 40), end)
            stop = tail.start() if tail else end
            marker = LIST_MARKER.match(text, start, stop)
            first = marker.end() if marker else start
            stop = first + len(_TRAILING.sub("", text[first:stop]))
            if 0 < stop - first <= LONGEST:
                yield first, stop


def quotations(text: str) -> tuple[Span, ...]:
    """Return the spans of quotations in a text."""
    return tuple(match.span() for match in _QUOTED.finditer(text))


def is_prose(text: str) -> bool:
    """Whether every line is prose: no code, quotation, heading or log."""
    for line in text.split("\n"):
        symbols = len(_SYMBOLS.findall(line))
        if not line.strip() or _NO_PROSE.match(line) or symbols >= max(5, _CODE_SHARE * len(line)):
            return False
    return True


def _blocks(text: str) -> Iterator[Span]:
    """Yield the spans of prose; a line that starts in lower case continues the line before."""
    fenced = False
    start = stop = 0
    for line in re.finditer(r"[^\n]+", text):
        fence = _FENCE.match(text, *line.span())
        if fence and line[0].count(fence[1]) == 1:
            fenced = not fenced
        prose = not fence and not fenced and is_prose(line[0])
        # Such a line continues the block, but a sentence may still end with the line above.
        goes_on = line[0][0].islower() and not _BEGINS.match(line[0])
        if prose and goes_on and stop and line.start() == stop + 1:
            stop = line.end()
            continue
        if stop:
            yield start, stop
        start, stop = line.span() if prose else (0, 0)
    if stop:
        yield start, stop


def _pieces(text: str, start: int, stop: int) -> Iterator[Span]:
    marks = [(first + start, last + start) for first, last in quotations(text[start:stop])]
    mark = 0
    for end in _END.finditer(text, start, stop):
        while mark < len(marks) and marks[mark][1] < end.start():
            mark += 1
        inside = mark < len(marks) and marks[mark][0] < end.start() < marks[mark][1]
        if inside and end.end() < marks[mark][1]:
            continue
        if _is_end(text, start, end, stop):
            yield start, end.end()
            start = end.end()
    yield start, stop


def _is_end(text: str, start: int, end: re.Match[str], stop: int) -> bool:
    mark = end[0]
    if not mark or mark[0] in "。！？":
        return True
    rest = text[end.end() : min(stop, end.end() + 4)].lstrip()
    goes_on = rest[:1].islower()
    if mark != ".":
        closed = mark[-1] not in ".!?…"
        return not (goes_on and (closed or mark.startswith(("..", "…"))))
    found = _LAST_WORD.search(text, max(start, end.start() - 12), end.start())
    if found is None:
        return True
    word = found[0].lower()
    if _ABBREVIATED.fullmatch(word) or (
        found[0].isdecimal() and len(word) < 3 and not text[start : found.start()].strip()
    ):
        return False
    if len(word) == 1 and word.isalpha():
        return word == "i"  # else an initial
    return not (goes_on and ("." in word or word == "etc"))
