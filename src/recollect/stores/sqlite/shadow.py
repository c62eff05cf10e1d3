"""Reading for tuning: the log of answers, and the numbers that profiles were given."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from recollect.records import LoggedAnswer, LogSize, Tuned
from recollect.stores.sqlite.rows import moment

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import apsw

    from recollect.records import Scope

_JUDGED = "EXISTS (SELECT 1 FROM feedback WHERE feedback.shadow_id = s.id)"


def answers(connection: apsw.Connection, scope: int, profile: str, *, packed: bool) -> Iterator[LoggedAnswer]:
    """The oldest first, one at a time: all of them together may not fit."""
    candidates = "s.candidates" if packed else f"CASE WHEN {_JUDGED} THEN s.candidates ELSE x'' END"
    for row in connection.execute(
        "SELECT s.id, s.at, s.handle, s.session, s.query, s.profile, s.version, s.arm, s.against, s.shown, "
        f"s.ranked, s.baseline, {candidates}, (SELECT json_group_array(json_array(memory_id, kind, grade)) "
        "FROM (SELECT * FROM feedback WHERE shadow_id = s.id ORDER BY memory_id, kind)) "
        "FROM shadow AS s WHERE s.scope_id = ? AND s.profile = ? ORDER BY s.id",
        (scope, profile),
    ):
        yield LoggedAnswer(
            id=row[0],
            at=moment(row[1]),
            handle=row[2],
            session=row[3],
            query=row[4],
            profile=row[5],
            version=row[6],
            arm=row[7],
            against=row[8],
            shown=tuple(json.loads(row[9])),
            ranked=tuple(json.loads(row[10])),
            baseline=tuple(json.loads(row[11])),
            candidates=row[12],
            feedback=tuple((memory, kind, float(grade)) for memory, kind, grade in json.loads(row[13])),
        )


def sizes(connection: apsw.Connection, scope: int) -> list[LogSize]:
    rows = connection.execute(
        f"SELECT count(*), sum(s.arm <> 'baseline'), sum({_JUDGED}), s.profile FROM shadow AS s "
        "WHERE s.scope_id = ? GROUP BY s.profile ORDER BY s.profile",
        (scope,),
    )
    return [LogSize(*row) for row in rows]


def tuned(connection: apsw.Connection, scope: Scope, profile: str) -> tuple[int, Mapping[str, float]] | None:
    """Asked before every answer, so in one question, and of nothing that an answer does not need."""
    row = connection.execute(
        "SELECT id, knobs FROM tuned WHERE scope_id = (SELECT id FROM scope WHERE owner = ? AND agent = ?) "
        "AND profile = ? ORDER BY id DESC LIMIT 1",
        (scope.owner, scope.agent, profile),
    ).fetchone()
    return None if row is None else (int(row[0]), json.loads(row[1]))


def tunings(connection: apsw.Connection, scope: int, profile: str | None, limit: int) -> Sequence[Tuned]:
    rows = connection.execute(
        "SELECT id, profile, at, knobs, why, report FROM tuned WHERE scope_id = ?1 "
        "AND (?2 IS NULL OR profile = ?2) ORDER BY id DESC LIMIT ?3",
        (scope, profile, limit),
    )
    return [
        Tuned(version, name, moment(at), json.loads(knobs), why, json.loads(report))
        for version, name, at, knobs, why, report in rows
    ]
