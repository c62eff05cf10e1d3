"""Questions made from a memory's own text, to test whether it is found (inverse cloze task)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from enum import StrEnum
from typing import TypeVar

from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.records import Kind, Memory
from recollect.language.questions import is_spanish
from recollect.language.time_tokens import tokenize
from recollect.language.words import ENGLISH, SPANISH, STOPWORDS, month_names, sections, word_set
from recollect.text.passages import sentences
from recollect.text.tokens import has_unspaced, is_mark, topic_terms, words

Span = tuple[int, int]
_Choice = TypeVar("_Choice")

PHRASE_WORDS = 5
_SAMPLE_WORDS = 7
"""Words of a sampled phrase, stopwords included."""
_FEWEST_TERMS = 3
"""Minimum number of content words of a sampled phrase, unless the text has fewer."""
_GAPPED_WORDS = 16
_LETTERS_PER_WORD = 2
"""Characters that count as a word in scripts without spaces between words."""
_WRITTEN = re.compile(r"\S+")


def densest_phrase(text: str, length: int = PHRASE_WORDS) -> str:
    """Return the `length` consecutive words that have the most letters, not counting stopwords."""
    found = words(text)
    weights = [0 if word in STOPWORDS else len(word) for word in found]
    starts = range(max(1, len(found) - length + 1))
    best = max(starts, key=lambda start: (sum(weights[start : start + length]), -start))
    return " ".join(found[best : best + length])


def sampled_phrase(text: str, seed: int) -> str:
    """Return consecutive words of one sentence, as written. The seed chooses them.

    The result is empty if the text has no word.
    """
    pieces = _sampled_sentence(text, seed, _FEWEST_TERMS)
    has_term = [bool(topic_terms(text[start:stop])) for start, stop in pieces]
    starts = range(max(1, len(pieces) - _SAMPLE_WORDS + 1))
    counts = [sum(has_term[start : start + _SAMPLE_WORDS]) for start in starts]
    chosen = pieces[_choose(starts, counts, _FEWEST_TERMS, seed) :][:_SAMPLE_WORDS]
    return _trim_punctuation(text[chosen[0][0] : chosen[-1][1]]) if chosen else ""


def gapped_sentence(text: str, document_counts: Mapping[str, int], seed: int) -> str | None:
    """Return a sentence without the rarer half of its terms, so that search by words hardly finds it.

    `document_counts` has the number of texts that contain a term. None if fewer than two terms would be left.
    """
    sentence = _sampled_sentence(text, seed, 2 * _FEWEST_TERMS)[:_GAPPED_WORDS]
    pieces = [text[start:stop] for start, stop in sentence]
    folded = [" ".join(words(piece)) for piece in pieces]
    rarity = {
        word: min(document_counts.get(term, 0) for term in terms)
        for word, piece in zip(folded, pieces, strict=True)
        if (terms := topic_terms(piece))
    }
    rarest_first = sorted(rarity, key=lambda word: (rarity[word], word))
    gaps = rarest_first[: (len(rarest_first) + 1) // 2]
    if len(rarest_first) - len(gaps) < 2:
        return None
    kept = (piece for word, piece in zip(folded, pieces, strict=True) if word not in gaps)
    return _trim_punctuation(" ".join(kept))


def _sampled_sentence(text: str, seed: int, fewest_terms: int) -> list[Span]:
    """Return a sentence with enough terms, or the one with the most."""
    spans = list(sentences(text)) or [(0, len(text))]
    cut = [pieces for start, stop in spans if (pieces := list(_pieces(text, start, stop)))]
    if not cut:
        return list(_pieces(text, 0, len(text)))
    counts = [sum(bool(topic_terms(text[start:stop])) for start, stop in pieces) for pieces in cut]
    return _choose(cut, counts, fewest_terms, seed)


def _choose(choices: Sequence[_Choice], counts: Sequence[int], enough: int, seed: int) -> _Choice:
    """Choose an item with a count of at least `enough`, or one with the largest count."""
    least = min(enough, max(counts))
    good = [choice for choice, count in zip(choices, counts, strict=True) if count >= least]
    return good[seed % len(good)]


def _pieces(text: str, start: int, stop: int) -> Iterator[Span]:
    """Return words with their punctuation, or character pairs in a script without spaces."""
    for match in _WRITTEN.finditer(text, start, stop):
        at, last = match.span()
        while at < last:
            end = last
            if has_unspaced(match.group()):
                end = _after_marks(text, min(at + _LETTERS_PER_WORD, last), last)
            yield at, end
            at = end


def _after_marks(text: str, end: int, stop: int) -> int:
    """Return the place after the combining marks at `end`."""
    while end < stop and is_mark(text[end]):
        end += 1
    return end


def _trim_punctuation(piece: str) -> str:
    """Put the text on one line, without punctuation at its ends."""
    line = " ".join(piece.split())
    inner = [place for place, letter in enumerate(line) if letter.isalnum()]
    return line[inner[0] : _after_marks(line, inner[-1] + 1, len(line))] if inner else line


# Questions that rules make from a memory's words, names, relations and days


class QuestionKind(StrEnum):
    PHRASE = "phrase"
    """Consecutive words of the memory (inverse cloze)."""
    GAPS = "gaps"
    """A sentence of the memory without its rarest words."""
    ENTITY = "entity"
    """A name and a phrase of an observation."""
    WHAT_IS = "what is"
    """A name alone."""
    RELATION = "relation"
    """One end of a relation, and its type; the other end is asked for."""
    MENTION = "mention"
    """A name; any text about it is right."""
    DAY = "day"
    """A day; any memory of that day is right."""
    SAID = "said"
    """A speaker and a day; any message of both is right."""


OWN_WORDS = frozenset({QuestionKind.PHRASE, QuestionKind.ENTITY, QuestionKind.WHAT_IS})
"""Questions in the memory's own words. If they do not find it, few other questions will."""


