"""A guess at the language of texts: enough to choose a model and to word a question, no more."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, Literal

from recollect.text.language_words import COMMON_WORDS, ENGLISH
from recollect.text.lazy_pattern import compile_later
from recollect.text.tokens import fold

if TYPE_CHECKING:
    from collections.abc import Iterable

Language = Literal["english", "other"]

# The beginning of a text tells, however long it is.
_ENOUGH_LETTERS = 600
_ENOUGH_WORDS = 200
# Share of a text's letters, from which it is written in another script than Latin.
_OTHER_SCRIPT = 0.3
# By how many common words English or the other must be ahead.
_SURE = 1.0
_MOSTLY = 0.5
# Of one letter alone, no word tells.
_WORD = compile_later(r"[^\W\d_]{2,}")
# Addresses, paths and code: in no language.
_NO_WORD = compile_later(r"\S*[@/\\_=<>{}]\S*|\S\.\w\S*")
_LANGUAGES_OF: dict[str, tuple[str, ...]] = {}
for _language, _listed in COMMON_WORDS.items():
    for _common in dict.fromkeys(_listed.split()):
        _LANGUAGES_OF[_common] = (*_LANGUAGES_OF.get(_common, ()), _language)

# How words look that are no common ones, folded. Each counts as half a common word.
_LOOKS_ENGLISH = compile_later(
    r"th|wh|sh|ck|ght|ee|oo|ow|ea[dklmrst]|[^aeiou]ing$|[a-z]{2}ed$|[^aeiou]y$|tion|ness$|ies$"
)
_LOOKS_OTHER = compile_later(
    r"[a-z]{2}[ao]s?$|[cs]ion(es)?$|mente$|ione$|[aei]ndo$|[ai]r$|sch|ung(en)?$|keit$|lich|zt$|zen$|"
    r"eux$|eaux?$|oir|eur$|ique$|aient$|ez$|ij|aa|uu"
)
_HALF = 0.5
# As French and Italian leave a vowel out: l'eau, d'un, c'est, qu'il.
_ELISION = compile_later(r"\b(?:[cdjlmns]|qu|dell|nell|all)['’](?=[^\W\d_]{2})", re.IGNORECASE)
# Small words of Spanish and English, for what needs only to tell these two apart.
_SPANISH_OR_ENGLISH = (
    """
    el la los las de del que en y a un una por para con se lo como mas pero su sus al es fue esta este
    me mi cuando donde quien cual hasta desde entre sobre antes despues hoy ayer dia factura reunion
    cita nos le
    """,
    """
    the of and to in is was on for with at by from that this it i we you my our did do does what when
    where who how which before after since until between had have has are were be not or
    """,
)
_SPANISH, _PLAIN_ENGLISH = (frozenset(words.split()) for words in _SPANISH_OR_ENGLISH)
_NEITHER = frozenset(
    word for word, languages in _LANGUAGES_OF.items() if not {ENGLISH, "es"}.intersection(languages)
)


def mostly_other_than_english(texts: Iterable[str]) -> bool:
    """Whether more than half of the texts that give themselves away are in another language."""
    guesses = [guess for text in texts if (guess := language_of(text)) is not None]
    return bool(guesses) and guesses.count("other") / len(guesses) > _MOSTLY


def language_of(text: str) -> Language | None:
    """By script, then by common words and by how the others look; None where that does not tell."""
    beginning = _NO_WORD.sub(" ", text[:_ENOUGH_LETTERS])
    if _is_of_another_script(beginning):
        return "other"
    english = 0.0
    other = float(len(_ELISION.findall(beginning)))
    common: Counter[str] = Counter()
    for place, written in enumerate(_WORD.findall(beginning)):
        word = fold(written)
        languages = _LANGUAGES_OF.get(word, ())
        if written.isascii() and ENGLISH in languages:
            english += len(languages) == 1
        # A word with a capital may be part of a name, and names are from everywhere.
        elif written[0].isupper() and place > 0:
            continue
        elif languages:
            common.update(language for language in languages if language != ENGLISH)
        elif _LOOKS_ENGLISH.search(written):
            english += _HALF
        elif not written.isascii() or _LOOKS_OTHER.search(written):
            other += _HALF
    other += max(common.values(), default=0)
    if abs(english - other) < _SURE:
        return None
    return "english" if english > other else "other"


def _is_of_another_script(text: str) -> bool:
    if text.isascii():
        return False
    letters = [letter for letter in text if letter.isalpha()]
    latin = (letter.isascii() or unicodedata.name(letter, "").startswith("LATIN") for letter in letters)
    return len(letters) - sum(latin) > _OTHER_SCRIPT * len(letters)


def is_spanish(folded_words: Iterable[str]) -> bool:
    """Whether a text has more of the small words of Spanish than of English."""
    first = list(islice(folded_words, _ENOUGH_WORDS))
    return sum(word in _SPANISH for word in first) > sum(word in _PLAIN_ENGLISH for word in first)


def is_english_or_spanish(folded_words: Iterable[str]) -> bool:
    """Whether small words of these two are at least as many as of others; one word proves nothing."""
    first = list(islice(folded_words, _ENOUGH_WORDS))
    own = sum(word in _SPANISH or word in _PLAIN_ENGLISH for word in first)
    other = sum(word in _NEITHER for word in first)
    return other <= max(1, own)
