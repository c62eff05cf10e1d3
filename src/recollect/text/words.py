"""Words: how text is folded for comparison and cut into what the full-text indexes hold."""

from __future__ import annotations

import unicodedata
from itertools import pairwise

# Letters of these ranges are Latin; every other letter belongs to a script that we also index by pairs.
_LATIN = ((0x0000, 0x024F), (0x1E00, 0x1EFF), (0x2C60, 0x2C7F), (0xA720, 0xA7FF), (0xAB30, 0xAB6F))
# Accents of Latin, Greek and Cyrillic. Marks of other scripts carry meaning (が is not か) and stay.
_ACCENTS = dict.fromkeys(range(768, 880))


def fold(text: str) -> str:
    """Without case, accents and compatibility forms: `Café`, `CAFE` and `ｃａｆé` are one word."""
    bare = unicodedata.normalize("NFKD", text).translate(_ACCENTS)
    return unicodedata.normalize("NFC", bare.casefold())


def words(text: str) -> list[str]:
    """The folded words of a text, in order; anything that is no letter, digit or mark parts them."""
    folded = fold(text)
    if folded.isascii():
        return "".join(letter if letter.isalnum() else " " for letter in folded).split()
    return "".join(letter if _in_word(letter) else " " for letter in folded).split()


def pairs(text: str) -> list[str]:
    """Overlapping pairs of the letters of scripts that are not Latin, and single symbols.

    `東京都` gives `東京`, `京都` and `都`: the last letter stands alone too, so that every letter
    begins some piece, and a search for one letter is a search for what begins with it.
    """
    if text.isascii():
        return []
    pieces: list[str] = []
    for run in _runs(unicodedata.normalize("NFKC", text).casefold()):
        pieces.extend(first + second for first, second in pairwise(run))
        pieces.append(run[-1])
    return pieces


def _in_word(letter: str) -> bool:
    return letter.isalnum() or unicodedata.category(letter)[0] == "M"


def _runs(text: str) -> list[str]:
    """Stretches of letters outside Latin; a symbol such as an emoji is a stretch of its own."""
    runs: list[str] = []
    run = ""
    for letter in text:
        category = "" if letter.isascii() else unicodedata.category(letter)
        if category[:1] in ("L", "M") and not _is_latin(letter):
            run += letter
            continue
        if run:
            runs.append(run)
            run = ""
        if category == "So":
            runs.append(letter)
    return [*runs, run] if run else runs


def _is_latin(letter: str) -> bool:
    code = ord(letter)
    return any(first <= code <= last for first, last in _LATIN)
