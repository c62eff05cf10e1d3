"""Which entities texts speak of: found by name, in the transaction that brings the text or the entity.

The work grows with the text, not with how many entities there are: the index by folded name is asked which of
a text's words begin a name, and then which of the stretches that begin so are one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.stores.sqlite import word_index
from recollect.stores.sqlite.lookup import FOLDED
from recollect.stores.sqlite.rows import many
from recollect.text.names import Place, Text, beginning, counted, written
from recollect.text.tokens import has_unspaced, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import apsw

# Of texts that were there before an entity, so many are searched for its name, the newest.
_MOST_EARLIER = 2_000
_BATCH = 500
# `kind` as a constant, by which the planner sees that the index by folded name will do.
_ENTITY = "e.kind = 'entity' AND e.deleted_at IS NULL AND e.scope_id = ?"


def link_texts(connection: apsw.Connection, scope: int, ids: Sequence[int]) -> None:
    """Find anew which entities these texts name; what the caller told stays."""
    if not ids:
        return
    if connection.execute(f"SELECT 1 FROM memory AS e WHERE {_ENTITY} LIMIT 1", (scope,)).fetchone() is None:
        _unlink(connection, ids)  # of what is forgotten now and may come back
        return
    for start in range(0, len(ids), _BATCH):
        _link(connection, scope, ids[start : start + _BATCH])


def link_entities(connection: apsw.Connection, scope: int, ids: Sequence[int]) -> None:
    """Look in the texts that were there before for the names of these new entities."""
    if not _has_texts(connection, scope):
        return
    names = connection.execute(
        f"SELECT e.name FROM memory AS e WHERE {_ENTITY} AND e.id IN (SELECT value FROM json_each(?))",
        (scope, many(ids)),
    )
    found: set[int] = set()
    for (name,) in names.fetchall():
        for table, sought in _sought(str(name)):
            found.update(
                id_
                for (id_,) in connection.execute(
                    f"SELECT f.rowid FROM {table}_{scope} AS f JOIN memory AS m ON m.id = f.rowid "
                    f"WHERE {table}_{scope} MATCH ? AND m.kind <> 'entity' ORDER BY f.rowid DESC LIMIT ?",
                    (sought, _MOST_EARLIER),
                )
            )
    link_texts(connection, scope, sorted(found))


def _sought(name: str) -> Iterator[tuple[str, str]]:
    """Which indexes to ask for texts that may hold a name, and for what."""
    folded = words(name)
    if folded:
        yield "words", f'"{" ".join(folded)}"'
    if has_unspaced(name):  # it may stand inside what the index takes for a word
        pieces = word_index.paired(name)
        if pieces:
            yield "pairs", " AND ".join(each.query for each in pieces)


def _unlink(connection: apsw.Connection, ids: Sequence[int]) -> None:
    connection.execute(
        "DELETE FROM mention WHERE told = 0 AND memory_id IN (SELECT value FROM json_each(?))", (many(ids),)
    )


def _has_texts(connection: apsw.Connection, scope: int) -> bool:
    return any(
        connection.execute(
            "SELECT 1 FROM memory WHERE scope_id = ? AND kind = ? LIMIT 1", (scope, kind)
        ).fetchone()
        for kind in ("note", "message")
    )


def _link(connection: apsw.Connection, scope: int, ids: Sequence[int]) -> None:
    listed = many(ids)
    texts = {
        id_: Text.of(f"{speaker}: {text}" if speaker else text)
        for id_, speaker, text in connection.execute(
            "SELECT id, speaker, text FROM memory WHERE id IN (SELECT value FROM json_each(?)) "
            "AND kind <> 'entity' AND deleted_at IS NULL",
            (listed,),
        )
    }
    beginnings = _known_beginnings(
        connection, scope, set().union(*(text.beginnings() for text in texts.values()))
    )
    places = {id_: tuple(text.places(beginnings)) for id_, text in texts.items()}
    known = _entities(connection, scope, {place.name for found in places.values() for place in found})
    _unlink(connection, ids)
    connection.executemany(
        "INSERT OR IGNORE INTO mention(memory_id, entity_id, told) VALUES (?, ?, 0)",
        [
            (id_, entity)
            for id_, text in texts.items()
            for entity in sorted(_mentioned(text, places[id_], known))
        ],
    )


def named_in(connection: apsw.Connection, scope: int, said: str) -> set[int]:
    """The entities that a text names which is in no store, such as a query."""
    if connection.execute(f"SELECT 1 FROM memory AS e WHERE {_ENTITY} LIMIT 1", (scope,)).fetchone() is None:
        return set()
    text = Text.of(said)
    places = tuple(text.places(_known_beginnings(connection, scope, text.beginnings())))
    return _mentioned(text, places, _entities(connection, scope, {place.name for place in places}))


def _mentioned(text: Text, places: Sequence[Place], known: dict[str, list[tuple[int, str]]]) -> set[int]:
    meant = {
        place: entity for place in places if (entity := _meant(text, known.get(place.name, ()))) is not None
    }
    return {meant[place][0] for place in counted(text, {place: name for place, (_, name) in meant.items()})}


def _meant(text: Text, alike: Sequence[tuple[int, str]]) -> tuple[int, str] | None:
    """Of entities whose names differ in case or accents alone, the one written so, else the only one."""
    exact = [entity for entity in alike if len(alike) > 1 and written(text.said, entity[1])]
    chosen = exact or alike
    return chosen[0] if len(chosen) == 1 else None


def _known_beginnings(connection: apsw.Connection, scope: int, words_: set[str]) -> set[str]:
    """Those words with which the folded name of some entity begins, perhaps after a mark or two."""
    rows = connection.execute(
        # From the word itself to the word followed by the highest letter there is: a range of the index.
        "SELECT value FROM json_each(?) AS w "
        f"WHERE EXISTS (SELECT 1 FROM memory AS e {FOLDED} WHERE {_ENTITY} "
        "AND e.folded_name >= w.value AND e.folded_name < w.value || char(1114111))",
        (many(sorted(words_)), scope),
    )
    found = {word for (word,) in rows}
    # Names that begin with a mark, such as `.net` and `@ada`, are few.
    marked = connection.execute(
        f"SELECT e.folded_name FROM memory AS e {FOLDED} WHERE {_ENTITY} AND e.folded_name < '0' UNION ALL "
        f"SELECT e.folded_name FROM memory AS e {FOLDED} WHERE {_ENTITY} AND e.folded_name > '9' "
        "AND e.folded_name < 'a'",
        (scope, scope),
    )
    return found | {word for (name,) in marked if (word := beginning(name)) in words_}


def _entities(connection: apsw.Connection, scope: int, names: set[str]) -> dict[str, list[tuple[int, str]]]:
    rows = connection.execute(
        f"SELECT e.folded_name, e.id, e.name FROM json_each(?) AS n "
        f"CROSS JOIN memory AS e {FOLDED} ON e.folded_name = n.value "
        f"WHERE {_ENTITY} ORDER BY e.id",
        (many(sorted(names)), scope),
    )
    known: dict[str, list[tuple[int, str]]] = {}
    for folded, id_, name in rows:
        known.setdefault(folded, []).append((id_, name))
    return known
