"""Read a store: pages of memories and relations, passages, counts, scopes, settings, conversations."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from hashlib import blake2b
from typing import TYPE_CHECKING, Literal, NamedTuple

from recollect.domain.numbers import unpack_vector
from recollect.domain.records import (
    Counts,
    Kind,
    Memory,
    Model,
    NamedToken,
    Passage,
    Relation,
    Scope,
    ScopeCounts,
    Session,
)
from recollect.domain.tables import (
    IN_FORCE,
    BelongsTo,
    Compares,
    Condition,
    Equals,
    KeyIn,
    OneOf,
    Where,
    is_null,
    is_set,
    null_or_after,
)
from recollect.search.rows import (
    MODEL_IN_USE,
    PASSAGE_COLUMNS,
    allowed,
    lifecycle,
    memories_where,
    model_of,
    moment,
    moment_or_none,
    narrowing,
    passages_from,
    relations_where,
    scope_ids,
    stamp,
    stamp_or_none,
)
from recollect.stores.port import Snapshot, Vector

if TYPE_CHECKING:
    from recollect.domain.records import Filter
    from recollect.domain.tables import Table


# Passages, their vectors, and pending ones

MODEL_CHOICE = "model_choice"
"""The setting that exists if Recollect, not the user, chose the model in use."""
# The number of newest pending passages that `has_pending` checks.
_NEWEST_PENDING = 2_000


def model_row(snapshot: Snapshot) -> tuple[int, Model] | None:
    return model_of(snapshot.rows_batch([MODEL_IN_USE])[0])


def model_in_use(snapshot: Snapshot) -> Model | None:
    row = model_row(snapshot)
    return None if row is None else row[1]


def vectors_of(
    snapshot: Snapshot, passages: Sequence[int], model: tuple[int, Model] | None = None
) -> dict[int, Vector]:
    """Return vectors of the model in use, by passage. Pass `model` if you know its row."""
    model = model or model_row(snapshot)
    if model is None:
        return {}
    rows = snapshot.rows(
        "vector", ("passage_id", "embedding"), (Equals("model_id", model[0]), OneOf("passage_id", passages))
    )
    return {passage: unpack_vector(blob) for passage, blob in rows}


def memory_vectors(
    snapshot: Snapshot, ids: Sequence[int], model: tuple[int, Model] | None = None
) -> dict[int, list[Vector]]:
    """Return the vectors of the live passages of these memories, in order, by memory."""
    rows = snapshot.rows("passage", ("id", "memory_id"), (OneOf("memory_id", ids), Equals("live", 1)))
    vectors = vectors_of(snapshot, [passage for passage, _ in rows], model)
    found: dict[int, list[Vector]] = {}
    for passage, memory in rows:
        if passage in vectors:
            found.setdefault(memory, []).append(vectors[passage])
    return found


def passages_of(
    snapshot: Snapshot, ids: Sequence[int], memories: Mapping[int, Memory] | None = None
) -> list[Passage]:
    """Return the live passages of these memories, by id. Pass `memories` if you have them already."""
    live = (OneOf("memory_id", ids), Equals("live", 1))
    return passages_from(snapshot, snapshot.rows("passage", PASSAGE_COLUMNS, live), memories)


def passages_by_id(
    snapshot: Snapshot,
    passages: Sequence[int],
    memories: Mapping[int, Memory] | None = None,
    *where: Condition,
) -> list[Passage]:
    """Return the passages that exist and meet the conditions, by id."""
    if not passages:
        return []
    rows = snapshot.rows("passage", PASSAGE_COLUMNS, (OneOf("id", passages), *where))
    return passages_from(snapshot, rows, memories)


def pending_passages(
    snapshot: Snapshot, model: Model, after: int, limit: int, *, past: bool = False
) -> list[Passage]:
    """Return live passages without a vector of this model, by ascending id above `after`.

    With `past`, also return pending passages of former texts, if this is the model in use.
    """
    live = () if past else (Equals("live", 1),)
    in_use = model_in_use(snapshot)
    is_in_use = in_use is None or in_use.name == model.name
    found: list[Passage] = []
    while len(found) < limit:
        if is_in_use:
            pending = snapshot.rows(
                "pending_vector", ("passage_id",), (Compares("passage_id", ">", after),), limit=limit
            )
            ids = [id_ for (id_,) in pending]
        else:
            ids = _passages_lacking(snapshot, "vector", model, after, limit)
        if not ids:
            break
        found += passages_by_id(snapshot, ids, None, *live)
        after = ids[-1]
    return found[:limit]


def passages_without_tokens(snapshot: Snapshot, model: Model, after: int, limit: int) -> list[Passage]:
    """Return live passages without token vectors of this model, by ascending id above `after`."""
    return passages_by_id(snapshot, _passages_lacking(snapshot, "passage_tokens", model, after, limit))


def count_without_tokens(snapshot: Snapshot) -> int:
    """Count live passages that have a vector of the model in use, but no token vectors."""
    model = model_row(snapshot)
    if model is None:
        return 0
    live = {id_ for (id_,) in snapshot.rows("passage", ("id",), (Equals("live", 1),))}
    own = (Equals("model_id", model[0]),)
    with_vector = {id_ for (id_,) in snapshot.rows("vector", ("passage_id",), own)}
    with_tokens = {id_ for (id_,) in snapshot.rows("passage_tokens", ("passage_id",), own)}
    return len((live & with_vector) - with_tokens)


def has_pending(snapshot: Snapshot, scopes: Sequence[int]) -> bool:
    """Whether one of the newest pending passages belongs to these scopes."""
    # Only the newest: another scope may have ten thousand pending ones.
    newest = snapshot.rows("pending_vector", ("passage_id",), descending=True, limit=_NEWEST_PENDING)
    if not newest:
        return False
    passages = snapshot.rows(
        "passage", ("memory_id",), (OneOf("id", [id_ for (id_,) in newest]), Equals("live", 1))
    )
    ours = (OneOf("id", {id_ for (id_,) in passages}), OneOf("scope_id", scopes))
    return bool(snapshot.rows("memory", ("id",), ours, limit=1))


def _passages_lacking(
    snapshot: Snapshot, table: Literal["vector", "passage_tokens"], model: Model, after: int, limit: int
) -> list[int]:
    """Return the next live passages without a row of this model in the table; empty at the end."""
    known = snapshot.rows("model", ("id",), (Equals("name", model.name),))
    while True:
        rows = snapshot.rows("passage", ("id",), (Compares("id", ">", after), Equals("live", 1)), limit=limit)
        ids = [id_ for (id_,) in rows]
        if not ids or not known:
            return ids
        own = (Equals("model_id", known[0][0]), OneOf("passage_id", ids))
        done = {id_ for (id_,) in snapshot.rows(table, ("passage_id",), own)}
        after = ids[-1]
        missing = [id_ for id_ in ids if id_ not in done]
        if missing:
            return missing


LAST_ID = 2**63 - 1
"""The highest possible id."""
TOKENS = "tokens"
"""The setting with all named tokens, as JSON."""


def memory_page(
    snapshot: Snapshot, where: Filter | None, after: int, limit: int, *, newest_first: bool = False
) -> Sequence[Memory]:
    """Return memories by ascending id above `after`; without a filter, of every scope, even forgotten ones.

    With `newest_first`, return them by descending id below `after`, or from the newest if that is 0.
    """
    beyond = Compares("id", "<", after or LAST_ID) if newest_first else Compares("id", ">", after)
    if where is None:
        return memories_where(snapshot, (beyond,), limit=limit)
    scopes = scope_ids(snapshot, where.owner, where.agent)
    if where.refs is not None:
        # A separate query: otherwise a store may scan all notes by id.
        named = (OneOf("scope_id", scopes), OneOf("ref", where.refs))
        asked = [id_ for (id_,) in snapshot.rows("memory", ("id",), named)]
        found = memories_where(snapshot, (OneOf("id", asked), *allowed(where, scopes), beyond))
        return sorted(found, key=lambda memory: memory.id, reverse=newest_first)[:limit]
    # Merge the first ids of each scope and kind: an index holds each such group in order of id.
    narrow = narrowing(replace(where, kinds=frozenset(Kind)))
    ids = [
        id_
        for scope in scopes
        for kind in sorted(where.kinds)
        for (id_,) in snapshot.rows(
            "memory",
            ("id",),
            (Equals("scope_id", scope), Equals("kind", kind), beyond, *lifecycle(where), *narrow),
            descending=newest_first,
            limit=limit,
        )
    ]
    page = memories_where(snapshot, (OneOf("id", sorted(ids, reverse=newest_first)[:limit]),))
    return sorted(page, key=lambda memory: memory.id, reverse=newest_first)


def relation_page(snapshot: Snapshot, where: Filter | None, after: int, limit: int) -> Sequence[Relation]:
    """Return relations by ascending id above `after`, even past ones, if the filter allows both entities.

    Without a filter, return those of every scope, even deleted ones.
    """
    if where is None:
        return relations_where(snapshot, (Compares("id", ">", after),), limit)
    found: list[Relation] = []
    there = () if where.deleted else (is_null("deleted_at"),)
    visible = allowed(where, scope_ids(snapshot, where.owner, where.agent))
    while len(found) < limit:
        page = relations_where(snapshot, (Compares("id", ">", after), *there), limit)
        if not page:
            break
        ends = {id_ for relation in page for id_ in (relation.source, relation.target)}
        seen = {id_ for (id_,) in snapshot.rows("memory", ("id",), (OneOf("id", ends), *visible))}
        found += [each for each in page if each.source in seen and each.target in seen]
        after = page[-1].id
    return found[:limit]


def count_by_kind(snapshot: Snapshot, where: Filter) -> Mapping[Kind, int]:
    scopes = scope_ids(snapshot, where.owner, where.agent)
    counted = snapshot.count("memory", allowed(where, scopes), by="kind")
    return {Kind(str(kind)): count for kind, count in counted.items()}


def all_scopes(snapshot: Snapshot) -> list[Scope]:
    return [Scope(owner, agent) for owner, agent in snapshot.rows("scope", ("owner", "agent"))]


def notes_by_scope(snapshot: Snapshot) -> dict[Scope, int]:
    """Return every scope with a memory that is not forgotten, and the number of its current notes."""
    live = snapshot.count("memory", (is_null("deleted_at"),), by="scope_id")
    notes = snapshot.count("memory", (Equals("kind", "note"), *IN_FORCE), by="scope_id")
    return {
        Scope(owner, agent): notes.get(id_, 0)
        for id_, owner, agent in snapshot.rows("scope", ("id", "owner", "agent"))
        if live.get(id_)
    }


def store_setting(snapshot: Snapshot, name: str) -> str | None:
    rows = snapshot.rows("setting", ("value",), (Equals("name", name),))
    return str(rows[0][0]) if rows else None


def import_setting(scope: Scope, file: str) -> str:
    """Return the name of the setting that records the import of a file into a scope."""
    return json.dumps(["imported", scope.owner, scope.agent, file])


def was_imported(snapshot: Snapshot, scope: Scope, file: str) -> bool:
    return store_setting(snapshot, import_setting(scope, file)) is not None


def dismissed_setting(scope: Scope, key: str) -> str:
    """Return the name of the setting that records the dismissal of a review item."""
    return json.dumps(["dismissed", scope.owner, scope.agent, key])


def dismissed_keys(snapshot: Snapshot, scope: Scope) -> set[str]:
    start = dismissed_setting(scope, "")[:-2]
    named = (Compares("name", ">=", start), Compares("name", "<", f"{start}\x7f"))
    return {json.loads(name)[-1] for (name,) in snapshot.rows("setting", ("name",), named)}


def topic_setting(topic: str) -> str:
    """Return the name of the setting that records that a notice was shown."""
    return json.dumps(["told", topic])


def named_tokens(snapshot: Snapshot) -> tuple[NamedToken, ...]:
    return tuple(
        NamedToken(
            **{
                **each,
                "sees": None if each["sees"] is None else Scope(*each["sees"]),
                "created_at": moment(each["created_at"]),
                "used_at": moment_or_none(each["used_at"]),
            }
        )
        for each in json.loads(store_setting(snapshot, TOKENS) or "[]")
    )


def tokens_text(tokens: Iterable[NamedToken]) -> str:
    """Return the tokens as the JSON that `named_tokens` reads."""
    return json.dumps(
        [
            {
                "name": each.name,
                "digest": each.digest,
                "right": each.right,
                "sees": None if each.sees is None else [each.sees.owner, each.sees.agent],
                "created_at": stamp(each.created_at),
                "used_at": stamp_or_none(each.used_at),
            }
            for each in sorted(tokens, key=lambda token: token.name)
        ]
    )


def _count(snapshot: Snapshot, table: Table, *where: Condition) -> int:
    return snapshot.count(table, where)[None]


def scope_counts(snapshot: Snapshot, owner: str, agent: str | None, now: int) -> ScopeCounts:
    scopes = scope_ids(snapshot, owner, agent)
    own = OneOf("scope_id", scopes)
    of_live = (own, is_null("deleted_at"))
    read = (Equals("live", 1), BelongsTo("memory_id", "memory", of_live))

    count = partial(_count, snapshot)
    model = model_row(snapshot)
    vectors = 0
    if model is not None:
        vectors = count("vector", Equals("model_id", model[0]), BelongsTo("passage_id", "passage", read))
    related = (BelongsTo("source_id", "memory", of_live), is_null("deleted_at"), null_or_after("until", now))
    return ScopeCounts(
        observations=count("observation", *IN_FORCE, BelongsTo("memory_id", "memory", of_live)),
        relations=count("relation", *related),
        forgotten=count("memory", own, is_set("deleted_at")),
        vectors=vectors,
        due=count("pending_vector", BelongsTo("passage_id", "passage", read)),
    )


def store_counts(snapshot: Snapshot, size: tuple[int, int] = (0, 0), now: int = 2**63 - 1) -> Counts:
    """Return the counts of all scopes. Relations count if they hold at `now`; `size` is `Store.size()`."""
    count = partial(_count, snapshot)
    kinds = snapshot.count("memory", (is_null("deleted_at"),), by="kind")
    forgotten = [id_ for (id_,) in snapshot.rows("memory", ("id",), (is_set("deleted_at"),))]
    observed = count("observation", *IN_FORCE)
    if forgotten:
        observed -= count("observation", *IN_FORCE, OneOf("memory_id", forgotten))
    # Vectors and pending vectors of dead passages do not count.
    dead = [id_ for (id_,) in snapshot.rows("passage", ("id",), (Equals("live", 0),))]
    model = model_row(snapshot)
    of_dead = OneOf("passage_id", dead)
    vectors, pending = 0, count("pending_vector") - (count("pending_vector", of_dead) if dead else 0)
    if model is not None:
        own = Equals("model_id", model[0])
        vectors = count("vector", own) - (count("vector", own, of_dead) if dead else 0)
    return Counts(
        entities=kinds.get("entity", 0),
        notes=kinds.get("note", 0),
        messages=kinds.get("message", 0),
        observations=observed,
        relations=count("relation", is_null("deleted_at"), null_or_after("until", now)),
        forgotten=len(forgotten),
        passages=count("passage", Equals("live", 1)),
        vectors=vectors,
        due=pending,
        scopes=count("scope"),
        unnoted=int(store_setting(snapshot, "unnoted") or 0),
        bytes=size[0],
        schema=size[1],
    )


# Documents of the word index

_KINDS = {kind.value: kind for kind in Kind}


class Document(NamedTuple):
    """A memory in the word index."""

    id: int
    kind: Kind
    name: str
    type: str
    body: str


def documents(
    snapshot: Snapshot,
    ids: Sequence[int],
    where: Where = IN_FORCE,
    observed: Where = IN_FORCE,
    former: Mapping[int, str] | None = None,
) -> list[Document]:
    """Return the documents of these memories that meet the conditions. `former` texts replace the present."""
    columns = ("id", "kind", "name", "type", "speaker", "text")
    rows = snapshot.rows("memory", columns, (OneOf("id", ids), *where))
    entities = [id_ for id_, kind, *_ in rows if kind == Kind.ENTITY]
    contents: dict[int, list[str]] = {}
    if entities:
        for memory, content in snapshot.rows(
            "observation",
            ("memory_id", "content"),
            (OneOf("memory_id", entities), *observed),
            order=("memory_id", "id"),
        ):
            contents.setdefault(memory, []).append(content)
    return [
        Document(id_, Kind.ENTITY, name, type_, " | ".join(contents.get(id_, ())))
        if kind == Kind.ENTITY
        else Document(id_, _KINDS[kind], speaker or "", type_, (former or {}).get(id_, text))
        for id_, kind, name, type_, speaker, text in rows
    ]


# Conversations


def sessions_of(snapshot: Snapshot, scope: int) -> list[Session]:
    """Return the conversations of a scope, most recently used first."""
    rows = snapshot.rows(
        "memory",
        ("session", "created_at", "speaker", "role"),
        (Equals("scope_id", scope), Equals("kind", "message"), is_set("session"), is_null("deleted_at")),
        order=("session", "position"),
    )
    times: dict[str, list[int]] = {}
    speakers: dict[str, dict[str, None]] = {}
    for session, created_at, speaker, role in rows:
        times.setdefault(session, []).append(created_at)
        if speaker is not None or role is not None:
            speakers.setdefault(session, {})[speaker if speaker is not None else role] = None
    return [
        Session(name, len(at), moment(min(at)), moment(max(at)), tuple(speakers.get(name, ())))
        for name, at in sorted(times.items(), key=lambda pair: (-max(pair[1]), pair[0]))
    ]


def turns_of(snapshot: Snapshot, scope: int, session: str, first: int, last: int) -> list[Memory]:
    """Return the messages of a session from `first` to `last`, in order, without forgotten ones."""
    return memories_where(
        snapshot,
        (
            Equals("scope_id", scope),
            Equals("session", session),
            Equals("kind", "message"),
            Compares("position", ">=", first),
            Compares("position", "<=", last),
            is_null("deleted_at"),
        ),
        order=("position", "id"),
    )


def last_positions(snapshot: Snapshot, scope: int, sessions: Sequence[str]) -> dict[str, int]:
    rows = snapshot.rows(
        "memory",
        ("session", "position"),
        (Equals("scope_id", scope), is_set("position")),
        order=("position",),
        descending=True,
        limit=1,
        each=OneOf("session", sessions),
    )
    return {session: position for session, position in rows}  # noqa: C416  # for mypy, a row may have any length


def messages_at(scope: int, places: Sequence[tuple[str, int]], where: Filter) -> tuple[Condition, ...]:
    """Return the conditions for messages at these positions that the filter allows."""
    return (
        Equals("scope_id", scope),
        KeyIn(("session", "position"), places),
        Equals("kind", "message"),
        *allowed(where, [scope])[1:],
    )


@lru_cache(maxsize=1 << 16)
def conversation(scope: int, session: str) -> int:
    """Return a number for a conversation, never 0."""
    return int.from_bytes(blake2b(f"{scope}:{session}".encode(), digest_size=7).digest(), "big") + 1
