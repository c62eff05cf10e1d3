"""Context of messages: which words of a query their neighbours and their conversations contain.

It is computed from the postings per query, so no index has to follow each new, changed or forgotten message.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from recollect.domain.numbers import distinct
from recollect.domain.records import Found
from recollect.domain.tables import Condition, Equals, OneOf, is_set
from recollect.ranking.candidates import ConversationContext, Floats, Ints
from recollect.search.rows import lifecycle
from recollect.search.texts import conversation, last_positions, messages_at
from recollect.search.words import K1, B, Phrase, affordable_terms
from recollect.stores.port import Snapshot

if TYPE_CHECKING:
    from recollect.domain.records import Filter
    from recollect.domain.tables import Row
    from recollect.search.as_of import PastTexts
    from recollect.search.words import TermIndex

# A message's place in its conversation is below this.
_PLACES = 1 << 40
# How many (word, message) meetings are looked at, some milliseconds' worth: beyond it the most common words,
# which tell the least, do not count.
_BUDGET = 2_000
# Places read at once, as a multiple of those wanted: a filter and the ends of a conversation drop some.
_SPARE = 2
# Above this number of places, ties with the last wanted one are dropped.
_TIED = 2_000


class _Word(NamedTuple):
    """A content word of a query, and the messages that contain it."""

    weight: float
    """The fewer texts contain it, the more."""
    session: Ints
    position: Ints
    length: Floats
    """Of each message, over that of the usual one."""


class _Messages(NamedTuple):
    """Messages of conversations by ascending id, with their positions and lengths."""

    ids: Ints
    sessions: Sequence[str]
    position: Ints
    length: Ints


def neighbours(
    index: TermIndex,
    text: str,
    k: int,
    within: int,
    where: Filter,
    past: PastTexts | None,
    echo: tuple[str, str] | None,
) -> tuple[list[Found], ConversationContext]:
    """The messages whose neighbours contain most of a query, and what there is next to all others."""
    placed, places = _messages_with_terms(index, text, where, past, echo)
    if not places:
        return [], ConversationContext.empty()
    sessions = sorted({placed.sessions[place] for place in distinct(np.concatenate(places)).tolist()})
    number_of = {session: number for number, session in enumerate(sessions)}
    local = np.array([number_of.get(session, 0) for session in placed.sessions], np.int64)
    texts, _ = index.size("stemmed")
    usual = np.concatenate([placed.length[messages] for messages in places]).mean()
    words = [
        _Word(
            weight=log(1 + (texts - len(messages) + 0.5) / (len(messages) + 0.5)),
            session=local[messages],
            position=placed.position[messages],
            length=placed.length[messages].astype(np.float64) / usual,
        )
        for messages in places
    ]
    keys, near = _near(words, within)
    found = _best(index.snapshot, index.scope, sessions, keys, near, k, where)
    codes = np.array([conversation(index.scope, session) for session in sessions], np.int64)
    # A conversation is as long as its last position.
    last = last_positions(index.snapshot, index.scope, sessions)
    return found, ConversationContext(
        session=codes[keys // _PLACES],
        position=keys % _PLACES,
        near=near,
        sessions=codes,
        whole=_whole(words, np.array([last.get(session, 0) for session in sessions], np.float64)),
    )


def _messages_with_terms(
    index: TermIndex, text: str, where: Filter, past: PastTexts | None, echo: tuple[str, str] | None
) -> tuple[_Messages, list[Ints]]:
    """Return messages that contain a content word of a query, and for each word its rows among them.

    Messages outside the filter count too, unless forgotten; the query's echo does not.
    """
    terms = affordable_terms(index, text, _BUDGET)
    if not terms.affordable:
        return _messages_of([]), []
    postings = [index.postings(Phrase((word,)), "stemmed").ids for word in terms.chosen]
    alive = (Equals("kind", "message"), *lifecycle(where))
    if past is None:
        rows = _rows(index.snapshot, postings, alive, echo)
    else:
        postings = [ids[~np.isin(ids, past.changed_ids)] for ids in postings]
        former = past.messages_with(index, terms.chosen, where)
        others = [np.array(former.get(word, ()), np.int64) for word in terms.chosen]
        rows = _rows(index.snapshot, postings, alive, echo) + _rows(index.snapshot, others, (), None)
        postings = [np.concatenate(both) for both in zip(postings, others, strict=True)]
    placed = _messages_of(sorted(rows))
    if not len(placed.ids):
        return placed, []
    at = [np.minimum(np.searchsorted(placed.ids, ids), len(placed.ids) - 1) for ids in postings]
    found = [place[placed.ids[place] == ids] for place, ids in zip(at, postings, strict=True)]
    return placed, [places for places in found if len(places)]


def _rows(
    snapshot: Snapshot, postings: Sequence[Ints], alive: tuple[Condition, ...], echo: tuple[str, str] | None
) -> list[Row]:
    """Those of these that are messages of a conversation, as far as they live, without the echo."""
    ids = distinct(np.concatenate(postings)).tolist() if postings else []
    if not ids:
        return []
    rows = snapshot.rows(
        "memory",
        ("id", "session", "position", "text_length"),
        (OneOf("id", ids), *alive, is_set("session"), is_set("position")),
    )
    if echo is None:
        return rows
    session, asked = echo
    same = [id_ for id_, where, _, length in rows if where == session and length == len(asked)]
    texts = snapshot.rows("memory", ("id", "text"), (OneOf("id", same),)) if same else ()
    echoes = {id_ for id_, text in texts if text == asked}
    return [row for row in rows if row[0] not in echoes] if echoes else rows


def _messages_of(rows: Sequence[Row]) -> _Messages:
    ids, sessions, positions, lengths = zip(*rows, strict=True) if rows else ((), (), (), ())
    return _Messages(
        np.array(ids, np.int64), sessions, np.array(positions, np.int64), np.array(lengths, np.int64)
    )


def _near(words: Sequence[_Word], within: int) -> tuple[Ints, Floats]:
    """Places near a word, by conversation and position, and what the words near them weigh together.

    Each word once, at the neighbour where it weighs the most: in a short message it says more than in a long
    one, by as much as in BM25.
    """
    steps = [step for step in range(-within, within + 1) if step]
    beside: list[Ints] = []
    most: list[Floats] = []
    for word in words:
        weight = word.weight * (K1 + 1) / (1 + K1 * (1 - B + B * word.length))
        position = np.concatenate([word.position + step for step in steps])
        there = position > 0
        keys = np.tile(word.session, len(steps))[there] * _PLACES + position[there]
        weights = np.tile(weight, len(steps))[there]
        order = np.lexsort((-weights, keys))
        places, first = np.unique(keys[order], return_index=True)
        beside.append(places)
        most.append(weights[order][first])
    places, place = np.unique(np.concatenate(beside), return_inverse=True)
    near: Floats = np.bincount(place, weights=np.concatenate(most)).astype(np.float64)
    return places, near


def _whole(words: Sequence[_Word], lengths: Floats) -> Floats:
    """BM25 of each conversation as one text; a word counts once for each message that contains it."""
    total = np.zeros(len(lengths))
    norm = K1 * (1 - B + B * lengths / lengths.mean())
    for word in words:
        times = np.bincount(word.session, minlength=len(lengths))
        total += word.weight * times * (K1 + 1) / (times + norm)
    return total


def _best(
    snapshot: Snapshot,
    scope: int,
    sessions: Sequence[str],
    keys: Ints,
    near: Floats,
    k: int,
    where: Filter,
) -> list[Found]:
    """Of equals those of the lowest id, unless there are thousands of them."""
    order = np.lexsort((keys, -near))
    found: list[Found] = []
    start, size = 0, _SPARE * k
    while start < len(order):
        score = near[order[start]]
        if len(found) >= k and (score < found[k - 1].score or start >= _TIED):
            break
        some = order[start : start + size]
        places = [(sessions[key // _PLACES], key % _PLACES) for key in keys[some].tolist()]
        scores = dict(zip(places, near[some].tolist(), strict=True))
        rows = snapshot.rows("memory", ("id", "session", "position"), messages_at(scope, places, where))
        found += [Found(id_, scores[session, position]) for id_, session, position in rows]
        found.sort(key=lambda hit: (-hit.score, hit.id))
        # The fewer are let through, the more there is to look at.
        start, size = start + size, 2 * size
    return found[:k]
