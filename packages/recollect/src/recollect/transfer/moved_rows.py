"""Read a store page by page for exports, and write imported records."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from recollect.admin import Internals
from recollect.domain.changes import Change, NoteImport, Outcome
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.learnt import (
    LEARNT_PARTS,
    Learnt,
    LearntCalibration,
    LearntDismissal,
    LearntFeedback,
    LearntPair,
    LearntPart,
    LearntScope,
    LearntSetting,
    LearntUsage,
    LinkedMemory,
)
from recollect.domain.records import Filter, Kind, Memory, Relation, Scope
from recollect.domain.tables import Compares, Condition, Equals, Not, OneOf, Row, Table, is_set
from recollect.search.rows import memories_by_id, moment, moment_or_none, relations_where, scope_id, scope_ids
from recollect.search.texts import memory_page, relation_page, was_imported
from recollect.services import Services
from recollect.stores.port import RowsQuery, Snapshot

if TYPE_CHECKING:
    from pathlib import Path

    from recollect.engine import Engine

_PAGE = 500


@dataclass(frozen=True, slots=True)
class Export:
    """The content of a store at one moment, read page by page."""

    view: Snapshot
    services: Services
    everything: Filter | None
    """The scope to export, including its forgotten memories; None for all scopes."""

    def memories(self, after: int = 0) -> Iterator[Memory]:
        """Yield the memories with ids above `after`, including forgotten ones."""
        return self._memories(self.everything, after)

    def relations(self, after: int = 0) -> Iterator[Relation]:
        """Yield the relations of those memories, by id, including ended and removed ones."""
        return self._relations(self.everything, after)

    def entities(self, after: int = 0) -> Iterator[Memory]:
        """Yield the current entities of the engine's scope, by id."""
        return self._memories(self.services.where(Kind.ENTITY), after)

    def relations_in_force(self, after: int = 0) -> Iterator[Relation]:
        """Yield the current relations between those entities, by id."""
        found = self._relations(self.services.where(Kind.ENTITY), after)
        return (relation for relation in found if relation.until is None)

    def has_texts(self) -> bool:
        """Whether the engine's scope has current notes or messages."""
        return bool(memory_page(self.view, self.services.where(Kind.NOTE, Kind.MESSAGE), 0, 1))

    def has_learnt(self) -> bool:
        """Whether the exported scopes have data learnt from use."""
        return any(self.count(table) for table in ("recall", "answer_log", "tuning", "dream"))

    def read_learnt(self, part: LearntPart, after: int = 0) -> Iterator[tuple[int, Learnt]]:
        """Yield data learnt from use, each value with the `after` with which to continue behind it."""
        return _READERS[part](self.view, part, self._scopes(), after)

    def count(self, table: Table) -> int:
        """Count the rows of a table in the exported scopes. The table must have a scope column."""
        scopes = self._scopes()
        where = () if scopes is None else (OneOf("scope_id", scopes),)
        return self.view.count(table, where)[None]

    def _scopes(self) -> list[int] | None:
        where = self.everything
        return None if where is None else scope_ids(self.view, where.owner, where.agent)

    def _memories(self, where: Filter | None, after: int) -> Iterator[Memory]:
        while page := memory_page(self.view, where, after, _PAGE):
            yield from page
            after = page[-1].id

    def _relations(self, where: Filter | None, after: int) -> Iterator[Relation]:
        while page := relation_page(self.view, where, after, _PAGE):
            yield from page
            after = page[-1].id


@contextmanager
def exporting(engine: Engine, *, everything: bool = False) -> Iterator[Export]:
    """Open a snapshot to export: the engine's scope, or `everything` in the store."""
    services = Internals(engine).services
    # Wait until the latest answers are recorded.
    services.usage.settle(services.usage.patience_seconds)
    with services.read_everything() if everything else services.read() as view:
        yield Export(view, services, None if everything else services.where(deleted=True))


def importing(engine: Engine) -> Import:
    """Prepare an import into the engine's store."""
    own = Internals(engine).services.for_writing
    return Import(own, own.clock())


