"""A self-test's results, its questions, and the searches for their answers."""

from __future__ import annotations

import dataclasses
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from datetime import date, datetime, tzinfo
from enum import StrEnum
from math import ceil
from typing import TypeVar

from recollect.domain.json_values import Record
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.limits import DEFAULT_LIMIT
from recollect.domain.numbers import hash_number, sample_ids
from recollect.domain.records import Kind, Memory, Model
from recollect.language.self_questions import (
    OWN_WORDS,
    QuestionKind,
    SelfQuestion,
    day_question,
    mention_question,
    name_questions,
    relation_question,
    sampled_text,
    word_questions,
)
from recollect.memories.observations import memory_pages
from recollect.ranking.candidates import Profile, run
from recollect.ranking.why_not import find_standing
from recollect.search.candidates import Gathered, gather
from recollect.search.recall import open_search, query_of
from recollect.search.rows import memories_by_id, relations_of
from recollect.services import Services
from recollect.stores.port import Embedder, Snapshot, Vector, Vectors
from recollect.text.near_duplicates import text_key
from recollect.text.tokens import distinctive_terms, has_unspaced, words
from recollect.write.embedding import embed_documents, embed_query, token_embedder


class Cause(StrEnum):
    """The reason why a memory was not found by its own words: the first of these that applies."""

    NO_VECTOR = "no vector"
    """It has no vector yet, so only words find it."""
    SET_ASIDE = "set aside"
    """It is paused, completed or archived, which lowers its score."""
    REPEATED = "repeated"
    """A memory with the same text was shown instead."""
    LITTLE = "says little"
    """It has few distinctive words."""
    CROWDED = "crowded out"
    """Better-ranked hits say nearly the same."""
    COMMON = "common words"
    """The question has only words that many memories have."""
    LANGUAGE = "language"
    """It is in a language that the model was not trained on."""
    LONG = "long"
    """The query matches a small part of it."""
    OUTRANKED = "outranked"
    """Other memories match better, or no search found it."""


@dataclass(frozen=True, slots=True)
class FoundShare:
    """The share of questions that were answered among the first hits."""

    asked: int
    found: int
    low: float
    high: float
    """The 95 % interval of the recall."""
    mrr: float
    """The mean of 1/rank of the first right hit, 0 without one."""
    JSON_PROPERTIES = ("recall",)

    @property
    def recall(self) -> float:
        return self.found / self.asked if self.asked else 0.0


@dataclass(frozen=True, slots=True)
class ProfileResult:
    name: str
    overall: FoundShare
    by_kind: Mapping[QuestionKind, FoundShare]


@dataclass(frozen=True, slots=True)
class ProfileComparison:
    """A profile compared with the default, by memory."""

    name: str
    better: int
    """Memories with more answered questions."""
    worse: int
    p: float
    """p-value, corrected for the number of profiles."""
    JSON_PROPERTIES = ("is_better",)

    @property
    def is_better(self) -> bool:
        return self.better > self.worse and self.p < 0.05


@dataclass(frozen=True, slots=True)
class MissedMemory:
    id: int
    kind: Kind
    text: str
    query: str
    first: int | None
    """The first hit; None if nothing was found."""
    first_text: str
    place: int | None
    """Its place; None if no search found it, or a step dropped it."""
    cause: Cause
    why: str


@dataclass(frozen=True, slots=True)
class Advice:
    said: str
    command: str = ""


@dataclass(frozen=True, slots=True)
class Latency:
    """Time of an answer, including the embedding of the question."""

    p50_ms: float
    p95_ms: float


@dataclass(frozen=True, slots=True)
class SelfTest(Record):
    """Results of questions that were made from the memories of a store.

    Everything but `latency` is the same for the same store, seed and time.
    """

    seed: int
    at: datetime
    limit: int
    """Number of first hits that count."""
    model: str | None
    note: str | None
    """A problem of the search, such as a missing model."""
    memories: int
    """Number of current memories in this scope."""
    sampled: int
    questions: Mapping[QuestionKind, int]
    default: str
    """The profile that the others are compared with, and whose misses are listed."""
    profiles: tuple[ProfileResult, ...]
    compared: tuple[ProfileComparison, ...]
    missed: tuple[MissedMemory, ...]
    advice: tuple[Advice, ...]
    latency: Mapping[str, Latency]

    @property
    def causes(self) -> Mapping[Cause, int]:
        """Counts of missed memories by cause."""
        counts = {cause: sum(miss.cause is cause for miss in self.missed) for cause in Cause}
        return {cause: count for cause, count in counts.items() if count}


