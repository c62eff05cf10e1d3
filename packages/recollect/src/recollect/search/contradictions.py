"""Find texts that newer texts make untrue, decide which is newer, and offer commands to settle each pair."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from itertools import groupby
from operator import itemgetter
from shlex import quote
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from recollect.domain.numbers import products
from recollect.domain.records import Kind, Memory, is_assistant, memory_at
from recollect.domain.results import ConflictingMemory, ContradictedObservation
from recollect.domain.tables import IN_FORCE, Equals, OneOf
from recollect.language.time_phrases import holds_since, months_since, names_year
from recollect.ranking.candidates import NEVER, Contradictions, Facts, Source
from recollect.ranking.factors import microseconds
from recollect.ranking.replaces import LONGEST, PairText, are_later, replacing_chances
from recollect.ranking.steps import NewestWins, TimeScore
from recollect.review.results import decision_key, text_reference
from recollect.search.facts import asked_zone, former_texts
from recollect.search.rows import MemoryRows, memories_by_id, moment
from recollect.search.texts import vectors_of
from recollect.text.near_duplicates import same_statement
from recollect.text.tokens import cache_short, content_words, light_stem, words

if TYPE_CHECKING:
    from recollect.domain.records import Model, Query
    from recollect.domain.tables import Row
    from recollect.ranking.candidates import Floats, Profile
    from recollect.review.results import OpenContradiction
    from recollect.stores.port import Snapshot, Vector


MAX_COMPARED = 30
"""Number of candidates to compare with each other: the first by words and by meaning."""
LIKELY = 0.047
"""From this probability on, ranking may put the newer text first."""
SURE = 0.85
"""From this probability on, results name the pair: `remember`, `conflicts_with` and Review."""
_MAX_TEXTS = 60
_MOST_OBSERVATIONS = 40
"""Number of observations of an entity to compare: the newest."""
_HALF_FIT_YEARS = 5
_COLUMNS = (
    "id", "kind", "text", "name", "role", "speaker", "drawn_from", "created_at", "happened_at", "undated",
    "superseded_at",
)  # fmt: skip

TextKey: TypeAlias = tuple[int, int | None]
"""A memory, and the observation of it."""


@dataclass(frozen=True, slots=True)
class StatedText:
    """A current text that may replace another: a note, a message, or an observation."""

    id: int
    text: str
    at: int
    """When it happened, or else when it was said; NEVER if unknown."""
    origin: int
    """The message that a note was extracted from; for others, the memory itself."""
    speaker: str | None = None
    observation: int | None = None
    entity: str = ""
    is_message: bool = False

    @property
    def key(self) -> TextKey:
        return self.id, self.observation

    def as_pair_text(self, zone: tzinfo = UTC) -> PairText:
        since = stated_since(self.text, self.at, zone)
        return PairText(self.text, self.at, since, self.entity, self.speaker or "", self.is_message)


@dataclass(frozen=True, slots=True)
class ContradictingTexts:
    """Two texts of different memories of which the newer one replaces the older one."""

    older: StatedText
    newer: StatedText
    since: int
    """When the newer one began: by its words, or else by its time."""
    chance: float
    """The probability that the newer one makes the older one untrue."""


def looks_for_newer(profile: Profile) -> bool:
    """Whether the profile ranks newer memories above those that they replace."""
    return any(isinstance(step, NewestWins) for step in profile.steps)


def contradicting_texts(
    memories: MemoryRows,
    model: tuple[int, Model] | None,
    profile: Profile,
    query: Query,
    facts: Facts,
    sources: Iterable[Source],
    also: Sequence[int] = (),
) -> tuple[ContradictingTexts, ...]:
    """Find texts that replace others among the first candidates and `also`, if the profile uses them.

    Pairs whose order in time is unknown do not count.
    """
    if not looks_for_newer(profile):
        return ()
    first = sorted({*_first_candidates(facts, sources), *also})
    if query.where.as_of is None:
        texts = list(stated_texts(memories, first))
    else:
        whole = memories_by_id(memories.snapshot, first)
        past = [memory_at(memory, query.where.as_of) for memory in whole.values()]
        texts = [text for memory in past if memory.superseded_at is None for text in texts_of(memory)]
    texts = texts[:_MAX_TEXTS]
    if len(texts) < 2:
        return ()
    vectors = vectors_of_texts(memories.snapshot, texts, model)
    zone = asked_zone(query)
    pairs = [text.as_pair_text(zone) for text in texts]
    found = []
    for new, old, chance in _likely_pairs(texts, pairs, vectors, model, LIKELY):
        if texts[new].id == texts[old].id:
            continue
        since = pairs[new].at if pairs[new].since == NEVER else pairs[new].since
        found.append(ContradictingTexts(texts[old], texts[new], since, chance))
    return tuple(found)


def _likely_pairs(
    texts: Sequence[StatedText],
    pairs: Sequence[PairText],
    vectors: Mapping[TextKey, Vector],
    model: tuple[int, Model] | None,
    least: float,
    rows: Sequence[int] | None = None,
    *,
    ties: bool = False,
) -> Iterator[tuple[int, int, float]]:
    """Yield the place of a newer text, that of the one it replaces, and the probability, by place."""
    name = "" if model is None else model[1].name
    chances = replacing_chances(pairs, _cosines(texts, vectors), name, rows)
    chances = np.where(are_later(pairs, rows, ties=ties), chances, 0.0)
    for row, old in np.argwhere(chances >= least).tolist():
        new = row if rows is None else rows[row]
        mine, theirs = texts[new], texts[old]
        is_other = mine.origin != theirs.origin or mine.observation is not None
        is_other = is_other and not _say_the_same(mine.text, theirs.text)
        if is_other and max(len(mine.text), len(theirs.text)) <= LONGEST:
            yield new, old, float(chances[row, old])


def _say_the_same(one: str, other: str) -> bool:
    """Whether two texts are one statement, or have the same words with the content words in one order."""
    if same_statement(one, other):
        return True
    # "The launch is on Friday now" and "The launch is now on Friday", but not "from Rome to Bari" and back.
    return set(words(one)) == set(words(other)) and _content_in_order(one) == _content_in_order(other)


def _content_in_order(text: str) -> list[str]:
    return [word for word, _ in groupby(content_words(text))]


def _cosines(texts: Sequence[StatedText], vectors: Mapping[TextKey, Vector]) -> Floats | None:
    """Return the cosine of each two texts, NaN where unknown; None if most texts have no vector."""
    known = [place for place, text in enumerate(texts) if text.key in vectors]
    if 2 * len(known) <= len(texts):
        return None
    rows = np.array([vectors[texts[place].key] for place in known], np.float32)
    found = np.full((len(texts), len(texts)), np.nan)
    found[np.ix_(known, known)] = products(rows, rows)
    return found


def vectors_of_texts(
    snapshot: Snapshot, texts: Iterable[StatedText], model: tuple[int, Model] | None
) -> dict[TextKey, Vector]:
    """Return the vector of each text; of a long text, that of its first passage."""
    if model is None:
        return {}
    texts = list(texts)
    entities = {text.id for text in texts if text.observation is not None}
    # The cache of vectors knows the passages of a memory, but not which observation each is of.
    found: list[tuple[int, int, int | None]] = [
        (id_, memory, None)
        for id_, memory in snapshot.embedded_passages(sorted({text.id for text in texts} - entities))
    ]
    if entities:
        live = (OneOf("memory_id", sorted(entities)), Equals("live", 1))
        found += snapshot.rows("passage", ("id", "memory_id", "observation_id"), live)
    passages: dict[TextKey, int] = {}
    for id_, memory, observation in sorted(found, key=itemgetter(0)):
        passages.setdefault((memory, observation), id_)
    vectors = vectors_of(snapshot, list(passages.values()), model)
    return {key: vectors[passage] for key, passage in passages.items() if passage in vectors}


def as_columns(found: Sequence[ContradictingTexts], facts: Facts) -> Contradictions:
    """Return the pairs as columns of row numbers in `facts`. One entity may be in several pairs."""
    if not found:
        return Contradictions.none()
    return Contradictions(
        older=np.searchsorted(facts.ids, [each.older.id for each in found]),
        newer=np.searchsorted(facts.ids, [each.newer.id for each in found]),
        since=np.array([each.since for each in found], np.int64),
        chance=np.array([each.chance for each in found]),
    )


def stated_times(memories: MemoryRows, profile: Profile, query: Query, facts: Facts) -> dict[str, Source]:
    """Score each text by how shortly before the query's time its words say that something began."""
    if query.span is None or query.span[0] == NEVER or not names_year(query.text):
        return {}
    if not any(isinstance(step, TimeScore) for step in profile.steps):
        return {}
    asked = moment(query.span[0]).astimezone(asked_zone(query))
    month = 12 * asked.year + asked.month - 1
    ids = facts.ids.tolist()
    texts: dict[int, str] = dict(memories.select(ids, ("id", "text")))
    if query.where.as_of is not None:
        texts |= former_texts(memories, ids, query.now)
    gaps = [months_since(texts[id_], month) for id_ in ids]
    fit = [0.0 if gap is None else 1 / (1 + gap / (12 * _HALF_FIT_YEARS)) for gap in gaps]
    return {"stated": Source(np.zeros(len(fit), np.int64), np.array(fit))}


