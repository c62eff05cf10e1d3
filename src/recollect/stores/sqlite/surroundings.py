"""What is said around messages: which words of a query their neighbours hold, and their whole conversations.

Told from the words' own index at the moment of asking, so that nothing has to be kept in step when a message
is added, changed or forgotten.
"""

from __future__ import annotations

import json
from functools import lru_cache
from hashlib import blake2b
from math import log
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from recollect.factors.candidates import ConversationContext
from recollect.records import Found
from recollect.stores.sqlite import past, word_index
from recollect.stores.sqlite.rows import many, storable
from recollect.stores.sqlite.standing import Standing, allowed, life

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from recollect.factors.candidates import Floats, Ints
    from recollect.records import Filter
    from recollect.stores.sqlite.rows import Row

# The saturation and the correction for length of BM25, at their usual values.
_K1, _B = 1.2, 0.75
# A message's place in its conversation is below this.
_PLACES = 1 << 40
# How many (word, message) meetings are looked at, some milliseconds' worth: beyond it the most common words,
# which tell the least, do not count.
_BUDGET = 2_000
# Of the places near words, so many times what is wanted are looked at in one go: a filter drops some, and at
# the ends of a conversation nobody stands.
_SPARE = 2
# Beyond so many places, those that weigh the same as the last one wanted are let go unseen.
_TIED = 2_000


class Word(NamedTuple):
    """A telling word of a query, and the messages that hold it."""

    weight: float
    """The fewer texts hold it, the more."""
    session: Ints
    position: Ints
    length: Floats
    """Of each message, over that of the usual one."""


@lru_cache(maxsize=1 << 16)
def conversation(scope: int, session: str) -> int:
    """A number that stands for a conversation, never 0."""
    return int.from_bytes(blake2b(f"{scope}:{session}".encode(), digest_size=7).digest(), "big") + 1