@dataclass(frozen=True, slots=True)
class SelfQuestion:
    asks: QuestionKind
    query: str
    memory: int
    wanted: frozenset[int]
    """Ids of the right answers."""
    words: str = ""
    """A memory with these consecutive folded words is also a right answer."""


_PEOPLE = word_set("questions", "people types")
_LETTERS = 2_000
"""Enough characters to detect the language."""


def is_in_spanish(text: str) -> bool:
    return is_spanish(token.word for token in tokenize(text[:_LETTERS]).tokens)


def _fill_form(form: str, text: str, **values: object) -> str:
    """Fill a form, such as a question, in the language of a text."""
    language = SPANISH if is_in_spanish(text) else ENGLISH
    lines = (line.partition(": ") for line in sections("questions", language)["forms"].splitlines())
    return next(written for name, _, written in lines if name == form).format_map(values)


def sampled_text(memory: Memory, seed: int) -> str:
    """Return the text of a memory; for an entity, the observation that the seed chooses."""
    if memory.kind is not Kind.ENTITY:
        return memory.text
    return memory.in_force[seed % len(memory.in_force)].content if memory.in_force else ""


def keyword_question(memory: Memory, length: int = PHRASE_WORDS) -> str:
    """Ask with the densest phrase of a memory; for an entity, after its name."""
    if memory.kind is not Kind.ENTITY:
        return densest_phrase(memory.text, length)
    said = memory.in_force[0].content if memory.in_force else memory.type
    return f"{memory.name} {densest_phrase(said, length)}"


def word_questions(
    memory: Memory, twins: Iterable[int], document_counts: Mapping[str, int], seed: int
) -> Iterator[SelfQuestion]:
    """Ask with a phrase of a memory, and with a gapped sentence. `twins` are memories with the same text."""
    said = sampled_text(memory, seed)
    wanted = frozenset({memory.id, *twins})
    asked = sampled_phrase(said, seed)
    if asked:
        yield SelfQuestion(QuestionKind.PHRASE, asked, memory.id, wanted, " ".join(words(asked)))
    hard = gapped_sentence(said, document_counts, seed)
    if hard and hard != asked:
        yield SelfQuestion(QuestionKind.GAPS, hard, memory.id, wanted)


def name_questions(entity: Memory, seed: int) -> Iterator[SelfQuestion]:
    """Ask for the entity by name; and by its name with the densest phrase of one observation."""
    said = sampled_text(entity, seed)
    observed = " ".join(seen.content for seen in entity.in_force)
    form = "what is" if _PEOPLE.isdisjoint(words(entity.type)) else "who is"
    asked = _fill_form(form, observed, name=entity.name)
    yield SelfQuestion(QuestionKind.WHAT_IS, asked, entity.id, frozenset({entity.id}))
    if said:
        asked = f"{entity.name} {densest_phrase(said)}"
        yield SelfQuestion(QuestionKind.ENTITY, asked, entity.id, frozenset({entity.id}))


def relation_question(entity: Memory, type_: str, others: Iterable[int]) -> SelfQuestion:
    """Ask for the related entities. The entity itself is not an answer."""
    known = " ".join((type_, *(seen.content for seen in entity.in_force)))
    spaced = " ".join(type_.replace("_", " ").split())
    asked = _fill_form(QuestionKind.RELATION, known, name=entity.name, type=spaced)
    return SelfQuestion(QuestionKind.RELATION, asked, entity.id, frozenset(others))


def mention_question(text: Memory, name: str, texts: Iterable[int]) -> SelfQuestion:
    """Ask what was said about an entity that the text mentions."""
    asked = _fill_form(QuestionKind.MENTION, text.text, name=name)
    return SelfQuestion(QuestionKind.MENTION, asked, text.id, frozenset(texts))


def day_question(
    text: Memory, day: date, texts: Iterable[int], *, speaker: str | None = None
) -> SelfQuestion:
    """Ask what happened on the day of a text, or what its speaker said on it."""
    asks = QuestionKind.DAY if speaker is None else QuestionKind.SAID
    month = month_names(SPANISH if is_in_spanish(text.text) else ENGLISH)[day.month - 1]
    written = _fill_form("date", text.text, day=day.day, month=month, Month=month.title(), year=day.year)
    asked = _fill_form(asks, text.text, name=speaker or "", day=written)
    return SelfQuestion(asks, asked, text.id, frozenset(texts))
