"""What the ranking asks of the store, column by column, in a constant number of questions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recollect.factors.candidates import NEVER, Cooccurrences, Facts
from recollect.records import Status
from recollect.stores.sqlite.rows import many, storable
from recollect.stores.sqlite.surroundings import conversation
from recollect.text.near_duplicates import text_key
from recollect.text.tokens import content_words, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from recollect.factors.candidates import Flags, Floats, Ints

_STATUSES = {status.value: place for place, status in enumerate(Status)}
# Of Latin, Chinese and Arabic script.
_QUESTION_MARKS = "('?', '\uff1f', '\u061f')"
# The first message of a conversation that has no second one.
_ALONE = (
    "(m.position = 1 AND NOT EXISTS (SELECT 1 FROM memory AS n WHERE n.scope_id = m.scope_id "
    "AND n.session = m.session AND n.session IS NOT NULL AND n.position = 2))"
)
_WANTED = "(SELECT value FROM json_each(?1))"


def facts(
    connection: apsw.Connection, ids: Sequence[int], query: str, session: str | None, now: int
) -> Facts:
    """By ascending id; ids that do not exist are left out."""
    wanted = many(ids)
    rows = list(
        connection.execute(
            "SELECT m.id, iif(m.undated, NULL, m.created_at), m.updated_at, m.happened_at, u.last_at, "
            "coalesce(u.count, 0), "
            "m.status, m.importance, m.strength, m.depth, m.spread, m.stability, "
            "coalesce(m.text_key, -m.id), "
            "m.kind = 'message' AND m.session IS ?2 AND m.text IS ?3, coalesce(m.drawn_from, m.id), "
            "(SELECT temper FROM scope WHERE scope.id = m.scope_id), "
            "m.scope_id, "
            f"iif(m.kind = 'message' AND m.position IS NOT NULL AND NOT {_ALONE}, m.session, NULL), "
            "m.position, m.speaker, "
            f"{asking('m')} "
            "FROM memory AS m LEFT JOIN use AS u ON u.memory_id = m.id "
            f"WHERE m.id IN {_WANTED} ORDER BY m.id",
            (wanted, session, storable(query)),
        )
    )
    columns = list(zip(*rows, strict=True)) if rows else [()] * 21
    found = np.array(columns[0], np.int64)
    content = np.array(columns[12], np.int64)
    for memory, text in connection.execute(_WORDINGS, (wanted, now)):
        content[np.searchsorted(found, memory)] = text_key(text)
    return Facts(
        ids=found,
        created_at=_times(columns[1]),
        updated_at=_times(columns[2]),
        happened_at=_times(columns[3]),
        last_access=_times(columns[4]),
        access_count=np.array(columns[5], np.int64),
        access_days=_beside(found, connection, _DAYS, (wanted,)).astype(np.int64),
        degree=_beside(found, connection, _DEGREES, (wanted, now)).astype(np.int64),
        status=np.array([_STATUSES[str(status)] for status in columns[6]], np.int64),
        importance=np.array(columns[7], np.float64),
        strength=np.array(columns[8], np.float64),
        depth=np.array(columns[9], np.int64),
        spread=np.array(columns[10], np.int64),
        stability=np.array(columns[11], np.float64),
        temper=np.array(columns[15], np.float64),
        metadata_share=_beside(found, connection, _METADATA, (wanted,)),
        content=content,
        echo=np.array(columns[13], bool),
        origin=np.array(columns[14], np.int64),
        session=np.array(
            [_conversation(*row) for row in zip(columns[16], columns[17], strict=True)], np.int64
        ),
        position=np.array([0 if row[17] is None else row[18] for row in rows], np.int64),
        named=_named(connection, found, columns[19], query),
        asks=np.array([bool(asks) for asks in columns[20]], bool),
    )


def asking(row: str) -> str:
    """SQL on a memory's row: whether its text ends with a question, whatever blanks follow."""
    return f"substr(rtrim({row}.text, char(9, 10, 13, 32)), -1) IN {_QUESTION_MARKS}"


def _conversation(scope: int, session: str | None) -> int:
    return 0 if session is None else conversation(scope, session)


def _named(connection: apsw.Connection, ids: Ints, speakers: Sequence[str | None], query: str) -> Flags:
    """Whether the query names who said it; of what nobody said, whether it tells of one who is so named."""
    asked = set(content_words(query))
    names = {speaker: asked.intersection(words(speaker)) for speaker in set(speakers) if speaker}
    named = np.array([bool(speaker and names[speaker]) for speaker in speakers], bool)
    people = set().union(*names.values())
    unsaid = [id_ for id_, speaker in zip(ids.tolist(), speakers, strict=True) if not speaker]
    if people and unsaid:
        rows = connection.execute(
            f"SELECT id, coalesce(name, '') || ' ' || coalesce(text, '') FROM memory WHERE id IN {_WANTED}",
            (many(unsaid),),
        )
        for id_, text in rows:
            named[np.searchsorted(ids, id_)] = not people.isdisjoint(words(text))
    return named


def together(connection: apsw.Connection, ids: Sequence[int]) -> Cooccurrences:
    """Pairs of these, in the order of their ids; places are those of the sorted ids."""
    rows = list(
        connection.execute(
            "SELECT first_id, second_id, count, last_at FROM together "
            # The plus: through the pairs that each has, rather than every pair that there could be.
            f"WHERE first_id IN {_WANTED} AND +second_id IN {_WANTED} ORDER BY first_id, second_id",
            (many(ids),),
        )
    )
    columns = list(zip(*rows, strict=True)) if rows else [()] * 4
    known = np.array(sorted(ids), np.int64)
    return Cooccurrences(
        first=np.searchsorted(known, np.array(columns[0], np.int64)),
        second=np.searchsorted(known, np.array(columns[1], np.int64)),
        count=np.array(columns[2], np.int64),
        last=np.array(columns[3], np.int64),
    )


# What texts said at a moment of the past; the last to come is the first of those that held after it.
_WORDINGS = (
    f"SELECT memory_id, text FROM revision WHERE memory_id IN {_WANTED} AND until > ?2 ORDER BY id DESC"
)
_DAYS = f"SELECT memory_id, count(*) FROM use_day WHERE memory_id IN {_WANTED} GROUP BY memory_id"
# A relation that has ended, or leads to something forgotten, connects nothing.
_HOLDS = "(until IS NULL OR until > ?2) AND deleted_at IS NULL"
_DEGREES = (
    "SELECT one, count(DISTINCT id) FROM ("
    f"SELECT source_id AS one, id FROM relation WHERE source_id IN {_WANTED} AND {_HOLDS} UNION ALL "
    f"SELECT target_id, id FROM relation WHERE target_id IN {_WANTED} AND {_HOLDS}"
    ") GROUP BY one"
)
_METADATA = (
    "SELECT memory_id, avg(kind = 'metadata') FROM observation "
    f"WHERE memory_id IN {_WANTED} AND deleted_at IS NULL AND superseded_at IS NULL GROUP BY memory_id"
)


def _beside(ids: Ints, connection: apsw.Connection, question: str, bindings: tuple[str | int, ...]) -> Floats:
    """The answer's numbers beside the ids; 0 where it has none."""
    numbers = np.zeros(len(ids))
    rows = list(connection.execute(question, bindings))
    if rows:
        columns = list(zip(*rows, strict=True))
        numbers[np.searchsorted(ids, np.array(columns[0], np.int64))] = columns[1]
    return numbers


def _times(column: Sequence[object]) -> Ints:
    return np.array([NEVER if at is None else at for at in column], np.int64)
