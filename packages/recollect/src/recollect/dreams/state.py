"""Read the store for dreams: the state, past questions, journals and earlier dreams."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from recollect.domain.changes import FieldChanges
from recollect.domain.records import Consolidation, DreamRecord, Kind, PastQuestion
from recollect.domain.tables import (
    IN_FORCE,
    AnyOf,
    Compares,
    Condition,
    Equals,
    HasRow,
    Not,
    OneOf,
    is_null,
    is_set,
    null_or_after,
)
from recollect.dreams.snapshot import DreamState, DreamText, Life, Pair, ReplayedAnswer, SimilarTexts
from recollect.ranking.candidates import DAY, Ints
from recollect.search.rows import moment, moment_or_none

if TYPE_CHECKING:
    from recollect.domain.tables import Row
    from recollect.stores import port as ports

_COMPRESSION_LEVEL = 6
_KINDS = {kind.value: place for place, kind in enumerate(Kind)}
_STAGES = {stage.value: place for place, stage in enumerate(Consolidation)}
_COLUMNS = (
    "id", "kind", "created_at", "updated_at", "revisions", "pinned", "importance_tag", "consolidation",
    "strength", "depth", "spread", "stability",
)  # fmt: skip


def dream_state(store: ports.Snapshot, scope: int, now: int, together: int) -> DreamState:
    """Read the current memories, and the pairs that at least `together` answers showed."""
    dreamt = _phases(store, scope)
    through = dreamt.get("consolidate", (0, 0))[1]
    found = (Equals("scope_id", scope), *IN_FORCE, null_or_after("expires_at", now))
    rows = store.rows("memory", _COLUMNS, found)
    columns = dict(zip(_COLUMNS, zip(*rows, strict=True) if rows else [()] * len(_COLUMNS), strict=True))
    ids = np.array(columns["id"], np.int64)
    places = {id_: place for place, id_ in enumerate(columns["id"])}
    usage = {
        memory: (count, last_at)
        for memory, count, last_at in store.rows(
            "usage", ("memory_id", "count", "last_at"), (OneOf("memory_id", columns["id"]),)
        )
    }
    accesses, last_at = np.zeros(len(ids), np.int64), np.zeros(len(ids), np.int64)
    for memory, (count, last) in usage.items():
        accesses[places[memory]], last_at[places[memory]] = count, last
    created, updated = np.array(columns["created_at"], np.int64), np.array(columns["updated_at"], np.int64)
    changed = np.maximum(created, updated)
    replays, newest, days = _replays(store, scope, through, places)
    spread = np.array(columns["spread"], np.int64)
    return DreamState(
        at=now,
        dreamt_at={phase: at for phase, (at, _) in dreamt.items()},
        through=newest,
        ids=ids,
        kind=np.array([_KINDS[kind] for kind in columns["kind"]], np.int64),
        created_at=created,
        changed_at=changed,
        touched_at=np.maximum(changed, last_at),
        accesses=accesses,
        revisions=np.array(columns["revisions"], np.int64),
        kept=np.array(columns["pinned"], bool)
        | np.array([tag is not None for tag in columns["importance_tag"]], bool)
        | np.isin(ids, _of_programs(store, scope)),
        sessions=_sessions(store, [columns["id"][row] for row in days], places, spread),
        life=Life(
            consolidation=np.array([_STAGES[stage] for stage in columns["consolidation"]], np.int64),
            strength=np.array(columns["strength"], np.float64),
            depth=np.array(columns["depth"], np.int64),
            spread=spread,
            stability=np.array(columns["stability"], np.float64),
        ),
        used=_shown_after(store, dreamt.get("promote", (0, 0))[1], places),
        replays=replays,
        used_on={row: tuple(sorted(on)) for row, on in days.items()},
        seen_before=_seen_before(
            store, {columns["id"][row]: min(on) for row, on in days.items()}, places, through
        ),
        twins=(*_similar_notes(store, scope, usage), *_similar_observations(store, scope)),
        together=_together(store, together, places),
        linked=_linked(store, scope),
    )


def _of_programs(store: ports.Snapshot, scope: int) -> list[int]:
    """Return memories with a program's `ref` or metadata, which the program expects unchanged."""
    has_program_data = AnyOf(((is_set("ref"),), (is_set("metadata"),)))
    return [
        id_
        for (id_,) in store.rows("memory", ("id",), (Equals("scope_id", scope), *IN_FORCE, has_program_data))
    ]


