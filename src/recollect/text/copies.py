"""Copies of an error: which texts repeat what a correction takes back.

A correction says which words were wrong: those of the old text that the new one lacks. A copy of the error
says them too, of the same names and numbers, and says nothing else of weight: no name, number or denial of
its own, and nothing of what the correction brings. So `Alice left Google for Microsoft` is no copy of `Alice
works at Google`, corrected to `Alice works at Microsoft`; nor is `Bob works at Google`. Better to leave a
copy standing than to retire what somebody else meant.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from recollect.text.stopwords import STOPWORDS
from recollect.text.words import fold

ALIKE = 0.8
"""Cosine from which two texts that share the error are taken for copies."""
_SHARED = 0.5
"""Share of all their telling words from which they are, without a look at their meaning."""
_SAME = 0.8
"""The same, where the correction only adds and so names no error."""
_LONGER = 2
_PIECES = re.compile(r"\d+|[^\W\d_]+")
_OWNS = re.compile(r"['’]s\b")
_ENDINGS = ("ing", "ed", "es", "s")
_DENYING = """
no not never none nobody nothing neither nor without isn wasn aren weren don doesn didn won cannot cant wrong
false former formerly ex anymore longer left quit stopped used nunca jamas tampoco sin ya antes dejo
"""
_DENIALS = frozenset(_DENYING.split())
# Beside the words of every text, those with which people open a sentence or stress that it holds.
_OPENING = """
actually also apparently btw currently fyi hey hi listen note now ok okay oh please presently really remember
right so still today well yes yeah actualmente ahora bueno hola hoy nota oye pues recuerda sabes todavia vale
am pm
"""
_EMPTY = STOPWORDS | frozenset(_OPENING.split())


@dataclass(frozen=True, slots=True)
class Said:
    """What a text says, as far as copies are concerned."""

    words: frozenset[str]
    """Stems of the words that tell something."""
    marks: frozenset[str]
    """Those that may be names, by a capital letter or an apostrophe, and numbers."""
    denials: frozenset[str]

    @classmethod
    def of(cls, text: str) -> Said:
        words: set[str] = set()
        marks: set[str] = set()
        denials: set[str] = set()
        for match in _PIECES.finditer(text):
            piece = match.group()
            word = fold(piece)
            if word in _DENIALS:
                denials.add(word)
            # `10:00` and `10` are one time; a letter by itself is a piece of something.
            if word in _EMPTY or not word.strip("0") or (len(word) == 1 and not word.isdigit()):
                continue
            stem = word.lstrip("0") if word.isdigit() else _stem(word)
            words.add(stem)
            if piece.isdigit() or piece[0].isupper() or _OWNS.match(text, match.end()):
                marks.add(stem)
        return cls(frozenset(words), frozenset(marks), frozenset(denials))


def is_copy(wrong: str, right: str, other: str, cosine: float = 0.0) -> bool:
    """Whether another text repeats the error that `right` corrects; the cosine is that of it and `wrong`."""
    old, new, said = Said.of(wrong), Said.of(right), Said.of(other)
    if not said.words or len(said.words) > _LONGER * len(old.words) + _LONGER:
        return False
    error, brought = old.words - new.words, new.words - old.words
    if said.words & brought or said.denials - old.denials or old.denials - said.denials:
        return False
    if not old.marks <= said.words or said.marks - old.words:
        return False
    shared = len(said.words & old.words) / len(said.words | old.words)
    if not error:
        return shared >= _SAME
    return error <= said.words and (shared >= _SHARED or cosine >= ALIKE)


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending)
    return word
