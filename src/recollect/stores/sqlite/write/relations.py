"""Relations between entities, and their inverses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.changes import NewEntity, Outcome
from recollect.errors import InvalidInput, NotFound
from recollect.stores.sqlite.lookup import find_entity
from recollect.stores.sqlite.rows import many, stamp, stamp_or_none
from recollect.stores.sqlite.write import entities

if TYPE_CHECKING:
    from recollect.changes import EndRelation, NewRelation, Relate, Unrelate
    from recollect.stores.sqlite.write.batch import Batch

# Types whose inverse is written along with them.
INVERSES = {
    "contains": "part_of",
    "part_of": "contains",
    "contiene": "parte_de",
    "parte_de": "contiene",
}


def relate(batch: Batch, change: Relate) -> Outcome:
    scope, new = batch.scope_id(change.scope), change.relation
    if new.since is not None and new.until is not None and new.until < new.since:
        raise InvalidInput(
            f"The relation {new.source!r} {new.type} {new.target!r} would end before it begins; "
            "swap `since` and `until`."
        )
    missing: list[str] = []
    source, target = (
        _endpoint(batch, scope, name, missing, create=change.create_missing)
        for name in (new.source, new.target)
    )
    relation, created = _connect(batch, source, target, new.type, new, None)
    made: tuple[int, ...] = (relation,)
    inverse_type = INVERSES.get(new.type)
    if inverse_type is not None:
        inverse, _ = _connect(batch, target, source, inverse_type, new, relation)
        made = (relation, inverse)
    return Outcome(
        ids=(source, target),
        names=(batch.name(source), batch.name(target)),
        created=created,
        relations=made,
        also_created=tuple(missing),
    )


def end(batch: Batch, change: EndRelation) -> Outcome:
    scope = batch.scope_id(change.scope)
    relation = _in_force(batch, scope, change)
    if relation is None:
        raise NotFound(
            f"No relation {change.source!r} {change.type} {change.target!r} is in force; "
            "there is nothing to end."
        )
    at = batch.at if change.at is None else stamp(change.at)
    ended = _with_inverse(batch, relation)
    for id_ in ended:
        since = batch.one("SELECT since FROM relation WHERE id = ?", id_)
        if since is not None and at < since:
            raise InvalidInput("A relation cannot end before it began; give a later time.")
        batch.run("UPDATE relation SET until = ? WHERE id = ?", at, id_)
    return Outcome(relations=ended, count=len(ended))


def unrelate(batch: Batch, change: Unrelate) -> Outcome:
    """Every relation of that type between the two, ended or not."""
    scope = batch.scope_id(change.scope)
    source = find_entity(batch.connection, scope, change.source)
    target = find_entity(batch.connection, scope, change.target)
    if source is None or target is None:
        return Outcome()
    rows = batch.rows(
        "SELECT id FROM relation WHERE source_id = ? AND target_id = ? AND type = ? AND deleted_at IS NULL",
        source,
        target,
        change.type,
    )
    gone = tuple(dict.fromkeys(other for (id_,) in rows for other in _with_inverse(batch, id_)))
    batch.run(
        "UPDATE relation SET deleted_at = ? WHERE id IN (SELECT value FROM json_each(?))",
        batch.at,
        many(gone),
    )
    return Outcome(relations=gone, count=len(gone))


def _endpoint(batch: Batch, scope: int, name: str, missing: list[str], *, create: bool) -> int:
    if create and find_entity(batch.connection, scope, name) is None:
        missing.append(name)
        made = entities.insert(batch, scope, NewEntity(name))
        batch.touch(made, scope, named=True)
        return made
    return batch.entity(scope, name)


def _connect(
    batch: Batch, source: int, target: int, type_: str, new: NewRelation, inverse_of: int | None
) -> tuple[int, bool]:
    """The relation's id, and whether it is new. One that has ended counts as the same if its span is."""
    since, until = stamp_or_none(new.since), stamp_or_none(new.until)
    standing = batch.one(
        "SELECT id FROM relation WHERE source_id = ? AND target_id = ? AND type = ? AND deleted_at IS NULL "
        "AND until IS ?4 AND (?4 IS NULL OR since IS ?5) ORDER BY id",
        source,
        target,
        type_,
        until,
        since,
    )
    if standing is not None:
        return standing, False
    made = batch.insert(
        "INSERT INTO relation(source_id, target_id, type, context, created_at, since, until, inverse_of) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        source,
        target,
        type_,
        new.context,
        batch.at,
        since,
        until,
        inverse_of,
    )
    return made, True


def _in_force(batch: Batch, scope: int, change: EndRelation) -> int | None:
    source, target = batch.entity(scope, change.source), batch.entity(scope, change.target)
    return batch.one(
        "SELECT id FROM relation WHERE source_id = ? AND target_id = ? AND type = ? AND until IS NULL "
        "AND deleted_at IS NULL",
        source,
        target,
        change.type,
    )


def _with_inverse(batch: Batch, relation: int) -> tuple[int, ...]:
    """The relation, and the one that was written along with it, whichever of the two came first."""
    others = batch.rows(
        "SELECT id FROM relation WHERE deleted_at IS NULL AND (inverse_of = ?1 "
        "OR id = (SELECT inverse_of FROM relation WHERE id = ?1)) ORDER BY id",
        relation,
    )
    return (relation, *(id_ for (id_,) in others))
