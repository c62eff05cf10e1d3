"""Cloze questions: parts of a text by which the whole text can be asked for (inverse cloze task)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeVar

from recollect.text.sentences import sentences
from recollect.text.tokens import has_unspaced, is_mark, topic_terms, words
from recollect.text.word_lists import STOPWORDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Span = tuple[int, int]

_Choice = TypeVar("_Choice")

PHRASE_WORDS = 5
_SAMPLE_WORDS = 7
"""Words of a sampled phrase, stopwords included."""
_FEWEST_TERMS = 3
"""Words among them that say something; fewer only where the text has no more."""
_GAPPED_WORDS = 16
_LETTERS_PER_WORD = 2
"""Letters that count as a word where a script puts no spaces between words."""
_WRITTEN = re.compile(r"\S+")


def densest_phrase(text: str, length: int = PHRASE_WORDS) -> str:
    """The words in a row that say the most: those with the most letters outside stopwords."""
    found = words(text)
    if len(found) <= length:
        return " ".join(found)
    weights = [0 if word in STOPWORDS else len(word) for word in found]
    starts = range(len(found) - length + 1)
    best = max(starts, key=lambda start: (sum(weights[start : start + length]), -start))
    return " ".join(found[best : best + length])


def sampled_phrase(text: str, seed: int) -> str:
    """Some words in a row out of one sentence, as they are written; the seed chooses which.

    Empty where the text has no word at all.
    """
    pieces = _sampled_sentence(text, seed, _FEWEST_TERMS)
    has_term = [bool(topic_terms(text[start:stop])) for start, stop in pieces]
    starts = range(max(1, len(pieces) - _SAMPLE_WORDS + 1))
    counts = [sum(has_term[start : start + _SAMPLE_WORDS]) for start in starts]
    chosen = pieces[_sampled(starts, counts, _FEWEST_TERMS, seed) :][:_SAMPLE_WORDS]
    return _trimmed(text[chosen[0][0] : chosen[-1][1]]) if chosen else ""


def gapped_sentence(text: str, document_counts: Mapping[str, int], seed: int) -> str | None:
    """A sentence without the rarer half of its terms, so that its words alone hardly give the text away.

    `document_counts` says how many texts contain a term. None where fewer than two terms would be left.
    """
    sentence = _sampled_sentence(text, seed, 2 * _FEWEST_TERMS)[:_GAPPED_WORDS]
    pieces = [text[start:stop] for start, stop in sentence]
    rarity = {
        _folded(piece): min(document_counts.get(term, 0) for term in terms)
        for piece in pieces
        if (terms := topic_terms(piece))
    }
    rarest_first = sorted(rarity, key=lambda word: (rarity[word], word))
    gaps = rarest_first[: (len(rarest_first) + 1) // 2]
    if len(rarest_first) - len(gaps) < 2:
        return None
    return _trimmed(" ".join(piece for piece in pieces if _folded(piece) not in gaps))


def _folded(piece: str) -> str:
    return " ".join(words(piece))


def _sampled_sentence(text: str, seed: int, fewest_terms: int) -> list[Span]:
    """The words of a sentence with enough terms; of the one with the most, where none has enough."""
    spans = list(sentences(text)) or [(0, len(text))]
    cut = [pieces for start, stop in spans if (pieces := list(_pieces(text, start, stop)))]
    if not cut:
        return list(_pieces(text, 0, len(text)))
    counts = [sum(bool(topic_terms(text[start:stop])) for start, stop in pieces) for pieces in cut]
    return _sampled(cut, counts, fewest_terms, seed)


def _sampled(choices: Sequence[_Choice], counts: Sequence[int], enough: int, seed: int) -> _Choice:
    """One that counts enough; where none does, one that counts the most."""
    least = min(enough, max(counts))
    good = [choice for choice, count in zip(choices, counts, strict=True) if count >= least]
    return good[seed % len(good)]


def _pieces(text: str, start: int, stop: int) -> Iterator[Span]:
    """Words as they are written, with their punctuation; pairs of letters where nothing separates words."""
    for match in _WRITTEN.finditer(text, start, stop):
        at, last = match.span()
        while at < last:
            end = last
            if has_unspaced(match.group()):
                end = _after_marks(text, min(at + _LETTERS_PER_WORD, last), last)
            yield at, end
            at = end


def _after_marks(text: str, end: int, stop: int) -> int:
    """The place after the marks that are drawn onto the letter before `end`."""
    while end < stop and is_mark(text[end]):
        end += 1
    return end


def _trimmed(piece: str) -> str:
    """On one line, without the punctuation at its ends."""
    line = " ".join(piece.split())
    inner = [place for place, letter in enumerate(line) if letter.isalnum()]
    return line[inner[0] : _after_marks(line, inner[-1] + 1, len(line))] if inner else line
