"""Near-duplicates: when two texts say nearly the same."""

from __future__ import annotations

from hashlib import blake2b

from recollect.text.words import fold, words

SIMILAR = 0.85
"""Cosine from which two observations are near-duplicates."""
CONTAINED = 0.7
"""Share of the shorter text's words that the longer one holds, from which it is contained in it."""
_MARKS = " .,;:!?¡¿…\"'“”‘’«»()"


def containment(one: str, other: str) -> float:
    """How much of the shorter text's words the longer holds; 0 unless one is at least twice as long."""
    first, second = words(one), words(other)
    short, long = sorted((first, second), key=len)
    if not short or len(long) < 2 * len(short):
        return 0.0
    held = set(long)
    return len(set(short) & held) / len(set(short))


def text_key(text: str) -> int:
    """What texts are compared by: equal where only case, accents, spaces or outer marks differ."""
    said = " ".join(fold(text).split()).strip(_MARKS) or text
    return int.from_bytes(
        blake2b(said.encode(errors="surrogatepass"), digest_size=8).digest(), "big", signed=True
    )
