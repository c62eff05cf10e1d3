"""Find names in texts: list the parts of a text that may be names, and choose among them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import takewhile
from math import sqrt

from recollect.domain.lazy_dataclass import dataclass
from recollect.language.words import FIRST_PERSON, SMALL_TALK, STOPWORDS, word_set
from recollect.text.tokens import compile_later, fold, has_unspaced, is_mark, words

LONGEST_NAME = 8
"""Maximum words of a name. Longer names are seldom written in full."""
_LONGEST_RUN = 12
"""Maximum characters of a name in a script without spaces between words."""
_MOST_MARKS = 3
_WORD = compile_later(r"\w+")
_SPACES = compile_later(r"\s+")
# Everyday words. As a name, such a word must be written as the entity's name is.
_EVERYDAY = STOPWORDS | word_set("words", "everyday_names")
# Words that are not a first name by themselves, even at the start of a name.
_NAME_BEGINNINGS = word_set("words", "no_first_names")
_NO_FIRST_NAMES = _EVERYDAY | SMALL_TALK | _NAME_BEGINNINGS
_NO_LAST_NAMES = word_set("words", "no_last_names")
_NAME_PARTICLES = word_set("words", "name_particles")
_TITLES = word_set("words", "titles")
_PERSON_TYPES = frozenset({"unknown", "person", "persona"})
_MAX_PERSON_WORDS = 5


@dataclass(frozen=True, slots=True)
class NamePlace:
    """A part of a folded text that could be a name."""

    start: int
    stop: int
    name: str


@dataclass(frozen=True, slots=True)
class NameText:
    """A text, ready to be searched for names."""

    original: str
    folded: str
    words: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, original: str) -> NameText:
        folded = _SPACES.sub(" ", fold(original)).strip()
        return cls(original, folded, tuple(match.span() for match in _WORD.finditer(folded)))

    def beginnings(self) -> set[str]:
        """Return each word, or character of a script without spaces, that could begin a name in this text."""
        found = {self.folded[start:stop] for start, stop in self.words}
        return found.union(letter for word in found for letter in word if has_unspaced(letter))

    def places(self, beginnings: Iterable[str]) -> Iterator[NamePlace]:
        """Yield each part of the text that begins with one of `beginnings`."""
        known = frozenset(beginnings)
        for number, (start, stop) in enumerate(self.words):
            word = self.folded[start:stop]
            if word in known:
                for _, end in self.words[number : number + LONGEST_NAME]:
                    yield from self._with_marks(start, end)
            for at, letter in enumerate(word, start):
                if letter in known and has_unspaced(letter):
                    yield from self._run(at)

    def first_names(self, beginnings: Iterable[str]) -> Iterator[NamePlace]:
        """Yield the words of `beginnings` that may be a first name: capitalised, and without a surname."""
        known = frozenset(beginnings)
        written = [match.group() for match in _WORD.finditer(self.original)]
        if len(written) != len(self.words):
            return  # folding split a word, so the two lists cannot be aligned
        for number, (start, stop) in enumerate(self.words):
            name = self.folded[start:stop]
            if name not in known or name in _NO_FIRST_NAMES or not written[number][0].isupper():
                continue
            has_surname = self._touches(number + 1) and written[number + 1][0].isupper()
            is_part_of_name = False
            if self._touches(number):  # `Santa Ana` is another name, `Yesterday Ana` is not
                before = self.folded[slice(*self.words[number - 1])]
                in_name = self._touches(number - 1) and written[number - 1][0].isupper()
                is_part_of_name = before in _NAME_BEGINNINGS or (in_name and before not in _TITLES)
            if not has_surname and not is_part_of_name:
                yield NamePlace(start, stop, name)

    def _touches(self, number: int) -> bool:
        """Whether only a space or a hyphen separates a word from the previous word."""
        if not 0 < number < len(self.words):
            return False
        return self.folded[self.words[number - 1][1] : self.words[number][0]] in {" ", "-"}

    def _run(self, start: int) -> Iterator[NamePlace]:
        """Yield each run of characters from `start`, with their combining vowel marks."""
        for stop in range(start + 1, min(len(self.folded), start + _LONGEST_RUN) + 1):
            last = self.folded[stop - 1]
            if not (last.isalnum() or is_mark(last)):
                return
            if not is_mark(self.folded[stop : stop + 1]):
                yield NamePlace(start, stop, self.folded[start:stop])

    def _with_marks(self, start: int, stop: int) -> Iterator[NamePlace]:
        """Yield the words alone, and with adjacent marks: `c++`, `.net`, `node.js`."""
        before = _count_marks(reversed(self.folded[max(0, start - _MOST_MARKS) : start]))
        after = _count_marks(self.folded[stop : stop + _MOST_MARKS])
        for first in range(start, start - before - 1, -1):
            for last in range(stop, stop + after + 1):
                # Neither `c++` nor `c#` contains the name `c`.
                if self.folded[last : last + 1] not in {"+", "#"}:
                    yield NamePlace(first, last, self.folded[first:last])


def first_name(name: str, type_: str) -> str | None:
    """Return the folded first name if the entity may be a person: `ana` for `Ana Souza`; otherwise None."""
    words = name.split()
    first, last = fold(words[0]) if words else "", fold(words[-1]) if words else ""
    if type_.lower() not in _PERSON_TYPES or not 1 < len(words) <= _MAX_PERSON_WORDS:
        return None
    if first in _NO_FIRST_NAMES or not first.isalpha() or len(first) == 1 or has_unspaced(first):
        return None
    if type_.lower() == "unknown" and last in _NO_LAST_NAMES:
        return None
    is_capitalised = all(word[0].isupper() or fold(word) in _NAME_PARTICLES for word in words)
    return first if is_capitalised and words[0][0].isupper() and not name.isupper() else None


def name_beginning(name: str) -> str:
    """Return the word or character by which `NameText.beginnings` finds a name."""
    match = _WORD.search(name)
    if match is None:
        return ""
    word = match.group()
    return word[0] if has_unspaced(word[0]) else word


def choose_names(text: NameText, found: Mapping[NamePlace, str]) -> list[NamePlace]:
    """Choose names among the places in `found`; of overlapping names, the longest.

    `found` maps places to original spellings. An everyday word must have that spelling in the text.
    """
    taken: list[NamePlace] = []
    for place in sorted(found, key=lambda place: (place.start - place.stop, place.start)):
        clear = all(place.stop <= other.start or other.stop <= place.start for other in taken)
        if clear and (place.name not in _EVERYDAY or is_written_in(text.original, found[place])):
            taken.append(place)
    return taken


def is_written_in(text: str, name: str) -> bool:
    """Whether a text contains a name as whole words, in the same case."""
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def _count_marks(letters: Iterable[str]) -> int:
    """Count the marks before a space or a letter."""
    return sum(1 for _ in takewhile(lambda letter: not letter.isalnum() and letter not in " _", letters))


# Informativeness: how much a text says without its context.

ENOUGH_TERMS = 10
"""A text with this many terms is fully informative."""
_NAME_BONUS = 0.5
_QUESTION_WEIGHT = 0.5
# A text of many words is informative, even if the lists count each word as a stopword or small talk.
_FEW_WORDS = 20
_WORDS_PER_TERM = 4
# Characters that count as a word in scripts without spaces between words.
_LETTERS_PER_WORD = 2
# Only the beginning is read: more text hardly changes a result.
_MOST_CHARACTERS = 800
_SENTENCE = compile_later(r"[^.!?…。！？\n]+[.!?…。！？]*")
_NAME_INSIDE = compile_later(r"(?<=\w )[A-ZÀ-ÖØ-Þ][^\W\d_A-Z]+")
_WHOLE_WORD = compile_later(r"\w+")
_EMPTY_WORDS = STOPWORDS | SMALL_TALK | FIRST_PERSON | frozenset("abcdefghijklmnopqrstuvwxyz")


def informativeness(text: str) -> float:
    """Rate a text from 0 ("Wow, that's awesome! Thanks!") to 1 (ten terms): sqrt(terms / 10).

    A term is a distinct word that is neither a stopword nor small talk. A name counts as 1.5 terms, a term in
    a question as half. A name that is only addressed does not count. The word lists are English and Spanish;
    a text in another language is rated by its length.
    """
    return _informativeness(text[:_MOST_CHARACTERS])


# Cached, since the same memories are often candidates.
@lru_cache(maxsize=8_192)
def _informativeness(text: str) -> float:
    terms: dict[str, float] = {}
    word_count = 0
    for sentence in _SENTENCE.findall(text):
        found = words(sentence)
        word_count += len(found)
        content_words = set(found) - _EMPTY_WORDS
        is_short = len(content_words) == 1 and len(found) > 1
        if is_short and _is_addressed(sentence, found, *content_words):
            continue
        worth = _QUESTION_WEIGHT if sentence[-1] in "?？" else 1.0
        for term in content_words:
            terms[term] = max(terms.get(term, 0.0), worth)
        for name in _NAME_INSIDE.findall(sentence):
            if (folded := fold(name)) in content_words:
                terms[folded] = max(terms[folded], worth + _NAME_BONUS)
        if not sentence.isascii():
            terms |= {each: len(each) / _LETTERS_PER_WORD for each in content_words if has_unspaced(each)}
        if len(terms) >= ENOUGH_TERMS and sum(terms.values()) >= ENOUGH_TERMS:
            return 1.0
    total = max(sum(terms.values()), (word_count - _FEW_WORDS) / _WORDS_PER_TERM)
    return min(1.0, sqrt(total / ENOUGH_TERMS))


def _is_addressed(sentence: str, found: list[str], term: str) -> bool:
    """Whether the only term is the person addressed: "Thanks, Ana!" is not about Ana."""
    if SMALL_TALK.isdisjoint(found) or not FIRST_PERSON.isdisjoint(found):
        return False
    return any(word[0].isupper() and words(word) == [term] for word in _WHOLE_WORD.findall(sentence))
