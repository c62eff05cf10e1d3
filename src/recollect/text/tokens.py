"""The tokeniser: folds text, and cuts it into the terms that indexes, rankings and rules share."""

from __future__ import annotations

import unicodedata
from itertools import pairwise

from recollect.text.lazy_pattern import compile_later
from recollect.text.word_lists import STOPWORDS

# Letters of these ranges are Latin; every other letter belongs to a script that we also index by pairs.
_LATIN = compile_later("[\u0000-\u024f\u1e00-\u1eff\u2c60-\u2c7f\ua720-\ua7ff\uab30-\uab6f]")
# Letters of these belong to scripts that put no spaces between words, or attach endings to them.
_UNSPACED = compile_later("[\u0e00-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\U0010ffff]")
# They say how to draw a letter or a symbol, not which one it is.
_VARIATIONS = dict.fromkeys((*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)))
# Accents of Latin, Greek and Cyrillic. Marks of other scripts carry meaning (が is not か) and stay.
_ACCENTS = dict.fromkeys(range(768, 880)) | _VARIATIONS
# Symbols that stand for letters and belong to no word beside them: ™, №, ㎏.
_LETTER_SYMBOLS = {
    code: f" {chr(code)} "
    for code in (*range(0x2100, 0x2150), *range(0x2460, 0x2500), *range(0x3200, 0x3400))
    if unicodedata.category(chr(code)) == "So"
}
_ASCII_SEPARATORS = {code: " " for code in range(128) if not chr(code).isalnum()}
_FEWEST_LETTERS = 2


def fold(text: str) -> str:
    """Without case, accents and compatibility forms: `Café`, `CAFE` and `ｃａｆé` are one word."""
    if text.isascii():
        return text.lower()
    bare = unicodedata.normalize("NFKD", text).translate(_ACCENTS)
    return unicodedata.normalize("NFC", bare.casefold())


def words(text: str) -> list[str]:
    """The folded words of a text, in order; anything but letters, digits and marks separates them."""
    folded = fold(text if text.isascii() else text.translate(_LETTER_SYMBOLS))
    if folded.isascii():
        return folded.translate(_ASCII_SEPARATORS).split()
    return "".join(letter if letter.isalnum() or is_mark(letter) else " " for letter in folded).split()


def content_words(text: str) -> list[str]:
    """The words of a text that are no stopwords, in order, with repeats."""
    return [word for word in words(text) if word not in STOPWORDS]


def query_terms(query: str, most: int | None = None) -> list[str]:
    """The distinct content words of a query; all its words where it has stopwords alone."""
    return list(dict.fromkeys(content_words(query) or words(query)))[:most]


def topic_terms(text: str) -> list[str]:
    """The words that say what a text is about: no stopword, bare number or single letter.

    Where a script puts no spaces between words, pairs of letters stand for them.
    """
    terms: list[str] = []
    for word in words(text):
        if has_unspaced(word):
            terms += [pair for pair in letter_pairs(word) if len(pair) > 1]
        elif len(word) >= _FEWEST_LETTERS and word not in STOPWORDS and not word.isdigit():
            terms.append(word)
    return terms


def distinctive_terms(text: str) -> set[str]:
    """The terms that distinguish a text from others: its topic terms and its numbers."""
    return {*topic_terms(text), *filter(str.isdigit, words(text))}


def letter_pairs(text: str) -> list[str]:
    """Overlapping pairs of the letters of scripts that are not Latin, and single symbols.

    `東京都` gives `東京`, `京都` and `都`: the last letter stands alone too, so that every letter
    begins some piece, and a search for one letter is a search for what begins with it.
    """
    if text.isascii():
        return []
    pieces: list[str] = []
    for run in _runs(text):
        pieces.extend(_pairs_of(run))
        pieces.append(run[-1])
    return pieces


def pair_queries(text: str) -> list[tuple[str, ...]]:
    """What a query searches for among the letter pairs of texts: any of these sequences.

    Where words are spaced, a word is searched for as a whole, as pairs that follow one another: two letters
    of `кот` occur in most texts. Elsewhere a query may be a sentence, and each of its pairs counts.
    """
    queries: list[tuple[str, ...]] = []
    for run in [] if text.isascii() else _runs(text):
        if len(run) == 1:
            # A letter by itself is a word of its own where words are spaced.
            queries += [(run,)] if not run.isalpha() or has_unspaced(run) else []
        elif has_unspaced(run):
            queries += [(pair,) for pair in _pairs_of(run)]
        else:
            queries.append(tuple(_pairs_of(run)))
    return list(dict.fromkeys(queries))


def has_unspaced(text: str) -> bool:
    """Whether a letter's script puts no spaces between words, or attaches endings to them."""
    return not text.isascii() and _UNSPACED.search(text) is not None


def is_mark(letter: str) -> bool:
    """Whether it is drawn onto the letter before it; an empty text is none."""
    return letter != "" and unicodedata.category(letter)[0] == "M"


def _pairs_of(run: str) -> list[str]:
    return [first + second for first, second in pairwise(run)]


def _runs(text: str) -> list[str]:
    """Runs of letters outside Latin; a symbol such as an emoji is a run of its own."""
    runs: list[str] = []
    run = ""
    for letter in unicodedata.normalize("NFKC", text.translate(_VARIATIONS)).casefold():
        category = "" if letter.isascii() else unicodedata.category(letter)
        if (category[:1] == "L" and not _LATIN.match(letter)) or (category[:1] == "M" and run):
            run += letter
            continue
        if run:
            runs.append(run)
            run = ""
        if category == "So":
            runs.append(letter)
    return [*runs, run] if run else runs
