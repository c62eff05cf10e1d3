"""Reading for dreams: the snapshot they look at, the questions they are tried on, and those dreamt before."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from recollect.dream.snapshot import Life, Pair, Replay, Said, Snapshot, Twins
from recollect.factors.candidates import DAY
from recollect.records import Consolidation, DreamRecord, Kind, PastQuestion
from recollect.stores.sqlite.rows import many, moment, moment_or_none
from recollect.stores.sqlite.write.dreams import unpacked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from typing import Any

    import apsw

    from recollect.factors.candidates import Ints
    from recollect.stores.sqlite.rows import Row

_KINDS = {kind.value: place for place, kind in enumerate(Kind)}
_STAGES = {stage.value: place for place, stage in enumerate(Consolidation)}

_MEMORIES = (
    "SELECT m.id, m.kind, m.created_at, max(m.created_at, m.updated_at, coalesce(u.last_at, 0)), "
    "coalesce(u.count, 0), m.revisions, m.pinned OR m.importance_tag IS NOT NULL, m.consolidation, "
    "m.strength, m.depth, m.spread, m.stability, max(m.created_at, m.updated_at) "
    "FROM memory AS m LEFT JOIN use AS u ON u.memory_id = m.id "
    "WHERE m.scope_id = ? AND m.deleted_at IS NULL AND m.superseded_at IS NULL ORDER BY m.id"
)


def snapshot(connection: apsw.Connection, scope: int, now: int, together: int) -> Snapshot:
    """Of what is in force; pairs that were seen together at least so often."""
    dreamt: list[Row] = connection.execute(
        "SELECT value, max(at), max(through) FROM dream, json_each(dream.phases) "
        "WHERE scope_id = ? AND undone_at IS NULL GROUP BY value",
        (scope,),
    ).fetchall()
    seen_by = {phase: through for phase, _, through in dreamt}
    through = seen_by.get("consolidate", 0)
    rows: list[Row] = connection.execute(_MEMORIES, (scope,)).fetchall()
    columns = list(zip(*rows, strict=True)) if rows else [()] * 13
    ids = np.array(columns[0], np.int64)
    places = {id_: place for place, id_ in enumerate(columns[0])}
    replays, newest, days = _replays(connection, scope, through, places)
    spread = np.array(columns[10], np.int64)
    return Snapshot(
        at=now,
        dreamt_at={phase: at for phase, at, _ in dreamt},
        through=newest,
        ids=ids,
        kind=np.array([_KINDS[kind] for kind in columns[1]], np.int64),
        created_at=np.array(columns[2], np.int64),
        changed_at=np.array(columns[12], np.int64),
        touched_at=np.array(columns[3], np.int64),
        accesses=np.array(columns[4], np.int64),
        revisions=np.array(columns[5], np.int64),
        kept=np.array(columns[6], bool),
        sessions=_sessions(connection, [columns[0][row] for row in days], places, spread),
        life=Life(
            consolidation=np.array([_STAGES[stage] for stage in columns[7]], np.int64),
            strength=np.array(columns[8], np.float64),
            depth=np.array(columns[9], np.int64),
            spread=spread,
            stability=np.array(columns[11], np.float64),
        ),
        temper=_temper(connection, scope),
        used=_shown_after(connection, scope, seen_by.get("promote", 0), places),
        replays=replays,
        used_on={row: tuple(sorted(on)) for row, on in days.items()},
        seen_before=_seen_before(
            connection, {columns[0][row]: min(on) for row, on in days.items()}, places, through
        ),
        twins=(*_alike_notes(connection, scope), *_alike_observations(connection, scope)),
        together=_together(connection, scope, together),
        linked=_linked(connection, scope),
    )


def _replays(
    connection: apsw.Connection, scope: int, through: int, places: Mapping[int, int]
) -> tuple[tuple[Replay, ...], int, dict[int, set[int]]]:
    """The answers after `through`, the newest of them, and on which days they showed what."""
    answers: dict[int, tuple[int, list[int]]] = {}
    newest = through
    days: dict[int, set[int]] = {}
    for recall, at, memory in connection.execute(
        "SELECT r.id, r.at, d.memory_id FROM recall AS r JOIN recalled AS d ON d.recall_id = r.id "
        "JOIN memory AS m ON m.id = d.memory_id WHERE r.id > ? AND m.scope_id = ? ORDER BY r.id, d.place",
        (through, scope),
    ):
        newest = recall
        if memory in places:
            answers.setdefault(recall, (at, []))[1].append(places[memory])
            days.setdefault(places[memory], set()).add(at // DAY)
    return tuple(Replay(at, tuple(shown)) for at, shown in answers.values()), newest, days


def _seen_before(
    connection: apsw.Connection, first_days: Mapping[int, int], places: Mapping[int, int], through: int
) -> dict[int, int]:
    """The day of the last use before; by the log, or by the days where the log goes back no further."""
    logged = {
        memory: at // DAY
        for memory, at in connection.execute(
            "SELECT d.memory_id, max(r.at) FROM recalled AS d JOIN recall AS r ON r.id = d.recall_id "
            "WHERE d.memory_id IN (SELECT value FROM json_each(?)) AND r.id <= ? GROUP BY d.memory_id",
            (many(first_days), through),
        )
    }
    rest = {memory: day for memory, day in first_days.items() if memory not in logged}
    by_day = connection.execute(
        "SELECT CAST(w.key AS INTEGER), max(d.day) FROM json_each(?) AS w JOIN use_day AS d "
        "ON d.memory_id = CAST(w.key AS INTEGER) AND d.day < w.value GROUP BY w.key",
        (json.dumps(rest),),
    )
    return {places[memory]: day for memory, day in (*logged.items(), *by_day)}


def _sessions(
    connection: apsw.Connection, ids: Sequence[int], places: Mapping[int, int], spread: Ints
) -> Ints:
    """Sessions that each came up in; of what was not recalled since the last dream, what was counted then."""
    sessions = spread.copy()
    for memory, count in connection.execute(
        "SELECT d.memory_id, count(DISTINCT r.session) FROM recalled AS d JOIN recall AS r "
        "ON r.id = d.recall_id WHERE d.memory_id IN (SELECT value FROM json_each(?)) GROUP BY d.memory_id",
        (many(ids),),
    ):
        sessions[places[memory]] = count
    return sessions


def _alike_notes(connection: apsw.Connection, scope: int) -> list[Twins]:
    side = "{0}.id, {0}.text, coalesce({0}u.count, 0), {0}.pinned OR {0}.importance_tag IS NOT NULL"
    rows = connection.execute(
        f"SELECT {side.format('a')}, {side.format('b')}, b.similarity "
        "FROM memory AS b JOIN memory AS a ON a.id = b.similar_to "
        "LEFT JOIN use AS au ON au.memory_id = a.id LEFT JOIN use AS bu ON bu.memory_id = b.id "
        "WHERE b.similar_to IS NOT NULL AND b.scope_id = ?1 AND a.scope_id = ?1 AND a.kind = b.kind "
        "AND a.speaker IS b.speaker AND a.happened_at IS b.happened_at "
        # Whoever brought one back from being replaced wants both.
        "AND NOT EXISTS (SELECT 1 FROM absence WHERE memory_id IN (a.id, b.id) AND why = 'superseded') "
        "AND a.deleted_at IS NULL AND a.superseded_at IS NULL "
        "AND b.deleted_at IS NULL AND b.superseded_at IS NULL ORDER BY b.id",
        (scope,),
    )
    return [Twins(_note(*row[:4]), _note(*row[4:8]), row[8]) for row in rows]


def _note(id_: int, text: str, accesses: int, kept: int) -> Said:
    return Said(id_, text, accesses=accesses, kept=bool(kept))


def _alike_observations(connection: apsw.Connection, scope: int) -> list[Twins]:
    rows = connection.execute(
        "SELECT m.id, a.id, a.content, b.id, b.content, b.similarity, "
        "m.pinned OR m.importance_tag IS NOT NULL FROM observation AS b "
        "JOIN observation AS a ON a.id = b.similar_to AND a.memory_id = b.memory_id "
        "JOIN memory AS m ON m.id = b.memory_id WHERE b.similar_to IS NOT NULL AND m.scope_id = ? "
        "AND m.deleted_at IS NULL AND a.kind = b.kind AND a.happened_at IS b.happened_at "
        "AND a.deleted_at IS NULL AND a.superseded_at IS NULL "
        "AND b.deleted_at IS NULL AND b.superseded_at IS NULL ORDER BY b.id",
        (scope,),
    )
    return [
        Twins(
            Said(memory, older_text, older, kept=bool(kept)),
            Said(memory, newer_text, newer, kept=bool(kept)),
            similarity,
        )
        for memory, older, older_text, newer, newer_text, similarity, kept in rows
    ]


def _temper(connection: apsw.Connection, scope: int) -> float:
    rows: list[Row] = connection.execute("SELECT temper FROM scope WHERE id = ?", (scope,)).fetchall()
    return float(rows[0][0]) if rows else 1.0


def _shown_after(
    connection: apsw.Connection, scope: int, through: int, places: Mapping[int, int]
) -> frozenset[int]:
    rows = connection.execute(
        "SELECT DISTINCT d.memory_id FROM recall AS r JOIN recalled AS d ON d.recall_id = r.id "
        "JOIN memory AS m ON m.id = d.memory_id WHERE r.id > ? AND m.scope_id = ?",
        (through, scope),
    )
    return frozenset(places[memory] for (memory,) in rows if memory in places)


def _together(connection: apsw.Connection, scope: int, least: int) -> tuple[Pair, ...]:
    return tuple(
        Pair(first, second, count)
        for first, second, count in connection.execute(
            "SELECT t.first_id, t.second_id, t.count FROM together AS t "
            "JOIN memory AS a ON a.id = t.first_id JOIN memory AS b ON b.id = t.second_id "
            "WHERE t.count >= ? "
            "AND a.scope_id = ?2 AND b.scope_id = ?2 AND a.deleted_at IS NULL AND a.superseded_at IS NULL "
            "AND b.deleted_at IS NULL AND b.superseded_at IS NULL ORDER BY t.first_id, t.second_id",
            (least, scope),
        )
    )


def _linked(connection: apsw.Connection, scope: int) -> dict[tuple[int, int], int]:
    return {
        (first, second): weight
        for first, second, weight in connection.execute(
            "SELECT first_id, second_id, weight FROM link JOIN memory ON memory.id = first_id "
            "WHERE scope_id = ?",
            (scope,),
        )
    }


# What was asked


def questions(connection: apsw.Connection, scope: int, limit: int) -> list[PastQuestion]:
    """The last ones that differ, the newest first, each with what it showed."""
    rows = connection.execute(
        "SELECT max(id), query, profile FROM recall WHERE scope_id = ? AND query IS NOT NULL "
        "GROUP BY query, profile ORDER BY max(id) DESC LIMIT ?",
        (scope, limit),
    ).fetchall()
    return [
        PastQuestion(
            str(query),
            None if profile is None else str(profile),
            tuple(
                memory
                for (memory,) in connection.execute(
                    "SELECT memory_id FROM recalled WHERE recall_id = ? ORDER BY place", (recall,)
                )
            ),
        )
        for recall, query, profile in rows
    ]


# Dreams


def dreams(connection: apsw.Connection, scope: int, limit: int) -> list[DreamRecord]:
    return [
        DreamRecord(
            id=id_,
            at=moment(at),
            phases=tuple(json.loads(phases)),
            report=json.loads(report),
            undone_at=moment_or_none(undone_at),
        )
        for id_, at, phases, report, undone_at in connection.execute(
            "SELECT id, at, phases, report, undone_at FROM dream WHERE scope_id = ? ORDER BY id DESC LIMIT ?",
            (scope, limit),
        )
    ]


def journal(connection: apsw.Connection, scope: int, dream: int) -> dict[str, Any] | None:
    rows: list[Row] = connection.execute(
        "SELECT journal FROM dream WHERE id = ? AND scope_id = ?", (dream, scope)
    ).fetchall()
    return unpacked(rows[0][0]) if rows else None


def links(connection: apsw.Connection, ids: Sequence[int]) -> list[tuple[int, int, int]]:
    """Links of these, each with the other end that is in force: the memory, the other, how firmly."""
    return sorted(
        (one, other, weight)
        for near, far in (("first_id", "second_id"), ("second_id", "first_id"))
        for one, other, weight in connection.execute(
            f"SELECT l.{near}, l.{far}, l.weight FROM link AS l JOIN memory AS m ON m.id = l.{far} "
            f"WHERE l.{near} IN (SELECT value FROM json_each(?)) "
            "AND m.deleted_at IS NULL AND m.superseded_at IS NULL",
            (many(ids),),
        )
    )


def corrected(connection: apsw.Connection, scope: int, limit: int) -> list[tuple[int, int]]:
    return [
        (wrong, by)
        for wrong, by in connection.execute(
            "SELECT wrong.id, wrong.superseded_by FROM memory AS wrong JOIN memory AS right "
            "ON right.id = wrong.superseded_by WHERE wrong.scope_id = ?1 AND right.scope_id = ?1 "
            "AND wrong.superseded_at IS NOT NULL AND wrong.deleted_at IS NULL "
            "AND right.deleted_at IS NULL AND right.superseded_at IS NULL "
            "ORDER BY wrong.superseded_at DESC, wrong.id DESC LIMIT ?2",
            (scope, limit),
        )
    ]


def lease(connection: apsw.Connection, name: str) -> tuple[str, datetime] | None:
    rows: list[Row] = connection.execute("SELECT holder, until FROM lease WHERE name = ?", (name,)).fetchall()
    return (str(rows[0][0]), moment(rows[0][1])) if rows else None
