"""Review: contradictions, duplicates, and large or stale entities. A person decides, and can undo it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import islice
from typing import Annotated, Any, Literal, get_args

from recollect.domain.changes import (
    Amend,
    Change,
    Dismiss,
    Forget,
    RemoveObservations,
    Restore,
    RestoreObservation,
    Supersede,
)
from recollect.domain.errors import InvalidInput, NotFound
from recollect.domain.json_values import omitted
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.limits import STALE_DAYS
from recollect.domain.records import Memory, Observation, Status
from recollect.domain.tables import (
    IN_FORCE,
    BelongsTo,
    Compares,
    Condition,
    Equals,
    HasRow,
    Not,
    OneOf,
    is_set,
)
from recollect.memories.corrections import near_copies
from recollect.ranking.factors import microseconds
from recollect.review.report import stale_entities
from recollect.review.results import (
    SettleKind,
    SplitUndo,
    decision_key,
    is_pair,
    kept_together,
    text_reference,
)
from recollect.review.split import (
    MOST_BY_TYPE,
    MOST_OBSERVATIONS,
    analyze_entities,
    big_entities,
    execute_split,
    propose_split,
    undo_split,
)
from recollect.search.contradictions import contradictions_among, texts_of, time_of_text
from recollect.search.rows import memories_by_id
from recollect.search.texts import dismissed_keys, model_row
from recollect.services import EngineGroup, Services, retry_after_failover
from recollect.stores.port import Progress, Snapshot
from recollect.text.near_duplicates import REWORDED_COSINE, is_paraphrase
from recollect.write.embedding import catch_up

SettleAction = Literal[
    "supersede_older",
    "forget_older",
    "forget_newer",
    "remove_older",
    "remove_newer",
    "split",
    "archive",
    "forget",
    "keep",
]
"""`keep` only dismisses the item. `remove_…` is for observations, `forget…` for whole memories."""
# Contradictions are searched among this many of the newest notes, and of the newest observations.
_MOST_COMPARED = 2_000
_MOST_PAIRS = 10_000
# Only entities with one of the newest observations are considered for a split, and only the largest.
_MOST_FOR_SPLITS = 20_000
_MOST_LARGE_ENTITIES = 200
_PAGE = 500


@dataclass(frozen=True, slots=True)
class Candidate:
    """One of the texts that a decision is about."""

    id: int
    observation: int | None
    """The observation's id; None for a whole memory."""
    name: str
    """Name of the entity; empty for notes."""
    text: str
    at: datetime | None
    """When it happened, or else when it was stored; None if unknown."""

    @property
    def reference(self) -> str:
        return text_reference(self.id, self.observation)


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """Two texts, or an entity, for a person to decide on."""

    kind: SettleKind
    older: Candidate
    newer: Candidate | None
    actions: tuple[SettleAction, ...]
    similarity: float | None = None
    detail: str = ""
    dismissed: bool = False
    """Whether a person chose to keep it."""
    JSON_PROPERTIES = ("key",)

    @property
    def key(self) -> str:
        sides = (self.older,) if self.newer is None else (self.older, self.newer)
        return decision_key(self.kind, *(side.reference for side in sides))


@dataclass(frozen=True, slots=True)
class SettleUndo:
    """The argument of `undo`. It holds ids only."""

    key: str
    action: SettleAction
    memories: tuple[int, ...] = ()
    observations: tuple[int, ...] = ()
    status: Annotated[str | None, "The status of an entity before it was archived"] = omitted()
    split: SplitUndo | None = omitted()