def texts_of(memory: Memory) -> Iterator[StatedText]:
    """Yield the texts of a memory that may replace another. An assistant's messages do not."""
    if memory.kind is Kind.ENTITY:
        for seen in memory.in_force[-_MOST_OBSERVATIONS:]:
            at = microseconds(seen.happened_at or seen.created_at)
            yield StatedText(memory.id, seen.content, at, memory.id, observation=seen.id, entity=memory.name)
    elif not is_assistant(memory.role):
        known = memory.happened_at or (None if memory.undated else memory.created_at)
        at = NEVER if known is None else microseconds(known)
        origin, is_message = memory.drawn_from or memory.id, memory.kind is Kind.MESSAGE
        yield StatedText(memory.id, memory.text, at, origin, memory.speaker, is_message=is_message)


def time_of_text(text: StatedText) -> datetime | None:
    return None if text.at == NEVER else moment(text.at)


def _first_candidates(facts: Facts, sources: Iterable[Source]) -> list[int]:
    best = np.full(len(facts.ids), np.iinfo(np.int64).max)
    for source in sources:
        best = np.where(source.found, np.minimum(best, source.rank), best)
    order = np.lexsort((facts.ids, best))[:MAX_COMPARED]
    return sorted(facts.ids[order].tolist())


def stated_texts(memories: MemoryRows, ids: Sequence[int]) -> Iterator[StatedText]:
    """Yield what `texts_of` does for current memories, without reading whole memories."""
    rows = memories.select(ids, _COLUMNS)
    names: dict[int, str] = {row[0]: row[3] for row in rows if row[1] == Kind.ENTITY}
    for id_, kind, text, _, role, speaker, origin, created_at, happened_at, undated, superseded_at in rows:
        if kind == Kind.ENTITY or is_assistant(role) or superseded_at is not None:
            continue
        at = happened_at if happened_at is not None else NEVER if undated else created_at
        is_message = kind == Kind.MESSAGE
        yield StatedText(id_, text, at, origin or id_, speaker, is_message=is_message)
    observed: dict[int, list[Row]] = {}
    if names:
        columns = ("memory_id", "id", "content", "created_at", "happened_at")
        in_force = (OneOf("memory_id", list(names)), *IN_FORCE)
        for row in sorted(memories.snapshot.rows("observation", columns, in_force), key=itemgetter(0, 1)):
            observed.setdefault(row[0], []).append(row)
    for each in observed.values():
        for memory, id_, content, created_at, happened_at in each[-_MOST_OBSERVATIONS:]:
            at = created_at if happened_at is None else happened_at
            yield StatedText(memory, content, at, memory, observation=id_, entity=names[memory])


