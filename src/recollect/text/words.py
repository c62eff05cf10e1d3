"""Words: how text is folded for comparison and cut into what the full-text indexes hold."""

from __future__ import annotations

import unicodedata
from itertools import pairwise

# Letters of these ranges are Latin; every other letter belongs to a script that we also index by pairs.
_LATIN = ((0x0000, 0x024F), (0x1E00, 0x1EFF), (0x2C60, 0x2C7F), (0xA720, 0xA7FF), (0xAB30, 0xAB6F))
# Letters of these belong to scripts that put no spaces between words, or glue endings to them.
_UNSPACED = ((0x0E00, 0x109F), (0x1100, 0x11FF), (0x1780, 0x17FF), (0x2E80, 0x10FFFF))
# They say how to draw a letter or a symbol, not which it is.
_VARIATIONS = dict.fromkeys((*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)))
# Accents of Latin, Greek and Cyrillic. Marks of other scripts carry meaning (が is not か) and stay.
_ACCENTS = dict.fromkeys(range(768, 880)) | _VARIATIONS
# Symbols that stand for letters and belong to no word beside them: ™, №, ㎏.
_LETTERS_IN_ONE = {
    code: f" {chr(code)} "
    for code in (*range(0x2100, 0x2150), *range(0x2460, 0x2500), *range(0x3200, 0x3400))
    if unicodedata.category(chr(code)) == "So"
}
_NO_WORD = {code: " " for code in range(128) if not chr(code).isalnum()}


def fold(text: str) -> str:
    """Without case, accents and compatibility forms: `Café`, `CAFE` and `ｃａｆé` are one word."""
    if text.isascii():
        return text.lower()
    bare = unicodedata.normalize("NFKD", text).translate(_ACCENTS)
    return unicodedata.normalize("NFC", bare.casefold())


def words(text: str) -> list[str]:
    """The folded words of a text, in order; anything that is no letter, digit or mark parts them."""
    folded = fold(text if text.isascii() else text.translate(_LETTERS_IN_ONE))
    if folded.isascii():
        return folded.translate(_NO_WORD).split()
    return "".join(letter if _in_word(letter) else " " for letter in folded).split()


def pairs(text: str) -> list[str]:
    """Overlapping pairs of the letters of scripts that are not Latin, and single symbols.

    `東京都` gives `東京`, `京都` and `都`: the last letter stands alone too, so that every letter
    begins some piece, and a search for one letter is a search for what begins with it.
    """
    if text.isascii():
        return []
    pieces: list[str] = []
    for run in _runs(_drawn(text)):
        pieces.extend(_pairs_of(run))
        pieces.append(run[-1])
    return pieces


def sought_pairs(text: str) -> list[tuple[str, ...]]:
    """What to look for among the pairs of other texts: any of these sequences.

    Where words are spaced, a word is sought whole, as letters that follow one another: two letters of
    `кот` stand in most texts. Elsewhere a query may be a sentence, and each of its pairs counts.
    """
    sought: list[tuple[str, ...]] = []
    for run in [] if text.isascii() else _runs(_drawn(text)):
        if len(run) == 1:
            # A letter by itself is a word of its own where words are spaced.
            sought += [(run,)] if not run.isalpha() or _is_in(run, _UNSPACED) else []
        elif any(_is_in(letter, _UNSPACED) for letter in run):
            sought += [(pair,) for pair in _pairs_of(run)]
        else:
            sought.append(tuple(_pairs_of(run)))
    return list(dict.fromkeys(sought))


def is_unspaced(letter: str) -> bool:
    """Whether the letter belongs to a script that puts no spaces between words, or glues endings to them."""
    return not letter.isascii() and _is_in(letter, _UNSPACED)


def _drawn(text: str) -> str:
    return unicodedata.normalize("NFKC", text.translate(_VARIATIONS)).casefold()


def _pairs_of(run: str) -> list[str]:
    return [first + second for first, second in pairwise(run)]


def _in_word(letter: str) -> bool:
    return letter.isalnum() or unicodedata.category(letter)[0] == "M"


def _runs(text: str) -> list[str]:
    """Stretches of letters outside Latin; a symbol such as an emoji is a stretch of its own."""
    runs: list[str] = []
    run = ""
    for letter in text:
        category = "" if letter.isascii() else unicodedata.category(letter)
        if (category[:1] == "L" and not _is_in(letter, _LATIN)) or (category[:1] == "M" and run):
            run += letter
            continue
        if run:
            runs.append(run)
            run = ""
        if category == "So":
            runs.append(letter)
    return [*runs, run] if run else runs


def _is_in(letter: str, ranges: tuple[tuple[int, int], ...]) -> bool:
    code = ord(letter)
    return any(first <= code <= last for first, last in ranges)
