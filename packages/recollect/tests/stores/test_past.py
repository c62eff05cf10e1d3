"""Searches of the past score like the present index: the same formula, the same counts."""

from __future__ import annotations

import tempfile
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis_profiles import tries

from recollect.domain.changes import (
    Amend,
    Forget,
    NewEntity,
    NewObservation,
    NewText,
    PutEntity,
    PutText,
    Supersede,
)
from recollect.domain.records import Filter, Kind, Scope
from recollect.search.as_of import PastTexts
from recollect.search.candidates import Search
from recollect.search.rows import PastState
from recollect.search.texts import memory_page
from recollect.search.words import TermIndex
from recollect.stores.sqlite.store import SqliteStore
from recollect.text.tokens import letter_pairs, words
from recollect.write.repository import Repository

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from recollect.search.words import Analyser

ME = Scope()
AT = datetime(2026, 3, 1, tzinfo=UTC)
TEXTS = [
    "The kettle is in the garden, and the garden is wet.",
    "Walking, she walks as others walked; a walk is a walk.",
    "Tea tea tea tea",
    "tea",
    "Ada moved to Málaga. ¿Y su hermana? Se mudó a Sevilla.",
    "La reunión de los lunes es ahora los martes; las reuniones son largas.",
    "東京都の天気は晴れ、京都は雨。",
    "京都の紅葉",
    "кот сидит, а котёнок сидит на котле",
    "токарь точит котёл",
    "🚀 launch day 🚀🚀",
    "Straße, ｃａｆé and №5",
    "An English text with 東京 in it, and кот too",
]
QUERIES = (
    *("tea", "garden kettle", "walk", "walking walks walked", "the is a", "hermana Sevilla"),
    *("reunion lunes martes", "reuniones", "東京", "東京都の天気", "京", "кот", "котёл сидит", "🚀"),
    *("cafe strasse 5", "tea кот 東京 walking", "nothing of this sort"),
)


@contextmanager
def holding(texts: Sequence[str], entities: Sequence[tuple[str, Sequence[str]]] = ()) -> Iterator[Repository]:
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(Repository(SqliteStore(Path(folder) / "memory.db"))) as store,
    ):
        speakers = [None, "Ada", "東京の人"]
        store.apply(
            [
                *(
                    PutText(ME, NewText(Kind.MESSAGE, text, session="s", speaker=speakers[place % 3]))
                    for place, text in enumerate(texts)
                ),
                *(
                    PutEntity(ME, NewEntity(name, "kind of thing", tuple(map(NewObservation, seen))))
                    for name, seen in entities
                ),
            ],
            at=AT,
        )
        yield store


def both(
    store: Repository, query: str, index: Analyser, monkeypatch: pytest.MonkeyPatch
) -> tuple[dict[int, float], dict[int, float]]:
    """Return scores by the index, and by the formula for the same documents."""
    with store.read() as view:
        live = {memory.id for memory in memory_page(view, Filter(), 0, 1_000)}
        monkeypatch.setattr(PastState, "changed_ids", lambda *_: live)
        by_index = {hit.id: hit.score for hit in Search(view, Filter()).by_words(query, 1_000, index)}
        past = PastTexts(view, PastState(None, superseded=True), [1])
        formula = past.search_words(TermIndex(view, 1), query, 1_000, index, Filter())
    return by_index, {hit.id: hit.score for hit in formula}


ENTITIES = [("Garden tea", ["is green", "walks in Málaga"]), ("東京タワー", ["кот", "tea | tea"])]


@pytest.mark.parametrize("index", ["plain", "stemmed"])
def test_the_formula_is_that_of_the_index_also_after_deaths_and_changes(
    index: Analyser, monkeypatch: pytest.MonkeyPatch
) -> None:
    with holding(TEXTS, ENTITIES) as store:
        for query in QUERIES:
            by_index, formula = both(store, query, index, monkeypatch)
            assert formula == pytest.approx(by_index, abs=1e-9)
            assert bool(formula) == (query != "nothing of this sort")
        store.apply(
            [
                Forget(ME, (1, 7)),
                Amend(ME, 2, text="A tea walk in the garden"),
                Supersede(ME, (3,), NewText(Kind.NOTE, "no tea, but кот and 東京")),
            ],
            at=AT + timedelta(days=1),
        )
        for query in QUERIES:
            by_index, formula = both(store, query, index, monkeypatch)
            assert formula == pytest.approx(by_index, abs=1e-9)


