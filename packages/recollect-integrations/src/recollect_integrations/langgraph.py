"""LangGraph's `BaseStore` on a Recollect memory: a namespace is a scope, an item is a note.

A namespace such as ("memories", "ana") is the agent `memories.ana` of the memory's owner, so namespaces never
affect each other. An item's searched text is the note's text, and its value is in the note's metadata.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from datetime import date, datetime, time, timedelta
from enum import Enum
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import Any, Self, TypeVar
from uuid import UUID

from recollect import Engine, Hit, InvalidInput, Memory
from recollect.aio import AsyncEngine
from recollect.bootstrap import now
from recollect.domain.limits import MOST_PER_PAGE
from recollect.plugin import Internals, needs_extra
from recollect.stores.port import Clock
from recollect_integrations.adapter import ensure_open, in_thread, searchable_text
from recollect_integrations.keyed_notes import KeyedNote, KeyedNotes, check_filter, matches_filter

with needs_extra("The adapter for LangGraph", "langgraph"):
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        Item,
        ListNamespacesOp,
        MatchCondition,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
        TTLConfig,
        get_text_at_path,
        tokenize_path,
        validate_op_namespace,
    )

PROGRAM = "langgraph"
LONGEST_NAMESPACE = 500
WHOLE_VALUE = "$"
"""The path for the whole value."""

_AnyItem = TypeVar("_AnyItem", bound=Item)
Namespace = tuple[str, ...]


class RecollectStore(BaseStore):
    """Long-term memory of a LangGraph agent: `graph.compile(store=RecollectStore("memory.db"))`."""

    supports_ttl = True

    def __init__(
        self,
        memory: Engine | str | Path,
        *,
        fields: Sequence[str] = (WHOLE_VALUE,),
        ttl: TTLConfig | None = None,
        clock: Clock = now,
    ) -> None:
        """Use an open memory, or open the one at a path; `close` closes only the latter.

        `fields` are the searched paths of a value; the `index` of `put` overrides them. `clock` decides
        when items expire; pass the memory's own if it was opened with another clock.
        """
        self.memory = ensure_open(memory)
        self.ttl_config = ttl
        self._owns_memory = self.memory is not memory
        self._fields = tuple(fields)
        self._clock = clock
        self._calls = AsyncEngine(self.memory)
        self._swept_at = monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the memory, if this store opened it."""
        if self._owns_memory:
            self.memory.close()

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Run a batch: first all reads, then the writes. If several write to one key, the last counts."""
        operations = list(ops)
        for op in operations:
            validate_op_namespace(op)
        results: list[Result] = [self._read(op) for op in operations]
        self._write([op for op in operations if isinstance(op, PutOp)])
        return results

    abatch = in_thread(batch)

    def sweep_ttl(self) -> int:
        """Forget the expired items, which no call returns anyway; return their number."""
        self._swept_at = monotonic()
        at, count = self._clock(), 0
        for namespace in self._namespaces():
            notes = self._notes(namespace)
            ids = [
                note.id
                for note in notes.newest_first(expired=True)
                if note.expires_at is not None and note.expires_at <= at
            ]
            count += len(notes.memory.forget(ids)) if ids else 0
        return count

    def _read(self, op: Op) -> Result:
        match op:
            case GetOp():
                return self._get(op)
            case SearchOp():
                return self._search(op)
            case ListNamespacesOp():
                return self._list_namespaces(op)
            case PutOp():
                return None
            case _:
                raise InvalidInput(
                    f"LangGraph's {type(op).__name__} is not supported; upgrade recollect-memory."
                )

    # Reading

    def _get(self, op: GetOp) -> Item | None:
        note = self._notes(op.namespace).get([op.key]).get(op.key)
        if note is None:
            return None
        if op.refresh_ttl:
            self._refresh([note])
        return _item(Item, note, op.namespace, op.key)

    def _search(self, op: SearchOp) -> list[SearchItem]:
        if op.limit < 0 or op.offset < 0:
            raise InvalidInput(f"`limit` and `offset` must be 0 or more, not {op.limit} and {op.offset}.")
        wanted = _as_json(op.filter or {}, "The filter")
        check_filter(wanted)
        below = self._namespaces(tuple(op.namespace_prefix))
        if not below:
            return []

        def is_wanted(note: Memory) -> bool:
            return _namespace(note) in within and matches_filter(_value(note), wanted)

        def newest_first() -> Iterator[Memory]:
            return filter(is_wanted, notes.newest_first(page=page))

        within = frozenset(below)
        # For several namespaces, search the owner's whole memory once: scores of separate searches differ.
        notes = self._notes(below[0] if len(below) == 1 else None)
        page = min(max(op.offset + op.limit, 100 if op.filter else 1), MOST_PER_PAGE)
        found: Sequence[tuple[Memory, Hit | None]]
        if op.query:
            found = notes.search(
                op.query,
                lambda note: _is_indexed(note) and is_wanted(note),
                newest_first,
                op.limit,
                op.offset,
            )
        else:
            found = [(note, None) for note in islice(newest_first(), op.offset, op.offset + op.limit)]
        if op.refresh_ttl:
            self._refresh([note for note, _ in found])
        items = []
        for note, hit in found:
            item = _item(SearchItem, note, _namespace(note), _key(note))
            item.score = None if hit is None else hit.score
            items.append(item)
        return items

    def _list_namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        found = {
            namespace[: op.max_depth]
            for namespace in self._namespaces()
            if all(_matches(condition, namespace) for condition in op.match_conditions or ())
            and next(self._notes(namespace).newest_first(page=1), None) is not None
        }
        return sorted(found)[op.offset : op.offset + op.limit]

    def _namespaces(self, prefix: Namespace = ()) -> list[Namespace]:
        """List the namespaces with this prefix; some may have no items of LangGraph."""
        owner = self.memory.scope.owner
        agents = [scope.agent for scope in Internals(self.memory).scopes() if scope.owner == owner]
        names = [tuple(agent.split(".")) for agent in agents if agent]
        return [name for name in names if name[: len(prefix)] == prefix]

    # Writing

    def _write(self, puts: Sequence[PutOp]) -> None:
        minutes = (self.ttl_config or {}).get("sweep_interval_minutes")
        if puts and minutes is not None and monotonic() - self._swept_at >= minutes * 60:
            self.sweep_ttl()
        by_namespace: dict[Namespace, dict[str, PutOp]] = {}
        for op in puts:
            by_namespace.setdefault(op.namespace, {})[op.key] = op
        # Check every value before writing the first, so that an error leaves nothing half done.
        planned = [
            (
                self._notes(namespace),
                [self._note(op, op.value) for op in ops.values() if op.value is not None],
                [op.key for op in ops.values() if op.value is None],
            )
            for namespace, ops in by_namespace.items()
        ]
        for notes, put, deleted in planned:
            notes.put(put)
            notes.delete(deleted)

    def _note(self, op: PutOp, value: Mapping[str, Any]) -> KeyedNote:
        if not isinstance(value, Mapping):
            raise InvalidInput(f"A value must map field names to values, not be {type(value).__name__}.")
        plain = _as_json(value, f"The value of {op.key!r}")
        text = None if op.index is False else _text(plain, self._fields if op.index is None else op.index)
        metadata: dict[str, Any] = {"value": plain}
        if text is None:
            metadata["indexed"] = False
        elif (field := _text_field(plain)) is not None and _search_text(plain[field]) == text:
            metadata["text_field"] = field
        expires_at = None
        if op.ttl is not None:
            metadata["ttl"] = op.ttl
            expires_at = self._expiry(op.ttl)
        return KeyedNote(op.key, text or f"{'.'.join(op.namespace)} {op.key}", metadata, expires_at)

    def _refresh(self, notes: Iterable[Memory]) -> None:
        """Restart the TTL of items that were put with one."""
        for note in notes:
            metadata = dict(note.metadata or {})
            if metadata.get("ttl") is not None:
                # This updates the note; the item keeps its own time of update.
                metadata.setdefault("updated_at", note.updated_at.isoformat())
                self.memory.scoped(note.scope.owner, note.scope.agent).update(
                    note.id, expires_at=self._expiry(metadata["ttl"]), metadata=metadata
                )

    def _expiry(self, minutes: float) -> datetime:
        try:
            at = self._clock()
            expires_at = at + timedelta(minutes=minutes)
        except (TypeError, ValueError, OverflowError) as error:
            raise InvalidInput(f"A TTL must be a number of minutes, not {minutes!r}: {error}.") from error
        if expires_at <= at:
            raise InvalidInput(f"A TTL must be more than 0 minutes, not {minutes!r}; None means no expiry.")
        return expires_at

    def _notes(self, namespace: Namespace | None) -> KeyedNotes:
        """Return the notes of a namespace; None: of all namespaces, for searching only."""
        agent = None if namespace is None else ".".join(namespace)
        if agent is not None and len(agent) > LONGEST_NAMESPACE:
            raise InvalidInput(
                f"The namespace has {len(agent):,} characters, more than the limit of {LONGEST_NAMESPACE}; "
                "shorten it."
            )
        if agent == "":
            raise InvalidInput("A namespace needs at least one label.")
        return KeyedNotes(self.memory.scoped(self.memory.scope.owner, agent), PROGRAM)


def _item(kind: Callable[..., _AnyItem], note: Memory, namespace: Namespace, key: str) -> _AnyItem:
    updated_at = (note.metadata or {}).get("updated_at")
    return kind(
        namespace=namespace,
        key=key,
        value=dict(_value(note)),
        created_at=note.created_at,
        updated_at=note.updated_at if updated_at is None else datetime.fromisoformat(updated_at),
    )


def _namespace(note: Memory) -> Namespace:
    return tuple((note.scope.agent or "").split("."))


def _key(note: Memory) -> str:
    return (note.ref or "").removeprefix(f"{PROGRAM}:")


def _value(note: Memory) -> Mapping[str, Any]:
    """Return the stored value. An edited note's text replaces the value's only searched field."""
    metadata = note.metadata or {}
    value: Mapping[str, Any] = metadata.get("value", {})
    # An imported value does not name its searched field. With a single field, that is the one.
    field = metadata.get("text_field", _text_field(value) if len(value) == 1 and _is_indexed(note) else None)
    if field is None or _search_text(value[field]) in {note.text, ""}:
        return value
    return {**value, field: note.text}


def _text_field(value: Mapping[str, Any]) -> str | None:
    """Return the only field with a text value."""
    names = [name for name, inner in value.items() if isinstance(inner, str)]
    return names[0] if len(names) == 1 else None


def _search_text(text: str) -> str:
    return searchable_text(text.strip(), "")


def _as_json(given: Mapping[str, Any], what: str) -> dict[str, Any]:
    """Convert a value to JSON; as in LangGraph's own stores, times and UUIDs become texts."""
    try:
        plain: dict[str, Any] = json.loads(json.dumps(dict(given), default=_plain))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"{what} cannot be written as JSON: {error}.") from error
    return plain