# Questions: a sample of the store by kind, and questions made from it.

_Key = TypeVar("_Key")

# Number of sampled memories for each question that many memories answer.
_MEMORIES_PER_SHARED_QUESTION = 4


@dataclasses.dataclass(slots=True)
class Survey:
    """Facts about all current memories, for making questions and judging answers."""

    zone: tzinfo
    kinds: dict[Kind, list[int]] = field(default_factory=lambda: {kind: [] for kind in Kind})
    folded_texts: dict[int, str] = field(default_factory=dict)
    """The folded words of each memory, with a bar between its texts."""
    term_counts: Counter[str] = field(default_factory=Counter)
    by_text: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    """Memories with the same text, by `text_key`."""
    by_message: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    """A message and the notes extracted from it, by the message."""
    by_day: dict[date, list[int]] = field(default_factory=lambda: defaultdict(list))
    by_speaker: dict[tuple[str, date], list[int]] = field(default_factory=lambda: defaultdict(list))
    by_entity: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    """Texts by the entity that they mention."""

    @property
    def memories(self) -> int:
        return len(self.folded_texts)

    def add(self, memory: Memory) -> None:
        texts = _texts(memory)
        self.kinds[memory.kind].append(memory.id)
        self.folded_texts[memory.id] = " | ".join(f" {' '.join(words(text))} " for text in texts)
        self.term_counts.update({token for text in texts for token in distinctive_terms(text)})
        for text in {text_key(text) for text in texts}:
            self.by_text[text].append(memory.id)
        if memory.kind is Kind.ENTITY:
            return
        self.by_message[memory.drawn_from or memory.id].append(memory.id)
        for entity in memory.mentions:
            self.by_entity[entity].append(memory.id)
        day = day_of(memory, self.zone)
        if day is not None:
            self.by_day[day].append(memory.id)
            if memory.speaker and memory.kind is Kind.MESSAGE:
                self.by_speaker[memory.speaker, day].append(memory.id)

    def contains(self, id_: int, part: str) -> bool:
        """Whether a memory contains these folded words, one after the other."""
        whole = part if has_unspaced(part) else f" {part} "
        return whole in self.folded_texts.get(id_, "")

    def equivalents(self, memory: Memory, text: str) -> set[int]:
        """Return the memories with the same text, and those extracted from the same message."""
        family = self.by_message.get(memory.drawn_from or memory.id, ())
        return {*self.by_text[text_key(text)], *family}


def day_of(memory: Memory, zone: tzinfo) -> date | None:
    """Return the day when it happened or was said; None if unknown."""
    when = memory.happened_at or (None if memory.undated else memory.created_at)
    return None if when is None else when.astimezone(zone).date()


def survey_of(services: Services, view: Snapshot) -> Survey:
    survey = Survey(services.zone)
    for kind in Kind:
        for page in memory_pages(services, view, kind):
            for memory in page:
                survey.add(memory)
    return survey


