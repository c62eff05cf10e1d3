"""A store at one moment, as the engine reads it: computed above the port, once for every store."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from recollect.conditions import IN_FORCE, Compares, Equals, OneOf, is_null, is_set
from recollect.records import Counts, Filter, Kind, Model, Scope, Session
from recollect.retrieval import answer_log, dream_state, entities
from recollect.retrieval.as_of_search import PastTexts
from recollect.retrieval.facts import cooccurrences, ends_with_question, facts
from recollect.retrieval.filters import PastState, allowed, lifecycle, narrowing
from recollect.retrieval.neighbours import last_positions, messages_at, neighbours
from recollect.retrieval.records import (
    PASSAGE_COLUMNS,
    former_texts,
    memories_by_id,
    memories_where,
    moment,
    passages_of,
    relations_where,
    touching,
)
from recollect.retrieval.term_search import TermIndex, counts_or_stem_counts, matched_shares, search_words
from recollect.vectors import unpack

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from recollect.conditions import Condition
    from recollect.dreams import snapshot as dream
    from recollect.ports import Analyser, Snapshot, Vector
    from recollect.ranking.candidates import ConversationContext, Cooccurrences, Facts
    from recollect.records import (
        Calibrated,
        DreamRecord,
        Found,
        LoggedAnswer,
        LogSize,
        Memory,
        Passage,
        PastQuestion,
        Relation,
        Tuned,
    )
    from recollect.tables import Row

# Of the texts that were written last, so many are looked at for whether they wait for a vector.
_NEWEST_DUE = 2_000


class View:
    """Every answer of one view is of the same state."""

    def __init__(self, snapshot: Snapshot, size: Callable[[], tuple[int, int]] | None = None) -> None:
        self.snapshot = snapshot
        self._size = size
        # A view is of one moment, so what it was told stays true.
        self._read_last: Mapping[int, Memory] = {}
        self._scopes: dict[tuple[str, str | None], list[int]] = {}
        self._models: list[tuple[int, Model] | None] = []
        self._indexes: dict[int, TermIndex] = {}
        self._past: dict[PastState, PastTexts] = {}

    # Memories and the graph

    def memories(self, ids: Sequence[int]) -> Mapping[int, Memory]:
        """Those that exist, forgotten ones included, each with its observations."""
        self._read_last = memories_by_id(self.snapshot, ids)
        return self._read_last

    def page(self, where: Filter | None, after: int, limit: int) -> Sequence[Memory]:
        """Memories by ascending id, from the first above `after`. None: of every scope, also forgotten."""
        beyond = Compares("id", ">", after)
        if where is None:
            return memories_where(self.snapshot, (beyond,), limit=limit)
        # The first of each scope and kind, merged: an index holds each of them in order of id.
        narrow = narrowing(replace(where, kinds=frozenset(Kind)))
        ids = [
            id_
            for scope in self._scope_ids(where)
            for kind in sorted(where.kinds)
            for (id_,) in self.snapshot.rows(
                "memory",
                ("id",),
                (Equals("scope_id", scope), Equals("kind", kind), beyond, *lifecycle(where), *narrow),
                limit=limit,
            )
        ]
        return memories_where(self.snapshot, (OneOf("id", sorted(ids)[:limit]),))

    def relation_page(self, where: Filter | None, after: int, limit: int) -> Sequence[Relation]:
        """Relations by ascending id, from the first above `after`, ended ones included.

        Those of which the filter lets both ends through. None: of every scope, deleted ones too.
        """
        if where is None:
            return relations_where(self.snapshot, (Compares("id", ">", after),), limit)
        found: list[Relation] = []
        there = () if where.deleted else (is_null("deleted_at"),)
        while len(found) < limit:
            page = relations_where(self.snapshot, (Compares("id", ">", after), *there), limit)
            if not page:
                break
            ends = {id_ for relation in page for id_ in (relation.source, relation.target)}
            seen = self._allowed_among(ends, where)
            found += [each for each in page if each.source in seen and each.target in seen]
            after = page[-1].id
        return found[:limit]

    def named(self, names: Sequence[str], scope: Scope) -> Mapping[str, int]:
        """Live entities by name: the exact one, else the only one that differs in case or accents."""
        scope_id = self._scope_id(scope)
        found = {name: entities.find_entity(self.snapshot, scope_id, name) for name in names}
        return {name: id_ for name, id_ in found.items() if id_ is not None}

    def alike(self, name: str, scope: Scope) -> Sequence[str]:
        """Names of live entities that differ from this one in case or accents at most, by id."""
        return entities.names_alike(self.snapshot, self._scope_id(scope), name)

    def names(self, begun: str, limit: int, where: Filter) -> tuple[Sequence[str], int]:
        """Names of entities that contain the text, in any case and accents, and how many there are."""
        if _is_nowhere(begun):
            return [], 0
        return entities.matching_names(self.snapshot, begun, limit, allowed(where, self._scope_ids(where)))

    def relations(self, ids: Sequence[int], *, deleted: bool = False) -> Sequence[Relation]:
        """Relations that start or end at one of these, by id; ended ones included."""
        there = () if deleted else (is_null("deleted_at"),)
        return relations_where(self.snapshot, (touching(ids), *there))

    # Searches

    def by_words(self, text: str, k: int, where: Filter, index: Analyser = "plain") -> Sequence[Found]:
        """Best BM25 first, ties by id. Any text is a query; no character has a meaning of its own."""
        conditions: tuple[Condition, ...] = narrowing(where)
        past = self._past_of(where)
        if past is not None:
            conditions = (*past.unchanged(), *past.state.memory(), *conditions)
        found: list[Found] = []
        for scope in self._scope_ids(where):
            if past is not None:
                found += past.search_words(self._index(scope), text, index, where)
            found += search_words(self._index(scope), text, k, index, conditions)
        return sorted(found, key=lambda hit: (-hit.score, hit.id))[:k]

    def held(self, text: str, ids: Sequence[int], where: Filter) -> Mapping[int, float]:
        """For each of these, the weighted share of the query's content words it contains; 0 is left out."""
        shares: dict[int, float] = {}
        for scope in self._scope_ids(where):
            shares |= matched_shares(self._index(scope), text, ids)
        return shares

    def around(
        self, text: str, k: int, where: Filter, within: int, echo: tuple[str, str] | None = None
    ) -> tuple[Sequence[Found], Sequence[ConversationContext]]:
        """The messages whose neighbours, up to `within` places away, contain most of a query; ties by id.

        And what there is next to all others, by scope. What neighbours say counts whoever said it, as long
        as it was not forgotten; those that are found are such as the filter lets through. An `echo`, a
        session and a text, is what was just asked there: it says nothing of what stands beside it.
        """
        if Kind.MESSAGE not in where.kinds or k <= 0:
            return [], []
        past = self._past_of(where)
        each = [
            neighbours(self._index(scope), text, k, within, where, past, echo)
            for scope in self._scope_ids(where)
        ]
        found = [hit for hits, _ in each for hit in hits]
        return sorted(found, key=lambda hit: (-hit.score, hit.id))[:k], [context for _, context in each]

    def linked(self, text: str, where: Filter, now: int) -> Sequence[Found]:
        """Entities one relation away from those that a text names, but not those themselves.

        The score is the share of the relation's type that the text says, and a quarter at the least.
        """
        if Kind.ENTITY not in where.kinds:
            return []
        found = [
            hit
            for scope in self._scope_ids(where)
            for hit in entities.linked_entities(self.snapshot, scope, text, where, now)
        ]
        return sorted(found, key=lambda hit: (-hit.score, hit.id))

    def replies(self, ids: Sequence[int], where: Filter) -> Sequence[int]:
        """The messages that stand right after those of these that end with a question, by id."""
        asked = self.snapshot.rows(
            "memory",
            ("scope_id", "session", "position", "text"),
            (OneOf("id", ids), Equals("kind", "message"), is_set("session"), is_set("position")),
        )
        next_places: dict[int, list[tuple[str, int]]] = {}
        for scope, session, position, text in asked:
            if ends_with_question(text):
                next_places.setdefault(scope, []).append((session, position + 1))
        return sorted(
            id_
            for scope in self._scope_ids(where)
            if scope in next_places
            for (id_,) in self.snapshot.rows("memory", ("id",), messages_at(scope, next_places[scope], where))
        )

    def by_meaning(
        self, query: Vector, k: int, where: Filter, shortlist: int | None = None
    ) -> Sequence[Found]:
        """Best cosine first, ties by id; the best passage of each memory speaks for it.

        With a `shortlist` of n, the n memories that are nearest by the first third of each vector's width
        (turned by the model's rotation) are compared by the whole of it, and no others are found.
        """
        model, scopes = self._model_row(), self._scope_ids(where)
        if model is None or not scopes or k <= 0:
            return []
        past = self._past_of(where)
        found: list[Found] = []
        unchanged: tuple[Condition, ...] = ()
        if past is not None:
            found += past.nearest(query, model[0], scopes, where)
            unchanged = (*past.unchanged(), *past.state.memory())
        for part in _by_session(where):
            conditions = (*narrowing(part), *unchanged)
            found += self.snapshot.nearest(query, k, scopes, conditions, shortlist)
        return sorted(found, key=lambda hit: (-hit.score, hit.id))[:k]

    def containing(self, text: str, k: int, where: Filter) -> Sequence[int]:
        """Entities in which the text stands as it is, letters in any case, by id."""
        if _is_nowhere(text):
            return []
        state = PastState.of(where)
        observed = IN_FORCE if state is None else state.observation()
        return self.snapshot.containing(text, k, allowed(where, self._scope_ids(where)), observed)

    # What ranking asks

    def facts(self, ids: Sequence[int], query: str, session: str | None, now: int) -> Facts:
        """What ranking reads of these memories, by ascending id, in a constant number of questions.

        The query and the session tell which are echoes of it.
        """
        return facts(self.snapshot, ids, query, session, now)

    def together(self, ids: Sequence[int]) -> Cooccurrences:
        """How often pairs of these were shown in one answer; places are those of the sorted ids."""
        return cooccurrences(self.snapshot, ids)

    def holders(self, words: Sequence[str], scope: Scope) -> tuple[int, Mapping[str, int]]:
        """How many texts a scope has, and how many of them contain each word, or else its stem."""
        scope_id = self._scope_id(scope)
        if not scope_id:
            return 0, {}
        index = self._index(scope_id)
        return index.size("plain")[0], counts_or_stem_counts(index, words)

    # Passages and vectors

    def vectors(self, passages: Sequence[int]) -> Mapping[int, Vector]:
        """Vectors of the model in use, by passage."""
        model = self._model_row()
        if model is None:
            return {}
        rows = self.snapshot.rows(
            "vector",
            ("passage_id", "embedding"),
            (Equals("model_id", model[0]), OneOf("passage_id", passages)),
        )
        return {passage: unpack(blob) for passage, blob in rows}

    def passages(self, ids: Sequence[int]) -> Sequence[Passage]:
        """The live passages of these memories, by id."""
        return self._passages(
            self.snapshot.rows("passage", PASSAGE_COLUMNS, (OneOf("memory_id", ids), Equals("live", 1)))
        )

    def passages_by_id(self, passages: Sequence[int]) -> Sequence[Passage]:
        """Those that exist, by id."""
        return self._passages(self.snapshot.rows("passage", PASSAGE_COLUMNS, (OneOf("id", passages),)))

    def pending(self, model: Model, after: int, limit: int) -> Sequence[Passage]:
        """Live passages that have no vector of this model, by ascending id above `after`."""
        in_use = self.model()
        waiting = in_use is None or in_use.name == model.name
        rows: list[Row] = []
        while len(rows) < limit:
            ids = self._due(after, limit) if waiting else self._without_vector(model, after, limit)
            if not ids:
                break
            rows += self.snapshot.rows("passage", PASSAGE_COLUMNS, (OneOf("id", ids), Equals("live", 1)))
            after = ids[-1]
        return self._passages(rows[:limit])

    def waits(self, where: Filter) -> bool:
        """Whether one of the texts that this filter's scopes got last has no vector yet."""
        # Among the newest alone: another scope may have ten thousand that wait.
        newest = self.snapshot.rows("due", ("passage_id",), newest_first=True, limit=_NEWEST_DUE)
        if not newest:
            return False
        passages = self.snapshot.rows(
            "passage", ("memory_id",), (OneOf("id", [id_ for (id_,) in newest]), Equals("live", 1))
        )
        ours = (OneOf("id", {id_ for (id_,) in passages}), OneOf("scope_id", self._scope_ids(where)))
        return bool(self.snapshot.rows("memory", ("id",), ours, limit=1))

    def model(self) -> Model | None:
        """The model whose vectors searches use."""
        row = self._model_row()
        return None if row is None else row[1]

    # Conversations

    def sessions(self, scope: Scope) -> Sequence[Session]:
        """The conversations of a scope, the one with the newest turn first."""
        rows = self.snapshot.rows(
            "memory",
            ("session", "created_at", "speaker", "role"),
            (
                Equals("scope_id", self._scope_id(scope)),
                Equals("kind", "message"),
                is_set("session"),
                is_null("deleted_at"),
            ),
            order=("session", "position"),
        )
        times: dict[str, list[int]] = {}
        speakers: dict[str, dict[str, None]] = {}
        for session, created_at, speaker, role in rows:
            times.setdefault(session, []).append(created_at)
            if speaker is not None or role is not None:
                speakers.setdefault(session, {})[speaker if speaker is not None else role] = None
        newest_first = sorted(times, key=lambda name: (-max(times[name]), name))
        return [
            Session(
                name,
                len(times[name]),
                moment(min(times[name])),
                moment(max(times[name])),
                tuple(speakers.get(name, ())),
            )
            for name in newest_first
        ]

    def turns(self, scope: Scope, session: str, first: int, last: int) -> Sequence[Memory]:
        """The messages of a session at these positions, both included, in order; forgotten ones left out."""
        return memories_where(
            self.snapshot,
            (
                Equals("scope_id", self._scope_id(scope)),
                Equals("session", session),
                Equals("kind", "message"),
                Compares("position", ">=", first),
                Compares("position", "<=", last),
                is_null("deleted_at"),
            ),
            order=("position", "id"),
        )

    def last_position(self, scope: Scope, session: str) -> int:
        """The position of a session's last message; 0 where it has none."""
        return last_positions(self.snapshot, self._scope_id(scope), [session]).get(session, 0)

    def replaced_by(self, id: int) -> Sequence[int]:  # noqa: A002  # the domain's word
        """The memories that this one superseded, by id."""
        return [old for (old,) in self.snapshot.rows("memory", ("id",), (Equals("superseded_by", id),))]

    def mentioning(self, entity: int, limit: int) -> Sequence[int]:
        """Live texts that speak of an entity, the newest first."""
        texts = [
            id_ for (id_,) in self.snapshot.rows("mention", ("memory_id",), (Equals("entity_id", entity),))
        ]
        in_force = (OneOf("id", texts), *IN_FORCE)
        return [
            id_ for (id_,) in self.snapshot.rows("memory", ("id",), in_force, newest_first=True, limit=limit)
        ]

    # Dreams

    def dream_state(self, scope: Scope, now: int, together: int) -> dream.DreamState:
        """What a dream looks at; pairs that were shown in at least `together` answers."""
        return dream_state.dream_state(self.snapshot, self._scope_id(scope), now, together)

    def questions(self, scope: Scope, limit: int) -> Sequence[PastQuestion]:
        """What was asked last, the newest first, each wording once."""
        return dream_state.past_questions(self.snapshot, self._scope_id(scope), limit)

    def dreams(self, scope: Scope, limit: int) -> Sequence[DreamRecord]:
        """The newest first, undone ones included."""
        return dream_state.dream_records(self.snapshot, self._scope_id(scope), limit)

    def journal(self, scope: Scope, dream: int) -> Mapping[str, Any] | None:
        """Every change of a dream, with before and after; None where there is no such dream."""
        return dream_state.dream_journal(self.snapshot, self._scope_id(scope), dream)

    def links(self, ids: Sequence[int]) -> Sequence[tuple[int, int, int]]:
        """What these are linked to: the memory, the other one, which is in force, and how firmly."""
        return dream_state.links_of(self.snapshot, ids)

    def corrected(self, scope: Scope, limit: int) -> Sequence[tuple[int, int]]:
        """The texts that were corrected last, each with the memory in force that corrects it."""
        return dream_state.corrections(self.snapshot, self._scope_id(scope), limit)

    # The log of answers, and tuned numbers

    def answers(self, scope: Scope, profile: str, *, packed: bool = True) -> Iterator[LoggedAnswer]:
        """The log of a profile's answers, the oldest first.

        Without `packed`, those without feedback come without their candidates, which take long to read.
        """
        return answer_log.logged_answers(self.snapshot, self._scope_id(scope), profile, packed=packed)

    def log_sizes(self, scope: Scope) -> Sequence[LogSize]:
        """How much the log holds of each profile that it knows, by name."""
        return answer_log.log_sizes(self.snapshot, self._scope_id(scope))

    def trial_seed(self) -> str:
        """What decides, together with a query, which ranking it gets in a trial; one for each store."""
        return self._setting("trial_seed") or ""

    def tuned(self, scope: Scope, profile: str) -> tuple[int, Mapping[str, float]] | None:
        """The numbers that a profile was given last, and their version; None: it never was."""
        return answer_log.tuned_numbers(self.snapshot, self._scope_id(scope), profile)

    def tunings(self, scope: Scope, profile: str | None, limit: int) -> Sequence[Tuned]:
        """Every set of numbers that was given, the newest first; None: to any profile."""
        return answer_log.tunings(self.snapshot, self._scope_id(scope), profile, limit)

    def calibration(self, scope: Scope, model: str) -> Calibrated | None:
        """What `Calibrate` kept last; the model's name is empty where meaning is not searched."""
        return answer_log.calibration(self.snapshot, self._scope_id(scope), model)

    # The store as a whole

    def scopes(self) -> Sequence[Scope]:
        return [Scope(owner, agent) for owner, agent in self.snapshot.rows("scope", ("owner", "agent"))]

    def imported(self, scope: Scope, file: str) -> bool:
        """Whether `NoteImport` told of this file."""
        return self._setting(import_setting(scope, file)) is not None

    def graph_mark(self, scope: Scope, now: int) -> int:
        """Another number once the graph of a scope reads otherwise: its entities, what is said of them, and
        the relations that hold now."""
        return entities.graph_mark(self.snapshot, self._scope_id(scope), now)

    def how_many(self, where: Filter) -> Mapping[Kind, int]:
        """Live memories that the filter lets through, by kind."""
        counted = self.snapshot.count("memory", allowed(where, self._scope_ids(where)), by="kind")
        return {Kind(str(kind)): count for kind, count in counted.items()}

    def counts(self) -> Counts:
        """Of the whole store, all scopes together."""
        kinds = self.snapshot.count("memory", (is_null("deleted_at"),), by="kind")
        size, schema = (0, 0) if self._size is None else self._size()
        forgotten = [id_ for (id_,) in self.snapshot.rows("memory", ("id",), (is_set("deleted_at"),))]
        model = self._model_row()
        live, silent = Equals("live", 1), Equals("live", 0)
        observed = self._how_many("observation", *IN_FORCE)
        if forgotten:
            observed -= self._how_many("observation", *IN_FORCE, OneOf("memory_id", forgotten))
        return Counts(
            entities=kinds.get("entity", 0),
            notes=kinds.get("note", 0),
            messages=kinds.get("message", 0),
            observations=observed,
            relations=self._how_many("relation", is_null("deleted_at"), is_null("until")),
            forgotten=len(forgotten),
            passages=self._how_many("passage", live),
            vectors=0
            if model is None
            else self._how_many("vector", Equals("model_id", model[0]))
            - self._how_many_of("vector", (Equals("model_id", model[0]),), silent),
            due=self._how_many("due") - self._how_many_of("due", (), silent),
            scopes=self._how_many("scope"),
            unnoted=int(self._setting("unnoted") or 0),
            bytes=size,
            schema=schema,
        )

    # Beneath

    def _how_many(self, table: str, *where: Condition) -> int:
        return self.snapshot.count(table, where)[None]  # type: ignore[arg-type]  # names of our own

    def _how_many_of(self, table: str, where: tuple[Condition, ...], passage: Condition) -> int:
        """How many rows belong to passages that meet a condition."""
        ids = [id_ for (id_,) in self.snapshot.rows("passage", ("id",), (passage,))]
        return self._how_many(table, *where, OneOf("passage_id", ids)) if ids else 0

    def _allowed_among(self, ids: set[int], where: Filter) -> set[int]:
        conditions = (OneOf("id", ids), *allowed(where, self._scope_ids(where)))
        return {id_ for (id_,) in self.snapshot.rows("memory", ("id",), conditions)}

    def _due(self, after: int, limit: int) -> list[int]:
        rows = self.snapshot.rows("due", ("passage_id",), (Compares("passage_id", ">", after),), limit=limit)
        return [id_ for (id_,) in rows]

    def _without_vector(self, model: Model, after: int, limit: int) -> list[int]:
        """The next passages, those first that have no vector of this model; empty at the end."""
        known = self.snapshot.rows("model", ("id",), (Equals("name", model.name),))
        while True:
            rows = self.snapshot.rows(
                "passage", ("id",), (Compares("id", ">", after), Equals("live", 1)), limit=limit
            )
            ids = [id_ for (id_,) in rows]
            if not ids or not known:
                return ids
            done = {
                id_
                for (id_,) in self.snapshot.rows(
                    "vector", ("passage_id",), (Equals("model_id", known[0][0]), OneOf("passage_id", ids))
                )
            }
            after = ids[-1]
            missing = [id_ for id_ in ids if id_ not in done]
            if missing:
                return missing

    def _passages(self, rows: Sequence[Row]) -> list[Passage]:
        wanted = {row[1] for row in rows}
        # Who asks for passages has mostly just read their memories, and a view never changes.
        memories = self._read_last if wanted <= self._read_last.keys() else self.memories(sorted(wanted))
        former = former_texts(self.snapshot, (row[5] for row in rows if row[5] is not None))
        return passages_of(rows, memories, former)

    def _index(self, scope: int) -> TermIndex:
        return self._indexes.setdefault(scope, TermIndex(self.snapshot, scope))

    def _past_of(self, where: Filter) -> PastTexts | None:
        """None: the present, which the indexes hold."""
        state = PastState.of(where)
        if state is None:
            return None
        if state not in self._past:
            self._past[state] = PastTexts(self.snapshot, state)
        return self._past[state]

    def _scope_id(self, scope: Scope) -> int:
        """Of a scope that nobody has written to yet, one that no row has."""
        return next(iter(self._scope_ids(Filter(scope.owner, scope.agent))), 0)

    def _scope_ids(self, where: Filter) -> list[int]:
        wanted = where.owner, where.agent
        if wanted not in self._scopes:
            agent = () if where.agent is None else (Equals("agent", where.agent),)
            rows = self.snapshot.rows("scope", ("id",), (Equals("owner", where.owner), *agent))
            self._scopes[wanted] = [id_ for (id_,) in rows]
        return self._scopes[wanted]

    def _model_row(self) -> tuple[int, Model] | None:
        if not self._models:
            rows = self.snapshot.rows("model", ("id", "name", "dims", "centre"), (Equals("in_use", 1),))
            self._models = [(rows[0][0], Model(*rows[0][1:])) if rows else None]
        return self._models[0]

    def _setting(self, name: str) -> str | None:
        rows = self.snapshot.rows("setting", ("value",), (Equals("name", name),))
        return str(rows[0][0]) if rows else None


def import_setting(scope: Scope, file: str) -> str:
    """The name under which the settings note that a file was brought into a scope."""
    return json.dumps(["imported", scope.owner, scope.agent, file])


def _by_session(where: Filter) -> Iterator[Filter]:
    """Where messages are of the current session alone: everything else, and they by themselves."""
    talk = where.kinds & {Kind.MESSAGE} if where.current is not None else frozenset()
    for kinds, session in ((where.kinds - talk, where.session), (talk, where.current)):
        if kinds and (session == where.session or where.session is None):
            yield replace(where, kinds=kinds, session=session, current=None)


def _is_nowhere(text: str) -> bool:
    """Whether it cannot be stored, so that it stands nowhere."""
    return "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text)
