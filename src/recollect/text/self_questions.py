"""Questions that a memory asks for itself: made of its own words, names, relations and days, by rule.

Each is worded in Spanish where the text it comes from is, else in English.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from enum import StrEnum

from recollect.lazy_dataclass import dataclass
from recollect.records import Kind, Memory
from recollect.text.cloze import PHRASE_WORDS, densest_phrase, gapped_sentence, sampled_phrase
from recollect.text.languages import is_spanish
from recollect.text.time_phrases.lexer import tokenize
from recollect.text.tokens import words
from recollect.text.word_lists import ENGLISH_MONTHS, SPANISH_MONTHS


class QuestionKind(StrEnum):
    """What a question is made of."""

    PHRASE = "phrase"
    """Some words of it in a row (inverse cloze)."""
    GAPS = "gaps"
    """A sentence of it without its rarest words."""
    ENTITY = "entity"
    """A name, and what is known of it."""
    WHAT_IS = "what is"
    """A name alone."""
    RELATION = "relation"
    """One end of a relation, and its type; the other end is asked for."""
    MENTION = "mention"
    """A name; any text that speaks of it is right."""
    DAY = "day"
    """A day; whatever is of that day is right."""
    SAID = "said"
    """Who said something on a day; any of it is right."""


OWN_WORDS = frozenset({QuestionKind.PHRASE, QuestionKind.ENTITY, QuestionKind.WHAT_IS})
"""Questions that give the memory's own words: who is not found by these is as good as lost."""


@dataclass(frozen=True, slots=True)
class SelfQuestion:
    """A question, and what answers it."""

    asks: QuestionKind
    query: str
    memory: int
    """The one that it is made of."""
    wanted: frozenset[int]
    """Any of these is right."""
    words: str = ""
    """Whatever holds these folded words in a row is right as well: the question fits it as much."""


_PEOPLE = frozenset({"person", "people", "human", "persona", "gente", "humano", "humana"})
# In English and in Spanish.
_FORMS = {
    "what is": ("What is {name}?", "¿Qué es {name}?"),
    "who is": ("Who is {name}?", "¿Quién es {name}?"),
    QuestionKind.RELATION: (
        "Who or what is related to {name} by “{type}”?",
        "¿Quién o qué tiene con {name} la relación «{type}»?",
    ),
    QuestionKind.MENTION: ("What was said about {name}?", "¿Qué se dijo de {name}?"),
    QuestionKind.DAY: ("What happened on {day}?", "¿Qué pasó el {day}?"),
    QuestionKind.SAID: ("What did {name} say on {day}?", "¿Qué dijo {name} el {day}?"),
}
_LETTERS = 2_000
"""Enough to tell the language by."""


def is_in_spanish(text: str) -> bool:
    return is_spanish(token.word for token in tokenize(text[:_LETTERS]).tokens)


def sampled_text(memory: Memory, seed: int) -> str:
    """What a memory says; of an entity, the observation that the seed chooses."""
    if memory.kind is not Kind.ENTITY:
        return memory.text
    return memory.in_force[seed % len(memory.in_force)].content if memory.in_force else ""


def keyword_question(memory: Memory, length: int = PHRASE_WORDS) -> str:
    """The words of it that say the most, after the name of an entity."""
    if memory.kind is not Kind.ENTITY:
        return densest_phrase(memory.text, length)
    said = memory.in_force[0].content if memory.in_force else memory.type
    return f"{memory.name} {densest_phrase(said, length)}"


def word_questions(
    memory: Memory, twins: Iterable[int], document_counts: Mapping[str, int], seed: int
) -> Iterator[SelfQuestion]:
    """A phrase of it, and a sentence with gaps (see `gapped_sentence`). `twins` say the same."""
    said = sampled_text(memory, seed)
    wanted = frozenset({memory.id, *twins})
    asked = sampled_phrase(said, seed)
    if asked:
        yield SelfQuestion(QuestionKind.PHRASE, asked, memory.id, wanted, " ".join(words(asked)))
    hard = gapped_sentence(said, document_counts, seed)
    if hard and hard != asked:
        yield SelfQuestion(QuestionKind.GAPS, hard, memory.id, wanted)


def name_questions(entity: Memory, seed: int) -> Iterator[SelfQuestion]:
    """Who or what it is; and its name with what tells the most of one observation."""
    said = sampled_text(entity, seed)
    spanish = is_in_spanish(" ".join(seen.content for seen in entity.in_force))
    form = "what is" if _PEOPLE.isdisjoint(words(entity.type)) else "who is"
    asked = _FORMS[form][spanish].format(name=entity.name)
    yield SelfQuestion(QuestionKind.WHAT_IS, asked, entity.id, frozenset({entity.id}))
    if said:
        asked = f"{entity.name} {densest_phrase(said)}"
        yield SelfQuestion(QuestionKind.ENTITY, asked, entity.id, frozenset({entity.id}))


def relation_question(entity: Memory, type_: str, others: Iterable[int]) -> SelfQuestion:
    """Whom or what an entity is tied to. The entity itself is no answer: it was named."""
    spanish = is_in_spanish(" ".join((type_, *(seen.content for seen in entity.in_force))))
    spaced = " ".join(type_.replace("_", " ").split())
    asked = _FORMS[QuestionKind.RELATION][spanish].format(name=entity.name, type=spaced)
    return SelfQuestion(QuestionKind.RELATION, asked, entity.id, frozenset(others))


def mention_question(text: Memory, name: str, texts: Iterable[int]) -> SelfQuestion:
    """What was said about an entity that the text speaks of."""
    asked = _FORMS[QuestionKind.MENTION][is_in_spanish(text.text)].format(name=name)
    return SelfQuestion(QuestionKind.MENTION, asked, text.id, frozenset(texts))


def day_question(
    text: Memory, day: date, texts: Iterable[int], *, speaker: str | None = None
) -> SelfQuestion:
    """What happened on the day of a text, or what its speaker said on it."""
    spanish = is_in_spanish(text.text)
    asks = QuestionKind.DAY if speaker is None else QuestionKind.SAID
    written = f"{day.day} {ENGLISH_MONTHS[day.month - 1].title()} {day.year}"
    if spanish:
        written = f"{day.day} de {SPANISH_MONTHS[day.month - 1]} de {day.year}"
    asked = _FORMS[asks][spanish].format(name=speaker or "", day=written)
    return SelfQuestion(asks, asked, text.id, frozenset(texts))
