"""Text from a memory, made safe to show: nothing in it may steer the terminal."""

from __future__ import annotations

import unicodedata

# Characters that reorder what follows them, so that a line could read as another than it is.
_REORDER = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def visible(text: str) -> str:
    """Control characters as a replacement character; new lines and tabs stay."""
    if text.isprintable():
        return text
    return "".join("\ufffd" if _steers(letter) else letter for letter in text)


def one_line(text: str) -> str:
    return visible(" ".join(text.split()))


def _steers(letter: str) -> bool:
    return letter in _REORDER or (letter not in "\n\t" and unicodedata.category(letter) == "Cc")