def _plain(value: object) -> object:
    match value:
        case date() | time():
            return value.isoformat()
        case UUID():
            return str(value)
        case Enum():
            return value.value
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    raise TypeError(f"{type(value).__name__} is not JSON")


def _is_indexed(note: Memory) -> bool:
    return bool((note.metadata or {}).get("indexed", True))


def _text(value: Mapping[str, Any], fields: Sequence[str]) -> str | None:
    """Join the texts at these paths, one per line; None if there is nothing to search."""
    lines: list[str] = []
    for path in fields:
        lines += [_whole_text(value)] if path == WHOLE_VALUE else get_text_at_path(value, tokenize_path(path))
    return _search_text("\n".join(lines)) or None


def _whole_text(value: Mapping[str, Any]) -> str:
    """Write a value as lines of words: embedding models read them better than JSON."""
    if len(value) == 1:
        (only,) = value.values()
        if isinstance(only, str) and only.strip():
            return only
    return "\n".join(
        f"{name}: {inner if isinstance(inner, str) else json.dumps(inner, ensure_ascii=False, default=str)}"
        for name, inner in value.items()
    )


def _matches(condition: MatchCondition, namespace: Namespace) -> bool:
    path = condition.path
    if len(namespace) < len(path):
        return False
    part = (
        namespace[: len(path)]
        if condition.match_type == "prefix"
        else namespace[len(namespace) - len(path) :]
    )
    return all(pattern in {"*", label} for pattern, label in zip(path, part, strict=True))
