"""Relations between entities, and their inverses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.changes import EndRelation, NewEntity, NewRelation, Outcome, Relate, Unrelate
from recollect.conditions import AnyOf, Condition, Equals, OneOf, is_null
from recollect.engine.writes import entities
from recollect.errors import InvalidInput, NotFound, cited
from recollect.retrieval.entities import find_entity
from recollect.retrieval.records import stamp, stamp_or_none

if TYPE_CHECKING:
    from recollect.engine.writes.work import Work

# Types whose inverse is written along with them.
INVERSES = {
    "contains": "part_of",
    "part_of": "contains",
    "contiene": "parte_de",
    "parte_de": "contiene",
}


def relate(work: Work, change: Relate) -> Outcome:
    scope, new = work.scope_id(change.scope), change.relation
    if new.since is not None and new.until is not None and new.until < new.since:
        raise InvalidInput(
            f"The relation {cited(new.source)} {new.type} {cited(new.target)} would end before it begins; "
            "swap `since` and `until`."
        )
    missing: list[str] = []
    source, target = (
        _endpoint(work, scope, name, missing, create=change.create_missing)
        for name in (new.source, new.target)
    )
    relation, created = _connect(work, source, target, new.type, new, None)
    made: tuple[int, ...] = (relation,)
    inverse_type = INVERSES.get(new.type)
    if inverse_type is not None:
        inverse, _ = _connect(work, target, source, inverse_type, new, relation)
        made = (relation, inverse)
    return Outcome(
        ids=(source, target),
        names=(work.name(source), work.name(target)),
        created=created,
        relations=made,
        also_created=tuple(missing),
    )


def end(work: Work, change: EndRelation) -> Outcome:
    scope = work.scope_id(change.scope)
    source, target = work.entity(scope, change.source), work.entity(scope, change.target)
    relation = relation_in_force(work, source, target, change.type)
    if relation is None:
        raise NotFound(
            f"No relation {cited(change.source)} {change.type} {cited(change.target)} is in force; "
            "there is nothing to end."
        )
    at = work.at if change.at is None else stamp(change.at)
    ended = _with_inverse(work, relation)
    for id_ in ended:
        row = work.row("relation", id_, "since")
        if row is not None and row[0] is not None and at < row[0]:
            raise InvalidInput("A relation cannot end before it began; give a later time.")
        work.set("relation", id_, until=at)
    return Outcome(relations=ended, count=len(ended))


def unrelate(work: Work, change: Unrelate) -> Outcome:
    """Every relation of that type between the two, ended or not."""
    scope = work.scope_id(change.scope)
    source, target = (find_entity(work.rows, scope, name) for name in (change.source, change.target))
    if source is None or target is None:
        return Outcome()
    there = work.ids("relation", (*_between(source, target, change.type), is_null("deleted_at")))
    gone = tuple(dict.fromkeys(other for id_ in there for other in _with_inverse(work, id_)))
    work.rows.patch("relation", (OneOf("id", gone),), {"deleted_at": work.at})
    return Outcome(relations=gone, count=len(gone))


def relation_in_force(work: Work, source: int, target: int, type_: str) -> int | None:
    holds = (is_null("until"), is_null("deleted_at"))
    row = work.first("relation", (*_between(source, target, type_), *holds), "id")
    return None if row is None else int(row[0])


def _between(source: int, target: int, type_: str) -> tuple[Condition, ...]:
    return Equals("source_id", source), Equals("target_id", target), Equals("type", type_)


def _endpoint(work: Work, scope: int, name: str, missing: list[str], *, create: bool) -> int:
    if not create:
        return work.entity(scope, name)
    there = find_entity(work.rows, scope, name)
    if there is not None:
        return there
    missing.append(name)
    made = entities.insert(work, scope, NewEntity(name))
    work.touch(made, scope, named=True)
    return made


def _connect(
    work: Work, source: int, target: int, type_: str, new: NewRelation, inverse_of: int | None
) -> tuple[int, bool]:
    """The relation's id, and whether it is new. One that has ended counts as the same if its span is."""
    since, until = stamp_or_none(new.since), stamp_or_none(new.until)
    span = (Equals("until", until),) if until is None else (Equals("until", until), Equals("since", since))
    same = (*_between(source, target, type_), is_null("deleted_at"), *span)
    standing = work.first("relation", same, "id")
    if standing is not None:
        return int(standing[0]), False
    made = work.add(
        "relation",
        source_id=source,
        target_id=target,
        type=type_,
        context=new.context,
        created_at=work.at,
        since=since,
        until=until,
        inverse_of=inverse_of,
    )
    return made, True


def _with_inverse(work: Work, relation: int) -> tuple[int, ...]:
    """The relation, and the one that was written along with it, whichever of the two came first."""
    row = work.row("relation", relation, "inverse_of")
    groups: list[tuple[Condition, ...]] = [(Equals("inverse_of", relation),)]
    if row is not None and row[0] is not None:
        groups.append((Equals("id", row[0]),))
    return (relation, *work.ids("relation", (AnyOf(tuple(groups)), is_null("deleted_at"))))
