"""Names in texts: where a text may name something, in whole words, and which of these places count."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import takewhile

from recollect.text.tokens import fold, has_unspaced, is_mark
from recollect.text.word_lists import EVERYDAY_NAMES, STOPWORDS

LONGEST_NAME = 8
"""In words. A longer name is hardly ever said in full."""
_LONGEST_RUN = 12
"""In letters, where a script puts no spaces between words."""
_MOST_MARKS = 3
_WORD = re.compile(r"\w+")
_SPACES = re.compile(r"\s+")
# These count as a name only in the letters they are written with.
_EVERYDAY = STOPWORDS | EVERYDAY_NAMES


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
