"""The context of many messages, compared with counting in plain Python."""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime
from math import log
from typing import TYPE_CHECKING

import numpy as np
import pytest

from recollect.domain.changes import Adopt, NewText, PutText
from recollect.domain.records import Filter, Kind, Memory, Scope
from recollect.search import candidates as surroundings
from recollect.search.candidates import Search
from recollect.search.facts import ranking_facts
from recollect.search.rows import MemoryRows
from recollect.search.texts import conversation, memory_page

if TYPE_CHECKING:
    from recollect.write.repository import Repository


AT = datetime(2026, 3, 1, tzinfo=UTC)
WORDS = ("rome", "tram", "aaaa", "bbbb", "cccc")


def talks(store: Repository, texts: dict[str, list[str]]) -> dict[tuple[str, int], int]:
    """Add messages, and return their ids by session and position."""
    put = [
        PutText(Scope(), NewText(Kind.MESSAGE, text, session=session))
        for session, said in texts.items()
        for text in said
    ]
    ids = iter(outcome.ids[0] for outcome in store.apply(put, at=AT).outcomes)
    return {
        (session, position): next(ids)
        for session, said in texts.items()
        for position in range(1, len(said) + 1)
    }


@pytest.mark.parametrize("k", [1, 7, 50, 1_000])
def test_the_best_are_those_that_counting_gives(store: Repository, k: int) -> None:
    chance = np.random.default_rng(5)
    said = {f"talk {number}": chance.choice(WORDS, 12).tolist() for number in chance.permutation(40)}
    ids = talks(store, said)
    expected: dict[int, float] = defaultdict(float)
    for word in ("rome", "tram"):
        held = {
            (name, at) for name, texts in said.items() for at, text in enumerate(texts, 1) if text == word
        }
        weight = log(1 + (len(ids) - len(held) + 0.5) / (len(held) + 0.5))
        for name, at in ids:
            if any((name, at + step) in held for step in (-2, -1, 1, 2)):
                expected[ids[name, at]] += weight
    best = sorted(expected.items(), key=lambda pair: (-round(pair[1], 9), pair[0]))[:k]
    with store.read() as view:
        hits, _ = Search(view, Filter()).by_neighbours("tram rome", k, 2)
    assert [hit.id for hit in hits] == [id_ for id_, _ in best]
    assert [hit.score for hit in hits] == pytest.approx([score for _, score in best])


def test_words_beyond_the_budget_do_not_count_and_alone_find_nothing(
    store: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = talks(
        store, {f"talk {number}": ["rome", "aaaa"] for number in range(20)} | {"last": ["tram", "bbbb"]}
    )
    monkeypatch.setattr(surroundings, "_BUDGET", 20)
    with store.read() as view:
        assert len(Search(view, Filter()).by_neighbours("rome", 100, 2)[0]) == 20  # the maximum
        both, _ = Search(view, Filter()).by_neighbours("rome tram", 100, 2)
        assert [hit.id for hit in both] == [ids["last", 2]]
        monkeypatch.setattr(surroundings, "_BUDGET", 19)
        assert Search(view, Filter()).by_neighbours("rome", 100, 2)[0] == []


def test_a_message_that_has_no_place_neither_speaks_nor_is_found(store: Repository) -> None:
    """Adopt messages without positions, as from an older file."""
    for place, text in enumerate(("rome", "aaaa"), start=1):
        memory = Memory(place, Kind.MESSAGE, Scope(), AT, AT, text=text, session="one")
        store.apply([Adopt(memory)], at=AT)
    with store.read() as view:
        assert Search(view, Filter()).by_neighbours("rome", 10, 2)[0] == []
        ids = [memory.id for memory in memory_page(view, Filter(), 0, 10)]
        assert ranking_facts(MemoryRows(view), ids, "rome", None, 0).session.tolist() == [0, 0]
        assert Search(view, Filter()).replies(ids) == []


def test_a_conversation_is_never_number_0_and_another_in_another_scope() -> None:
    numbers = {conversation(scope, name) for scope in (1, 11) for name in ("a", "1:a", "", "é")}
    assert len(numbers) == 8
    assert 0 not in numbers
    assert all(0 < number < 2**63 for number in numbers)