class Settling(EngineGroup):
    """`memory.upkeep.settling`: decisions for a person to make."""

    @retry_after_failover
    def page(
        self,
        kind: SettleKind,
        *,
        start: int = 0,
        limit: int = 50,
        dismissed: bool = False,
        stale_days: float = STALE_DAYS,
        progress: Progress | None = None,
    ) -> tuple[tuple[ReviewItem, ...], bool]:
        """Return a page of the items of one kind, and whether there are more.

        Contradictions are searched among the newest texts: two thousand notes, and as many observations.
        Only entities with one of the newest twenty thousand observations are considered for a split.

        Args:
            kind: The kind of decision.
            start: Number of items to skip.
            limit: Number of items to return.
            dismissed: Return the dismissed items instead.
            stale_days: Days without use after which an entity counts as stale.
            progress: Reports the entities analysed for a split.

        Examples:
            >>> memory.upkeep.settling.page("contradiction")
            ((), False)
        """
        services = self._services.for_writing
        with services.read() as view:
            kept = dismissed_keys(view, services.scope)
            match kind:
                case "contradiction":
                    found = _contradictions(services, view)
                case "similar_notes":
                    found = _similar_notes(services, view)
                case "similar_observations":
                    found = _similar_observations(services, view)
                case "split":
                    found = _splits(services, view, progress)
                case "stale":
                    found = _stale(services, view, stale_days)
                case _:
                    raise InvalidInput(f"There is no kind {kind!r}; the kinds are: {', '.join(_ACTIONS)}.")
            wanted = (each for each in found if (each.key in kept) is dismissed)
            shown = tuple(islice(wanted, start, start + limit + 1))
        marked = tuple(replace(each, dismissed=dismissed) for each in shown[:limit])
        return marked, len(shown) > limit

    def settle(self, key: str, action: SettleAction) -> SettleUndo:
        """Apply one decision.

        Args:
            key: The `key` of an item.
            action: One of the item's actions.

        Returns:
            A value for `undo`.

        Raises:
            NotFound: The item was decided already, or its texts are no longer current.

        Examples:
            >>> notes = memory.remember_many(["Ana lives in Porto", "Ana lives in Lisbon now"])
            >>> items, has_more = memory.upkeep.settling.page("contradiction")
            >>> undo = memory.upkeep.settling.settle(items[0].key, "supersede_older")
        """
        services = self._services.for_writing
        kind, references = _parse_key(key)
        if action not in _ACTIONS[kind]:
            raise InvalidInput(
                f"{action!r} is no action for {kind!r}; the actions are: {', '.join(_ACTIONS[kind])}."
            )
        if action == "keep":
            services.write([Dismiss(services.scope, key)])
            return SettleUndo(key, action)
        with services.read() as view:
            sides = [_side_of(services, view, each) for each in references]
        if kind == "split":
            done = execute_split(services, sides[0].name, propose_split(services, sides[0].name).parts)
            return SettleUndo(key, action, split=done.undo)
        if action == "archive":
            before = services.memory(sides[0].id).status
            services.write([Amend(services.scope, sides[0].id, status=Status.ARCHIVED)])
            return SettleUndo(key, action, (sides[0].id,), status=before)
        return _apply_decision(services, key, action, sides)

    def undo(self, undo: SettleUndo) -> None:
        """Undo a decision.

        Raises:
            Conflict: A memory was changed after it.

        Examples:
            >>> notes = memory.remember_many(["Ana lives in Porto", "Ana lives in Lisbon now"])
            >>> items, has_more = memory.upkeep.settling.page("contradiction")
            >>> undo = memory.upkeep.settling.settle(items[0].key, "supersede_older")
            >>> memory.upkeep.settling.undo(undo)
        """
        services = self._services.for_writing
        match undo.action:
            case "keep":
                services.write([Dismiss(services.scope, undo.key, dismissed=False)])
            case "split" if undo.split is not None:
                undo_split(services, undo.split)
            case "archive" if undo.status is not None:
                status = Status.of(undo.status)
                services.write([Amend(services.scope, id_, status=status) for id_ in undo.memories])
            case _:
                changes: list[Change] = [Restore(services.scope, id_) for id_ in undo.memories]
                changes += [RestoreObservation(services.scope, id_) for id_ in undo.observations]
                if not changes:
                    raise InvalidInput("There is nothing to undo; pass the `undo` of `settle`.")
                services.write(changes)
                catch_up(services)


_NOTE_ACTIONS: tuple[SettleAction, ...] = ("supersede_older", "forget_older", "forget_newer", "keep")
_OBSERVATION_ACTIONS: tuple[SettleAction, ...] = ("remove_older", "remove_newer", "keep")
_ACTIONS: Mapping[SettleKind, tuple[SettleAction, ...]] = {
    "contradiction": tuple(dict.fromkeys((*_NOTE_ACTIONS, *_OBSERVATION_ACTIONS))),
    "similar_notes": _NOTE_ACTIONS,
    "similar_observations": _OBSERVATION_ACTIONS,
    "split": ("split", "keep"),
    "stale": ("archive", "forget", "keep"),
}


# Items


def _current_memories(services: Services, view: Snapshot, *more: Condition) -> tuple[Condition, ...]:
    """Return conditions for current memories in the readable scopes."""
    return (OneOf("scope_id", services.scope_ids(view)), *more, *IN_FORCE)


def _newest_observations(
    services: Services, view: Snapshot, columns: tuple[str, ...], limit: int, *where: Condition
) -> Sequence[tuple[Any, ...]]:
    owned = BelongsTo("memory_id", "memory", _current_memories(services, view))
    return view.rows("observation", columns, (*where, *IN_FORCE, owned), descending=True, limit=limit)


