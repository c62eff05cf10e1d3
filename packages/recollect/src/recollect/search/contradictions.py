"""Find contradictions among candidates, decide which text is newer, and offer commands to settle them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from operator import itemgetter
from shlex import quote
from typing import TYPE_CHECKING

import numpy as np

from recollect.domain.records import Kind, Memory, is_assistant, memory_at
from recollect.domain.results import ConflictingMemory, ContradictedObservation
from recollect.domain.tables import IN_FORCE, OneOf
from recollect.language.claims import Claims, Contradiction, claims_of, contradicting_pairs, find_conflict
from recollect.language.time_phrases import holds_since, months_since, names_year
from recollect.ranking.candidates import NEVER, Contradictions, Facts, Source
from recollect.ranking.factors import microseconds
from recollect.ranking.steps import NewestWins, TimeScore
from recollect.review.results import decision_key, text_reference
from recollect.search.facts import asked_zone, former_texts
from recollect.search.rows import MemoryRows, memories_by_id, moment
from recollect.text.tokens import content_words, light_stem

if TYPE_CHECKING:
    from recollect.domain.records import Query
    from recollect.domain.tables import Row
    from recollect.ranking.candidates import Profile
    from recollect.review.results import OpenContradiction


MAX_COMPARED = 30
"""Number of candidates to compare with each other: the first by words and by meaning."""
_MOST_OBSERVATIONS = 40
"""Number of observations of an entity to compare: the newest."""
_HALF_FIT_YEARS = 5
_COLUMNS = (
    "id", "kind", "text", "name", "role", "speaker", "drawn_from", "created_at", "happened_at", "undated",
    "superseded_at",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class StatedText:
    """A current text that may contradict another: a note, a message, or an observation."""

    id: int
    text: str
    at: int
    """When it happened, or else when it was said; NEVER if unknown."""
    claims: Claims
    origin: int
    """The message that a note was extracted from; for others, the memory itself."""
    speaker: str | None = None
    observation: int | None = None


@dataclass(frozen=True, slots=True)
class ContradictingTexts:
    """Two texts of different memories that contradict each other."""

    older: StatedText
    newer: StatedText
    since: int
    """When the newer one began: by its words, or else by its time."""
    asked: bool
    """Whether the words of the query ask for what they disagree on."""


def contradicting_texts(
    memories: MemoryRows, profile: Profile, query: Query, facts: Facts, sources: Iterable[Source]
) -> tuple[ContradictingTexts, ...]:
    """Find contradictions among the first candidates, if the profile uses them.

    Pairs whose order in time is unknown do not count.
    """
    if not any(isinstance(step, NewestWins) for step in profile.steps):
        return ()
    first = _first_candidates(facts, sources)
    if query.where.as_of is None:
        texts = list(stated_texts(memories, first))
    else:
        whole = memories_by_id(memories.snapshot, first)
        past = [memory_at(memory, query.where.as_of) for memory in whole.values()]
        texts = [text for memory in past if memory.superseded_at is None for text in texts_of(memory)]
    asked = frozenset(map(light_stem, content_words(query.text)))
    found = []
    for one, other, where in contradicting_pairs([text.claims for text in texts]):
        mine, theirs = texts[one], texts[other]
        order = later_by(mine, theirs, where)
        if mine.origin == theirs.origin or not order:
            continue
        is_other = _asks_elsewhere(mine.text, where.first, asked) or _asks_elsewhere(
            theirs.text, where.second, asked
        )
        older, newer, place = (theirs, mine, where.first) if order > 0 else (mine, theirs, where.second)
        since = None if where.is_of_time else _stated_since(newer, place, asked_zone(query))
        found.append(ContradictingTexts(older, newer, newer.at if since is None else since, not is_other))
    return tuple(found)


def later_by(one: StatedText, other: StatedText, where: Contradiction) -> int:
    """Return a positive number if the first text is later, a negative one if the other is, else 0.

    If both texts say since when they are true, and these times differ, compare them; otherwise, the times of
    the texts. Times that the texts say do not count if the texts contradict each other in a time.
    """
    if not where.is_of_time:
        mine, theirs = _stated_since(one, where.first), _stated_since(other, where.second)
        if mine is not None and theirs is not None and mine != theirs:
            return mine - theirs
    return 0 if NEVER in {one.at, other.at} else one.at - other.at


def as_columns(found: Sequence[ContradictingTexts], facts: Facts) -> Contradictions:
    """Return the pairs as columns of row numbers in `facts`. One entity may be in several pairs."""
    if not found:
        return Contradictions.none()
    return Contradictions(
        older=np.searchsorted(facts.ids, [each.older.id for each in found]),
        newer=np.searchsorted(facts.ids, [each.newer.id for each in found]),
        since=np.array([each.since for each in found], np.int64),
        asked=np.array([each.asked for each in found], bool),
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
    """Yield the texts of a memory that may contradict another. An assistant's messages do not."""
    if memory.kind is Kind.ENTITY:
        for seen in memory.in_force[-_MOST_OBSERVATIONS:]:
            at = microseconds(seen.happened_at or seen.created_at)
            claims = claims_of(seen.content, "", memory.name)
            yield StatedText(memory.id, seen.content, at, claims, memory.id, observation=seen.id)
    elif not is_assistant(memory.role):
        known = memory.happened_at or (None if memory.undated else memory.created_at)
        at = NEVER if known is None else microseconds(known)
        claims = claims_of(memory.text, memory.speaker or "")
        origin = memory.drawn_from or memory.id
        yield StatedText(memory.id, memory.text, at, claims, origin, memory.speaker)


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
        yield StatedText(id_, text, at, claims_of(text, speaker or ""), origin or id_, speaker)
    observed: dict[int, list[Row]] = {}
    if names:
        columns = ("memory_id", "id", "content", "created_at", "happened_at")
        in_force = (OneOf("memory_id", list(names)), *IN_FORCE)
        for row in sorted(memories.snapshot.rows("observation", columns, in_force), key=itemgetter(0, 1)):
            observed.setdefault(row[0], []).append(row)
    for each in observed.values():
        for memory, id_, content, created_at, happened_at in each[-_MOST_OBSERVATIONS:]:
            at = created_at if happened_at is None else happened_at
            claims = claims_of(content, "", names[memory])
            yield StatedText(memory, content, at, claims, memory, observation=id_)


