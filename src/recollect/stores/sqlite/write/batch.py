"""What the changes of one transaction share: the connection, the time, and what is left to do at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.errors import NotFound
from recollect.stores.sqlite import vector_rows, word_index
from recollect.stores.sqlite.documents import index_words
from recollect.stores.sqlite.lookup import find_entity, like_named
from recollect.stores.sqlite.rows import stamp
from recollect.stores.sqlite.write import mentions

if TYPE_CHECKING:
    from datetime import datetime

    import apsw

    from recollect.records import Scope
    from recollect.stores.sqlite.rows import Row


class Batch:
    """One transaction under way."""

    def __init__(self, connection: apsw.Connection, at: datetime) -> None:
        self.connection = connection
        self.at = stamp(at)
        self._scopes: dict[Scope, int] = {}
        self._touched: dict[int, int] = {}
        self._said: set[int] = set()
        self._new_entities: set[int] = set()
        self._newest_passage = vector_rows.newest_passage(connection)

    def touch(self, memory: int, scope: int, *, said: bool = False, named: bool = False) -> None:
        """The memory's words may have changed; it is a text that may name others, or a name for others."""
        self._touched[memory] = scope
        if said:
            self._said.add(memory)
        if named:
            self._new_entities.add(memory)

    def undone(self) -> None:
        """A change was rolled back: forget what was only known inside it."""
        self._scopes.clear()

    def finish(self) -> None:
        """Bring the indexes of words and the mentions into step with what was touched; queue new passages."""
        vector_rows.queue(self.connection, self._newest_passage)
        by_scope: dict[int, list[int]] = {}
        for memory, scope in self._touched.items():
            by_scope.setdefault(scope, []).append(memory)
        for scope, memories in by_scope.items():
            if self.one("SELECT id FROM scope WHERE id = ?", scope) is not None:
                index_words(self.connection, scope, memories)
                mentions.link_entities(
                    self.connection, scope, [id_ for id_ in memories if id_ in self._new_entities]
                )
                mentions.link_texts(self.connection, scope, [id_ for id_ in memories if id_ in self._said])

    def scope_id(self, scope: Scope) -> int:
        """The scope's id; a new scope gets its full-text indexes."""
        known = self._scopes.get(scope) or self.one(
            "SELECT id FROM scope WHERE owner = ? AND agent = ?", scope.owner, scope.agent
        )
        if known is None:
            known = self.insert("INSERT INTO scope(owner, agent) VALUES (?, ?)", scope.owner, scope.agent)
            word_index.create(self.connection, known)
        self._scopes[scope] = known
        return known

    def entity(self, scope: int, name: str) -> int:
        """The entity that a caller means by this name, or an error that says what there is."""
        found = find_entity(self.connection, scope, name)
        if found is None:
            alike = like_named(self.connection, scope, name)
            hint = f"; it could be {' or '.join(map(repr, alike))}: use the exact name" if alike else ""
            raise NotFound(f"There is no entity named {name!r}{hint or '; create it first'}.")
        return found

    def in_force(self, memory: int) -> bool:
        """Whether no other memory superseded it."""
        return bool(self.one("SELECT superseded_at IS NULL FROM memory WHERE id = ?", memory))

    def name(self, memory: int) -> str:
        return str(self.one("SELECT name FROM memory WHERE id = ?", memory))

    def run(self, statement: str, *bindings: object) -> int:
        """Run a statement, and say how many rows it changed."""
        self.connection.execute(statement, bindings)
        return self.connection.changes()

    def rows(self, question: str, *bindings: object) -> list[Row]:
        return self.connection.execute(question, bindings).fetchall()

    def one(self, question: str, *bindings: object) -> int | None:
        """The first column of the first row."""
        row = self.connection.execute(question, bindings).fetchone()
        return None if row is None else row[0]

    def insert(self, statement: str, *bindings: object) -> int:
        """Run an insert of one row, and return its id."""
        self.connection.execute(statement, bindings)
        return self.connection.last_insert_rowid()
