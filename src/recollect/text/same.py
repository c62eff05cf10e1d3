"""Near-duplicates: when two texts say nearly the same."""

from __future__ import annotations

from recollect.text.words import words

SIMILAR = 0.85
"""Cosine from which two observations are near-duplicates."""
CONTAINED = 0.7
"""Share of the shorter text's words that the longer one holds, from which it is contained in it."""


def containment(one: str, other: str) -> float:
    """How much of the shorter text's words the longer holds; 0 unless one is at least twice as long."""
    first, second = words(one), words(other)
    short, long = sorted((first, second), key=len)
    if not short or len(long) < 2 * len(short):
        return 0.0
    held = set(long)
    return len(set(short) & held) / len(set(short))
