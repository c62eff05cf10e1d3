"""Sessions as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.records import Session
from recollect.stores.sqlite.rows import moment

if TYPE_CHECKING:
    import apsw


def sessions(connection: apsw.Connection, scope: int) -> list[Session]:
    """The one with the newest turn first."""
    speakers: dict[str, list[str]] = {}
    for session, speaker in connection.execute(
        "SELECT session, coalesce(speaker, role) AS who FROM memory WHERE scope_id = ? AND kind = 'message' "
        "AND session IS NOT NULL AND deleted_at IS NULL AND who IS NOT NULL GROUP BY session, who "
        "ORDER BY session, min(position)",
        (scope,),
    ):
        speakers.setdefault(session, []).append(speaker)
    rows = connection.execute(
        "SELECT session, count(*), min(created_at), max(created_at) FROM memory WHERE scope_id = ? "
        "AND kind = 'message' AND session IS NOT NULL AND deleted_at IS NULL GROUP BY session "
        "ORDER BY max(created_at) DESC, session",
        (scope,),
    )
    return [
        Session(name, turns, moment(first), moment(last), tuple(speakers.get(name, ())))
        for name, turns, first, last in rows
    ]