def sample_sizes(counts: Mapping[Kind, int], size: int) -> dict[Kind, int]:
    """Return how many memories of each kind to sample; a size of 0 takes all.

    Half of the sample is divided evenly, so that rare kinds have enough. The rest is divided in proportion.
    """
    total = sum(counts.values())
    if not 0 < size < total:
        return dict(counts)
    present = [kind for kind, count in counts.items() if count]
    taken = {kind: min(count, size // (2 * len(present))) for kind, count in counts.items()}
    spare = size - sum(taken.values())
    left = {kind: counts[kind] - taken[kind] for kind in counts}
    quotas = {kind: spare * left[kind] / sum(left.values()) for kind in counts}
    taken = {kind: taken[kind] + int(quotas[kind]) for kind in counts}
    # The remainder of rounding goes to the kind that lost the most.
    by_loss = sorted(present, key=lambda kind: int(quotas[kind]) - quotas[kind])
    for kind in by_loss[: size - sum(taken.values())]:
        taken[kind] += 1
    return taken


def sample(survey: Survey, seed: int, size: int) -> list[int]:
    wanted = sample_sizes({kind: len(ids) for kind, ids in survey.kinds.items()}, size)
    return sorted(id_ for kind, ids in survey.kinds.items() for id_ in sample_ids(ids, seed, wanted[kind]))


def sampled_questions(
    view: Snapshot, survey: Survey, sampled: Sequence[int], seed: int, now: datetime
) -> list[SelfQuestion]:
    """Make questions from each memory, and some that several memories answer."""
    memories = memories_by_id(view, sampled)
    asked: list[SelfQuestion] = []
    for memory in (memories[id_] for id_ in sampled):
        number = hash_number(seed, memory.id)
        twins = survey.equivalents(memory, sampled_text(memory, number))
        asked += word_questions(memory, twins, survey.term_counts, number)
        asked += name_questions(memory, number) if memory.kind is Kind.ENTITY else ()
    asked += _relations(view, memories, seed, now)
    at_most = ceil(len(sampled) / _MEMORIES_PER_SHARED_QUESTION)
    asked += _mentions(view, memories, survey, seed, at_most)
    asked += _days(memories, survey, seed, at_most)
    return asked


def _relations(
    view: Snapshot, memories: Mapping[int, Memory], seed: int, now: datetime
) -> Iterator[SelfQuestion]:
    """Ask for the relations of each entity that has one now."""
    others: dict[int, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
    entities = [id_ for id_, memory in memories.items() if memory.kind is Kind.ENTITY]
    for relation in relations_of(view, entities):
        # An inverse repeats its relation.
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
    """Ask one question for each entity that the sample mentions."""
    text_of = {entity: memory for memory in memories.values() for entity in memory.mentions}
    chosen = sample_ids(text_of, seed, at_most)
    named = memories_by_id(view, chosen)
    for entity in chosen:
        if entity in named and named[entity].deleted_at is None:
            yield mention_question(text_of[entity], named[entity].name, survey.by_entity[entity])


def _days(memories: Mapping[int, Memory], survey: Survey, seed: int, at_most: int) -> Iterator[SelfQuestion]:
    """Ask for days with notes or messages: what happened, and what one speaker said."""
    days: dict[date, Memory] = {}
    by_speaker: dict[tuple[str, date], Memory] = {}
    for memory in memories.values():
        day = day_of(memory, survey.zone)
        # The date when a note was stored is not part of its content.
        if day is None or (memory.kind is not Kind.MESSAGE and memory.happened_at is None):
            continue
        days.setdefault(day, memory)
        if memory.kind is Kind.MESSAGE and memory.speaker:
            by_speaker.setdefault((memory.speaker, day), memory)
    for day in _sample_keys(days, seed, at_most):
        yield day_question(days[day], day, survey.by_day[day])
    for speaker, day in _sample_keys(by_speaker, seed, at_most):
        yield day_question(by_speaker[speaker, day], day, survey.by_speaker[speaker, day], speaker=speaker)


def _sample_keys(by: Mapping[_Key, Memory], seed: int, at_most: int) -> list[_Key]:
    """Choose `at_most` keys by the random numbers of their memories."""
    return sorted(by, key=lambda key: (hash_number(seed, by[key].id), by[key].id))[:at_most]


def _texts(memory: Memory) -> list[str]:
    if memory.kind is not Kind.ENTITY:
        return [memory.text]
    return [memory.name, *(seen.content for seen in memory.in_force)]


# Trial: each question is embedded once, searched by every profile, timed, and not recorded.

Timer = Callable[[], float]


@dataclass(frozen=True, slots=True)
class MissedQuestion:
    """A question that did not find a memory by its own words."""

    question: SelfQuestion
    hits: tuple[int, ...]
    place: int | None
    """The memory's place; None if no search found it, or a step dropped it."""
    dropped: str | None
    why: str


@dataclass(slots=True)
class CachedEmbedder:
    """An embedder that embeds each question once and measures the time."""

    embedder: Embedder
    timer: Timer
    known: dict[str, tuple[Vector, Vectors | None, float]] = field(default_factory=dict)
    saved: float = 0.0
    """Seconds that the cache saved."""

    @property
    def model(self) -> Model:
        return self.embedder.model

    def documents(self, texts: Sequence[str]) -> Vectors:
        return self.embedder.documents(texts)

    @property
    def gives_tokens(self) -> bool:
        return token_embedder(self.embedder) is not None

    def documents_with_tokens(self, texts: Sequence[str]) -> tuple[Vectors, Sequence[bytes]]:
        return embed_documents(self.embedder, texts)

    def query(self, text: str) -> Vector:
        return self.query_with_tokens(text)[0]

    def query_with_tokens(self, text: str) -> tuple[Vector, Vectors | None]:
        if text in self.known:
            vector, tokens, seconds = self.known[text]
            self.saved += seconds
            return vector, tokens
        began = self.timer()
        vector, tokens = embed_query(self.embedder, text)
        self.known[text] = vector, tokens, self.timer() - began
        return vector, tokens


@dataclass(slots=True)
class Trial:
    services: Services
    survey: Survey
    now: datetime
    limit: int
    default: str
    """The profile whose misses are explained."""
    timer: Timer
    ranks: dict[str, list[int]] = field(default_factory=dict)
    """By profile, the place of the first right hit of each question; 0 without one."""
    seconds: dict[str, list[float]] = field(default_factory=dict)
    missed: list[MissedQuestion] = field(default_factory=list)
    note: str | None = None
    _embedders: dict[str, CachedEmbedder | None] = field(default_factory=dict)

    def ask(self, question: SelfQuestion, name: str, profile: Profile) -> None:
        began, saved = self.timer(), self._saved
        gathered, hits = self.search(question, profile)
        seconds = self.timer() - began + self._saved - saved
        rank = next((place for place, id_ in enumerate(hits, 1) if self._is_right(question, id_)), 0)
        self.ranks.setdefault(name, []).append(rank)
        self.seconds.setdefault(name, []).append(seconds)
        if name == self.default and question.asks in OWN_WORDS and not 0 < rank <= self.limit:
            self.missed.append(self._missed(question, profile, gathered, hits))

    def search(self, question: SelfQuestion, profile: Profile) -> tuple[Gathered, list[int]]:
        """Search without a limit, unless a larger one is needed."""
        limit = None if self.limit <= DEFAULT_LIMIT else self.limit
        services = replace(self.services, embedder_named=self._embedder_named)
        asked = query_of(
            services, question.query, profile, now=self.now, limit=limit, record=False, across=True
        )
        with open_search(services, asked, profile) as (search, query, note):
            gathered = gather(search, profile, query)
            ranked = run(profile, gathered.candidates, query)
        self.note = self.note or note
        return gathered, ranked.ids.tolist()

    def _embedder_named(self, name: str) -> Embedder | None:
        if name not in self._embedders:
            embedder = self.services.embedder_named(name)
            self._embedders[name] = None if embedder is None else CachedEmbedder(embedder, self.timer)
        return self._embedders[name]

    @property
    def _saved(self) -> float:
        return sum(each.saved for each in self._embedders.values() if each is not None)

    def _is_right(self, question: SelfQuestion, id_: int) -> bool:
        return id_ in question.wanted or (bool(question.words) and self.survey.contains(id_, question.words))

    def _missed(
        self, question: SelfQuestion, profile: Profile, gathered: Gathered, hits: list[int]
    ) -> MissedQuestion:
        place, dropped, why = None, None, "no search brought it up"
        if question.memory in gathered.candidates.ids:
            stands = find_standing(profile, gathered.candidates, gathered.query, question.memory)
            place, why = stands.place, f"it is at place {stands.place}"
            if stands.dropped is not None:
                place, dropped = None, stands.dropped.step
                why = f"the step {dropped!r} dropped it: {stands.dropped.reason}"
        return MissedQuestion(question, tuple(hits), place, dropped, why)