PIECES = [
    "tea",
    "teas",
    "walk",
    "walking",
    "walked",
    "the",
    "año",
    "кот",
    "котёл",
    "東京",
    "京都",
    "🚀",
    "c++",
    "5",
]
SAID = st.lists(st.sampled_from(PIECES), min_size=1, max_size=8).map(" ".join)


@given(texts=st.lists(SAID, min_size=1, max_size=8), query=SAID, index=st.sampled_from(["plain", "stemmed"]))
@settings(max_examples=tries(25))
def test_the_formula_is_that_of_the_index_for_any_words(
    texts: list[str], query: str, index: Analyser
) -> None:
    with holding(texts) as store, pytest.MonkeyPatch.context() as monkeypatch:
        by_index, formula = both(store, query, index, monkeypatch)
    assert formula == pytest.approx(by_index, abs=1e-9)


def test_a_score_by_hand() -> None:
    # With their speakers, the live texts have 4, 4 and 2 words: 10 / 3 on average. The retired one has 2.
    # In the index, 1 of 3 contains `tea`: idf = ln(2.5 / 1.5) = 0.510826
    # 0.510826 * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 2 / (10/3))) = 1.123816 / 1.84 = 0.610770
    with holding(["green tea", "hot tea leaves", "a b c", "d e"]) as store:
        store.apply([Supersede(ME, (1,), 4)], at=AT + timedelta(days=1))
        with store.read() as view:
            found = Search(view, Filter(superseded=True)).by_words("tea", 10)
    assert {hit.id: hit.score for hit in found}[1] == pytest.approx(0.610770, abs=1e-6)


def test_passages_of_a_former_text_that_is_lost_are_repaired_away() -> None:
    with holding(["green tea"]) as store:
        store.apply([Amend(ME, 1, text="black tea")], at=AT + timedelta(days=1))
        file = store.store
        assert isinstance(file, SqliteStore)
        with closing(apsw.Connection(str(file.path))) as hand:
            hand.execute("PRAGMA foreign_keys = 0; DELETE FROM revision")
        (problem,) = store.verify()
        assert problem.repairable
        assert list(store.repair()) == []
        with store.read() as view:
            assert [hit.id for hit in Search(view, Filter()).by_words("black", 9)] == [1]


ANALYSERS: tuple[Analyser, ...] = ("plain", "stemmed", "pairs")


def test_an_index_knows_how_many_texts_and_words_it_holds() -> None:
    def expected_sizes(*lives: int) -> dict[str, tuple[int, int]]:
        said = {place: text for place, text in enumerate(TEXTS[:10], start=1) if place in lives}
        speakers = {place: [None, "Ada", "東京の人"][(place - 1) % 3] or "" for place in said}
        whole = [f"{speakers[place]} | {text}" for place, text in said.items()]
        in_words = [words(text) for text in whole]
        in_pairs = [cut for text in whole if (cut := letter_pairs(text))]
        return {
            "plain": (len(in_words), sum(map(len, in_words))),
            "stemmed": (len(in_words), sum(map(len, in_words))),
            "pairs": (len(in_pairs), sum(map(len, in_pairs))),
        }

    def sizes(store: Repository) -> dict[str, tuple[int, int]]:
        with store.read() as view:
            return {name: TermIndex(view, 1).size(name) for name in ANALYSERS}

    with holding(TEXTS[:10]) as store:
        assert sizes(store) == expected_sizes(*range(1, 11))
        store.apply([Forget(ME, (1, 3, 7))], at=AT)
        assert sizes(store) == expected_sizes(2, 4, 5, 6, 8, 9, 10)
        store.apply([Supersede(ME, (2, 5, 8), 10)], at=AT)
        assert sizes(store) == expected_sizes(4, 6, 9, 10)
        store.apply([Forget(ME, tuple(range(1, 11)))], at=AT)
        assert sizes(store) == dict.fromkeys(ANALYSERS, (0, 0))


def test_an_index_of_thousands_of_words_counts_them_all() -> None:
    with holding([f"word{number} " * 20 for number in range(300)]) as store, store.read() as view:
        assert TermIndex(view, 1).size("plain") == (300, 300 * 20 + 200)  # two thirds have a speaker
