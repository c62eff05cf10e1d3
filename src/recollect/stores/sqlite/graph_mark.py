"""A number that tells whether a graph reads otherwise than before, without reading it.

Whatever a graph shows has a row of its own that never changes its words, so another graph is another set of
rows; only a type may take the place of `unknown`. The ids are enough, scrambled and added up, which takes
SQLite a tenth of a second for fifty thousand entities with three observations each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.changes import UNKNOWN

if TYPE_CHECKING:
    import apsw

# Knuth's multiplier. The sum of bare ids would not tell 1 and 4 from 2 and 3.
_SET = "count(*), coalesce(sum({id} * 2654435761 & 4294967295), 0)"
_LIVE = "m.scope_id = ? AND m.kind = 'entity' AND m.deleted_at IS NULL AND m.superseded_at IS NULL"


def graph_mark(connection: apsw.Connection, scope: int, now: int) -> tuple[object, ...]:
    """Of the graph of a scope, as the relations hold at a moment."""
    typed = f"(2 * m.id + (lower(m.type) = '{UNKNOWN}'))"
    entities = f"SELECT {_SET.format(id=typed)} FROM memory AS m WHERE {_LIVE}"
    observations = (
        f"SELECT {_SET.format(id='o.id')} FROM memory AS m JOIN observation AS o ON o.memory_id = m.id "
        f"WHERE {_LIVE} AND o.deleted_at IS NULL AND o.superseded_at IS NULL"
    )
    relations = (
        f"SELECT {_SET.format(id='r.id')} FROM relation AS r JOIN memory AS m ON m.id = r.source_id "
        f"WHERE {_LIVE} AND r.deleted_at IS NULL AND (r.until IS NULL OR r.until > ?)"
    )
    return (
        connection.execute(entities, (scope,)).fetchone(),
        connection.execute(observations, (scope,)).fetchone(),
        connection.execute(relations, (scope, now)).fetchone(),
    )
