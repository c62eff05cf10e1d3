"""What results say of memories that contradict each other, and how to settle it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from shlex import quote
from typing import TYPE_CHECKING

from recollect.engine.results import ConflictingMemory, ContradictedObservation
from recollect.engine.upkeep.decisions import decision_key, text_reference
from recollect.records import Memory
from recollect.retrieval.contradictions import (
    ContradictingTexts,
    StatedText,
    later_by,
    texts_of,
    time_of_text,
)
from recollect.text.contradictions import Contradiction, contradicting_pairs, contradiction

if TYPE_CHECKING:
    from recollect.engine.upkeep.results import OpenContradiction

_MOST_NAMED = 5
_MOST_LISTED = 100


def conflicts_by_memory(
    pairs: Iterable[ContradictingTexts],
) -> dict[int, tuple[ConflictingMemory, ...]]:
    """For each memory, what it contradicts, newest first."""
    found: dict[int, dict[int, ConflictingMemory]] = {}
    for pair in sorted(
        pairs, key=lambda pair: (-pair.newer.at, -pair.older.at, pair.newer.id, pair.older.id)
    ):
        found.setdefault(pair.older.id, {}).setdefault(pair.newer.id, conflicting(pair.newer, is_newer=True))
        found.setdefault(pair.newer.id, {}).setdefault(pair.older.id, conflicting(pair.older, is_newer=False))
    return {
        id_: tuple(sorted(others.values(), key=_newest_first)[:_MOST_NAMED]) for id_, others in found.items()
    }


def contradicted_texts(new: Memory, others: Iterable[StatedText]) -> tuple[ConflictingMemory, ...]:
    """Those of the others that a new memory contradicts, in their order; of equal times, the new is newer."""
    return tuple(
        conflicting(theirs, is_newer=later_by(theirs, mine, where) > 0)
        for mine in texts_of(new)
        for theirs in others
        if theirs.origin != mine.origin and (where := contradiction(theirs.claims, mine.claims)) is not None
    )[:_MOST_NAMED]


def contradicted_observations(entity: Memory, new: Collection[int]) -> tuple[ContradictedObservation, ...]:
    """New observations of an entity that contradict one that was there before them."""
    texts = list(texts_of(entity))
    return tuple(
        ContradictedObservation(one.observation, one.text, other.observation, other.text)
        for place, one in enumerate(texts)
        if one.observation in new
        for other in texts[:place]
        if one.observation is not None
        and other.observation is not None
        and contradiction(other.claims, one.claims) is not None
    )[:_MOST_NAMED]


def conflicting(text: StatedText, *, is_newer: bool) -> ConflictingMemory:
    return ConflictingMemory(text.id, text.text, is_newer, time_of_text(text), text.observation)


def _newest_first(other: ConflictingMemory) -> tuple[float, int]:
    return (0.0 if other.at is None else -other.at.timestamp(), other.id)


def open_contradictions(
    texts: Sequence[StatedText], names: Mapping[int, str], kept: Collection[str]
) -> tuple[OpenContradiction, ...]:
    """Among these texts, the newest first; `names` are those of entities, `kept` the keys of what somebody
    decided to leave as it is. Equal times go by arrival."""
    from recollect.engine.upkeep.results import OpenContradiction  # noqa: PLC0415  # no search lists them

    found = (pair for pair in contradictions_among(texts) if _key(*pair) not in kept)
    return tuple(
        OpenContradiction(older.id, older.text, newer.id, newer.text, settling_command(older, newer, names))
        for older, newer in islice(found, _MOST_LISTED)
    )


def _key(older: StatedText, newer: StatedText) -> str:
    references = (text_reference(each.id, each.observation) for each in (older, newer))
    return decision_key("contradiction", *references)


def contradictions_among(texts: Sequence[StatedText]) -> Iterator[tuple[StatedText, StatedText]]:
    """Pairs of an older and a newer one, the newest first. Equal times go by arrival."""
    arrival = sorted(texts, key=lambda text: (text.at, text.id, text.observation or 0))
    newest_first = arrival[::-1]
    for first, second, where in contradicting_pairs([text.claims for text in newest_first]):
        newer, older = _newer_first(newest_first[first], newest_first[second], where)
        if older.observation is not None or older.origin != newer.origin:
            yield older, newer


def _newer_first(one: StatedText, other: StatedText, where: Contradiction) -> tuple[StatedText, StatedText]:
    """Of two in this order, unless their own words say otherwise."""
    return (other, one) if later_by(one, other, where) < 0 else (one, other)


def settling_command(older: StatedText, newer: StatedText, names: Mapping[int, str]) -> str:
    """The command that retires the older of two; `names` are those of entities."""
    text = quote(" ".join(newer.text.split()))
    if older.observation is not None:
        return f"recollect observe {quote(names[older.id])} {text} --supersedes '#{older.observation}'"
    return f"recollect supersede {older.id} {newer.id if newer.observation is None else text}"
