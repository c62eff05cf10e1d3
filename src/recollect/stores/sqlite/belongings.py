"""What other tables hold about memories, read for many of them at once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from recollect.stores.sqlite.rows import (
    OBSERVATION_COLUMNS,
    Belongings,
    absence_of,
    many,
    observation_of,
    revision_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from recollect.stores.sqlite.rows import Row


def belongings_of(
    connection: apsw.Connection, entities: Sequence[int], texts: Sequence[int]
) -> dict[int, Belongings]:
    found: dict[int, Belongings] = {}
    if entities:
        observations = _grouped(connection, _OBSERVATIONS, entities)
        found |= {
            id_: Belongings(observations=[observation_of(row) for row in rows])
            for id_, rows in observations.items()
        }
    if texts:
        tags = _grouped(connection, _TAGS, texts)
        mentions = _grouped(connection, _MENTIONS, texts)
        former = _grouped(connection, _FORMER, texts)
        for id_ in tags.keys() | mentions.keys() | former.keys():
            mentioned = mentions.get(id_, ())
            found[id_] = Belongings(
                tags=[tag for (tag,) in tags.get(id_, ())],
                mentions=[entity for entity, _ in mentioned],
                about=[entity for entity, told in mentioned if told],
                former=[revision_of(row) for row in former.get(id_, ())],
            )
    for id_, rows in _grouped(connection, _ABSENCES, [*entities, *texts]).items():
        absences = [absence_of(row) for row in rows]
        found[id_] = replace(found.get(id_, Belongings()), absences=absences)
    return found


_WANTED = "memory_id IN (SELECT value FROM json_each(?))"
_OBSERVATIONS = (
    f"SELECT memory_id, {OBSERVATION_COLUMNS} FROM observation WHERE {_WANTED} ORDER BY memory_id, id"
)
_TAGS = f"SELECT memory_id, tag FROM tag WHERE {_WANTED} ORDER BY memory_id, folded"
_MENTIONS = (
    "SELECT memory_id, entity_id, told FROM mention JOIN memory AS e ON e.id = entity_id "
    f"WHERE {_WANTED} AND e.deleted_at IS NULL ORDER BY memory_id, entity_id"
)
_ABSENCES = f"SELECT memory_id, why, since, until FROM absence WHERE {_WANTED} ORDER BY memory_id, since, why"
_FORMER = f"SELECT memory_id, text, since, until FROM revision WHERE {_WANTED} ORDER BY memory_id, id"


def _grouped(connection: apsw.Connection, question: str, ids: Sequence[int]) -> dict[int, list[Row]]:
    grouped: dict[int, list[Row]] = {}
    for memory, *row in connection.execute(question, (many(ids),)):
        grouped.setdefault(memory, []).append(tuple(row))
    return grouped
