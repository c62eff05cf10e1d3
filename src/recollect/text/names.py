"""Names in texts: where a text may name something, in whole words, and which of these places count."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import takewhile

from recollect.lazy_dataclass import dataclass
from recollect.text.lazy_pattern import compile_later
from recollect.text.tokens import fold, has_unspaced, is_mark
from recollect.text.word_lists import (
    EVERYDAY_NAMES,
    NAME_PARTICLES,
    NO_FIRST_NAMES,
    NO_LAST_NAMES,
    SMALL_TALK,
    STOPWORDS,
)

LONGEST_NAME = 8
"""In words. A longer name is hardly ever said in full."""
_LONGEST_RUN = 12
"""In letters, where a script puts no spaces between words."""
_MOST_MARKS = 3
_WORD = compile_later(r"\w+")
_SPACES = compile_later(r"\s+")
# These count as a name only in the letters they are written with.
_EVERYDAY = STOPWORDS | EVERYDAY_NAMES
# Words that are no first name by themselves, whatever they begin.
_NO_FIRST_NAMES = _EVERYDAY | SMALL_TALK | NO_FIRST_NAMES
_PERSON_TYPES = frozenset({"unknown", "person", "persona"})
_LONGEST_PERSON = 5
"""In words."""


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
        """Every word, or letter of a script without spaces, with which a name in this text could begin."""
        found: set[str] = set()
        for start, stop in self.words:
            word = self.folded[start:stop]
            found.add(word)
            found.update(letter for letter in word if has_unspaced(letter))
        return found

    def places(self, beginnings: Iterable[str]) -> Iterator[NamePlace]:
        """Every part that begins with one of these."""
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
        """Every word of these that may be somebody's first name: it has a capital, and no surname with it."""
        known = frozenset(beginnings)
        written = [match.group() for match in _WORD.finditer(self.original)]
        if len(written) != len(self.words):
            return  # folding took a word apart, so that the two cannot be laid side by side
        for number, (start, stop) in enumerate(self.words):
            name = self.folded[start:stop]
            if name not in known or name in _NO_FIRST_NAMES or not written[number][0].isupper():
                continue
            has_surname = self._touches(number + 1) and written[number + 1][0].isupper()
            if not has_surname and not (self._touches(number) and self._is_part_of_name(number - 1, written)):
                yield NamePlace(start, stop, name)

    def _touches(self, number: int) -> bool:
        """Whether nothing but a space or a hyphen stands between a word and the one before it."""
        if not 0 < number < len(self.words):
            return False
        return self.folded[self.words[number - 1][1] : self.words[number][0]] in {" ", "-"}

    def _is_part_of_name(self, number: int, written: list[str]) -> bool:
        """Whether a word before a first name makes another name of it: `Santa Ana`; not `Yesterday Ana`."""
        start, stop = self.words[number]
        if self.folded[start:stop] in NO_FIRST_NAMES:
            return True
        return (
            self._touches(number) and written[number][0].isupper() and self.folded[start:stop] not in _TITLES
        )

    def _run(self, start: int) -> Iterator[NamePlace]:
        """Every run of whole letters from here on, with the vowels drawn above or below them."""
        for stop in range(start + 1, min(len(self.folded), start + _LONGEST_RUN) + 1):
            last = self.folded[stop - 1]
            if not (last.isalnum() or is_mark(last)):
                return
            if not is_mark(self.folded[stop : stop + 1]):
                yield NamePlace(start, stop, self.folded[start:stop])

    def _with_marks(self, start: int, stop: int) -> Iterator[NamePlace]:
        """The words alone, and with the marks that touch them: `c++`, `.net`, `node.js`."""
        before = _marks(reversed(self.folded[max(0, start - _MOST_MARKS) : start]))
        after = _marks(self.folded[stop : stop + _MOST_MARKS])
        for first in range(start, start - before - 1, -1):
            for last in range(stop, stop + after + 1):
                # `c` is neither in `c++` nor in `c#`.
                if self.folded[last : last + 1] not in {"+", "#"}:
                    yield NamePlace(first, last, self.folded[first:last])


_TITLES = frozenset(
    (
        "i",
        "dr",
        "dra",
        "mr",
        "mrs",
        "ms",
        "miss",
        "prof",
        "sr",
        "sra",
        "don",
        "dona",
        "aunt",
        "uncle",
        "tia",
        "tio",
    )
)


def first_name(name: str, type_: str) -> str | None:
    """The folded first name of an entity that may be a person: `ana` of `Ana Souza`; None of others."""
    words = name.split()
    first, last = fold(words[0]) if words else "", fold(words[-1]) if words else ""
    if type_.lower() not in _PERSON_TYPES or not 1 < len(words) <= _LONGEST_PERSON:
        return None
    if first in _NO_FIRST_NAMES or not first.isalpha() or len(first) == 1 or has_unspaced(first):
        return None
    if type_.lower() == "unknown" and last in NO_LAST_NAMES:
        return None
    named = all(word[0].isupper() or fold(word) in NAME_PARTICLES for word in words)
    return first if named and words[0][0].isupper() and not name.isupper() else None


def name_beginning(name: str) -> str:
    """The word or letter of a folded name that `NameText.beginnings` has if the name is in the text."""
    match = _WORD.search(name)
    if match is None:
        return ""
    word = match.group()
    return word[0] if has_unspaced(word[0]) else word


def places_that_count(text: NameText, found: Mapping[NamePlace, str]) -> list[NamePlace]:
    """Of the places where a name stands, those that count: the longest wins its letters.

    `found` gives the name as it is written. A name that is an everyday word must be written so in the text.
    """
    taken: list[NamePlace] = []
    for place in sorted(found, key=lambda place: (place.start - place.stop, place.start)):
        clear = all(place.stop <= other.start or other.stop <= place.start for other in taken)
        if clear and (place.name not in _EVERYDAY or is_written_in(text.original, found[place])):
            taken.append(place)
    return taken


def is_written_in(text: str, name: str) -> bool:
    """Whether a text has a name in exactly these letters, as whole words."""
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def _marks(letters: Iterable[str]) -> int:
    """How many marks come before a space or a letter."""
    return sum(1 for _ in takewhile(lambda letter: not letter.isalnum() and letter not in " _", letters))
