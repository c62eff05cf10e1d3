"""A guess at the language of texts: enough to advise on a model and to word a question, no more."""

from __future__ import annotations

import unicodedata
from itertools import islice
from typing import TYPE_CHECKING, Literal

from recollect.text.tokens import words

if TYPE_CHECKING:
    from collections.abc import Iterable

# Short words that are frequent in one of these languages and rare in the other; folded, so without accents.
_ENGLISH = """
the of and to is in that it for was on with as are be this by at from or have not but they his her an
"""
# Spanish, Portuguese, French, Italian, German, Dutch, Swedish.
_OTHER = """
el la los las del que y en un una por para con su es se lo mas como pero esta muy al sus ya
os um uma nao com mais dos ao seu le les des et est dans pour qui sur pas plus ce sont avec il
di che e per sono della gli nel der die das und ist nicht mit den von zu ein eine auf fur sich
het een van dat niet zijn och att det som ar av
"""
_ENGLISH_WORDS, _OTHER_WORDS = frozenset(_ENGLISH.split()), frozenset(_OTHER.split())
_MOSTLY = 0.5
# The same for Spanish and English alone, with more words.
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
# Enough to tell, however long the text is.
_ENOUGH_WORDS = 200


def mostly_other_than_english(texts: Iterable[str]) -> bool:
    """Whether more than half of the texts that give themselves away are in another language."""
    guesses = [guess for text in texts if (guess := language_of(text)) is not None]
    return bool(guesses) and guesses.count("other") / len(guesses) > _MOSTLY


def language_of(text: str) -> Literal["english", "other"] | None:
    """By script, then by the words that hold sentences together; None where neither tells."""
    letters = [letter for letter in text if letter.isalpha()]
    latin = (letter.isascii() or unicodedata.name(letter, "").startswith("LATIN") for letter in letters)
    if len(letters) - sum(latin) > 0.3 * len(letters):
        return "other"
    here = words(text)
    english, other = sum(word in _ENGLISH_WORDS for word in here), sum(word in _OTHER_WORDS for word in here)
    if english == other:
        return None
    return "english" if english > other else "other"


def is_spanish(folded_words: Iterable[str]) -> bool:
    """Whether a text has more of the small words of Spanish than of English."""
    first = list(islice(folded_words, _ENOUGH_WORDS))
    return sum(word in _SPANISH for word in first) > sum(word in _PLAIN_ENGLISH for word in first)
