"""Pages of a graph: whole entities with their relations, and of an overgrown one, a stretch at a time."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from recollect.lazy_dataclass import dataclass
from recollect.serve.operations.paging import (
    LEAST_PROSE,
    cursor_numbers,
    join_sentences,
    page_rows,
    row_tokens,
    shorten_row,
)
from recollect.serve.operations.rows import (
    EntityRow,
    ObservationRow,
    PageRows,
    RelationRow,
    entity_row,
    observation_row,
    relation_row,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recollect.records import Memory, Observation, Relation


class GraphRows(PageRows):
    """A page of a graph, in the official server's form."""

    entities: list[EntityRow]
    relations: list[RelationRow]


@dataclass(frozen=True, slots=True)
class GraphPosition:
    """Where a page ended: behind an entity, or inside it, behind an observation and perhaps a relation."""

    key: int = 0
    """The entity's id, or its place from 1 in an order that is not that of ids."""
    observation: int | None = None
    """None: the entity was shown whole."""
    relation: int | None = None
    """None: not all of its observations were shown yet."""

    @classmethod
    def of(cls, cursor: str | None) -> GraphPosition:
        return cls() if cursor is None else cls(*cursor_numbers(cursor, 1, 2, 3))

    @property
    def before(self) -> int:
        """The last key that needs not be looked at again."""
        return self.key if self.observation is None else self.key - 1

    def __str__(self) -> str:
        numbers = (self.key, self.observation, self.relation)
        return ".".join(str(number) for number in numbers if number is not None)


@dataclass(frozen=True, slots=True)
class _Node:
    """What is still to be shown of one entity."""

    key: int
    memory: Memory
    observations: Sequence[Observation]
    relations: Sequence[Relation]

    def row(self, observations: list[str | ObservationRow]) -> EntityRow:
        return {**entity_row(self.memory, ()), "observations": observations}


def graph_page(
    entities: Sequence[tuple[int, Memory]],
    relations: Sequence[Relation],
    budget: int,
    position: GraphPosition = GraphPosition(),
    more_after: int | None = None,
    shown_of: Callable[[Memory], Sequence[Observation]] = lambda memory: memory.in_force,
) -> GraphRows:
    """As many of the entities as fit, each by its key, with all its relations; and where to go on.

    So every relation stands on the page of each of its ends, and pages join to the whole. Of an entity that
    no page could hold, one page after another shows a stretch. `more_after` is the last key, where more
    follow. `shown_of` chooses among an entity's observations.
    """
    touching: defaultdict[int, list[Relation]] = defaultdict(list)
    for one in relations:
        for end in {one.source, one.target}:
            touching[end].append(one)
    shown: list[EntityRow] = []
    taken: set[int] = set()
    left = budget
    cursor = None if more_after is None else GraphPosition(more_after)
    note = None
    for index, (key, memory) in enumerate(entities):
        node = _unseen(key, memory, shown_of(memory), touching[memory.id], position)
        new = [one for one in node.relations if one.id not in taken]
        price = (
            row_tokens(node.row([]))
            + sum(row_tokens(observation_row(seen)) for seen in node.observations)
            + sum(row_tokens(relation_row(one)) for one in new)
        )
        if price <= left:
            shown.append(node.row(list(map(observation_row, node.observations))))
            taken.update(one.id for one in new)
            left -= price
            continue
        if shown:
            cursor = GraphPosition(entities[index - 1][0])
            missing = len(entities) - index
            note = f"{missing} more did not fit {budget} tokens; go on with `cursor`, or ask more narrowly."
        else:
            row, kept, stopped = _stretch(node, budget)
            shown.append(row)
            taken.update(kept)
            if stopped is not None:
                cursor = stopped
            elif index + 1 < len(entities):
                cursor = GraphPosition(key)
            note = _missing(node, row, kept, budget)
        break
    return {
        "entities": shown,
        "relations": [relation_row(one) for one in relations if one.id in taken],
        **page_rows(None if cursor is None else str(cursor), note),
    }


def _unseen(
    key: int,
    memory: Memory,
    observations: Sequence[Observation],
    relations: Sequence[Relation],
    position: GraphPosition,
) -> _Node:
    """The entity without what earlier pages showed of it."""
    inside = position.observation
    # Where the order has changed meanwhile, another entity may stand at its place.
    known = inside == 0 or any(seen.id == inside for seen in memory.observations)
    if inside is None or key != position.key or not known:
        return _Node(key, memory, observations, relations)
    if position.relation is None:
        return _Node(key, memory, [seen for seen in observations if seen.id > inside], relations)
    return _Node(key, memory, (), [one for one in relations if one.id > (position.relation or 0)])


def _stretch(node: _Node, budget: int) -> tuple[EntityRow, list[int], GraphPosition | None]:
    """The entity with as much as fits of its observations, then of its relations; and where that ends."""
    left = budget - row_tokens(node.row([]))
    texts: list[str | ObservationRow] = []
    kept: list[int] = []
    last = 0
    for seen in node.observations:
        # The first comes at least in part, or a page could never pass it.
        text = observation_row(seen)
        if not texts:
            text = shorten_row(text, max(left, LEAST_PROSE))
        left -= row_tokens(text)
        if texts and left < 0:
            return node.row(texts), kept, GraphPosition(node.key, last)
        texts.append(text)
        last = seen.id
    for one in node.relations:
        left -= row_tokens(relation_row(one))
        if left < 0 and (kept or texts):
            return node.row(texts), kept, GraphPosition(node.key, last, kept[-1] if kept else 0)
        kept.append(one.id)
    return node.row(texts), kept, None


def _missing(node: _Node, row: EntityRow, kept: Sequence[int], budget: int) -> str | None:
    observations = len(node.observations) - len(row["observations"])
    relations = len(node.relations) - len(kept)
    name = f"{node.memory.name[:40]!r}"
    counted = [f"{observations} observations"] if observations else []
    counted += [f"{relations} relations"] if relations else []
    # Only the first is ever cut.
    is_cut = [observation_row(seen) for seen in node.observations[:1]] != row["observations"][:1]
    cut = f"A text of {name} was cut to fit {budget} tokens; allow more with `budget_tokens`."
    more = f"{' and '.join(counted)} of {name} did not fit {budget} tokens; go on with `cursor`."
    return join_sentences(cut if is_cut else None, more if counted else None)
