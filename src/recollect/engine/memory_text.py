"""What a memory says, in words, and how much of it a reader has room for."""

from __future__ import annotations

from recollect.engine.results import Hit
from recollect.records import Kind, Memory
from recollect.text.passages import passage_spans
from recollect.text.token_counts import count_tokens
from recollect.text.tokens import content_words, words


def fit_budget(hits: tuple[Hit, ...], budget: int | None) -> tuple[Hit, ...]:
    """The best hits whose texts fit the budget together; one that does not fit is passed over."""
    if budget is None:
        return hits
    kept = []
    left = budget
    for hit in hits:
        cost = count_tokens(memory_text(hit.memory, hit.piece))
        if cost <= left:
            kept.append(hit)
            left -= cost
    return tuple(kept)


def memory_text(memory: Memory, piece: str | None = None) -> str:
    """What a memory says, in one piece; of a long text, the piece that was found."""
    if memory.kind is not Kind.ENTITY:
        return memory.text if piece is None else piece
    return "\n".join((f"{memory.name} ({memory.type})", *(seen.content for seen in memory.in_force)))


def text_preview(text: str, most: int = 80) -> str:
    """How a text begins, on one line of at most so many letters."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def piece_of(memory: Memory, query: str) -> str | None:
    """Of a long text that only words have found, the piece that holds most of them."""
    pieces = passage_spans(memory.text)
    if len(pieces) == 1:
        return None
    sought = set(content_words(query))
    start, stop = max(pieces, key=lambda span: len(sought.intersection(words(memory.text[slice(*span)]))))
    return memory.text[start:stop]
