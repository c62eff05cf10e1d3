"""Questions to the graph over several hops: what is near an entity, and how two are connected."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence

from recollect.errors import InvalidInput
from recollect.lazy_dataclass import dataclass
from recollect.records import Relation

MOST_HOPS = 6
MOST_ENTITIES = 2_000
"""Entities that one question looks at: beyond it, an answer would say no more."""
MOST_PATHS = 100
_MOST_BEGUN = 20_000


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What lies within some hops of an entity."""

    distances: Mapping[int, int]
    """By id of an entity, how many relations lie between; the first is the entity itself."""
    relations: tuple[Relation, ...]
    is_cut: bool


def check_hops(depth: int) -> None:
    if not 1 <= depth <= MOST_HOPS:
        raise InvalidInput(f"The depth is 1 to {MOST_HOPS} relations, not {depth!r}.")


def surroundings(
    start: int, depth: int, relations_at: Callable[[Collection[int]], Sequence[Relation]]
) -> Surroundings:
    """All entities within `depth` relations, each hop read in one go."""
    distances = {start: 0}
    known: dict[int, Relation] = {}
    frontier: list[int] = [start]
    is_cut = False
    for hop in range(1, depth + 1):
        reached: list[int] = []
        for relation in relations_at(frontier):
            new = [end for end in (relation.source, relation.target) if end not in distances]
            if len(distances) + len(new) > MOST_ENTITIES:
                is_cut = True
                continue
            known[relation.id] = relation
            distances.update(dict.fromkeys(new, hop))
            reached += new
        if not reached:
            break
        frontier = reached
    return Surroundings(distances, tuple(known[id_] for id_ in sorted(known)), is_cut)


def simple_paths(
    around: Surroundings, source: int, target: int, depth: int, limit: int
) -> tuple[list[tuple[Relation, ...]], bool]:
    """Ways that pass no entity twice, the shortest first, ties by the ids of their relations; and whether
    there are more than these."""
    touching: defaultdict[int, list[tuple[int, Relation]]] = defaultdict(list)
    for relation in around.relations:
        touching[relation.source].append((relation.target, relation))
        touching[relation.target].append((relation.source, relation))
    left = _distances(target, touching)
    paths: list[tuple[Relation, ...]] = []
    begun: list[tuple[tuple[int, ...], tuple[Relation, ...]]] = [((source,), ())]
    for taken in range(depth):
        longer: list[tuple[tuple[int, ...], tuple[Relation, ...]]] = []
        for places, steps in begun:
            for place, relation in touching[places[-1]]:
                # What cannot reach the end in the hops that are left is not followed.
                if place in places or taken + 1 + left.get(place, depth) > depth:
                    continue
                if place == target:
                    paths.append((*steps, relation))
                else:
                    longer.append(((*places, place), (*steps, relation)))
        if len(paths) > limit or len(longer) > _MOST_BEGUN:
            return paths[:limit], True
        begun = longer
    return paths, False


def _distances(start: int, touching: Mapping[int, Sequence[tuple[int, Relation]]]) -> dict[int, int]:
    distances = {start: 0}
    frontier = [start]
    while frontier:
        reached = []
        for place in frontier:
            for end, _ in touching.get(place, ()):
                if end not in distances:
                    distances[end] = distances[place] + 1
                    reached.append(end)
        frontier = reached
    return distances