@dataclass(frozen=True, slots=True)
class Import:
    """A writer of imported memories, all with the same time of import."""

    services: Services
    at: datetime

    def is_fresh(self) -> bool:
        """Whether the store is empty."""
        with self.services.read_everything() as view:
            return not memory_page(view, None, 0, 1)

    def apply(self, changes: Sequence[Change], *, keep_going: bool = False) -> Sequence[Outcome]:
        """Write the changes in one transaction, each in the scope that it names."""
        if not changes:
            return ()
        return self.services.store.apply(changes, at=self.at, keep_going=keep_going).outcomes

    def ids_by_source(self, scope: Scope, prefix: str) -> dict[str, int]:
        """Return ids of notes and entities by `source`, if it has this prefix. Include forgotten ones."""
        with self.services.read_everything() as view:
            where = (
                Equals("scope_id", scope_id(view, scope)),
                is_set("source"),
                Not(Equals("kind", "message")),
            )
            rows = view.rows("memory", ("id", "source"), where)
        return {source: id_ for id_, source in rows if source.startswith(prefix)}

    def memories(self, ids: Collection[int]) -> dict[int, Memory]:
        """Load memories by id, including forgotten ones and those of other owners."""
        if not ids:
            return {}
        with self.services.read_everything() as view:
            return memories_by_id(view, ids)

    def relations_from(self, entities: Collection[int]) -> list[Relation]:
        """Load relations by their source, including ended and removed ones."""
        if not entities:
            return []
        with self.services.read_everything() as view:
            return relations_where(view, (OneOf("source_id", entities),))

    def record_file(self, file: str | Path) -> None:
        """Record that this file was imported."""
        self.services.store.apply([NoteImport(self.services.scope, _whole_path(file))], at=self.at)

    def was_recorded(self, file: str | Path) -> bool:
        """Whether this file was imported before."""
        with self.services.read() as view:
            return was_imported(view, self.services.scope, _whole_path(file))


def _whole_path(file: str | Path) -> str:
    # A file name may be bytes, but a store keeps only text.
    return os.fsencode(os.path.realpath(file)).decode("utf-8", "backslashreplace")


# Data learnt from use, page by page

_EPOCH = date(1970, 1, 1)
_DISMISSED = '["dismissed", '
EXPORTED_SETTINGS = ("trial_seed", "unnoted")
"""Names of the exported settings that belong to the whole store."""
# Rows per page; few if each row is large.
_LEARNT_PAGE = {"memory": 1_000, "recall": 500, "answer_log": 50, "dream": 4}
# Parts whose records are rows of one table. `_COLUMNS` lists columns that are not named like their field.
_LOG_TABLES: dict[LearntPart, Table] = {
    "tuned": "tuning",
    "recall": "recall",
    "answer": "answer_log",
    "dream": "dream",
}
_COLUMNS = {"scope": "scope_id", "size": "bytes", "before": "bytes_before"}
_OF_OTHER_TABLES = {"memories", "places", "feedback"}


def _pages(
    view: Snapshot, table: Table, columns: Sequence[str], scopes: Sequence[int] | None, after: int
) -> Iterator[list[Row]]:
    """Yield pages of rows, ordered by id. The first of the columns must be the id."""
    own: tuple[Condition, ...] = () if scopes is None else (OneOf("scope_id", scopes),)
    limit = _LEARNT_PAGE.get(table, 500)
    while page := view.rows(table, columns, (Compares("id", ">", after), *own), order=("id",), limit=limit):
        yield page
        if len(page) < limit:
            return
        after = page[-1][0]


def _scopes(
    view: Snapshot, _: LearntPart, scopes: Sequence[int] | None, after: int
) -> Iterator[tuple[int, Learnt]]:
    """Yield values of scopes, ordered by owner and agent: the ids depend on the order of writes."""
    own = () if scopes is None else (OneOf("id", scopes),)
    dismissed: defaultdict[Scope, list[LearntDismissal]] = defaultdict(list)
    named = (Compares("name", ">=", _DISMISSED), Compares("name", "<", f"{_DISMISSED}\x7f"))
    for name, at in sorted(view.rows("setting", ("name", "value"), named)):
        _, owner, agent, key = json.loads(name)
        dismissed[Scope(owner, agent)].append(LearntDismissal(key, at))
    calibrations: defaultdict[int, list[LearntCalibration]] = defaultdict(list)
    for owner_id, model, at, memories, value in sorted(
        view.rows("calibration", ("scope_id", "model", "at", "memories", "value"))
    ):
        calibrations[owner_id].append(LearntCalibration(model, moment(at), memories, value))
    found = sorted(view.rows("scope", ("owner", "agent", "id", "temper"), own))
    for place, (owner, agent, id_, temper) in enumerate(found, 1):
        scope = Scope(owner, agent)
        learnt = LearntScope(scope, temper, tuple(calibrations[id_]), tuple(dismissed[scope]))
        if place > after and learnt != LearntScope(scope):
            yield place, learnt