def around(
    connection: apsw.Connection,
    scope: int,
    text: str,
    k: int,
    within: int,
    where: Filter,
    echo: tuple[str, str] | None,
) -> tuple[list[Found], ConversationContext]:
    """The messages whose neighbours hold most of a query, and what there is around all others."""
    postings = _postings(connection, scope, text, where, echo)
    if not postings:
        return [], ConversationContext.empty()
    sessions = sorted(set().union(*(session for session, _, _ in postings)))
    local = {session: place for place, session in enumerate(sessions)}
    texts, _ = word_index.size(connection, f"stems_{scope}")
    usual = np.concatenate([length for _, _, length in postings]).mean()
    words = [
        Word(
            weight=log(1 + (texts - len(session) + 0.5) / (len(session) + 0.5)),
            session=np.array([local[each] for each in session], np.int64),
            position=np.array(position, np.int64),
            length=np.array(length, np.float64) / usual,
        )
        for session, position, length in postings
    ]
    keys, near = _near(words, within)
    found = _best(connection, scope, sessions, keys, near, k, where)
    codes = np.array([conversation(scope, session) for session in sessions], np.int64)
    return found, ConversationContext(
        session=codes[keys // _PLACES],
        position=keys % _PLACES,
        near=near,
        sessions=codes,
        whole=_whole(words, _lengths(connection, scope, sessions)),
    )


def _postings(
    connection: apsw.Connection, scope: int, text: str, where: Filter, echo: tuple[str, str] | None
) -> list[tuple[Sequence[str], Sequence[int], Sequence[int]]]:
    """For each telling word of a query, where the messages stand that hold it, and how long they are.

    Whoever is alive speaks, also to somebody whom the filter does not let through; but not the echo.
    """
    found: list[tuple[Sequence[str], Sequence[int], Sequence[int]]] = []
    telling = word_index.affordable(connection, scope, text, _BUDGET)
    here = (None, None) if echo is None else (echo[0], storable(echo[1]))
    live = life(where)
    former: dict[str, list[int]] = {}
    standing = Standing.of(where)
    if standing is not None:
        live = f"{live} AND m.id NOT IN {standing.different()}"
        former = past.holders(connection, scope, telling, where, standing)
    for word in telling:
        rows: list[Row] = connection.execute(
            f"SELECT m.session, m.position, length(m.text) FROM stems_{scope} AS f "
            "JOIN memory AS m ON m.id = f.rowid "
            f"WHERE stems_{scope} MATCH ? AND m.kind = 'message' AND {live} "
            "AND m.session IS NOT NULL AND m.position IS NOT NULL "
            "AND (m.session IS NOT ? OR m.text IS NOT ?)",
            (f'"{word}"', *here),
        ).fetchall()
        if former.get(word):
            rows += connection.execute(
                "SELECT session, position, length(text) FROM memory "
                "WHERE id IN (SELECT value FROM json_each(?)) "
                "AND session IS NOT NULL AND position IS NOT NULL ORDER BY id",
                (many(former[word]),),
            ).fetchall()
        if rows:
            session, position, length = zip(*rows, strict=True)
            found.append((session, position, length))
    return found


def _near(words: Sequence[Word], within: int) -> tuple[Ints, Floats]:
    """Places near a word, by conversation and position, and what the words near them weigh together.

    Each word once, at the neighbour where it weighs the most: in a short message it says more than in a long
    one, by as much as in BM25.
    """
    steps = [step for step in range(-within, within + 1) if step]
    keys, weights = zip(*(_beside(word, steps) for word in words), strict=True)
    places, place = np.unique(np.concatenate(keys), return_inverse=True)
    near: Floats = np.bincount(place, weights=np.concatenate(weights)).astype(np.float64)
    return places, near


def _beside(word: Word, steps: Sequence[int]) -> tuple[Ints, Floats]:
    """The places next to the messages that hold a word, each once, with the most that it weighs there."""
    weight = word.weight * (_K1 + 1) / (1 + _K1 * (1 - _B + _B * word.length))
    position = np.concatenate([word.position + step for step in steps])
    there = position > 0
    keys = np.tile(word.session, len(steps))[there] * _PLACES + position[there]
    weights = np.tile(weight, len(steps))[there]
    order = np.lexsort((-weights, keys))
    places, first = np.unique(keys[order], return_index=True)
    return places, weights[order][first]


def _whole(words: Sequence[Word], lengths: Floats) -> Floats:
    """BM25 of each conversation as one text, in which a word counts once for each message that holds it."""
    total = np.zeros(len(lengths))
    norm = _K1 * (1 - _B + _B * lengths / lengths.mean())
    for word in words:
        times = np.bincount(word.session, minlength=len(lengths))
        total += word.weight * times * (_K1 + 1) / (times + norm)
    return total


def _lengths(connection: apsw.Connection, scope: int, sessions: Sequence[str]) -> Floats:
    """In messages."""
    rows: list[Row] = connection.execute(
        "SELECT w.key, (SELECT max(position) FROM memory "
        "WHERE scope_id = ?1 AND session = w.value AND session IS NOT NULL) "
        "FROM json_each(?2) AS w ORDER BY w.key",
        (scope, many(sessions)),
    ).fetchall()
    return np.array([length for _, length in rows], np.float64)


def _best(
    connection: apsw.Connection,
    scope: int,
    sessions: Sequence[str],
    keys: Ints,
    near: Floats,
    k: int,
    where: Filter,
) -> list[Found]:
    """Of equals those of the lowest id, unless there are thousands of them."""
    condition, bindings = allowed(where, [scope])
    order = np.lexsort((keys, -near))
    found: list[Found] = []
    start, size = 0, _SPARE * k
    while start < len(order):
        score = near[order[start]]
        if len(found) >= k and (score < found[k - 1].score or start >= _TIED):
            break
        some = order[start : start + size]
        places = [[sessions[key // _PLACES], key % _PLACES] for key in keys[some].tolist()]
        rows: list[Row] = connection.execute(
            "SELECT w.key, m.id FROM json_each(?) AS w CROSS JOIN memory AS m "
            "ON m.scope_id = ? AND m.session = w.value ->> 0 AND m.position = w.value ->> 1 "
            # As the index on conversations says it, or it is not used.
            f"AND m.session IS NOT NULL WHERE m.kind = 'message' AND {condition}",
            (json.dumps(places), scope, *bindings),
        ).fetchall()
        scores = near[some].tolist()
        found += [Found(id_, scores[place]) for place, id_ in rows]
        found.sort(key=lambda hit: (-hit.score, hit.id))
        # The fewer are let through, the more there is to look at.
        start, size = start + size, 2 * size
    return found[:k]
