"""Candidates from the context of messages: which become candidates by position, and their scores."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np
import pytest

from recollect.domain.changes import NewText, PutText, PutVectors
from recollect.domain.numbers import pack_vector
from recollect.domain.records import Filter, Kind, Model, Query, Scope
from recollect.ranking.candidates import ByContext, ByMeaning, ByWords
from recollect.ranking.factors import microseconds
from recollect.ranking.profiles import RECOLLECT
from recollect.search.candidates import Gathered, Search, gather
from recollect.search.texts import pending_passages

if TYPE_CHECKING:
    from recollect.ranking.candidates import Retriever
    from recollect.write.repository import Repository

AT = datetime(2026, 3, 1, tzinfo=UTC)
TINY = Model("tiny", 2)
NORTH, EAST = np.array([0, 1], np.float32), np.array([1, 0], np.float32)


def add_messages(store: Repository, session: str, *texts: str) -> list[int]:
    put = [PutText(Scope(), NewText(Kind.MESSAGE, text, session=session)) for text in texts]
    return [outcome.ids[0] for outcome in store.apply(put, at=AT).outcomes]


def embed(store: Repository, north: int) -> None:
    """Store the same vector for all texts but `north`."""
    with store.read() as view:
        passages = pending_passages(view, TINY, 0, 100)
    vectors = ((each.id, pack_vector(NORTH if each.memory == north else EAST)) for each in passages)
    store.apply([PutVectors(TINY, tuple(vectors))], at=AT)


def gather_for(
    store: Repository,
    query: str,
    *retrieve: Retriever,
    session: str | None = None,
    where: Filter | None = None,
) -> Gathered:
    profile = replace(RECOLLECT, retrieve=retrieve)
    wanted = Query(
        query,
        microseconds(AT),
        limit=1,
        limit_given=True,
        where=where or Filter(),
        search_text=query,
        vector=NORTH,
        session=session,
    )
    with store.read() as view:
        return gather(Search(view, wanted.where), profile, wanted)


def test_context_adds_messages_that_no_other_search_finds(store: Repository) -> None:
    ids = add_messages(store, "one", "aaaa", "bbbb", "rome", "cccc")
    words = ByWords("stemmed", times=10)
    assert gather_for(store, "rome", words).candidates.ids.tolist() == [ids[2]]
    gathered = gather_for(store, "rome", words, ByContext(times=10))
    assert gathered.candidates.ids.tolist() == ids
    assert [hit.id for hit in gathered.found["nearby"]] == [ids[0], ids[1], ids[3]]
    near = gathered.candidates.source("nearby")
    assert near.rank.tolist() == [1, 2, 0, 3]
    assert near.score[2] == 0  # a message is not its own neighbour
    assert (gathered.candidates.source("conversation").score > 0).all()
    assert "reply" not in gathered.found


def test_messages_that_other_searches_find_get_a_nearby_score_too(store: Repository) -> None:
    ids = add_messages(store, "one", "rome", "aaaa", "bbbb", "rome")
    # One is found by context, the others by words.
    gathered = gather_for(store, "rome", ByWords("stemmed", times=10), ByContext(times=1))
    assert [hit.id for hit in gathered.found["nearby"]] == [ids[1]]
    assert gathered.candidates.ids.tolist() == [ids[0], ids[1], ids[3]]
    # Message 2 is next to the first, and near the last. Messages 1 and 4 are three places apart.
    near = gathered.candidates.source("nearby").score
    assert near[1] > 0
    assert near[[0, 2]].tolist() == [0, 0]


@pytest.mark.parametrize("first", [True, False])
def test_replies_to_similar_questions_become_candidates(store: Repository, first: bool) -> None:
    """Check both orders of a profile's searches."""
    ids = add_messages(store, "one", "aaaa", "Do you paint?", "Each weekend.", "bbbb", "Tea?", "Yes.")
    embed(store, north=ids[1])
    retrieve: list[Retriever] = [ByMeaning(times=1), ByContext()]
    gathered = gather_for(store, "zzzz", *(reversed(retrieve) if first else retrieve))
    assert [hit.id for hit in gathered.found["meaning"]] == [ids[1]]
    assert [hit.id for hit in gathered.found["reply"]] == [ids[2]]
    assert gathered.candidates.ids.tolist() == [ids[1], ids[2]]
    assert gathered.candidates.facts.asks.tolist() == [True, False]


def test_the_question_just_asked_adds_no_neighbours(store: Repository) -> None:
    before = add_messages(store, "before", "rome", "aaaa")
    add_messages(store, "now", "bbbb", "rome")
    context = ByContext(times=10)
    assert [hit.id for hit in gather_for(store, "rome", context, session="now").found["nearby"]] == [
        before[1]
    ]
    assert len(gather_for(store, "rome", context, session="another").found["nearby"]) == 2


def test_without_messages_context_adds_nothing(store: Repository) -> None:
    store.apply([PutText(Scope(), NewText(Kind.NOTE, text)) for text in ("rome", "tram?")], at=AT)
    gathered = gather_for(store, "rome", ByWords("stemmed"), ByContext())
    assert gathered.found["nearby"] == []
    assert gathered.candidates.source("nearby").score.tolist() == [0]
    assert gather_for(store, "rome", ByContext()).candidates.ids.tolist() == []
    notes = Filter(kinds=frozenset({Kind.NOTE}))
    assert len(gather_for(store, "rome", ByWords("stemmed"), ByContext(), where=notes).candidates) == 1


def test_only_the_first_50_hits_are_read_for_times_in_their_text(store: Repository) -> None:
    texts = [f"In 1999 the mill{' again' * again} burned" for again in range(60)]
    ids = add_messages(store, "s", *texts)
    span = (microseconds(datetime(1999, 1, 1, tzinfo=UTC)), microseconds(datetime(2000, 1, 1, tzinfo=UTC)))
    profile = replace(RECOLLECT, retrieve=(ByWords("stemmed", least=100, then=True),))
    query = Query("mill", microseconds(AT), limit=1, span=span, search_text="mill")
    with store.read() as view:
        found = gather(Search(view, query.where), profile, query).candidates
    time = dict(zip(found.ids.tolist(), found.source("time").score.tolist(), strict=True))
    # Longer texts rank lower. From the 51st on, only the time of the message counts: 2026.
    assert [time[id_] for id_ in ids[:50]] == [1.0] * 50
    assert max(time[id_] for id_ in ids[50:]) < 0.1