def _usage(
    view: Snapshot, _: LearntPart, scopes: Sequence[int] | None, after: int
) -> Iterator[tuple[int, Learnt]]:
    for page in _pages(view, "memory", ("id",), scopes, after):
        ids = [id_ for (id_,) in page]
        uses, days, pairs, links = view.rows_batch(
            [
                RowsQuery("usage", ("memory_id", "count", "last_at"), (OneOf("memory_id", ids),)),
                RowsQuery("usage_day", ("memory_id", "day"), (OneOf("memory_id", ids),)),
                RowsQuery(
                    "cooccurrence", ("first_id", "second_id", "count", "last_at"), (OneOf("first_id", ids),)
                ),
                RowsQuery("link", ("first_id", "second_id", "weight"), (OneOf("first_id", ids),)),
            ]
        )
        count = {id_: (number, moment(last_at)) for id_, number, last_at in uses}
        by_day, by_pair, by_link = (_group_by_first(rows) for rows in (days, pairs, links))
        for id_ in ids:
            if id_ not in count and id_ not in by_day and id_ not in by_pair and id_ not in by_link:
                continue
            number, last_at = count.get(id_, (0, None))
            yield (
                id_,
                LearntUsage(
                    id_,
                    number,
                    last_at,
                    tuple(_EPOCH + timedelta(days=day) for (day,) in by_day.get(id_, ())),
                    tuple(LearntPair(other, n, moment(at)) for other, n, at in by_pair.get(id_, ())),
                    tuple(LinkedMemory(other, weight) for other, weight in by_link.get(id_, ())),
                ),
            )


def _group_by_first(rows: Sequence[Row]) -> dict[int, list[Row]]:
    """Return the sorted rows by their first value, without it."""
    found: dict[int, list[Row]] = {}
    for first, *rest in sorted(rows):
        found.setdefault(first, []).append(tuple(rest))
    return found


def _log(
    view: Snapshot, part: LearntPart, scopes: Sequence[int] | None, after: int
) -> Iterator[tuple[int, Learnt]]:
    """Yield tuned parameters, recalls, answers and dreams, by id."""
    names = {id_: Scope(owner, agent) for id_, owner, agent in view.rows("scope", ("id", "owner", "agent"))}
    record: Any = LEARNT_PARTS[part]
    own = [field for field in fields(record) if field.name not in _OF_OTHER_TABLES]
    columns = [_COLUMNS.get(field.name, field.name) for field in own]
    for page in _pages(view, _LOG_TABLES[part], columns, scopes, after):
        more = _log_details(view, part, [row[0] for row in page])
        for row in page:
            values: dict[str, Any] = {}
            for field, value in zip(own, row, strict=True):
                if field.name == "scope":
                    values["scope"] = names[value]
                elif str(field.type).startswith("datetime"):
                    values[field.name] = moment_or_none(value)
                else:
                    is_list = str(field.type).startswith("tuple")
                    values[field.name] = tuple(json.loads(value)) if is_list else value
            yield row[0], record(**values, **more.get(row[0], {}))


def _log_details(view: Snapshot, part: LearntPart, ids: Sequence[int]) -> dict[int, dict[str, Any]]:
    """Read what other tables hold, by id: the memories of recalls, or the feedback on answers."""
    found: dict[int, dict[str, Any]] = {}
    if part == "recall":
        rows = view.rows("recall_hit", ("recall_id", "place", "memory_id"), (OneOf("recall_id", ids),))
        for id_, shown in _group_by_first(rows).items():
            places = tuple(place for place, _ in shown)
            in_order = places == tuple(range(1, len(places) + 1))
            memories = tuple(memory for _, memory in shown)
            found[id_] = {"memories": memories, "places": () if in_order else places}
    elif part == "answer":
        columns = ("answer_id", "id", "memory_id", "at", "kind", "grade")
        rows = view.rows("feedback", columns, (OneOf("answer_id", ids),))
        for id_, said in _group_by_first(rows).items():
            feedback = (
                LearntFeedback(one, memory, moment(at), kind, grade) for one, memory, at, kind, grade in said
            )
            found[id_] = {"feedback": tuple(feedback)}
    return found


def _settings(
    view: Snapshot, _: LearntPart, scopes: Sequence[int] | None, after: int
) -> Iterator[tuple[int, Learnt]]:
    """Yield settings of the whole store; the export of one scope has none."""
    for place, name in enumerate(EXPORTED_SETTINGS, 1) if scopes is None else ():
        for (value,) in view.rows("setting", ("value",), (Equals("name", name),)) if place > after else ():
            yield place, LearntSetting(name, value)  # type: ignore[arg-type]  # it is one of these names


_Reader = Callable[[Snapshot, LearntPart, Sequence[int] | None, int], Iterator[tuple[int, Learnt]]]
"""A reader of one part. It takes the scopes (None for all), and the number after which to continue."""
_READERS: dict[LearntPart, _Reader] = {
    "scope": _scopes,
    "usage": _usage,
    **dict.fromkeys(_LOG_TABLES, _log),
    "setting": _settings,
}