def _phases(store: ports.Snapshot, scope: int) -> dict[str, tuple[int, int]]:
    """Return when each phase last ran, and the newest answer that it read."""
    latest: dict[str, tuple[int, int]] = {}
    for phases, at, through in store.rows(
        "dream", ("phases", "at", "through"), (Equals("scope_id", scope), is_null("undone_at"))
    ):
        for phase in json.loads(phases):
            known = latest.get(phase, (at, through))
            latest[phase] = max(known[0], at), max(known[1], through)
    return latest


def _replays(
    store: ports.Snapshot, scope: int, through: int, places: Mapping[int, int]
) -> tuple[tuple[ReplayedAnswer, ...], int, dict[int, set[int]]]:
    """Return the answers after `through`, the newest id, and the days on which each row was shown."""
    times: dict[int, int] = dict(store.rows("recall", ("id", "at"), (Compares("id", ">", through),)))
    shown = store.rows(
        "recall_hit",
        ("recall_id", "memory_id"),
        (Compares("recall_id", ">", through),),
        order=("recall_id", "place"),
    )
    others = {memory for _, memory in shown if memory not in places}
    ours = {id_ for (id_,) in store.rows("memory", ("id",), (OneOf("id", others), Equals("scope_id", scope)))}
    answers: dict[int, tuple[int, list[int]]] = {}
    newest = through
    days: dict[int, set[int]] = {}
    for recall, memory in shown:
        if memory in places:
            newest = recall
            answers.setdefault(recall, (times[recall], []))[1].append(places[memory])
            days.setdefault(places[memory], set()).add(times[recall] // DAY)
        elif memory in ours:
            newest = recall
    return tuple(ReplayedAnswer(at, tuple(rows)) for at, rows in answers.values()), newest, days


def _showings(store: ports.Snapshot, ids: Iterable[int]) -> list[tuple[int, int]]:
    """Return pairs of a memory and an answer that showed it."""
    listed = list(ids)
    if not listed:
        return []
    shown: list[Any] = store.rows("recall_hit", ("memory_id", "recall_id"), (OneOf("memory_id", listed),))
    return shown


def _seen_before(
    store: ports.Snapshot, first_days: Mapping[int, int], places: Mapping[int, int], through: int
) -> dict[int, int]:
    """Return the day of the last use before `first_days`, from the log or, if older, from usage days."""
    earlier: dict[int, int] = {}
    shown = [(memory, recall) for memory, recall in _showings(store, first_days) if recall <= through]
    times: dict[int, int] = dict(
        store.rows("recall", ("id", "at"), (OneOf("id", {recall for _, recall in shown}),))
    )
    for memory, recall in shown:
        earlier[memory] = max(earlier.get(memory, 0), times[recall])
    logged = {memory: at // DAY for memory, at in earlier.items()}
    rest = [memory for memory in first_days if memory not in logged]
    by_day: dict[int, int] = {}
    for memory, day in store.rows("usage_day", ("memory_id", "day"), (OneOf("memory_id", rest),)):
        if day < first_days[memory]:
            by_day[memory] = max(by_day.get(memory, day), day)
    return {places[memory]: day for memory, day in (*logged.items(), *by_day.items())}


def _sessions(store: ports.Snapshot, ids: Sequence[int], places: Mapping[int, int], spread: Ints) -> Ints:
    """Count the sessions that showed each of these memories; the others keep their last count."""
    sessions = spread.copy()
    shown = _showings(store, ids)
    named: dict[int, str] = dict(
        store.rows("recall", ("id", "session"), (OneOf("id", {recall for _, recall in shown}),))
    )
    sessions_of: dict[int, set[str]] = {}
    for memory, recall in shown:
        sessions_of.setdefault(memory, set()).add(named[recall])
    for memory, names in sessions_of.items():
        sessions[places[memory]] = len(names)
    return sessions


def _similar_notes(
    store: ports.Snapshot, scope: int, usage: Mapping[int, tuple[int, int]]
) -> list[SimilarTexts]:
    columns = (
        "id", "similar_to", "similarity", "kind", "speaker", "happened_at", "text", "pinned",
        "importance_tag",
    )  # fmt: skip
    # Leave out restored texts, because the user wants to keep both.
    in_force = (
        Equals("scope_id", scope),
        *IN_FORCE,
        Not(HasRow("absence", "memory_id", (Equals("why", "superseded"),))),
        is_null("ref"),
        is_null("metadata"),
    )

    def statement(row: Row) -> DreamText:
        return DreamText(
            row[0], row[6], accesses=usage.get(row[0], (0, 0))[0], kept=_resists_forgetting(*row[7:])
        )

    return [
        SimilarTexts(statement(older), statement(newer), newer[2])
        for older, newer in _similar_pairs(store, "memory", columns, in_force)
    ]


def _similar_pairs(
    store: ports.Snapshot,
    table: Literal["memory", "observation"],
    columns: tuple[str, ...],
    in_force: tuple[Condition, ...],
) -> list[tuple[Row, Row]]:
    """Return pairs of an older row and a row flagged as similar to it, if their columns 3 to 5 are equal."""
    newer = store.rows(table, columns, (is_set("similar_to"), *in_force))
    found = store.rows(table, columns, (OneOf("id", {row[1] for row in newer}), *in_force))
    older = {row[0]: row for row in found}
    return [(older[row[1]], row) for row in newer if row[1] in older and row[3:6] == older[row[1]][3:6]]


def _resists_forgetting(pinned: int, importance_tag: str | None) -> bool:
    return bool(pinned) or importance_tag is not None


def _similar_observations(store: ports.Snapshot, scope: int) -> list[SimilarTexts]:
    columns = ("id", "similar_to", "similarity", "memory_id", "kind", "happened_at", "content")
    pairs = _similar_pairs(store, "observation", columns, IN_FORCE)
    entities = {
        id_: _resists_forgetting(pinned, tag)
        for id_, pinned, tag in store.rows(
            "memory",
            ("id", "pinned", "importance_tag"),
            (OneOf("id", {row[3] for _, row in pairs}), Equals("scope_id", scope), is_null("deleted_at")),
        )
    }

    def statement(row: Row) -> DreamText:
        return DreamText(row[3], row[6], row[0], kept=entities[row[3]])

    return [
        SimilarTexts(statement(older), statement(newer), newer[2])
        for older, newer in pairs
        if newer[3] in entities
    ]


def _shown_after(store: ports.Snapshot, through: int, places: Mapping[int, int]) -> frozenset[int]:
    rows = store.rows("recall_hit", ("memory_id",), (Compares("recall_id", ">", through),))
    return frozenset(places[memory] for (memory,) in rows if memory in places)


def _together(store: ports.Snapshot, least: int, places: Mapping[int, int]) -> tuple[Pair, ...]:
    return tuple(
        Pair(first, second, count)
        for first, second, count in store.rows(
            "cooccurrence", ("first_id", "second_id", "count"), (Compares("count", ">=", least),)
        )
        if first in places and second in places
    )


def _linked(store: ports.Snapshot, scope: int) -> dict[tuple[int, int], int]:
    rows = store.rows("link", ("first_id", "second_id", "weight"))
    ours = {
        id_
        for (id_,) in store.rows(
            "memory", ("id",), (OneOf("id", {row[0] for row in rows}), Equals("scope_id", scope))
        )
    }
    return {(first, second): weight for first, second, weight in rows if first in ours}


def past_questions(store: ports.Snapshot, scope: int, limit: int) -> list[PastQuestion]:
    """Return the last distinct questions, newest first, each with the memories of its last answer."""
    latest: dict[tuple[str, str | None], int] = {}
    for recall, query, profile in store.rows(
        "recall", ("id", "query", "profile"), (Equals("scope_id", scope), is_set("query")), descending=True
    ):
        latest.setdefault((query, profile), recall)
        if len(latest) > limit:
            break
    chosen = list(latest.items())[:limit]
    shown: dict[int, list[int]] = {}
    for recall, memory in store.rows(
        "recall_hit",
        ("recall_id", "memory_id"),
        (OneOf("recall_id", [recall for _, recall in chosen]),),
        order=("recall_id", "place"),
    ):
        shown.setdefault(recall, []).append(memory)
    return [PastQuestion(query, profile, tuple(shown.get(recall, ()))) for (query, profile), recall in chosen]


def dream_records(
    store: ports.Snapshot,
    scope: int,
    limit: int | None = None,
    dream: int | None = None,
    before: int | None = None,
) -> list[DreamRecord]:
    """Return the dreams of a scope, newest first: all, only `dream`, or those with ids below `before`."""
    one: tuple[Condition, ...] = () if dream is None else (Equals("id", dream),)
    one += () if before is None else (Compares("id", "<", before),)
    return [
        DreamRecord(
            id=id_,
            at=moment(at),
            phases=tuple(json.loads(phases)),
            report=json.loads(report),
            undone_at=moment_or_none(undone_at),
        )
        for id_, at, phases, report, undone_at in store.rows(
            "dream",
            ("id", "at", "phases", "report", "undone_at"),
            (Equals("scope_id", scope), *one),
            descending=True,
            limit=limit,
        )
    ]


def dream_journal(store: ports.Snapshot, scope: int, dream: int) -> dict[str, Any] | None:
    rows = store.rows("dream", ("journal",), (Equals("id", dream), Equals("scope_id", scope)))
    return unpacked(rows[0][0]) if rows else None


def packed(journal: Mapping[str, Any]) -> bytes:
    return zlib.compress(_json(journal), _COMPRESSION_LEVEL)


def packed_fields(lived: Sequence[FieldChanges]) -> Callable[[Mapping[str, object]], bytes]:
    """Pack these fields of a journal now; return a function that appends and packs the rest."""
    compressor = zlib.compressobj(_COMPRESSION_LEVEL)
    start = compressor.compress(_json({"lived": [_fields(each) for each in lived]})[:-1] + b",")

    def pack_rest(rest: Mapping[str, object]) -> bytes:
        continued = compressor.copy()
        return start + continued.compress(_json(rest)[1:]) + continued.flush()

    return pack_rest


def _fields(change: FieldChanges) -> dict[str, object]:
    return {"field": change.field, "ids": change.ids, "before": change.before, "after": change.after}


def _json(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def unpacked(blob: bytes) -> dict[str, Any]:
    journal: dict[str, Any] = json.loads(zlib.decompress(blob))
    return journal


def links_of(store: ports.Snapshot, ids: Sequence[int]) -> list[tuple[int, int, int]]:
    """Return the links of these memories to other current ones: memory, other, weight."""
    found = [
        (one, other, weight)
        for near, far in (("first_id", "second_id"), ("second_id", "first_id"))
        for one, other, weight in store.rows("link", (near, far, "weight"), (OneOf(near, ids),))
    ]
    others = {other for _, other, _ in found}
    current = {id_ for (id_,) in store.rows("memory", ("id",), (OneOf("id", others), *IN_FORCE))}
    return sorted(link for link in found if link[1] in current)


def corrections(store: ports.Snapshot, scope: int, limit: int) -> list[tuple[int, int]]:
    """Return the last corrected memories, each with the current memory that corrects it."""
    retired = store.rows(
        "memory",
        ("id", "superseded_by"),
        (Equals("scope_id", scope), is_set("superseded_at"), is_null("deleted_at"), is_set("superseded_by")),
        order=("superseded_at", "id"),
        descending=True,
    )
    right = {by for _, by in retired}
    current = {
        id_
        for (id_,) in store.rows(
            "memory", ("id",), (OneOf("id", right), Equals("scope_id", scope), *IN_FORCE)
        )
    }
    return [(wrong, by) for wrong, by in retired if by in current][:limit]
