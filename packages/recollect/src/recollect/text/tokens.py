"""Fold text, and split it into the terms that indexes, rankings and rules share."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache, wraps
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from recollect.language.words import STOPWORDS

if TYPE_CHECKING:
    from collections.abc import Collection


def compile_later(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Compile a pattern at its first use, since most calls need few patterns."""
    return cast("re.Pattern[str]", _LazyPattern(pattern, flags))


class _LazyPattern:
    def __init__(self, *given: Any) -> None:
        self._given = given

    def __getattr__(self, name: str) -> Any:
        # Store the attribute, so that the next access is as fast as on a compiled pattern.
        value = getattr(re.compile(*self._given), name)
        setattr(self, name, value)
        return value


# Ranges of Latin letters. Letters of other scripts are also indexed by pairs.
_LATIN = compile_later("[\u0000-\u024f\u1e00-\u1eff\u2c60-\u2c7f\ua720-\ua7ff\uab30-\uab6f]")
# Ranges of scripts without spaces between words, or with endings attached to words.
_UNSPACED = compile_later("[\u0e00-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\U0010ffff]")
# Variation selectors: they change how a letter is drawn, not which letter it is.
_VARIATIONS = dict.fromkeys((*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)))
# Accents of Latin, Greek and Cyrillic. Marks of other scripts carry meaning (が is not か) and stay.
_ACCENTS = dict.fromkeys(range(768, 880)) | _VARIATIONS
# Symbols made of letters, which are not part of the word beside them: ™, №, ㎏.
_LETTER_SYMBOLS = {
    code: f" {chr(code)} "
    for code in (*range(0x2100, 0x2150), *range(0x2460, 0x2500), *range(0x3200, 0x3400))
    if unicodedata.category(chr(code)) == "So"
}
_ASCII_SEPARATORS = {code: " " for code in range(128) if not chr(code).isalnum()}
_FEWEST_LETTERS = 2


def fold(text: str) -> str:
    """Remove case, accents and compatibility forms: `Café`, `CAFE` and `ｃａｆé` become one word."""
    if text.isascii():
        return text.lower()
    bare = unicodedata.normalize("NFKD", text).translate(_ACCENTS)
    return unicodedata.normalize("NFC", bare.casefold())


def words(text: str) -> list[str]:
    """Return the folded words of a text, in order. Words consist of letters, digits and combining marks."""
    folded = fold(text if text.isascii() else text.translate(_LETTER_SYMBOLS))
    if folded.isascii():
        return folded.translate(_ASCII_SEPARATORS).split()
    return "".join(letter if letter.isalnum() or is_mark(letter) else " " for letter in folded).split()


def content_words(text: str) -> list[str]:
    """Return the words of a text without stopwords, in order, with repeats."""
    return [word for word in words(text) if word not in STOPWORDS]


def query_terms(query: str, most: int | None = None) -> list[str]:
    """Return the distinct content words of a query, or all its words if it has only stopwords."""
    return list(dict.fromkeys(content_words(query) or words(query)))[:most]


def topic_terms(text: str) -> list[str]:
    """Return the words that a text is about: no stopwords, bare numbers or single letters.

    In scripts without spaces between words, pairs of letters replace words.
    """
    terms: list[str] = []
    for word in words(text):
        if has_unspaced(word):
            terms += [pair for pair in letter_pairs(word) if len(pair) > 1]
        elif len(word) >= _FEWEST_LETTERS and word not in STOPWORDS and not word.isdigit():
            terms.append(word)
    return terms


def distinctive_terms(text: str) -> set[str]:
    """Return the terms that distinguish a text from others: its topic terms and its numbers."""
    return {*topic_terms(text), *filter(str.isdigit, words(text))}


def letter_pairs(text: str) -> list[str]:
    """Return overlapping pairs of letters of scripts other than Latin, and single symbols.

    `東京都` gives `東京`, `京都` and `都`. The last letter is a piece too, so that every letter begins
    a piece and a search for one letter is a prefix search.
    """
    if text.isascii():
        return []
    pieces: list[str] = []
    for run in _runs(text):
        pieces.extend(_pairs_of(run))
        pieces.append(run[-1])
    return pieces