def _contradictions(services: Services, view: Snapshot) -> Iterator[ReviewItem]:
    notes = _current_memories(services, view, Equals("kind", "note"))
    noted = view.rows("memory", ("id",), notes, descending=True, limit=_MOST_COMPARED)
    observed = _newest_observations(services, view, ("memory_id",), _MOST_COMPARED)
    memories = memories_by_id(view, sorted({id_ for (id_,) in (*noted, *observed)}))
    texts = [text for memory in memories.values() for text in texts_of(memory)]
    for pair in contradictions_among(view, texts, model_row(view)):
        older, newer = (
            Candidate(text.id, text.observation, memories[text.id].name, text.text, time_of_text(text))
            for text in pair
        )
        yield ReviewItem("contradiction", older, newer, _pair_actions(older, newer))


def _pair_actions(older: Candidate, newer: Candidate) -> tuple[SettleAction, ...]:
    """Return the possible actions. A memory can supersede another one, but not its own observation."""
    found: list[SettleAction] = ["supersede_older"] if older.id != newer.id else []
    found.append("forget_older" if older.observation is None else "remove_older")
    found.append("forget_newer" if newer.observation is None else "remove_newer")
    return (*found, "keep")


def _similar_notes(services: Services, view: Snapshot) -> Iterator[ReviewItem]:
    where = _current_memories(services, view, Equals("kind", "note"), is_set("similar_to"))
    earlier: tuple[Condition, ...] = ()
    while True:
        rows = view.rows("memory", ("id", "similar_to"), (*where, *earlier), descending=True, limit=_PAGE)
        known = memories_by_id(view, {id_ for row in rows for id_ in row})
        for id_, other in rows:
            older, newer = known.get(other), known[id_]
            if older is None or older.deleted_at is not None or older.superseded_at is not None:
                continue
            if _say_the_same(older.text, newer.text, newer.similarity):
                sides = _memory_side(older), _memory_side(newer)
                yield ReviewItem("similar_notes", *sides, _NOTE_ACTIONS, newer.similarity)
        if len(rows) < _PAGE:
            return
        earlier = (Compares("id", "<", rows[-1][0]),)


def _say_the_same(one: str, other: str, similarity: float | None) -> bool:
    """Return whether two similar texts say the same. Many only share a subject."""
    found = is_paraphrase(one, other)
    return (similarity or 0.0) >= REWORDED_COSINE if found is None else found


def _memory_side(memory: Memory) -> Candidate:
    known = memory.happened_at or (None if memory.undated else memory.created_at)
    return Candidate(memory.id, None, memory.name, memory.text, known)


def _similar_observations(services: Services, view: Snapshot) -> Iterator[ReviewItem]:
    columns = ("memory_id", "id", "similar_to")
    rows = _newest_observations(services, view, columns, _MOST_PAIRS, is_set("similar_to"))
    for start in range(0, len(rows), _PAGE):
        page = rows[start : start + _PAGE]
        entities = memories_by_id(view, {entity for entity, *_ in page})
        for entity, new, old in page:
            current = {seen.id: seen for seen in entities[entity].in_force}
            if new in current and old in current:
                older, newer = (_observation_side(entities[entity], current[each]) for each in (old, new))
                similarity = current[new].similarity
                if _say_the_same(older.text, newer.text, similarity):
                    yield ReviewItem("similar_observations", older, newer, _OBSERVATION_ACTIONS, similarity)


def _observation_side(entity: Memory, seen: Observation) -> Candidate:
    return Candidate(entity.id, seen.id, entity.name, seen.content, seen.happened_at or seen.created_at)


def _splits(services: Services, view: Snapshot, progress: Progress | None) -> Iterator[ReviewItem]:
    """Yield large entities among those with the newest observations."""
    newest = {id_ for (id_,) in _newest_observations(services, view, ("memory_id",), _MOST_FOR_SPLITS)}
    counts = view.count("observation", (OneOf("memory_id", newest), *IN_FORCE), by="memory_id")
    fewest = min(MOST_OBSERVATIONS, *MOST_BY_TYPE.values())
    grown = sorted((-count, id_) for id_, count in counts.items() if isinstance(id_, int) and count > fewest)
    entities = memories_by_id(view, [id_ for _, id_ in grown[:_MOST_LARGE_ENTITIES]])
    for each in analyze_entities(services, list(big_entities(view, entities.values())), progress):
        if each.needs_split:
            topics = ", ".join(topic.name for topic in each.topics)
            detail = f"{each.observations} observations, at most {each.limit}; topics: {topics}"
            side = Candidate(each.id, None, each.name, each.type, None)
            yield ReviewItem("split", side, None, _ACTIONS["split"], detail=detail)


