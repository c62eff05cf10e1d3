"""Parts of a text that ask for the whole: the stretch that tells the most, one by lot, one with gaps."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from recollect.text.statement_sentences import sentences
from recollect.text.stopwords import STOPWORDS
from recollect.text.topics import terms
from recollect.text.words import is_unspaced, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PHRASE = 5
"""Words of a phrase."""
_STRETCH = 7
"""Words of a stretch by lot, those of every text included."""
_TELLING = 3
"""Of them, those that tell something; fewer only where the text has no more."""
_GAPPED = 16
_TOGETHER = 2
"""Letters that count as a word where a script puts no spaces between words."""
_WRITTEN = re.compile(r"\S+")


def phrase(text: str, length: int = PHRASE) -> str:
    """The stretch of a text that tells the most: some words in a row, with the fewest that every text has."""
    said = words(text)
    if len(said) <= length:
        return " ".join(said)
    weights = [0 if word in STOPWORDS else len(word) for word in said]
    starts = range(len(said) - length + 1)
    best = max(starts, key=lambda start: (sum(weights[start : start + length]), -start))
    return " ".join(said[best : best + length])


def stretch(text: str, lot: int) -> str:
    """Some words in a row out of one sentence, as they are written; the lot says which.

    Empty where the text has no word at all.
    """
    pieces = _sentence(text, lot, _TELLING)
    telling = [bool(terms(text[start:stop])) for start, stop in pieces]
    starts = range(max(1, len(pieces) - _STRETCH + 1))
    counts = [sum(telling[start : start + _STRETCH]) for start in starts]
    enough = min(_TELLING, max(counts))
    good = [start for start, count in zip(starts, counts, strict=True) if count >= enough]
    first = good[lot % len(good)]
    return _joined(text, pieces[first : first + _STRETCH])


def gapped(text: str, holders: Mapping[str, int], lot: int) -> str | None:
    """A sentence without the rarer half of what it tells, so that the words alone hardly give it away.

    `holders` says how many texts hold a term. None where fewer than two telling words would be left.
    """
    said = [text[start:stop] for start, stop in _sentence(text, lot, 2 * _TELLING)[:_GAPPED]]
    rarity = {
        _word(piece): min(holders.get(term, 0) for term in found) for piece in said if (found := terms(piece))
    }
    rarest_first = sorted(rarity, key=lambda word: (rarity[word], word))
    left_out = rarest_first[: (len(rarest_first) + 1) // 2]
    if len(rarest_first) - len(left_out) < 2:
        return None
    return _bare(" ".join(piece for piece in said if _word(piece) not in left_out))


def _word(piece: str) -> str:
    return " ".join(words(piece))


def _sentence(text: str, lot: int, telling: int) -> list[tuple[int, int]]:
    """The words of one sentence, of those that tell enough; else of the one that tells the most."""
    spans = list(sentences(text)) or [(0, len(text))]
    cut = [pieces for start, stop in spans if (pieces := list(_pieces(text, start, stop)))]
    if not cut:
        return list(_pieces(text, 0, len(text)))
    told = [sum(bool(terms(text[start:stop])) for start, stop in pieces) for pieces in cut]
    enough = min(telling, max(told))
    good = [pieces for pieces, count in zip(cut, told, strict=True) if count >= enough]
    return good[lot % len(good)]


def _pieces(text: str, start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Words as they are written, marks and all; letters two by two where nothing parts words."""
    for match in _WRITTEN.finditer(text, start, stop):
        if any(map(is_unspaced, match.group())):
            yield from _letters(text, *match.span())
        else:
            yield match.span()


def _letters(text: str, start: int, stop: int) -> Iterator[tuple[int, int]]:
    at = start
    while at < stop:
        end = min(at + _TOGETHER, stop)
        # What is drawn onto a letter goes with it.
        while end < stop and unicodedata.category(text[end])[0] == "M":
            end += 1
        yield at, end
        at = end


def _joined(text: str, pieces: list[tuple[int, int]]) -> str:
    return _bare(text[pieces[0][0] : pieces[-1][1]]) if pieces else ""


def _bare(said: str) -> str:
    """On one line, without the marks at its ends."""
    line = " ".join(said.split())
    inner = [place for place, letter in enumerate(line) if letter.isalnum()]
    if not inner:
        return line
    last = inner[-1] + 1
    while last < len(line) and unicodedata.category(line[last])[0] == "M":
        last += 1
    return line[inner[0] : last]