_month_since = cache_short(4_096, longest=2_000)(holds_since)


def stated_since(text: str, at: int, zone: tzinfo = UTC) -> int:
    """Return when a text says it became true, in microseconds; NEVER if unknown or later than its time.

    `zone` is that of the query: years begin at its midnight.
    """
    month = _month_since(text)
    if month is None:
        return NEVER
    since = microseconds(datetime(month // 12, month % 12 + 1, 1, tzinfo=zone))
    return since if at == NEVER or since <= at else NEVER


# Results, and commands to settle a contradiction

_MOST_NAMED = 5
_MOST_LISTED = 100


def conflicts_by_memory(pairs: Iterable[ContradictingTexts]) -> dict[int, tuple[ConflictingMemory, ...]]:
    """Return the memories that each memory contradicts, newest first."""
    found: dict[int, dict[int, ConflictingMemory]] = {}
    sure = (pair for pair in pairs if pair.chance >= SURE)
    for pair in sorted(sure, key=lambda pair: (-pair.newer.at, -pair.older.at, pair.newer.id, pair.older.id)):
        found.setdefault(pair.older.id, {}).setdefault(pair.newer.id, _conflict(pair.newer, is_newer=True))
        found.setdefault(pair.newer.id, {}).setdefault(pair.older.id, _conflict(pair.older, is_newer=False))

    def newest_first(other: ConflictingMemory) -> tuple[float, int]:
        return (0.0 if other.at is None else -other.at.timestamp(), other.id)

    return {
        id_: tuple(sorted(others.values(), key=newest_first)[:_MOST_NAMED]) for id_, others in found.items()
    }


def contradicted_texts(
    new: Memory,
    others: Sequence[StatedText],
    vectors: Mapping[TextKey, Vector],
    model: tuple[int, Model] | None,
) -> tuple[ConflictingMemory, ...]:
    """Return those of the others that a new memory replaces, or that replace it.

    With equal times, the new memory is newer.
    """
    own = list(texts_of(new))
    texts = [*others, *own]
    pairs = [text.as_pair_text() for text in texts]
    # Usually the new one is the latest, and only its own row is computed.
    are_newer = are_later(pairs, ties=True)[: len(others), len(others) :].any(axis=1)
    rows = [*np.flatnonzero(are_newer).tolist(), *range(len(others), len(texts))]
    named = {}
    for later, earlier, _ in _likely_pairs(texts, pairs, vectors, model, SURE, rows, ties=True):
        if (later < len(others)) != (earlier < len(others)):
            is_newer = later < len(others)
            named[later if is_newer else earlier] = is_newer
    return tuple(_conflict(others[place], is_newer=named[place]) for place in sorted(named))[:_MOST_NAMED]


def contradicted_observations(
    snapshot: Snapshot, entity: Memory, new: Collection[int], model: tuple[int, Model] | None
) -> tuple[ContradictedObservation, ...]:
    """Return new observations of an entity that replace an earlier one."""
    texts = list(texts_of(entity))
    rows = [place for place, text in enumerate(texts) if text.observation in new]
    if not rows or len(texts) < 2:
        return ()
    vectors = vectors_of_texts(snapshot, texts, model)
    pairs = [text.as_pair_text() for text in texts]
    return tuple(
        ContradictedObservation(one.observation, one.text, other.observation, other.text)
        for later, earlier, _ in _likely_pairs(texts, pairs, vectors, model, SURE, rows, ties=True)
        for one, other in ((texts[later], texts[earlier]),)
        if one.observation is not None and other.observation is not None
    )[:_MOST_NAMED]


def _conflict(text: StatedText, *, is_newer: bool) -> ConflictingMemory:
    return ConflictingMemory(text.id, text.text, is_newer, time_of_text(text), text.observation)


def open_contradictions(
    pairs: Iterable[tuple[StatedText, StatedText]], names: Mapping[int, str], kept: Collection[str]
) -> tuple[OpenContradiction, ...]:
    """Return those of the pairs that no person decided to keep.

    `names` are those of entities; `kept` are keys of pairs that a person decided to keep.
    """
    from recollect.review.results import OpenContradiction  # noqa: PLC0415  # searches do not need it

    found = []
    for older, newer in pairs:
        references = (text_reference(each.id, each.observation) for each in (older, newer))
        if decision_key("contradiction", *references) not in kept:
            command = settling_command(older, newer, names)
            found.append(OpenContradiction(older.id, older.text, newer.id, newer.text, command))
        if len(found) == _MOST_LISTED:
            break
    return tuple(found)


def contradictions_among(
    snapshot: Snapshot, texts: Sequence[StatedText], model: tuple[int, Model] | None
) -> Iterator[tuple[StatedText, StatedText]]:
    """Yield pairs of an older and a newer text, newest first. With equal times, the higher id is newer."""
    oldest_first = sorted(texts, key=lambda text: (text.at, text.id, text.observation or 0))
    pairs = [text.as_pair_text() for text in oldest_first]
    vectors = vectors_of_texts(snapshot, texts, model)
    for place in range(len(texts) - 1, 0, -1):
        group = [*_nearest(oldest_first, place, vectors), place]
        own, stated = [oldest_first[each] for each in group], [pairs[each] for each in group]
        for later, earlier, _ in sorted(
            _likely_pairs(own, stated, vectors, model, SURE, ties=True), reverse=True
        ):
            if len(group) - 1 in {later, earlier}:
                yield own[earlier], own[later]


def _nearest(texts: Sequence[StatedText], place: int, vectors: Mapping[TextKey, Vector]) -> list[int]:
    """Return the places of the earlier texts nearest to a text, by meaning, or else by common words."""
    own = vectors.get(texts[place].key)
    if own is None:
        words = set(map(light_stem, content_words(texts[place].text)))
        near = [
            float(len(words.intersection(map(light_stem, content_words(each.text)))))
            for each in texts[:place]
        ]
    else:
        near = [float(own @ vectors[each.key]) if each.key in vectors else -1.0 for each in texts[:place]]
    return sorted(np.argsort(-np.array(near), kind="stable")[:MAX_COMPARED].tolist())


def settling_command(older: StatedText, newer: StatedText, names: Mapping[int, str]) -> str:
    """Return the command that retires the older text; `names` are those of entities."""
    text = quote(" ".join(newer.text.split()))
    if older.observation is not None:
        return f"recollect observe {quote(names[older.id])} {text} --supersedes '#{older.observation}'"
    return f"recollect supersede {older.id} {newer.id if newer.observation is None else text}"