def _stale(services: Services, view: Snapshot, stale_days: float) -> Iterator[ReviewItem]:
    """Yield stale entities by id. The query leaves out those that were changed or used recently."""
    now, unseen_for = services.clock(), timedelta(days=stale_days)
    start = microseconds(now - unseen_for)
    where = _current_memories(
        services,
        view,
        Equals("kind", "entity"),
        Compares("updated_at", "<", start),
        Not(Equals("status", str(Status.ARCHIVED))),
        Not(HasRow("usage", "memory_id", (Compares("last_at", ">=", start),))),
    )
    last = 0
    while rows := view.rows("memory", ("id",), (*where, Compares("id", ">", last)), limit=_PAGE):
        page = list(memories_by_id(view, [id_ for (id_,) in rows]).values())
        for each in stale_entities(view, page, now, unseen_for):
            side = Candidate(each.id, None, each.name, each.type, each.last_seen or each.updated_at)
            detail = f"neither seen nor changed for {each.days} days"
            yield ReviewItem("stale", side, None, _ACTIONS["stale"], detail=detail)
        last = rows[-1][0]


# Deciding


def _parse_key(key: str) -> tuple[SettleKind, list[str]]:
    name, *references = key.split(":")
    kind: SettleKind | None = next((each for each in get_args(SettleKind) if each == name), None)
    if kind is None or len(references) != 1 + is_pair(name):
        raise InvalidInput(f"No item has the key {key[:80]!r}; pass the `key` of an item of `to_settle`.")
    return kind, references


def _side_of(services: Services, view: Snapshot, reference: str) -> Candidate:
    """Return the text of a reference, or raise NotFound if it is no longer current."""
    number = reference.removeprefix("o")
    gone = NotFound(f"{reference[:40]!r} is no longer current; call `to_settle` again.")
    if not (number.isascii() and number.isdecimal() and len(number) < 19):
        raise gone
    id_, observation = int(number), None
    if reference.startswith("o"):
        rows = view.rows("observation", ("memory_id",), (Equals("id", id_),))
        if not rows:
            raise gone
        observation, id_ = id_, rows[0][0]
    memory = memories_by_id(view, [id_]).get(id_)
    if memory is None or not services.can_read(memory.scope) or memory.deleted_at or memory.superseded_at:
        raise gone
    if observation is None:
        return _memory_side(memory)
    for seen in memory.in_force:
        if seen.id == observation:
            return _observation_side(memory, seen)
    raise gone


def _apply_decision(
    services: Services, key: str, action: SettleAction, sides: Sequence[Candidate]
) -> SettleUndo:
    older, newer = sides[0], sides[-1]
    target = newer if action in {"forget_newer", "remove_newer"} else older
    is_observation = target.observation is not None
    if action.startswith("remove") != is_observation and action != "supersede_older":
        raise InvalidInput(
            f"{action!r} does not apply to {'an observation' if is_observation else 'a whole memory'}; "
            f"the actions are: {', '.join(_pair_actions(older, newer))}."
        )
    if action == "supersede_older":
        if older.id == newer.id:
            raise InvalidInput("Both are observations of one entity; use 'remove_older' instead.")
        ids, observations = _replaced_ids(services, older, newer, copies=key.startswith("contradiction:"))
        services.write([Supersede(services.scope, ids, newer.id, observations)])
        return SettleUndo(key, action, ids, observations)
    if target.observation is not None:
        services.write([RemoveObservations(services.scope, target.name, (target.text,))])
        return SettleUndo(key, action, observations=(target.observation,))
    services.write([Forget(services.scope, (target.id,))])
    return SettleUndo(key, action, (target.id,))


def _replaced_ids(
    services: Services, older: Candidate, newer: Candidate, *, copies: bool
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the ids of the memories and observations that the newer text replaces.

    With `copies`, it also replaces near copies of the older text, except those that a person chose to keep.
    """
    if older.observation is not None:
        return (), (older.observation,)
    if not copies:
        return (older.id,), ()
    wrong = services.memory(older.id)
    right = newer.text if newer.observation is None else f"{newer.name}: {newer.text}"
    with services.read() as view:
        kept = kept_together(dismissed_keys(view, services.scope))
        found = [
            (id_, observation)
            for id_, observation in near_copies(services, view, wrong, right, newer.id)
            if text_reference(id_, observation) not in kept
        ]
    return (
        (older.id, *(id_ for id_, observation in found if observation is None)),
        tuple(observation for _, observation in found if observation is not None),
    )
