"""When two queries are one question."""

from __future__ import annotations

from recollect.text.tokens import fold


def question_of(query: str) -> str:
    """The same for the same words, whatever their case, accents and spaces."""
    return " ".join(fold(query).split())
