"""Questions that a memory asks for itself: made of its own words, names, relations and days, by rule.

Each is worded in Spanish where the text it comes from is, else in English.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from recollect.records import Kind, Memory
from recollect.text.cloze import densest_phrase, gapped_sentence, sampled_phrase
from recollect.text.languages import is_spanish
from recollect.text.time_phrases.lexer import tokenize
from recollect.text.tokens import words
from recollect.text.word_lists import ENGLISH_MONTHS, SPANISH_MONTHS


class Asks(StrEnum):
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


OWN_WORDS = frozenset({Asks.PHRASE, Asks.ENTITY, Asks.WHAT_IS})
"""Questions that give the memory's own words: who is not found by these is as good as lost."""


@dataclass(frozen=True, slots=True)
class SelfQuestion:
    """A question, and what answers it."""

    asks: Asks
    query: str
    memory: int
    """The one that it is made of."""
    wanted: frozenset[int]
    """Any of these is right."""
    words: str = ""
    """Whatever holds these folded words in a row is right as well: the question fits it as much."""


_PEOPLE = frozenset({"person", "people", "human", "persona", "gente", "humano", "humana"})
_ENGLISH = {
    "what is": "What is {name}?",
    "who is": "Who is {name}?",
    Asks.RELATION: "Who or what is related to {name} by “{type}”?",
    Asks.MENTION: "What was said about {name}?",
    Asks.DAY: "What happened on {day}?",
    Asks.SAID: "What did {name} say on {day}?",
}
_SPANISH = {
    "what is": "¿Qué es {name}?",
    "who is": "¿Quién es {name}?",
    Asks.RELATION: "¿Quién o qué tiene con {name} la relación «{type}»?",
    Asks.MENTION: "¿Qué se dijo de {name}?",
    Asks.DAY: "¿Qué pasó el {day}?",
    Asks.SAID: "¿Qué dijo {name} el {day}?",
}
# Enough to tell the language by.
_LETTERS = 2_000


def spoken_spanish(text: str) -> bool:
    return is_spanish(token.word for token in tokenize(text[:_LETTERS]).tokens)


def one_saying(memory: Memory, lot: int) -> str:
    """What a memory says; of an entity, one of its observations by lot."""
    if memory.kind is not Kind.ENTITY:
        return memory.text
    return memory.in_force[lot % len(memory.in_force)].content if memory.in_force else ""


def of_words(
    memory: Memory, twins: Iterable[int], holders: Mapping[str, int], lot: int
) -> Iterator[SelfQuestion]:
    """A phrase of it, and a sentence with gaps. `twins` say the same; `holders` as in `gapped_sentence`."""
    said = one_saying(memory, lot)
    wanted = frozenset({memory.id, *twins})
    asked = sampled_phrase(said, lot)
    if asked:
        yield SelfQuestion(Asks.PHRASE, asked, memory.id, wanted, " ".join(words(asked)))
    hard = gapped_sentence(said, holders, lot)
    if hard and hard != asked:
        yield SelfQuestion(Asks.GAPS, hard, memory.id, wanted)


def of_name(entity: Memory, lot: int) -> Iterator[SelfQuestion]:
    """Who or what it is; and its name with what tells the most of one observation."""
    said = one_saying(entity, lot)
    spanish = spoken_spanish(" ".join(seen.content for seen in entity.in_force))
    person = not _PEOPLE.isdisjoint(words(entity.type))
    asked = _worded("who is" if person else "what is", spanish=spanish, name=entity.name)
    yield SelfQuestion(Asks.WHAT_IS, asked, entity.id, frozenset({entity.id}))
    if said:
        asked = f"{entity.name} {densest_phrase(said)}"
        yield SelfQuestion(Asks.ENTITY, asked, entity.id, frozenset({entity.id}))


def of_relation(entity: Memory, type_: str, others: Iterable[int]) -> SelfQuestion:
    """Whom or what an entity is tied to. The entity itself is no answer: it was named."""
    spanish = spoken_spanish(" ".join((type_, *(seen.content for seen in entity.in_force))))
    asked = _worded(Asks.RELATION, spanish=spanish, name=entity.name, type=" ".join(_parted(type_)))
    return SelfQuestion(Asks.RELATION, asked, entity.id, frozenset(others))


def of_mention(text: Memory, name: str, texts: Iterable[int]) -> SelfQuestion:
    """What was said about an entity that the text speaks of."""
    asked = _worded(Asks.MENTION, spanish=spoken_spanish(text.text), name=name)
    return SelfQuestion(Asks.MENTION, asked, text.id, frozenset(texts))


def of_day(text: Memory, day: date, texts: Iterable[int], *, speaker: str | None = None) -> SelfQuestion:
    """What happened on the day of a text, or what its speaker said on it."""
    spanish = spoken_spanish(text.text)
    asks = Asks.DAY if speaker is None else Asks.SAID
    asked = _worded(asks, spanish=spanish, name=speaker or "", day=_date(day, spanish=spanish))
    return SelfQuestion(asks, asked, text.id, frozenset(texts))


def _worded(form: str, *, spanish: bool, **filled: str) -> str:
    return (_SPANISH if spanish else _ENGLISH)[form].format(**filled)


def _date(day: date, *, spanish: bool) -> str:
    if spanish:
        return f"{day.day} de {SPANISH_MONTHS[day.month - 1]} de {day.year}"
    return f"{day.day} {ENGLISH_MONTHS[day.month - 1].title()} {day.year}"


def _parted(type_: str) -> list[str]:
    return type_.replace("_", " ").split()
