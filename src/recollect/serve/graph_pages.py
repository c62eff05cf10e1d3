"""Pages of a graph: whole entities with their relations, and of an overgrown one, a stretch at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from recollect.serve import wire
from recollect.serve.paging import LEAST_PROSE, cost, id_of, no_page, shortened

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from recollect.records import Memory, Observation, Relation


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page ended: behind an entity, or inside it, behind an observation and perhaps a relation."""

    key: int = 0
    """The entity's id, or its place from 1 in an order that is not that of ids."""
    observation: int | None = None
    """None: the entity was shown whole."""
    relation: int | None = None
    """None: not all of its observations were shown yet."""

    @property
    def before(self) -> int:
        """The last key that needs not be looked at again."""
        return self.key if self.observation is None else self.key - 1

    def __str__(self) -> str:
        numbers = (self.key, self.observation, self.relation)
        return ".".join(str(number) for number in numbers if number is not None)


def place_of(cursor: str) -> Place:
    numbers = [id_of(part) for part in cursor.split(".")]
    if len(numbers) > 3 or None in numbers:
        raise no_page(cursor)
    key, *inside = (number or 0 for number in numbers)
    return Place(key, *inside)


@dataclass(frozen=True, slots=True)
class _Node:
    """What is still to be shown of one entity."""

    key: int
    memory: Memory
    observations: Sequence[Observation]
    relations: Sequence[Relation]

    @property
    def frame(self) -> dict[str, Any]:
        return {**wire.entity(self.memory), "observations": []}


def fitted(
    entities: Sequence[tuple[int, Memory]],
    relations: Sequence[Relation],
    budget: int,
    place: Place = Place(),  # noqa: B008  # frozen
    onward: int | None = None,
) -> dict[str, Any]:
    """As many of the entities as fit, each by its key, with all its relations; and where to go on.

    So every relation stands on the page of each of its ends, and pages join to the whole. Of an entity that
    no page could hold, one page after another shows a stretch. `onward` is the last key, where more follow.
    """
    touching = _by_end(relations)
    shown: list[dict[str, Any]] = []
    taken: set[int] = set()
    left = budget
    cursor = None if onward is None else Place(onward)
    note = None
    for index, (key, memory) in enumerate(entities):
        node = _unread(key, memory, touching.get(memory.id, ()), place)
        new = [one for one in node.relations if one.id not in taken]
        price = _price(node, new)
        if price <= left:
            shown.append({**node.frame, "observations": [seen.content for seen in node.observations]})
            taken.update(one.id for one in new)
            left -= price
            continue
        if shown:
            cursor = Place(entities[index - 1][0])
            missing = len(entities) - index
            note = f"{missing} more did not fit {budget} tokens; go on with `cursor`, or ask more narrowly."
        else:
            plain, kept, stopped = _stretch(node, budget)
            shown.append(plain)
            taken.update(kept)
            if stopped is not None:
                cursor = stopped
            elif index + 1 < len(entities):
                cursor = Place(key)
            note = _missing(node, plain, kept, budget)
        break
    data: dict[str, Any] = {
        "entities": shown,
        "relations": [wire.relation(one) for one in relations if one.id in taken],
    }
    return data | ({"cursor": str(cursor)} if cursor else {}) | ({"note": note} if note else {})


def _by_end(relations: Iterable[Relation]) -> dict[int, list[Relation]]:
    ends: dict[int, list[Relation]] = {}
    for one in relations:
        for end in {one.source, one.target}:
            ends.setdefault(end, []).append(one)
    return ends


def _unread(key: int, memory: Memory, relations: Sequence[Relation], place: Place) -> _Node:
    """The entity without what earlier pages showed of it."""
    inside = place.observation
    # Where the order has changed meanwhile, another entity may stand at its place.
    known = inside == 0 or any(seen.id == inside for seen in memory.observations)
    if inside is None or key != place.key or not known:
        return _Node(key, memory, memory.in_force, relations)
    observations = [seen for seen in memory.in_force if seen.id > inside]
    if place.relation is None:
        return _Node(key, memory, observations, relations)
    return _Node(key, memory, (), [one for one in relations if one.id > (place.relation or 0)])


def _price(node: _Node, relations: Sequence[Relation]) -> int:
    return (
        cost(node.frame)
        + sum(cost(seen.content) for seen in node.observations)
        + sum(cost(wire.relation(one)) for one in relations)
    )


def _stretch(node: _Node, budget: int) -> tuple[dict[str, Any], list[int], Place | None]:
    """The entity with as much as fits of its observations, then of its relations; and where that ends."""
    left = budget - cost(node.frame)
    texts: list[str] = []
    last = 0
    for seen in node.observations:
        # The first comes at least in part, or a page could never pass it.
        text = seen.content if texts else shortened(seen.content, max(left, LEAST_PROSE))
        price = cost(text)
        if texts and price > left:
            return {**node.frame, "observations": texts}, [], Place(node.key, last)
        texts.append(text)
        last = seen.id
        left -= price
    kept: list[int] = []
    for one in node.relations:
        price = cost(wire.relation(one))
        if price > left and (kept or texts):
            inside = Place(node.key, last, kept[-1] if kept else 0)
            return {**node.frame, "observations": texts}, kept, inside
        kept.append(one.id)
        left -= price
    return {**node.frame, "observations": texts}, kept, None


def _missing(node: _Node, plain: dict[str, Any], kept: Sequence[int], budget: int) -> str:
    facts = len(node.observations) - len(plain["observations"])
    relations = len(node.relations) - len(kept)
    name = f"{node.memory.name[:40]!r}"
    counted = [f"{facts} observations"] if facts else []
    counted += [f"{relations} relations"] if relations else []
    whole = {seen.content for seen in node.observations}
    cut = f"A text of {name} was cut to fit {budget} tokens; allow more with `budget_tokens`."
    told = [cut] if not whole.issuperset(plain["observations"]) else []
    if counted:
        told.append(f"{' and '.join(counted)} of {name} did not fit {budget} tokens; go on with `cursor`.")
    return " ".join(told)