def pair_queries(text: str) -> list[tuple[str, ...]]:
    """Return the sequences of letter pairs that a query searches for; any of them may match.

    In scripts with spaces, a word is one sequence of consecutive pairs, since two letters of `кот` occur in
    most texts. In other scripts a query may be a sentence, and each pair is searched for alone.
    """
    queries: list[tuple[str, ...]] = []
    for run in [] if text.isascii() else _runs(text):
        if len(run) == 1:
            # In scripts with spaces, a single letter is a word.
            queries += [(run,)] if not run.isalpha() or has_unspaced(run) else []
        elif has_unspaced(run):
            queries += [(pair,) for pair in _pairs_of(run)]
        else:
            queries.append(tuple(_pairs_of(run)))
    return list(dict.fromkeys(queries))


def has_unspaced(text: str) -> bool:
    """Whether the text has a letter of a script without spaces between words, or with attached endings."""
    return not text.isascii() and _UNSPACED.search(text) is not None


def is_mark(letter: str) -> bool:
    """Whether a letter is a combining mark; False for an empty text."""
    return letter != "" and unicodedata.category(letter)[0] == "M"


def _pairs_of(run: str) -> list[str]:
    return [first + second for first, second in pairwise(run)]


def _runs(text: str) -> list[str]:
    """Return runs of letters outside Latin; a symbol such as an emoji is a run of its own."""
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


# Stemmers: words without their endings, so that forms of one word compare equal.

_PORTER_BYTES = range(3, 65)
_VOWELS = "aeiou"
# Porter (1980), as in FTS5: each step tries only the first ending that fits.
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

# Endings, in the order in which they are tried. At least three letters of the word must remain.
_COARSE_ENDINGS = ("ing", "ied", "ies", "ed", "es", "s", "e", "y", "o", "a")
_LIGHT_ENDINGS = ("ing", "ed", "es", "s", "e")
_FEWEST_STEM_LETTERS = 3
_COARSE_LETTERS = 6


@lru_cache(maxsize=65_536)
def porter_stem(word: str) -> str:
    """Return the stem under which FTS5's `porter` indexes a folded word."""
    # FTS5 reads bytes, and treats every byte beyond ASCII as a consonant.
    token = word.encode("utf-8", "surrogatepass")
    if len(token) not in _PORTER_BYTES or word.isdigit():
        return word
    stem = _replace_ending(_replace_ending(_step_1(token.decode("latin-1")), _STEP_2), _STEP_3)
    return _step_5(_step_4(stem)).encode("latin-1").decode("utf-8", "surrogateescape")


@lru_cache(maxsize=16_384)
def coarse_stem(word: str) -> str:
    """Cut the ending, and keep up to six letters: `hiking` and `hiked` become `hik`."""
    return _without_ending(fold(word), _COARSE_ENDINGS)[:_COARSE_LETTERS]


def stems_of_word(word: str) -> list[str]:
    """Return the coarse stem, or letter pairs if the script has no spaces between words."""
    if has_unspaced(word):
        return [pair for pair in letter_pairs(word) if len(pair) > 1] or [word]
    return [coarse_stem(word)]


def matched_terms(text: str, stems: Collection[str]) -> frozenset[str]:
    """Return the coarse stems that a text contains."""
    # Every stem keeps the first three letters of its word, so few words need to be stemmed.
    beginnings = {stem[:_FEWEST_STEM_LETTERS] for stem in stems}
    candidates = {
        word for word in words(text) if word[:_FEWEST_STEM_LETTERS] in beginnings or not word.isascii()
    }
    return frozenset(stem for word in candidates for stem in stems_of_word(word) if stem in stems)


def light_stem(word: str) -> str:
    """Cut -ing, -ed, -es, -s or -e, and spell `colour` as `color`."""
    return _without_ending(word.replace("our", "or") if len(word) > 4 else word, _LIGHT_ENDINGS)


def _without_ending(word: str, endings: tuple[str, ...]) -> str:
    for ending in endings:
        if word.endswith(ending) and len(word) - len(ending) >= _FEWEST_STEM_LETTERS:
            return word.removesuffix(ending)
    return word