def _stated_since(text: StatedText, place: tuple[int, int], zone: tzinfo = UTC) -> int | None:
    """Return when a sentence says it became true, in microseconds; None if unknown or later than the text.

    `zone` is that of the query: years begin at its midnight.
    """
    month = holds_since(text.text[slice(*place)])
    if month is None:
        return None
    since = microseconds(datetime(month // 12, month % 12 + 1, 1, tzinfo=zone))
    return since if text.at == NEVER or since <= text.at else None


def _asks_elsewhere(text: str, place: tuple[int, int], asked: frozenset[str]) -> bool:
    """Whether other sentences of the text have words of the query that this sentence lacks."""
    start, stop = place
    inside = set(map(light_stem, content_words(text[start:stop])))
    outside = set(map(light_stem, content_words(f"{text[:start]} {text[stop:]}")))
    return not (asked & outside) <= inside


# Results, and commands to settle a contradiction

_MOST_NAMED = 5
_MOST_LISTED = 100


def conflicts_by_memory(pairs: Iterable[ContradictingTexts]) -> dict[int, tuple[ConflictingMemory, ...]]:
    """Return the memories that each memory contradicts, newest first."""
    found: dict[int, dict[int, ConflictingMemory]] = {}
    for pair in sorted(
        pairs, key=lambda pair: (-pair.newer.at, -pair.older.at, pair.newer.id, pair.older.id)
    ):
        found.setdefault(pair.older.id, {}).setdefault(pair.newer.id, _conflict(pair.newer, is_newer=True))
        found.setdefault(pair.newer.id, {}).setdefault(pair.older.id, _conflict(pair.older, is_newer=False))

    def newest_first(other: ConflictingMemory) -> tuple[float, int]:
        return (0.0 if other.at is None else -other.at.timestamp(), other.id)

    return {
        id_: tuple(sorted(others.values(), key=newest_first)[:_MOST_NAMED]) for id_, others in found.items()
    }


def contradicted_texts(new: Memory, others: Iterable[StatedText]) -> tuple[ConflictingMemory, ...]:
    """Return those of the others that a new memory contradicts, in order. With equal times, it is newer."""
    return tuple(
        _conflict(theirs, is_newer=later_by(theirs, mine, where) > 0)
        for mine in texts_of(new)
        for theirs in others
        if theirs.origin != mine.origin and (where := find_conflict(theirs.claims, mine.claims)) is not None
    )[:_MOST_NAMED]


def contradicted_observations(entity: Memory, new: Collection[int]) -> tuple[ContradictedObservation, ...]:
    """Return new observations of an entity that contradict an earlier one."""
    texts = list(texts_of(entity))
    return tuple(
        ContradictedObservation(one.observation, one.text, other.observation, other.text)
        for place, one in enumerate(texts)
        if one.observation in new
        for other in texts[:place]
        if one.observation is not None
        and other.observation is not None
        and find_conflict(other.claims, one.claims) is not None
    )[:_MOST_NAMED]


def _conflict(text: StatedText, *, is_newer: bool) -> ConflictingMemory:
    return ConflictingMemory(text.id, text.text, is_newer, time_of_text(text), text.observation)


def open_contradictions(
    texts: Sequence[StatedText], names: Mapping[int, str], kept: Collection[str]
) -> tuple[OpenContradiction, ...]:
    """Return contradictions among these texts, newest first. With equal times, the higher id is newer.

    `names` are those of entities; `kept` are keys of pairs that a person decided to keep.
    """
    from recollect.review.results import OpenContradiction  # noqa: PLC0415  # searches do not need it

    found = []
    for older, newer in contradictions_among(texts):
        references = (text_reference(each.id, each.observation) for each in (older, newer))
        if decision_key("contradiction", *references) not in kept:
            command = settling_command(older, newer, names)
            found.append(OpenContradiction(older.id, older.text, newer.id, newer.text, command))
        if len(found) == _MOST_LISTED:
            break
    return tuple(found)


def contradictions_among(texts: Sequence[StatedText]) -> Iterator[tuple[StatedText, StatedText]]:
    """Yield pairs of an older and a newer text, newest first. With equal times, the higher id is newer."""
    newest_first = sorted(texts, key=lambda text: (text.at, text.id, text.observation or 0), reverse=True)
    for first, second, where in contradicting_pairs([text.claims for text in newest_first]):
        newer, older = newest_first[first], newest_first[second]
        # The words of the texts may say another order.
        if later_by(newer, older, where) < 0:
            newer, older = older, newer
        if older.observation is not None or older.origin != newer.origin:
            yield older, newer


def settling_command(older: StatedText, newer: StatedText, names: Mapping[int, str]) -> str:
    """Return the command that retires the older text; `names` are those of entities."""
    text = quote(" ".join(newer.text.split()))
    if older.observation is not None:
        return f"recollect observe {quote(names[older.id])} {text} --supersedes '#{older.observation}'"
    return f"recollect supersede {older.id} {newer.id if newer.observation is None else text}"
