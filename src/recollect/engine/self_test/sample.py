"""What a self-test asks: a sample of the store, by kind, and the questions that are made of it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, tzinfo
from math import ceil
from typing import TypeVar

from recollect.engine.graph.observation_vectors import pages
from recollect.engine.services import Services
from recollect.ports import Snapshot
from recollect.records import Kind, Memory
from recollect.retrieval.records import memories_by_id, relations_of
from recollect.sampling import hash_number, sample_ids
from recollect.text.near_duplicates import text_key
from recollect.text.self_questions import (
    SelfQuestion,
    day_question,
    mention_question,
    name_questions,
    relation_question,
    sampled_text,
    word_questions,
)
from recollect.text.tokens import distinctive_terms, has_unspaced, words

_Key = TypeVar("_Key")

# Of questions that many memories answer, one for so many of the sample.
_ONE_IN = 4


@dataclass(slots=True)
class Survey:
    """What has to be known of all memories in force to ask for a few of them."""

    zone: tzinfo
    kinds: dict[Kind, list[int]] = field(default_factory=lambda: {kind: [] for kind in Kind})
    said: dict[int, str] = field(default_factory=dict)
    """Folded words in order; what does not stand in a row is parted by a bar."""
    holders: Counter[str] = field(default_factory=Counter)
    """How many memories hold a token."""
    same: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    """Who says the same, by `text_key`."""
    drawn: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    """A message and the notes drawn from it, by the message."""
    days: dict[date, list[int]] = field(default_factory=lambda: defaultdict(list))
    spoke: dict[tuple[str, date], list[int]] = field(default_factory=lambda: defaultdict(list))
    speak_of: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    """Texts by the entity that they speak of."""

    @property
    def memories(self) -> int:
        return len(self.said)

    def add(self, memory: Memory) -> None:
        sayings = _sayings(memory)
        self.kinds[memory.kind].append(memory.id)
        self.said[memory.id] = " | ".join(f" {' '.join(words(saying))} " for saying in sayings)
        self.holders.update({token for saying in sayings for token in distinctive_terms(saying)})
        for saying in {text_key(saying) for saying in sayings}:
            self.same[saying].append(memory.id)
        if memory.kind is Kind.ENTITY:
            return
        self.drawn[memory.drawn_from or memory.id].append(memory.id)
        for entity in memory.mentions:
            self.speak_of[entity].append(memory.id)
        day = day_of(memory, self.zone)
        if day is not None:
            self.days[day].append(memory.id)
            if memory.speaker and memory.kind is Kind.MESSAGE:
                self.spoke[memory.speaker, day].append(memory.id)

    def holds(self, id_: int, part: str) -> bool:
        """Whether a memory holds these folded words in a row."""
        whole = part if has_unspaced(part) else f" {part} "
        return whole in self.said.get(id_, "")

    def twins(self, memory: Memory, saying: str) -> set[int]:
        """Who says the same as one saying of a memory: in the same words, or drawn from it."""
        family = self.drawn.get(memory.drawn_from or memory.id, ())
        return {*self.same[text_key(saying)], *family}


def day_of(memory: Memory, zone: tzinfo) -> date | None:
    """When it happened, else when it was said; None where nobody knows."""
    when = memory.happened_at or (None if memory.undated else memory.created_at)
    return None if when is None else when.astimezone(zone).date()


def survey_of(services: Services, view: Snapshot) -> Survey:
    survey = Survey(services.zone)
    for kind in Kind:
        for page in pages(services, view, kind):
            for memory in page:
                survey.add(memory)
    return survey


def shares(counts: Mapping[Kind, int], size: int) -> dict[Kind, int]:
    """How many of each kind to take: as many as its share, but not so few that nothing can be said of it.

    Half of the sample is dealt out evenly, the rest by how many are left; 0 takes all.
    """
    total = sum(counts.values())
    if not 0 < size < total:
        return dict(counts)
    there = [kind for kind, count in counts.items() if count]
    taken = {kind: min(count, size // (2 * len(there))) for kind, count in counts.items()}
    spare = size - sum(taken.values())
    left = {kind: counts[kind] - taken[kind] for kind in counts}
    parted = {kind: spare * left[kind] / sum(left.values()) for kind in counts}
    taken = {kind: taken[kind] + int(parted[kind]) for kind in counts}
    # What rounding left over goes to who lost the most by it.
    by_loss = sorted(there, key=lambda kind: int(parted[kind]) - parted[kind])
    for kind in by_loss[: size - sum(taken.values())]:
        taken[kind] += 1
    return taken


def sample(survey: Survey, seed: int, size: int) -> list[int]:
    wanted = shares({kind: len(ids) for kind, ids in survey.kinds.items()}, size)
    return sorted(id_ for kind, ids in survey.kinds.items() for id_ in sample_ids(ids, seed, wanted[kind]))


def sampled_questions(
    view: Snapshot, survey: Survey, sampled: Sequence[int], seed: int, now: datetime
) -> list[SelfQuestion]:
    """Of each memory what it can ask, and some that many memories answer."""
    memories = memories_by_id(view, sampled)
    asked: list[SelfQuestion] = []
    for memory in (memories[id_] for id_ in sampled):
        number = hash_number(seed, memory.id)
        twins = survey.twins(memory, sampled_text(memory, number))
        asked += word_questions(memory, twins, survey.holders, number)
        asked += name_questions(memory, number) if memory.kind is Kind.ENTITY else ()
    asked += _relations(view, memories, seed, now)
    at_most = ceil(len(sampled) / _ONE_IN)
    asked += _mentions(view, memories, survey, seed, at_most)
    asked += _days(memories, survey, seed, at_most)
    return asked


def _relations(
    view: Snapshot, memories: Mapping[int, Memory], seed: int, now: datetime
) -> Iterator[SelfQuestion]:
    """One for each entity that is tied to another now."""
    others: dict[int, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
    entities = [id_ for id_, memory in memories.items() if memory.kind is Kind.ENTITY]
    for relation in relations_of(view, entities):
        # An automatic inverse says nothing that its relation does not.
        if relation.inverse_of is None and (relation.until is None or relation.until > now):
            others[relation.source][relation.type].add(relation.target)
            others[relation.target][relation.type].add(relation.source)
    for id_ in entities:
        if types := sorted(others.get(id_, ())):
            type_ = types[hash_number(seed, id_) % len(types)]
            yield relation_question(memories[id_], type_, others[id_][type_] - {id_} or {id_})


def _mentions(
    view: Snapshot, memories: Mapping[int, Memory], survey: Survey, seed: int, at_most: int
) -> Iterator[SelfQuestion]:
    """One for each entity that the sample speaks of."""
    text_of = {entity: memory for memory in memories.values() for entity in memory.mentions}
    chosen = sample_ids(text_of, seed, at_most)
    named = memories_by_id(view, chosen)
    for entity in chosen:
        if entity in named and named[entity].deleted_at is None:
            yield mention_question(text_of[entity], named[entity].name, survey.speak_of[entity])


def _days(memories: Mapping[int, Memory], survey: Survey, seed: int, at_most: int) -> Iterator[SelfQuestion]:
    """Of days that somebody noted or spoke on: what happened, and what one of the speakers said."""
    days: dict[date, Memory] = {}
    spoke: dict[tuple[str, date], Memory] = {}
    for memory in memories.values():
        day = day_of(memory, survey.zone)
        # When a note was written tells nothing of what it says.
        if day is None or (memory.kind is not Kind.MESSAGE and memory.happened_at is None):
            continue
        days.setdefault(day, memory)
        if memory.kind is Kind.MESSAGE and memory.speaker:
            spoke.setdefault((memory.speaker, day), memory)
    for day in _some(days, seed, at_most):
        yield day_question(days[day], day, survey.days[day])
    for speaker, day in _some(spoke, seed, at_most):
        yield day_question(spoke[speaker, day], day, survey.spoke[speaker, day], speaker=speaker)


def _some(by: Mapping[_Key, Memory], seed: int, at_most: int) -> list[_Key]:
    """So many of the keys, by the lots of the memories that they come from."""
    return sorted(by, key=lambda key: (hash_number(seed, by[key].id), by[key].id))[:at_most]


def _sayings(memory: Memory) -> list[str]:
    if memory.kind is not Kind.ENTITY:
        return [memory.text]
    return [memory.name, *(seen.content for seen in memory.in_force)]