def _step_1(word: str) -> str:
    """Remove plural endings, -ed and -ing, and replace a last -y."""
    if word.endswith(("sses", "ies")) and len(word) > (4 if word.endswith("sses") else 3):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    ending = _ending(word, _STEP_1B)
    stem = word.removesuffix(ending)
    if ending == "eed":
        word = f"{stem}ee" if _measure(stem) else word
    elif ending and "v" in _pattern(stem):
        # `conflat` becomes `conflate`, `hopp` becomes `hop`, `fil` becomes `file`.
        word, last = stem, stem[-1]
        if ending := _ending(stem, _STEP_1B_AFTER):
            word = stem.removesuffix(ending) + _STEP_1B_AFTER[ending]
        elif last not in f"{_VOWELS}lsz" and stem.endswith(2 * last):
            word = stem[:-1]
        elif _measure(stem) == 1 and _ends_short(stem):
            word = f"{stem}e"
    return f"{word[:-1]}i" if word.endswith("y") and "v" in _pattern(word[:-1]) else word


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
    """Remove a last -e, and one of two last -l."""
    if word.endswith("e"):
        measure = _measure(word[:-1])
        if measure > 1 or (measure == 1 and not _ends_short(word[:-1])):
            word = word[:-1]
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word


def _ending(word: str, endings: Collection[str]) -> str:
    """Return the first of the endings that a longer word has, or an empty text."""
    return next((ending for ending in endings if word.endswith(ending) and len(word) > len(ending)), "")


def _pattern(stem: str) -> str:
    """Write `c` for each consonant and `v` for each vowel; y is a vowel after a consonant."""
    pattern = ""
    for letter in stem:
        vowel = letter in _VOWELS or (letter == "y" and pattern.endswith("c"))
        pattern += "v" if vowel else "c"
    return pattern


def _measure(stem: str) -> int:
    """Count how often a consonant follows a vowel."""
    return _pattern(stem).count("vc")


def _ends_short(stem: str) -> bool:
    """Whether a stem ends with consonant, vowel, consonant, and the last is not w, x or y."""
    return stem[-1] not in "wxy" and _pattern(stem).endswith("cvc")


# A cache that is bounded in characters as well as in entries.

_Args = ParamSpec("_Args")
_Result = TypeVar("_Result")


def cache_short(most: int, longest: int) -> Callable[[Callable[_Args, _Result]], Callable[_Args, _Result]]:
    """Cache a function's last `most` results, unless the arguments are longer than `longest` characters.

    Otherwise long texts would stay in the memory of a server.
    """

    def around(function: Callable[_Args, _Result]) -> Callable[_Args, _Result]:
        kept = lru_cache(maxsize=most)(function)

        @wraps(kept)
        def cached_if_short(*given: _Args.args, **named: _Args.kwargs) -> _Result:
            letters = sum(len(each) for each in (*given, *named.values()) if isinstance(each, str))
            if letters > longest:
                return function(*given, **named)
            return kept(*given, **named)  # type: ignore[arg-type]  # all arguments are hashable

        cached_if_short.cache_info = kept.cache_info  # type: ignore[attr-defined]  # as on functions of `lru_cache`
        return cached_if_short

    return around


# Token counting: an estimate of how many tokens a language model reads, without the model.

# ASCII text is split into pieces of one token each.
_PIECES = compile_later(r"[A-Za-z]{1,4}|\d{1,3}|[^\W\d_]+|[^\w\s]|_|\n+")
_DIGITS_PER_TOKEN = 3
_LETTERS_PER_TOKEN = 2
_FIRST_WIDE_LETTER = 0x0E00


def count_tokens(text: str) -> int:
    """Estimate the number of tokens; the estimate errs on the high side."""
    pieces = _PIECES.findall(text)
    count = len(pieces)
    for piece in pieces if not text.isascii() else ():
        if piece.isascii():
            continue
        if piece[0].isdigit():
            count += -(-len(piece) // _DIGITS_PER_TOKEN) - 1
        elif piece[0].isalpha():
            wide = sum(letter >= chr(_FIRST_WIDE_LETTER) for letter in piece)
            count += wide + -(-(len(piece) - wide) // _LETTERS_PER_TOKEN) - 1
        else:
            count += max(1, len(piece.encode(errors="surrogatepass")) // 2) - 1
    return count
