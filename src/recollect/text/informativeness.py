"""How much a text says by itself, without the talk around it."""

from __future__ import annotations

from functools import lru_cache
from math import sqrt

from recollect.text.lazy_pattern import compile_later
from recollect.text.tokens import fold, has_unspaced, words
from recollect.text.word_lists import FIRST_PERSON, SMALL_TALK, STOPWORDS

ENOUGH_TERMS = 10
"""A text with so many terms says as much as a text can."""
_NAME = 0.5
"""What a name counts more than another term."""
_QUESTION = 0.5
# A text of many words says something, even where the lists take every one of them for a small one.
_FEW_WORDS = 20
_WORDS_PER_TERM = 4
# Letters that count as a word where a script puts no spaces between words.
_LETTERS_PER_WORD = 2
# More changes hardly any result, and so a long text costs no more than a paragraph.
_MOST_CHARACTERS = 800
_SENTENCE = compile_later(r"[^.!?…。！？\n]+[.!?…。！？]*")
_NAME_INSIDE = compile_later(r"(?<=\w )[A-ZÀ-ÖØ-Þ][^\W\d_A-Z]+")
_WORD = compile_later(r"\w+")
_SAYS_NOTHING = STOPWORDS | SMALL_TALK | FIRST_PERSON | frozenset("abcdefghijklmnopqrstuvwxyz")


def informativeness(text: str) -> float:
    """From 0, "Wow, that's awesome! Thanks!", to 1: the square root of the share of ten terms that it has.

    A term is a distinct word that is neither a stopword nor small talk. A name counts 1.5 terms, a term of a
    question half, and a name that is only addressed nothing. The word lists are English and Spanish: a text
    in another language is judged by its length.
    """
    return _informativeness(text[:_MOST_CHARACTERS])


# The same memories are candidates again and again.
@lru_cache(maxsize=8_192)
def _informativeness(text: str) -> float:
    terms: dict[str, float] = {}
    word_count = 0
    for sentence in _SENTENCE.findall(text):
        found = words(sentence)
        word_count += len(found)
        own = set(found) - _SAYS_NOTHING
        if len(own) == 1 and len(found) > 1 and _is_addressed(sentence, found, *own):
            continue
        worth = _QUESTION if sentence[-1] in "?？" else 1.0
        for term in own:
            terms[term] = max(terms.get(term, 0.0), worth)
        for name in _NAME_INSIDE.findall(sentence):
            if (folded := fold(name)) in own:
                terms[folded] = max(terms[folded], worth + _NAME)
        if not sentence.isascii():
            terms.update((word, len(word) / _LETTERS_PER_WORD) for word in own if has_unspaced(word))
        if len(terms) >= ENOUGH_TERMS and sum(terms.values()) >= ENOUGH_TERMS:
            return 1.0
    total = max(sum(terms.values()), (word_count - _FEW_WORDS) / _WORDS_PER_TERM)
    return min(1.0, sqrt(total / ENOUGH_TERMS))


def _is_addressed(sentence: str, found: list[str], term: str) -> bool:
    """Whether the only term is one who is spoken to: "Thanks, Ana!" is said to her, not of her."""
    if SMALL_TALK.isdisjoint(found) or not FIRST_PERSON.isdisjoint(found):
        return False
    return any(word[0].isupper() and words(word) == [term] for word in _WORD.findall(sentence))
