"""Reading a store at one moment."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from recollect.errors import InvalidInput
from recollect.records import Counts, Filter, Found, Kind, Memory, Model, Passage, Relation, Scope
from recollect.stores.sqlite import calibration, conversations, dreams, past, shadow, surroundings, word_index
from recollect.stores.sqlite.belongings import belongings_of
from recollect.stores.sqlite.facts import asking, facts, together
from recollect.stores.sqlite.graph_mark import graph_mark
from recollect.stores.sqlite.linked import linked
from recollect.stores.sqlite.lookup import FOLDED, find_entity, like_named
from recollect.stores.sqlite.rows import (
    MEMORY_COLUMNS,
    Belongings,
    import_setting,
    many,
    memory_of,
    relation_of,
)
from recollect.stores.sqlite.standing import Standing, allowed, life, members, narrowing
from recollect.text.passages import passage_text
from recollect.text.tokens import fold
from recollect.vectors import unpack

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    import apsw

    from recollect.dream.snapshot import Snapshot
    from recollect.factors.candidates import ConversationContext, Cooccurrences, Facts
    from recollect.ports import Vector, WordIndex
    from recollect.records import Calibrated, DreamRecord, LoggedAnswer, LogSize, PastQuestion, Session, Tuned
    from recollect.stores.sqlite.rows import Row
    from recollect.stores.sqlite.vector_cache import VectorCache

_LONGEST_PATTERN = 50_000  # bytes; SQLite compares no longer ones
_RELATION_COLUMNS = (
    "r.id, r.source_id, r.target_id, s.name, t.name, r.type, r.created_at, r.context, r.since, r.until, "
    "r.inverse_of, r.deleted_at"
)


class SqliteView:
    """Answers from inside one read transaction."""

    def __init__(self, connection: apsw.Connection, cache: VectorCache) -> None:
        self.connection = connection
        self._cache = cache
        self._read_last: Mapping[int, Memory] = {}
        # A view is of one moment, so what it was told stays true.
        self._scopes: dict[tuple[str, str | None], list[int]] = {}
        self._models: list[tuple[int, Model] | None] = []

    # Memories and the graph

    def memories(self, ids: Sequence[int]) -> Mapping[int, Memory]:
        rows = self.connection.execute(
            f"SELECT scope_id, {MEMORY_COLUMNS} FROM memory WHERE id IN (SELECT value FROM json_each(?))",
            (many(ids),),
        )
        self._read_last = {memory.id: memory for memory in self._loaded(rows)}
        return self._read_last

    def page(self, where: Filter | None, after: int, limit: int) -> Sequence[Memory]:
        if where is None:
            rows = self.connection.execute(
                f"SELECT scope_id, {MEMORY_COLUMNS} FROM memory WHERE id > ? ORDER BY id LIMIT ?",
                (after, limit),
            )
        else:
            rows = self.connection.execute(
                f"SELECT scope_id, {MEMORY_COLUMNS} FROM memory "
                "WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id",
                (many(self._page_ids(where, after, limit)),),
            )
        return self._loaded(rows)

    def relation_page(self, where: Filter | None, after: int, limit: int) -> Sequence[Relation]:
        condition, bindings = "1", list[object]()
        if where is not None:
            scopes = self._scope_ids(where)
            source, source_bindings = allowed(where, scopes, "s")
            target, target_bindings = allowed(where, scopes, "t")
            condition = f"{source} AND {target} AND (? OR r.deleted_at IS NULL)"
            bindings = [*source_bindings, *target_bindings, where.deleted]
        # CROSS: in the relations' own order, whatever the planner thinks of the filter.
        rows = self.connection.execute(
            f"SELECT {_RELATION_COLUMNS} FROM relation AS r CROSS JOIN memory AS s ON s.id = r.source_id "
            f"CROSS JOIN memory AS t ON t.id = r.target_id WHERE r.id > ? AND {condition} "
            "ORDER BY r.id LIMIT ?",
            (after, *bindings, limit),
        )
        return [relation_of(row) for row in rows]

    def named(self, names: Sequence[str], scope: Scope) -> Mapping[str, int]:
        found: dict[str, int] = {}
        for scope_id in self._scope_ids(Filter(owner=scope.owner, agent=scope.agent)):
            for name in names:
                id_ = find_entity(self.connection, scope_id, name)
                if id_ is not None:
                    found[name] = id_
        return found

    def alike(self, name: str, scope: Scope) -> Sequence[str]:
        return [
            other
            for scope_id in self._scope_ids(Filter(owner=scope.owner, agent=scope.agent))
            for other in like_named(self.connection, scope_id, name)
        ]

    def names(self, begun: str, limit: int, where: Filter) -> tuple[Sequence[str], int]:
        if _nowhere(begun):
            return [], 0
        condition, bindings = allowed(where, self._scope_ids(where))
        condition = f"m.kind = 'entity' AND {condition} AND instr(m.folded_name, ?)"
        holding = f"FROM memory AS m {FOLDED} WHERE {condition}"
        sought = fold(begun)
        rows = self.connection.execute(
            f"SELECT m.name {holding} ORDER BY instr(m.folded_name, ?) > 1, m.folded_name, m.id LIMIT ?",
            (*bindings, sought, sought, limit),
        )
        names = [name for (name,) in rows]
        count = self.connection.execute(f"SELECT count(*) {holding}", (*bindings, sought)).get
        assert isinstance(count, int)  # noqa: S101  # what this question gives
        return names, count

    def relations(self, ids: Sequence[int], *, deleted: bool = False) -> Sequence[Relation]:
        listed = many(ids)
        rows = self.connection.execute(
            f"SELECT {_RELATION_COLUMNS} FROM relation AS r JOIN memory AS s ON s.id = r.source_id "
            "JOIN memory AS t ON t.id = r.target_id WHERE r.id IN ("
            "SELECT id FROM relation WHERE source_id IN (SELECT value FROM json_each(?1)) UNION "
            "SELECT id FROM relation WHERE target_id IN (SELECT value FROM json_each(?1))) "
            "AND (?2 OR r.deleted_at IS NULL) ORDER BY r.id",
            (listed, deleted),
        )
        return [relation_of(row) for row in rows]

    # Searches

    def by_words(self, text: str, k: int, where: Filter, index: WordIndex = "plain") -> Sequence[Found]:
        condition, bindings = narrowing(where)
        standing = Standing.of(where)
        if standing is not None:
            same = f"{standing.memory()} AND m.id NOT IN {standing.different()}"
            condition = f"{same} AND {condition}" if condition else same
        found: list[Found] = []
        for scope in self._scope_ids(where):
            if standing is not None:
                found += past.by_words(self.connection, scope, text, index, where, standing)
            hits = word_index.search(self.connection, scope, text, k, index, condition, bindings)
            found += [Found(id_, score) for id_, score in hits]
        return sorted(found, key=lambda hit: (-hit.score, hit.id))[:k]

    def held(self, text: str, ids: Sequence[int], where: Filter) -> Mapping[int, float]:
        shares: dict[int, float] = {}
        for scope in self._scope_ids(where):
            shares |= word_index.shares_held(self.connection, scope, text, ids)
        return shares

    def around(
        self, text: str, k: int, where: Filter, within: int, echo: tuple[str, str] | None = None
    ) -> tuple[Sequence[Found], Sequence[ConversationContext]]:
        if Kind.MESSAGE not in where.kinds or k <= 0:
            return [], []
        each = [
            surroundings.around(self.connection, scope, text, k, within, where, echo)
            for scope in self._scope_ids(where)
        ]
        found = [hit for hits, _ in each for hit in hits]
        return sorted(found, key=lambda hit: (-hit.score, hit.id))[:k], [told for _, told in each]

    def linked(self, text: str, where: Filter, now: int) -> Sequence[Found]:
        if Kind.ENTITY not in where.kinds:
            return []
        found = [
            hit
            for scope in self._scope_ids(where)
            for hit in linked(self.connection, scope, text, where, now)
        ]
        return sorted(found, key=lambda hit: (-hit.score, hit.id))

    def replies(self, ids: Sequence[int], where: Filter) -> Sequence[int]:
        condition, bindings = allowed(where, self._scope_ids(where))
        rows = self.connection.execute(
            "SELECT m.id FROM memory AS q CROSS JOIN memory AS m ON m.scope_id = q.scope_id "
            "AND m.session = q.session AND m.session IS NOT NULL AND m.position = q.position + 1 "
            "WHERE q.id IN (SELECT value FROM json_each(?)) AND q.kind = 'message' "
            f"AND {asking('q')} AND m.kind = 'message' "
            f"AND {condition} ORDER BY m.id",
            (many(ids), *bindings),
        )
        return [id_ for (id_,) in rows]

    def by_meaning(
        self, query: Vector, k: int, where: Filter, shortlist: int | None = None
    ) -> Sequence[Found]:
        row = self._model_row()
        scopes = self._scope_ids(where)
        if row is None or not scopes or k <= 0:
            return []
        model_id, model = row
        if query.shape != (model.dims,):
            raise InvalidInput(
                f"The query's vector has {query.shape[-1]} numbers and those of {model.name} have "
                f"{model.dims}; embed the query with {model.name}."
            )
        standing = Standing.of(where)
        found = [] if standing is None else past.by_meaning(self.connection, query, scopes, where, standing)
        for kinds, only in self._members(where, scopes, standing):
            nearest = self._cache.search(
                self.connection,
                self._setting("store_id"),
                model_id,
                model.dims,
                model.centre,
                query,
                k,
                scopes,
                kinds,
                only,
                shortlist,
            )
            found += [Found(hit.memory_id, hit.cosine, hit.passage_id) for hit in nearest]
        return sorted(found, key=lambda hit: (-hit.score, hit.id))[:k]

    def containing(self, text: str, k: int, where: Filter) -> Sequence[int]:
        if _nowhere(text):
            return []
        # LIKE knows the case of ASCII letters alone; GLOB knows none, so it is given both.
        compare, pattern = ("LIKE ? ESCAPE '\\'", _like(text)) if text.isascii() else ("GLOB ?", _glob(text))
        if len(pattern.encode()) > _LONGEST_PATTERN:
            return []
        condition, bindings = allowed(where, self._scope_ids(where))
        seen = (Standing.of(where) or Standing(None, superseded=False)).observation()
        rows = self.connection.execute(
            f"SELECT m.id FROM memory AS m WHERE m.kind = 'entity' AND {condition} AND ("
            f"m.name {compare} OR m.type {compare} OR EXISTS ("
            f"SELECT 1 FROM observation AS o WHERE o.memory_id = m.id AND {seen} AND o.content {compare})) "
            "ORDER BY m.id LIMIT ?",
            (*bindings, pattern, pattern, pattern, k),
        )
        return [id_ for (id_,) in rows]

    # What ranking asks

    def facts(self, ids: Sequence[int], query: str, session: str | None, now: int) -> Facts:
        return facts(self.connection, ids, query, session, now)

    def together(self, ids: Sequence[int]) -> Cooccurrences:
        return together(self.connection, ids)

    # Passages and vectors

    def vectors(self, passages: Sequence[int]) -> Mapping[int, Vector]:
        rows = self.connection.execute(
            "SELECT v.passage_id, v.embedding FROM vector AS v JOIN model ON model.id = v.model_id "
            "WHERE model.in_use = 1 AND v.passage_id IN (SELECT value FROM json_each(?))",
            (many(passages),),
        )
        return {passage: unpack(blob) for passage, blob in rows}

    def passages(self, ids: Sequence[int]) -> Sequence[Passage]:
        rows = self.connection.execute(
            "SELECT id, memory_id, observation_id, start, stop, revision_id FROM passage WHERE live = 1 "
            "AND memory_id IN (SELECT value FROM json_each(?)) ORDER BY id",
            (many(ids),),
        )
        return self._read(list(rows))

    def passages_by_id(self, passages: Sequence[int]) -> Sequence[Passage]:
        rows = self.connection.execute(
            "SELECT id, memory_id, observation_id, start, stop, revision_id FROM passage "
            "WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id",
            (many(passages),),
        )
        return self._read(list(rows))

    def pending(self, model: Model, after: int, limit: int) -> Sequence[Passage]:
        columns = "SELECT p.id, p.memory_id, p.observation_id, p.start, p.stop, p.revision_id FROM"
        in_use = self.model()
        if in_use is None or in_use.name == model.name:
            question = (
                f"{columns} due JOIN passage AS p ON p.id = due.passage_id "
                "WHERE due.passage_id > ? AND p.live = 1 ORDER BY due.passage_id LIMIT ?"
            )
            return self._read(self.connection.execute(question, (after, limit)).fetchall())
        question = (
            f"{columns} passage AS p WHERE p.id > ? AND p.live = 1 AND NOT EXISTS ("
            "SELECT 1 FROM vector AS v JOIN model ON model.id = v.model_id WHERE v.passage_id = p.id "
            "AND model.name = ?) ORDER BY p.id LIMIT ?"
        )
        return self._read(self.connection.execute(question, (after, model.name, limit)).fetchall())

    def waits(self, where: Filter) -> bool:
        # Among the newest alone: another scope may have ten thousand that wait.
        row = self.connection.execute(
            "SELECT 1 FROM (SELECT passage_id FROM due ORDER BY passage_id DESC LIMIT 2000) AS d "
            "JOIN passage AS p ON p.id = d.passage_id JOIN memory AS m ON m.id = p.memory_id "
            "WHERE p.live = 1 AND m.scope_id IN (SELECT value FROM json_each(?)) LIMIT 1",
            (many(self._scope_ids(where)),),
        ).fetchone()
        return row is not None

    def model(self) -> Model | None:
        row = self._model_row()
        return None if row is None else row[1]

    # Dreams

    def snapshot(self, scope: Scope, now: int, together: int) -> Snapshot:
        return dreams.snapshot(self.connection, self._scope_id(scope), now, together)

    def questions(self, scope: Scope, limit: int) -> Sequence[PastQuestion]:
        return dreams.questions(self.connection, self._scope_id(scope), limit)

    def dreams(self, scope: Scope, limit: int) -> Sequence[DreamRecord]:
        return dreams.dreams(self.connection, self._scope_id(scope), limit)

    def journal(self, scope: Scope, dream: int) -> Mapping[str, Any] | None:
        return dreams.journal(self.connection, self._scope_id(scope), dream)

    def links(self, ids: Sequence[int]) -> Sequence[tuple[int, int, int]]:
        return dreams.links(self.connection, ids)

    def corrected(self, scope: Scope, limit: int) -> Sequence[tuple[int, int]]:
        return dreams.corrected(self.connection, self._scope_id(scope), limit)

    def lease(self, name: str) -> tuple[str, datetime] | None:
        return dreams.lease(self.connection, name)

    # The log of answers, and tuned numbers

    def answers(self, scope: Scope, profile: str, *, packed: bool = True) -> Iterator[LoggedAnswer]:
        return shadow.answers(self.connection, self._scope_id(scope), profile, packed=packed)

    def log_sizes(self, scope: Scope) -> Sequence[LogSize]:
        return shadow.sizes(self.connection, self._scope_id(scope))

    def trial_seed(self) -> str:
        return self._setting("trial_seed")

    def tuned(self, scope: Scope, profile: str) -> tuple[int, Mapping[str, float]] | None:
        return shadow.tuned(self.connection, scope, profile)

    def tunings(self, scope: Scope, profile: str | None, limit: int) -> Sequence[Tuned]:
        return shadow.tunings(self.connection, self._scope_id(scope), profile, limit)

    def holders(self, words: Sequence[str], scope: Scope) -> tuple[int, Mapping[str, int]]:
        return calibration.holders(self.connection, self._scope_id(scope), words)

    def calibration(self, scope: Scope, model: str) -> Calibrated | None:
        return calibration.calibration(self.connection, scope, model)

    def _scope_id(self, scope: Scope) -> int:
        """Of a scope that nobody has written to yet, one that no row has."""
        return next(iter(self._scope_ids(Filter(scope.owner, scope.agent))), 0)

    # Conversations

    def sessions(self, scope: Scope) -> Sequence[Session]:
        return [
            found
            for scope_id in self._scope_ids(Filter(scope.owner, scope.agent))
            for found in conversations.sessions(self.connection, scope_id)
        ]

    def turns(self, scope: Scope, session: str, first: int, last: int) -> Sequence[Memory]:
        rows = [
            row
            for scope_id in self._scope_ids(Filter(scope.owner, scope.agent))
            for row in self.connection.execute(
                f"SELECT scope_id, {MEMORY_COLUMNS} FROM memory WHERE scope_id = ? AND session = ? "
                "AND kind = 'message' AND position BETWEEN ? AND ? AND deleted_at IS NULL "
                "ORDER BY position, id",
                (scope_id, session, first, last),
            )
        ]
        return self._loaded(rows)

    def last_position(self, scope: Scope, session: str) -> int:
        return self._number(
            "SELECT coalesce(max(position), 0) FROM memory WHERE session = ? "
            "AND scope_id = (SELECT id FROM scope WHERE owner = ? AND agent = ?)",
            session,
            scope.owner,
            scope.agent,
        )

    def replaced_by(self, id: int) -> Sequence[int]:  # noqa: A002  # the domain's word
        rows = self.connection.execute("SELECT id FROM memory WHERE superseded_by = ? ORDER BY id", (id,))
        return [replaced for (replaced,) in rows]

    def mentioning(self, entity: int, limit: int) -> Sequence[int]:
        rows = self.connection.execute(
            "SELECT m.id FROM mention JOIN memory AS m ON m.id = mention.memory_id WHERE entity_id = ? "
            "AND m.deleted_at IS NULL AND m.superseded_at IS NULL ORDER BY m.id DESC LIMIT ?",
            (entity, limit),
        )
        return [id_ for (id_,) in rows]

    # The store as a whole

    def scopes(self) -> Sequence[Scope]:
        return [
            Scope(owner, agent)
            for owner, agent in self.connection.execute("SELECT owner, agent FROM scope ORDER BY id")
        ]

    def imported(self, scope: Scope, file: str) -> bool:
        name = import_setting(scope, file)
        return self.connection.execute("SELECT 1 FROM setting WHERE name = ?", (name,)).fetchone() is not None

    def graph_mark(self, scope: Scope, now: int) -> int:
        scopes = self._scope_ids(Filter(owner=scope.owner, agent=scope.agent))
        return hash(tuple(graph_mark(self.connection, scope_id, now) for scope_id in scopes))

    def how_many(self, where: Filter) -> Mapping[Kind, int]:
        condition, bindings = allowed(where, self._scope_ids(where))
        rows = self.connection.execute(
            f"SELECT m.kind, count(*) FROM memory AS m WHERE {condition} GROUP BY m.kind", bindings
        )
        return {Kind(kind): count for kind, count in rows}

    def counts(self) -> Counts:
        kinds = dict(
            self.connection.execute(
                "SELECT kind, count(*) FROM memory WHERE deleted_at IS NULL GROUP BY kind"
            )
        )
        return Counts(
            entities=kinds.get("entity", 0),
            notes=kinds.get("note", 0),
            messages=kinds.get("message", 0),
            observations=self._number(
                "SELECT count(*) FROM observation AS o JOIN memory AS m ON m.id = o.memory_id "
                "WHERE o.deleted_at IS NULL AND o.superseded_at IS NULL AND m.deleted_at IS NULL"
            ),
            relations=self._number(
                "SELECT count(*) FROM relation WHERE deleted_at IS NULL AND until IS NULL"
            ),
            forgotten=self._number("SELECT count(*) FROM memory WHERE deleted_at IS NOT NULL"),
            passages=self._number("SELECT count(*) FROM passage WHERE live = 1"),
            vectors=self._number(
                "SELECT count(*) FROM vector AS v JOIN passage AS p ON p.id = v.passage_id "
                "JOIN model ON model.id = v.model_id WHERE model.in_use = 1 AND p.live = 1"
            ),
            due=self._number(
                "SELECT count(*) FROM due JOIN passage AS p ON p.id = due.passage_id WHERE p.live = 1"
            ),
            scopes=self._number("SELECT count(*) FROM scope"),
            unnoted=self._number(
                "SELECT coalesce((SELECT CAST(value AS INTEGER) FROM setting WHERE name = 'unnoted'), 0)"
            ),
            bytes=self._number("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"),
            schema=self._number("SELECT user_version FROM pragma_user_version"),
        )

    # Beneath

    def _page_ids(self, where: Filter, after: int, limit: int) -> list[int]:
        """The first of each scope and kind, merged: the index holds each of them in order of id."""
        narrow, bindings = narrowing(replace(where, kinds=frozenset(Kind)))
        condition = f"{life(where)} AND {narrow}" if narrow else life(where)
        found = [
            id_
            for scope in self._scope_ids(where)
            for kind in sorted(where.kinds)
            for (id_,) in self.connection.execute(
                "SELECT m.id FROM memory AS m WHERE m.scope_id = ? AND m.kind = ? AND m.id > ? "
                f"AND {condition} ORDER BY m.id LIMIT ?",
                (scope, kind, after, *bindings, limit),
            )
        ]
        return sorted(found)[:limit]

    def _loaded(self, rows: Iterable[Row]) -> list[Memory]:
        """Memories from rows that begin with their scope, what belongs to them read in one go."""
        listed = list(rows)
        scopes = dict(self._scopes_by_id())
        belongings = belongings_of(
            self.connection,
            entities=[row[1] for row in listed if row[2] == Kind.ENTITY],
            texts=[row[1] for row in listed if row[2] != Kind.ENTITY],
        )
        return [memory_of(row[1:], scopes[row[0]], belongings.get(row[1], Belongings())) for row in listed]

    def _read(self, rows: list[Row]) -> list[Passage]:
        wanted = {row[1] for row in rows}
        # Who asks for passages has mostly just read their memories, and a view never changes.
        memories = self._read_last if wanted <= self._read_last.keys() else self.memories(sorted(wanted))
        former = self._former_texts(row[5] for row in rows if row[5] is not None)
        passages = []
        for id_, memory_id, observation_id, start, stop, revision in rows:
            memory = memories[memory_id]
            if revision is not None:
                memory = replace(memory, text=former[revision])
            about = next((seen for seen in memory.observations if seen.id == observation_id), None)
            said = memory.text if about is None else about.content
            piece = said[start:stop] if (start, stop) not in {(0, 0), (0, len(said))} else None
            passages.append(Passage(id_, memory_id, passage_text(memory, about, (start, stop)), piece))
        return passages

    def _former_texts(self, revisions: Iterable[int]) -> dict[int, str]:
        wanted = many(revisions)
        if wanted == "[]":
            return {}
        return dict(
            self.connection.execute(
                "SELECT id, text FROM revision WHERE id IN (SELECT value FROM json_each(?))", (wanted,)
            )
        )

    def _scope_ids(self, where: Filter) -> list[int]:
        wanted = where.owner, where.agent
        if wanted not in self._scopes:
            rows = self.connection.execute(
                "SELECT id FROM scope WHERE owner = ?1 AND (?2 IS NULL OR agent = ?2) ORDER BY id", wanted
            )
            self._scopes[wanted] = [id_ for (id_,) in rows]
        return self._scopes[wanted]

    def _scopes_by_id(self) -> Iterable[tuple[int, Scope]]:
        for id_, owner, agent in self.connection.execute("SELECT id, owner, agent FROM scope"):
            yield id_, Scope(owner, agent)

    def _members(
        self, where: Filter, scopes: list[int], standing: Standing | None
    ) -> Iterator[tuple[frozenset[Kind], np.ndarray | None]]:
        """The searches by which a cache of vectors sees what the filter lets through: kinds, and perhaps ids.

        Messages of one session are few, and everything else is much: each is searched in its own way.
        """
        talk = where.kinds & {Kind.MESSAGE} if where.current is not None else frozenset()
        for kinds, session in ((where.kinds - talk, where.session), (talk, where.current)):
            if not kinds or (session != where.session and where.session is not None):
                continue
            narrowed = replace(where, kinds=kinds, session=session, current=None)
            listed = members(narrowed)
            if listed is None and standing is None:
                yield kinds, None
                continue
            condition, bindings = allowed(narrowed, scopes)
            same = f" AND m.id NOT IN {standing.different()}" if standing is not None else ""
            rows = self.connection.execute(f"SELECT m.id FROM memory AS m WHERE {condition}{same}", bindings)
            yield kinds, np.array([id_ for (id_,) in rows], dtype=np.int64)

    def _model_row(self) -> tuple[int, Model] | None:
        if not self._models:
            rows = self.connection.execute("SELECT id, name, dims, centre FROM model WHERE in_use = 1")
            self._models = [
                next(((id_, Model(name, dims, centre)) for id_, name, dims, centre in rows), None)
            ]
        return self._models[0]

    def _setting(self, name: str) -> str:
        return str(self.connection.execute("SELECT value FROM setting WHERE name = ?", (name,)).get)

    def _number(self, question: str, *bindings: str) -> int:
        number = self.connection.execute(question, bindings).get
        assert isinstance(number, int)  # noqa: S101  # every question here counts
        return number


def _nowhere(text: str) -> bool:
    """Whether it cannot be stored, so that it stands nowhere."""
    return "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text)


def _like(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"


def _glob(text: str) -> str:
    return f"*{''.join(map(_either_case, text))}*"


def _either_case(letter: str) -> str:
    forms = {form for form in (letter, letter.lower(), letter.upper()) if len(form) == 1}
    return f"[{''.join(sorted(forms))}]" if len(forms) > 1 or letter in "*?[" else letter
