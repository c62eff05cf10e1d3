"""Splitting an entity that has grown too large: all in one piece, and back again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from recollect.changes import (
    Adopt,
    Change,
    NewRelation,
    Outcome,
    Relate,
    RemoveObservations,
    RestoreObservation,
    Unmake,
)
from recollect.engine.catch_up import catch_up
from recollect.engine.graph.knowledge_graph import entity_named
from recollect.engine.inputs import listed
from recollect.engine.services import Services
from recollect.engine.upkeep.results import CreatedPart, SplitPart, SplitResult, SplitUndo, UndoSplitResult
from recollect.engine.upkeep.split_analysis import CONTAINS, PART_OF
from recollect.errors import Conflict, InvalidInput, NotFound, cited
from recollect.ports import Progress, Snapshot
from recollect.records import Kind, Memory, Observation
from recollect.retrieval.entities import entities_named
from recollect.retrieval.records import memories_by_id, relations_of, scope_id
from recollect.text.limits import clean_name, clean_text, clean_type

PartLike = SplitPart | Mapping[str, Any]


def execute_split(
    services: Services, name: str, wanted: Iterable[PartLike], progress: Progress | None = None
) -> SplitResult:
    """Make the parts, move their observations, and relate them to the original: all of it, or nothing."""
    chosen = [_part_of(part) for part in listed(wanted, "Parts")]
    now = services.clock()
    id_ = entity_named(services, name)
    with services.read() as view:
        original = memories_by_id(view, [id_])[id_]
        _check(services, view, original, chosen)
    standing = {seen.content: seen for seen in original.in_force}
    moved = [[standing[text] for text in part.observations] for part in chosen]
    changes: list[Change] = []
    for part, observations in zip(chosen, moved, strict=True):
        changes.append(Adopt(_entity(original, part, observations, now)))
        changes.append(Relate(services.scope, NewRelation(original.name, part.name, CONTAINS)))
    taken = tuple(text for part in chosen for text in part.observations)
    changes.append(RemoveObservations(services.scope, original.name, taken))
    outcomes = services.store.apply(changes, at=now).outcomes
    made = [outcome.ids[0] for outcome in outcomes[:-1:2]]
    return SplitResult(
        id=original.id,
        name=original.name,
        parts=tuple(
            CreatedPart(made_id, part.name, part.type or original.type, len(part.observations))
            for made_id, part in zip(made, chosen, strict=True)
        ),
        moved=len(taken),
        remaining=len(standing) - len(taken),
        relations=sum(len(outcome.relations) for outcome in outcomes),
        undo=SplitUndo(
            original.id, tuple(made), tuple(seen.id for observations in moved for seen in observations)
        ),
        note=_meanwhile(original, outcomes, len(taken)) or catch_up(services, made, progress).problem,
    )


def _meanwhile(original: Memory, outcomes: Sequence[Outcome], taken: int) -> str | None:
    """What somebody else did between the look at the original and the write, if anything of it matters."""
    joined = [outcome.names[0] for outcome in outcomes[:-1:2] if not outcome.created]
    if joined:
        return f"{joined[0]!r} was made by someone else meanwhile; the observations joined it. Look it over."
    if outcomes[-1].count < taken:
        return f"{original.name!r} was changed by someone else meanwhile; look over what its parts hold."
    return None


def undo_split(services: Services, undo: SplitUndo | Mapping[str, Any]) -> UndoSplitResult:
    """Give the original its observations back and take the parts away: all of it, or nothing.

    What was changed in a part since would be hidden with it, so that is refused, and the message says what.
    """
    token = _undo_of(undo)
    with services.read() as view:
        memories = memories_by_id(view, [token.original, *token.parts])
        original = _living(services, memories, token.original)
        made = [_living(services, memories, id_) for id_ in token.parts]
        _check_undo(view, token, original, made)
    changes: list[Change] = [RestoreObservation(services.scope, id_) for id_ in token.observations]
    # All that they hold is the original's again, so nothing of them need stay.
    changes.append(Unmake(services.scope, token.parts))
    outcomes = services.write(changes)
    note = catch_up(services).problem
    return UndoSplitResult(original.id, original.name, len(token.observations), outcomes[-1].ids, note)


def _entity(original: Memory, part: SplitPart, observations: Sequence[Observation], now: datetime) -> Memory:
    """A new entity whose observations keep their kinds and times.

    It bears the original's ids, which are taken: so the store gives it and them new ones.
    """
    together = {seen.id for seen in observations}
    return Memory(
        id=original.id,
        kind=Kind.ENTITY,
        scope=original.scope,
        created_at=now,
        updated_at=now,
        name=part.name,
        type=part.type or original.type,
        observations=tuple(
            seen if seen.similar_to in together else replace(seen, similar_to=None, similarity=None)
            for seen in observations
        ),
        status=original.status,
        importance=original.importance,
        importance_tag=original.importance_tag,
        pinned=original.pinned,
    )


def _part_of(given: PartLike) -> SplitPart:
    """A SplitPart, or a mapping with our keys or those of MCP Memory v2."""
    if isinstance(given, Mapping):
        renamed = {
            "type" if key in {"entity_type", "entityType"} else key: value for key, value in given.items()
        }
        unknown = set(renamed) - {"name", "type", "observations"}
        if unknown:
            raise InvalidInput(
                f"A part has no {', '.join(sorted(map(repr, unknown)))}; it has: name, observations, type."
            )
        given = SplitPart(renamed.get("name", ""), renamed.get("observations", ()), renamed.get("type"))
    elif not isinstance(given, SplitPart):
        raise InvalidInput(f"A part is a SplitPart or a mapping, not {type(given).__name__}.")
    return SplitPart(
        clean_name(given.name, "name of the part"),
        tuple(clean_text(text, "observation") for text in listed(given.observations, "Observations")),
        None if given.type is None else clean_type(given.type, "type of the part"),
    )


def _check(services: Services, view: Snapshot, original: Memory, chosen: Sequence[SplitPart]) -> None:
    """Whether the split can be made: of what the original has, each piece once, under names that are free."""
    if not chosen:
        raise InvalidInput("Name at least one part; `propose_split` suggests some.")
    standing = {seen.content for seen in original.in_force}
    taken: set[str] = set()
    named: set[str] = set()
    for part in chosen:
        if not part.observations:
            raise InvalidInput(
                f"The part {cited(part.name)} has no observations; leave it out, or give it some."
            )
        for text in part.observations:
            if text not in standing:
                raise NotFound(
                    f"{cited(original.name)} has no observation {cited(text)} in force; give it word for "
                    "word. Nothing was split."
                )
            if text in taken:
                raise InvalidInput(
                    f"The observation {cited(text)} is named twice; it can move to one place only."
                )
            taken.add(text)
        if part.name in named:
            raise InvalidInput(f"Two parts are named {cited(part.name)}; join them, or rename one.")
        named.add(part.name)
    for name in sorted(entities_named(view, scope_id(view, services.scope), sorted(named))):
        raise Conflict(f"There is an entity named {cited(name)} already; give the part another name.")


def _undo_of(given: SplitUndo | Mapping[str, Any]) -> SplitUndo:
    if isinstance(given, Mapping):
        missing = {"original", "parts", "observations"} - set(given)
        if missing:
            raise InvalidInput(f"To undo a split takes its `undo`; {', '.join(sorted(missing))} is missing.")
        given = SplitUndo(given["original"], tuple(given["parts"]), tuple(given["observations"]))
    if not isinstance(given, SplitUndo):
        raise InvalidInput("To undo a split takes the `undo` that `execute_split` gave.")
    if not all(isinstance(id_, int) for id_ in (given.original, *given.parts, *given.observations)):
        raise InvalidInput("The `undo` of a split holds ids, which are whole numbers.")
    return given


def _living(services: Services, memories: Mapping[int, Memory], id_: int) -> Memory:
    memory = memories.get(id_)
    if memory is None or memory.scope != services.scope or memory.kind is not Kind.ENTITY:
        raise NotFound(f"There is no entity {id_}; nothing was undone.")
    if memory.deleted_at is not None:
        raise Conflict(
            f"{cited(memory.name)} was forgotten since; restore memory {id_} before you undo the split."
        )
    return memory


def _check_undo(view: Snapshot, token: SplitUndo, original: Memory, made: Sequence[Memory]) -> None:
    """Whether each part is as the split left it, and the original lacks just what it gave."""
    given = {seen.id: seen.content for seen in original.observations}
    wanted = {given.get(id_) for id_ in token.observations}
    if not token.parts or None in wanted:
        raise NotFound(
            f"This is no split of {cited(original.name)}, or its observations were purged; nothing was "
            "undone."
        )
    held: set[str] = set()
    for part in made:
        texts = {seen.content for seen in part.in_force}
        if new := sorted(texts - wanted, key=str):
            raise _changed(part, f"has gained the observation {cited(new[0])}; move or delete it")
        held |= texts
        _check_relations(view, original, part)
    if lost := sorted(text for text in wanted if text is not None and text not in held):
        raise Conflict(
            f"The observation {cited(lost[0])} is in none of the parts any more; restore it there, or give "
            f"{cited(original.name)} back what it should have with `restore_observation`. Nothing was "
            "undone."
        )


def _check_relations(view: Snapshot, original: Memory, part: Memory) -> None:
    ours = {(original.id, part.id, CONTAINS), (part.id, original.id, PART_OF)}
    relations = {(each.source, each.target, each.type): each for each in relations_of(view, [part.id])}
    if not ours <= set(relations):
        raise Conflict(
            f"{cited(original.name)} does not contain {cited(part.name)} any more; relate them again "
            "before you undo the split."
        )
    for key, relation in relations.items():
        if key not in ours:
            raise _changed(
                part,
                f"has gained a relation: {cited(relation.source_name)} {relation.type} "
                f"{cited(relation.target_name)}; delete it",
            )


def _changed(part: Memory, what: str) -> Conflict:
    return Conflict(f"{cited(part.name)} {what} before you undo the split. Nothing was undone.")
