"""Stemmers: words without their endings, so that forms of one word compare equal.

- `porter_stem` for the full-text index: the same stems as the `porter` tokenizer of SQLite's FTS5.
- `coarse_stem` for ranking: English and Spanish, and coarser; it only says whether a text contains a word.
- `light_stem` for comparing two wordings: it takes off as little as possible.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from recollect.text.tokens import fold, has_unspaced, letter_pairs, words

if TYPE_CHECKING:
    from collections.abc import Collection

_PORTER_BYTES = range(3, 65)
_VOWELS = "aeiou"
# Porter (1980), as FTS5 has it; of the endings of a step, the first that fits is tried and no other.
_STEP_1B = {"eed": "ee", "ed": "", "ing": ""}
_STEP_1B_AFTER = {"at": "ate", "bl": "ble", "iz": "ize"}
_STEP_2 = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "logi": "log",
    "bli": "ble", "alli": "al", "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize",
    "ation": "ate", "ator": "ate", "alism": "al", "iveness": "ive", "fulness": "ful", "ousness": "ous",
    "aliti": "al", "iviti": "ive", "biliti": "ble",
}  # fmt: skip
_STEP_3 = {
    "icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": "",
}  # fmt: skip
_STEP_4 = (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism",
    "ate", "iti", "ous", "ive", "ize",
)  # fmt: skip

# In the order in which they are tried; at least three letters are left.
_COARSE_ENDINGS = ("ing", "ied", "ies", "ed", "es", "s", "e", "y", "o", "a")
_LIGHT_ENDINGS = ("ing", "ed", "es", "s", "e")
_FEWEST_LETTERS = 3
_COARSE_LETTERS = 6


@lru_cache(maxsize=65_536)
def porter_stem(word: str) -> str:
    """The stem under which FTS5's `porter` indexes a folded word."""
    # FTS5 reads bytes, and takes every byte beyond ASCII for a consonant.
    token = word.encode("utf-8", "surrogatepass")
    if len(token) not in _PORTER_BYTES or word.isdigit():
        return word
    stem = _replace_ending(_replace_ending(_step_1(token.decode("latin-1")), _STEP_2), _STEP_3)
    return _step_5(_step_4(stem)).encode("latin-1").decode("utf-8", "surrogateescape")


@lru_cache(maxsize=16_384)
def coarse_stem(word: str) -> str:
    """Without its ending, and at most six letters long: `hiking` and `hiked` are `hik`."""
    return _without_ending(fold(word), _COARSE_ENDINGS)[:_COARSE_LETTERS]


def coarse_stems(text: str) -> frozenset[str]:
    """The coarse stems of all words; pairs of letters where a script puts no spaces between words."""
    return frozenset(stem for word in words(text) for stem in stems_of_word(word))


def stems_of_word(word: str) -> list[str]:
    """Its coarse stem; the pairs of its letters where its script puts no spaces between words."""
    if has_unspaced(word):
        return [pair for pair in letter_pairs(word) if len(pair) > 1] or [word]
    return [coarse_stem(word)]


def matched_terms(text: str, stems: Collection[str]) -> frozenset[str]:
    """Those of the coarse stems that a text contains."""
    # Every stem keeps the first three letters of its word, so that few words need to be looked at.
    beginnings = {stem[:_FEWEST_LETTERS] for stem in stems}
    candidates = {word for word in words(text) if word[:_FEWEST_LETTERS] in beginnings or not word.isascii()}
    return frozenset(stem for word in candidates for stem in stems_of_word(word) if stem in stems)


def light_stem(word: str) -> str:
    """Without -ing, -ed, -es, -s or -e, and with `color` for `colour`."""
    return _without_ending(word.replace("our", "or") if len(word) > 4 else word, _LIGHT_ENDINGS)


def _without_ending(word: str, endings: tuple[str, ...]) -> str:
    for ending in endings:
        if word.endswith(ending) and len(word) - len(ending) >= _FEWEST_LETTERS:
            return word.removesuffix(ending)
    return word


def _step_1(word: str) -> str:
    """Plurals, -ed and -ing, and -y."""
    if word.endswith(("sses", "ies")) and len(word) > (4 if word.endswith("sses") else 3):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    ending = _ending(word, _STEP_1B)
    stem = word.removesuffix(ending)
    if ending == "eed":
        word = f"{stem}ee" if _measure(stem) else word
    elif ending and "v" in _pattern(stem):
        word = _after_1b(stem)
    return f"{word[:-1]}i" if word.endswith("y") and "v" in _pattern(word[:-1]) else word


def _after_1b(stem: str) -> str:
    """`conflat` becomes `conflate`, `hopp` becomes `hop`, `fil` becomes `file`."""
    if ending := _ending(stem, _STEP_1B_AFTER):
        return stem.removesuffix(ending) + _STEP_1B_AFTER[ending]
    last = stem[-1]
    if last not in f"{_VOWELS}lsz" and stem.endswith(2 * last):
        return stem[:-1]
    return f"{stem}e" if _measure(stem) == 1 and _ends_short(stem) else stem


def _replace_ending(word: str, endings: dict[str, str]) -> str:
    ending = _ending(word, endings)
    stem = word.removesuffix(ending)
    return stem + endings[ending] if ending and _measure(stem) else word


def _step_4(word: str) -> str:
    stem = word.removesuffix(_ending(word, _STEP_4))
    if _measure(stem) < 2 or (word.removeprefix(stem) == "ion" and stem[-1] not in "st"):
        return word
    return stem


def _step_5(word: str) -> str:
    """A last -e, and one of two last -l."""
    if word.endswith("e"):
        measure = _measure(word[:-1])
        if measure > 1 or (measure == 1 and not _ends_short(word[:-1])):
            word = word[:-1]
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word


def _ending(word: str, endings: Collection[str]) -> str:
    """The first of the endings that fits and leaves something; empty where none does."""
    return next((ending for ending in endings if word.endswith(ending) and len(word) > len(ending)), "")


def _pattern(stem: str) -> str:
    """`c` for each consonant and `v` for each vowel; y is a vowel after a consonant."""
    pattern = ""
    for letter in stem:
        vowel = letter in _VOWELS or (letter == "y" and pattern.endswith("c"))
        pattern += "v" if vowel else "c"
    return pattern


def _measure(stem: str) -> int:
    """How often a consonant follows a vowel."""
    return _pattern(stem).count("vc")


def _ends_short(stem: str) -> bool:
    """Ends with consonant, vowel, consonant, and the last is not w, x or y."""
    return stem[-1] not in "wxy" and _pattern(stem).endswith("cvc")
