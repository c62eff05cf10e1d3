"""Observations of one entity that nearly repeat one another: found, and left to the caller to judge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from recollect.engine.embedding import embedder_or_reason
from recollect.engine.graph.knowledge_graph import entity_named
from recollect.engine.graph.observation_vectors import completed, pages, stored_rows
from recollect.engine.services import Services
from recollect.engine.upkeep.results import DuplicateGroup, DuplicatePair, Duplicates, Match
from recollect.errors import InvalidInput, ModelUnavailable
from recollect.lazy_dataclass import dataclass
from recollect.ports import Embedder, Progress, Vector
from recollect.records import Kind, Memory, Observation
from recollect.retrieval.records import memories_by_id
from recollect.text.limits import clean_share
from recollect.text.near_duplicates import contained_pairs, has_meaning, text_key, usual_cosine

if TYPE_CHECKING:
    Found = dict[tuple[int, int], tuple[float, Match]]
    """By places in an entity's observations, the lower first."""

MOST_PAIRS = 10_000
# Comparing the plain contents costs an embedding each, so only likely pairs are: those whose stored vectors,
# which share the entity's name and so lie nearer, come this close to the threshold; of each, the nearest few.
_SLACK = 0.1
_COMPARED = 8
_BLOCK = 512


@dataclass(frozen=True, slots=True)
class _Bounds:
    cosine: float
    containment: float


def find_duplicate_observations(
    services: Services,
    entity: str | None,
    *,
    threshold: float,
    containment: float,
    limit: int,
    progress: Progress | None = None,
) -> Duplicates:
    """Pairs of observations in force, of one entity or of each."""
    bounds = _Bounds(_above_zero(threshold, "threshold"), _above_zero(containment, "containment"))
    _check_limit(limit)
    embedder, note = embedder_or_reason(services)
    pairs: list[DuplicatePair] = []
    looked_at = 0
    for page, several, stored in _read(services, entity, progress):
        looked_at += sum(len(each.in_force) for each in page)
        if embedder is not None:
            try:
                pairs += _pairs(several, completed(stored, several, embedder), embedder, bounds)
                continue
            except ModelUnavailable as error:
                embedder, note = None, str(error)
        pairs += _pairs(several, {}, None, bounds)
    pairs.sort(key=lambda pair: (-pair.similarity, pair.entity_id, pair.older.id, pair.newer.id))
    shown = tuple(pairs[:limit])
    return Duplicates(shown, _groups(shown), looked_at, len(pairs) - len(shown), note)


def _check_limit(limit: object) -> None:
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MOST_PAIRS:
        raise InvalidInput(f"The limit is a number of pairs from 1 to {MOST_PAIRS:,}, not {limit!r}.")


def _above_zero(share: float, what: str) -> float:
    if clean_share(share, what) == 0:
        raise InvalidInput(f"The {what} must be above 0: everything is at least that much alike.")
    return share


def _read(
    services: Services, entity: str | None, progress: Progress | None
) -> Iterator[tuple[Sequence[Memory], Sequence[Memory], Mapping[int, Vector]]]:
    """Entities, those of them with something to compare, and the vectors that the store has of those."""
    id_ = None if entity is None else entity_named(services, entity)
    with services.read() as view:
        chosen = (
            pages(services, view, Kind.ENTITY, progress)
            if id_ is None
            else [list(memories_by_id(view, [id_]).values())]
        )
        for page in chosen:
            several = [each for each in page if len(each.in_force) > 1]
            yield page, several, stored_rows(view, several)


def _pairs(
    entities: Sequence[Memory], rows: Mapping[int, Vector], embedder: Embedder | None, bounds: _Bounds
) -> list[DuplicatePair]:
    likely = {
        entity.id: [] if embedder is None else list(_likely(entity.in_force, rows, bounds.cosine))
        for entity in entities
    }
    plain = {} if embedder is None else _plain(entities, likely, embedder)
    model = "" if embedder is None else embedder.model.name
    return [
        DuplicatePair(entity.id, entity.name, seen[one], seen[other], similarity, match)
        for entity in entities
        for seen in [entity.in_force]
        for (one, other), (similarity, match) in _found(seen, likely[entity.id], plain, bounds, model).items()
    ]


def _likely(
    observations: Sequence[Observation], rows: Mapping[int, Vector], threshold: float
) -> Iterator[tuple[int, int]]:
    """Pairs that are near by the vectors at hand: of each observation, the nearest few before it."""
    told = [place for place, seen in enumerate(observations) if has_meaning(seen.content)]
    if len(told) < 2:
        return
    matrix = np.stack([rows[observations[place].id] for place in told])
    for start in range(0, len(told), _BLOCK):
        block = matrix[start : start + _BLOCK]
        cosines = block @ matrix[: start + len(block)].T
        cosines[np.triu_indices(len(block), start, cosines.shape[1])] = -np.inf
        nearest = np.argsort(-cosines, axis=1, kind="stable")[:, :_COMPARED]
        for row, others in enumerate(nearest.tolist()):
            for other in others:
                if cosines[row, other] >= threshold - _SLACK:
                    yield told[other], told[start + row]


def _plain(
    entities: Iterable[Memory], likely: Mapping[int, Sequence[tuple[int, int]]], embedder: Embedder
) -> dict[str, Vector]:
    """Vectors of the contents by themselves; the entity's name, which all share, would make all alike."""
    wanted = dict.fromkeys(
        entity.in_force[place].content
        for entity in entities
        for place in sorted({place for pair in likely[entity.id] for place in pair})
    )
    if not wanted:
        return {}
    return dict(zip(wanted, embedder.documents(list(wanted)), strict=True))


def _found(
    observations: Sequence[Observation],
    likely: Sequence[tuple[int, int]],
    plain: Mapping[str, Vector],
    bounds: _Bounds,
    model: str,
) -> Found:
    """The surest reason of each pair: the same words, else the same meaning, else the words of the other."""
    texts = [seen.content for seen in observations]
    found: Found = {
        pair: (share, "containment") for pair, share in contained_pairs(texts, bounds.containment).items()
    }
    for one, other in likely:
        # Rounding may carry a cosine past one.
        cosine = usual_cosine(min(1.0, float(plain[texts[one]] @ plain[texts[other]])), model)
        if cosine >= bounds.cosine:
            found[one, other] = (cosine, "cosine")
    first: dict[int, int] = {}
    for place, text in enumerate(texts):
        one = first.setdefault(text_key(text), place)
        if one != place:
            found[one, place] = (1.0, "same")
    return found


def _groups(pairs: Iterable[DuplicatePair]) -> tuple[DuplicateGroup, ...]:
    groups: dict[int, dict[int, Observation]] = {}
    names: dict[int, tuple[int, str]] = {}
    for pair in pairs:
        joined = {
            **groups.get(pair.older.id, {pair.older.id: pair.older}),
            **groups.get(pair.newer.id, {pair.newer.id: pair.newer}),
        }
        for id_ in joined:
            groups[id_], names[id_] = joined, (pair.entity_id, pair.entity)
    whole = {min(members): members for members in groups.values()}
    return tuple(
        DuplicateGroup(*names[first], tuple(members[id_] for id_ in sorted(members)))
        for first, members in sorted(whole.items(), key=lambda group: (names[group[0]][0], group[0]))
    )
