"""State shared by the changes of one transaction: time, scopes, and work to do at its end."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable
from datetime import datetime
from typing import TYPE_CHECKING

from recollect.domain.errors import InvalidInput, NotFound
from recollect.domain.records import Scope
from recollect.domain.tables import Equals, OneOf, Value, Where
from recollect.search.entities import find_entity, names_alike
from recollect.search.rows import scope_id, stamp
from recollect.search.texts import documents
from recollect.stores.port import Transaction
from recollect.write import word_index

if TYPE_CHECKING:
    from recollect.domain.tables import Row, Table


class Work:
    """A running transaction."""

    def __init__(self, rows: Transaction, at: datetime) -> None:
        self.rows = rows
        self.at: int = stamp(at)
        self._scopes: dict[Scope, int] = {}
        self._touched: dict[int, int] = {}
        self._texts: set[int] = set()
        self._new_entities: set[int] = set()
        self._passages: list[int] = []
        self._has_removed_rows = False
        self._unknown_keys: tuple[Scope | None, set[int]] = (None, set())

    # Reading and writing rows

    def look_up_texts(self, scope: Scope, keys: Collection[int]) -> None:
        """Look up, in one query, which of these texts the scope has already."""
        same = (Equals("scope_id", scope_id(self.rows, scope)), OneOf("text_key", keys))
        known = {key for (key,) in self.rows.rows("memory", ("text_key",), same)}
        self._unknown_keys = (scope, set(keys) - known)

    def may_have_text(self, scope: Scope, key: int) -> bool:
        """Whether the scope may have a text with this key. The caller then stores it, so call once."""
        expected, unknown = self._unknown_keys
        if scope != expected or key not in unknown:
            return True
        unknown.remove(key)
        return False

    def scope_id(self, scope: Scope) -> int:
        """Return the id of a scope, and lock it. A new scope is added."""
        if scope.agent is None:
            raise InvalidInput("A write needs one agent, not all agents of an owner; name the agent.")
        known = self._scopes.get(scope) or scope_id(self.rows, scope)
        if not known:
            (known,) = self.rows.put("scope", [{"owner": scope.owner, "agent": scope.agent}])
        self._scopes[scope] = known
        self.rows.lock_scopes([known])
        return known

    def entity(self, scope: int, name: str) -> int:
        """Return the id of the entity with this name; `NotFound` lists similar names."""
        found = find_entity(self.rows, scope, name)
        if found is None:
            alike = names_alike(self.rows, scope, name)
            hint = f"; it could be {' or '.join(map(repr, alike))}: use the exact name" if alike else ""
            raise NotFound(f"There is no entity named {name!r}{hint or '; create it first'}.")
        return found

    def first(self, table: Table, where: Where, *columns: str, newest: bool = False) -> Row | None:
        """Return columns of the first row that meets the conditions, or of the newest one."""
        rows = self.rows.rows(table, columns, where, descending=newest, limit=1)
        return rows[0] if rows else None

    def first_id(self, table: Table, where: Where) -> int | None:
        row = self.first(table, where, "id")
        return None if row is None else int(row[0])

    def ids(self, table: Table, where: Where) -> list[int]:
        return [id_ for (id_,) in self.rows.rows(table, ("id",), where)]

    def row(self, table: Table, id_: int, *columns: str) -> Row | None:
        """Return columns of the row with this id; None without such a row."""
        return self.first(table, (Equals("id", id_),), *columns)

    def exists(self, table: Table, id_: int) -> bool:
        return self.row(table, id_, "id") is not None

    def in_force(self, table: Table, id_: int) -> bool:
        """Whether a memory or an observation exists, and is neither deleted nor superseded."""
        return self.row(table, id_, "deleted_at", "superseded_at") == (None, None)

    def name(self, memory: int) -> str:
        row = self.row("memory", memory, "name")
        return "" if row is None else str(row[0])

    def add(self, table: Table, **values: Value) -> int:
        """Add one row to a table that numbers its rows, and return its id."""
        return self.rows.put(table, [values])[0]

    def set(self, table: Table, id_: int, **values: Value) -> int:
        """Set columns of the row with this id, and return the number of rows: 0 or 1."""
        return self.rows.patch(table, (Equals("id", id_),), values)

    def lock_setting(self, name: str, initial: str) -> str:
        """Lock a setting of the whole store until the transaction ends, and return its value."""
        self.rows.put("setting", [{"name": name, "value": initial}], keep=True)
        # Lock the row, then read it.
        self.rows.patch("setting", (Equals("name", name),), {"name": name})
        ((value,),) = self.rows.rows("setting", ("value",), (Equals("name", name),))
        return str(value)

    def retire(self, table: Table, id_: int, *, at: int | None = None, **by: int) -> None:
        """Mark a memory or an observation as superseded; it stays as history."""
        self.set(table, id_, superseded_at=self.at if at is None else at, **by)
        self.set_live(f"{table}_id", id_, live=False)

    # Passages

    def add_passages(
        self,
        memory: int,
        spans: Iterable[tuple[int, int]],
        *,
        observation: int | None = None,
        revision: int | None = None,
        live: bool = True,
    ) -> list[int]:
        """Add passages that wait for a vector, and return their ids."""
        shared = {"memory_id": memory, "observation_id": observation, "revision_id": revision}
        rows = [{**shared, "start": start, "stop": stop, "live": int(live)} for start, stop in spans]
        added = self.rows.put("passage", rows)
        self._passages += added
        return added

    def skip_vectors(self, passages: Collection[int]) -> None:
        """Do not queue these passages: they have vectors already."""
        self._passages = [id_ for id_ in self._passages if id_ not in passages]

    def set_live(self, column: str, id_: int, *, live: bool) -> None:
        """Set whether the passages of a memory or an observation can be found."""
        self.rows.patch("passage", (Equals(column, id_),), {"live": int(live)})

    # Work for the end of the transaction

    def touch(self, memory: int, scope: int, *, text: bool = False, named: bool = False) -> None:
        """Queue the memory for indexing. `text`: find entities it names; `named`: find texts naming it."""
        self._touched[memory] = scope
        if text:
            self._texts.add(memory)
        if named:
            self._new_entities.add(memory)

    def note_removed_rows(self) -> None:
        """Remember that a rollback or a purge may have removed rows that this transaction added."""
        self._has_removed_rows = True
        self._scopes.clear()

    def finish(self) -> None:
        """Queue new passages for vectors, and update the word index and mentions of touched memories."""
        queued = self._passages
        if self._has_removed_rows:
            queued = self.ids("passage", (OneOf("id", queued),))
        self.rows.put("pending_vector", [{"passage_id": id_} for id_ in queued], keep=True)
        by_scope: dict[int, list[int]] = {}
        for memory, scope in self._touched.items():
            by_scope.setdefault(scope, []).append(memory)
        for scope, memories in by_scope.items():
            if self._has_removed_rows and not self.exists("scope", scope):
                continue
            live = documents(self.rows, memories)
            word_index.erase_documents(self.rows, sorted(set(memories) - {each.id for each in live}))
            word_index.write_documents(self.rows, scope, live)
            word_index.link_entities(self.rows, scope, [id_ for id_ in memories if id_ in self._new_entities])
            word_index.link_texts(self.rows, scope, [id_ for id_ in memories if id_ in self._texts])


# Purging texts from receipts

NO_DIGEST = ""
"""The digest of a receipt whose texts were purged."""


def purged_key(key: str) -> str:
    """Return the hash that replaces a key when its receipt is purged: a retry still finds the receipt."""
    return f"purged {hashlib.blake2b(key.encode(), digest_size=16).hexdigest()}"


def purge_receipts(rows: Transaction, memories: Collection[int], observations: Collection[int]) -> None:
    """Delete all texts from receipts of writes to these memories and observations, and hash their keys."""
    gone, gone_observations = set(memories), set(observations)
    if not gone and not gone_observations:
        return
    for key, at, packed in rows.rows("receipt", ("key", "at", "outcomes")):
        outcomes = json.loads(packed)
        touched = any(
            not gone.isdisjoint(each["ids"])
            or any(added["id"] in gone_observations for added in each["added"])
            for each in outcomes
        )
        if not touched or key.startswith("purged "):
            continue
        for each in outcomes:
            each |= {
                "names": [""] * len(each["names"]),
                "added": [{**added, "content": ""} for added in each["added"]],
                "also_created": [],
                "took_type": None,
                "kept_type": None,
                "error": None if each["error"] is None else "",
            }
        rows.remove("receipt", (Equals("key", key),))
        row = {"key": purged_key(key), "digest": NO_DIGEST, "at": at, "outcomes": json.dumps(outcomes)}
        rows.put("receipt", [row])
