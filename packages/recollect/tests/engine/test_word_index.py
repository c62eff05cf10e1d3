"""The index of words stays in step with the memories, whatever happens to them."""

from __future__ import annotations

import random
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from recollect.domain.changes import (
    AddObservations,
    Adopt,
    Amend,
    Forget,
    NewEntity,
    NewObservation,
    NewText,
    Purge,
    PutEntity,
    PutText,
    RemoveObservations,
    Restore,
    Supersede,
)
from recollect.domain.errors import InvalidInput
from recollect.domain.records import Filter, Kind, Scope
from recollect.search import words as postings
from recollect.search.candidates import Search
from recollect.search.rows import memories_by_id
from recollect.search.texts import Document
from recollect.search.words import IndexSize, Phrase, TermIndex
from recollect.stores.sqlite.store import SqliteStore
from recollect.write import word_index
from recollect.write.repository import Repository
from recollect.write.word_index import clear_index, erase_documents, write_documents

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from recollect.domain.changes import Change
    from recollect.domain.tables import Table
    from recollect.stores.port import Snapshot, Store, Transaction

AT = datetime(2026, 3, 1, tzinfo=UTC)
ME, YOU = Scope(), Scope("you")
TABLES: tuple[Table, ...] = ("term", "posting", "document")


@pytest.fixture
def bare(tmp_path: Path) -> Iterator[Store]:
    """A store with two scopes and nothing else."""
    with closing(SqliteStore(tmp_path / "bare.db")) as store:
        store.transact(
            lambda rows: rows.put("scope", [{"owner": owner, "agent": ""} for owner in ("", "you")])
        )
        yield store


@pytest.fixture
def merged_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_index, "_MOST_UNMERGED", 3)
    monkeypatch.setattr(postings, "BLOCK", 2)


def write(store: Store, texts: dict[int, str], scope: int = 1, kind: Kind = Kind.NOTE) -> None:
    documents = [Document(id_, kind, "", "", text) for id_, text in texts.items()]
    store.transact(lambda rows: write_documents(rows, scope, documents))


def erase(store: Store, *ids: int) -> None:
    store.transact(lambda rows: erase_documents(rows, ids))


def terms_in(view: Snapshot, scope: int = 1) -> set[str]:
    return {term for at, term in view.rows("term", ("scope_id", "term")) if at == scope}


def ids_with_word(store: Store, word: str, scope: int = 1) -> list[int]:
    with store.read() as view:
        ids: list[int] = TermIndex(view, scope).postings(Phrase((word,)), "plain").ids.tolist()
    return ids


def blocks(store: Store, word: str) -> list[tuple[int, int]]:
    """The first document and the number of documents of each block of a word."""
    with store.read() as view:
        numbers = {term: id_ for id_, term in view.rows("term", ("id", "term"))}
        rows = view.rows("posting", ("term_id", "first_id", "count"))
    return [(first, count) for term, first, count in rows if term == numbers.get(word)]


def merged(store: Store) -> dict[int, int]:
    with store.read() as view:
        return dict(view.rows("document", ("memory_id", "merged")))


# Sizes


def test_an_index_counts_what_it_holds(bare: Store) -> None:
    write(bare, {1: "tea for two", 2: "", 3: "чай tea"})
    write(bare, {4: "Ada"}, kind=Kind.ENTITY)
    write(bare, {5: "hello there"}, kind=Kind.MESSAGE)
    with bare.read() as view:
        # Words: 3 + 0 + 2 + 1 + 2 = 8. Pairs of `чай`: ча, ай, й.
        assert TermIndex(view, 1).sizes == IndexSize(5, 8, 1, 3, 5, 1, 1)
        assert TermIndex(view, 2).sizes == IndexSize()
    write(bare, {3: "tea"})
    erase(bare, 2, 4)
    with bare.read() as view:
        assert TermIndex(view, 1).sizes == IndexSize(3, 6, 0, 0, 3, 0, 1)


def test_writing_the_same_again_changes_nothing(bare: Store, merged_soon: None) -> None:
    texts = {id_: f"tea number {id_} 東京" for id_ in range(1, 10)}
    write(bare, texts)
    with bare.read() as view:
        before = TermIndex(view, 1).size("plain"), TermIndex(view, 1).size("pairs"), terms_in(view)
    write(bare, texts)
    with bare.read() as view:
        assert (TermIndex(view, 1).size("plain"), TermIndex(view, 1).size("pairs"), terms_in(view)) == before
    assert ids_with_word(bare, "tea") == list(range(1, 10))


# Merging, and what comes between


def test_documents_wait_until_there_are_too_many(bare: Store, merged_soon: None) -> None:
    for id_ in range(1, 4):
        write(bare, {id_: "tea"})
    assert merged(bare) == {1: 0, 2: 0, 3: 0}
    assert blocks(bare, "tea") == []
    write(bare, {4: "tea"})
    assert merged(bare) == {1: 1, 2: 1, 3: 1, 4: 1}
    assert blocks(bare, "tea") == [(1, 2), (3, 2)]
    with bare.read() as view:
        assert TermIndex(view, 1).sizes.unmerged == 0


def test_ids_that_come_between_and_before_stand_in_order(bare: Store, merged_soon: None) -> None:
    write(bare, dict.fromkeys((100, 200, 300, 400), "tea"))
    write(bare, dict.fromkeys((150, 350, 500, 50), "tea cup"))
    assert ids_with_word(bare, "tea") == [50, 100, 150, 200, 300, 350, 400, 500]
    assert ids_with_word(bare, "cup") == [50, 150, 350, 500]
    # The block that began at 100 begins at 50 now: 50 100 | 150 200, 300 350 | 400 500.
    assert blocks(bare, "tea") == [(50, 2), (150, 2), (300, 2), (400, 2)]


def test_a_merged_document_that_changes_waits_again_and_is_found_once(bare: Store, merged_soon: None) -> None:
    write(bare, dict.fromkeys(range(1, 5), "green tea"))
    write(bare, {1: "black tea", 4: "tea and cake"})
    assert merged(bare) == {1: 0, 2: 1, 3: 1, 4: 0}
    assert ids_with_word(bare, "tea") == [1, 2, 3, 4]
    assert ids_with_word(bare, "green") == [2, 3]
    assert blocks(bare, "green") == [(2, 1), (3, 1)]
    write(bare, {5: "green", 6: "green"})
    assert set(merged(bare).values()) == {1}
    assert ids_with_word(bare, "green") == [2, 3, 5, 6]
    assert ids_with_word(bare, "tea") == [1, 2, 3, 4]


def test_a_block_whose_documents_all_go_goes_too(bare: Store, merged_soon: None) -> None:
    write(bare, dict.fromkeys(range(1, 7), "tea"))
    assert blocks(bare, "tea") == [(1, 2), (3, 2), (5, 2)]
    erase(bare, 3, 4, 5)
    assert blocks(bare, "tea") == [(1, 2), (6, 1)]
    assert ids_with_word(bare, "tea") == [1, 2, 6]


def test_an_id_beyond_every_width_is_found(bare: Store, merged_soon: None) -> None:
    ids = [3, 4 + 2**8, 5 + 2**16, 6 + 2**31, 2**53 - 1]
    write(bare, dict.fromkeys(ids, "tea чай"))
    assert set(merged(bare).values()) == {1}
    assert ids_with_word(bare, "tea") == ids
    with bare.read() as view:
        assert TermIndex(view, 1).postings(Phrase(("ча", "ай")), "pairs").ids.tolist() == ids


@pytest.mark.parametrize("number", [2**8, 2**16, 2**24, 2**32 - 9])
def test_a_term_of_a_high_number_is_found(bare: Store, merged_soon: None, number: int) -> None:
    # Numbers are used once, so they grow with every word that comes and goes.
    spent = {"id": number - 2, "scope_id": 2, "pair": 0, "stem": "x", "term": "x"}
    bare.transact(lambda rows: rows.put("term", [spent]))
    write(bare, {id_: f"tea{id_} of чай" for id_ in range(1, 5)})
    for id_ in range(1, 5):
        assert ids_with_word(bare, f"tea{id_}") == [id_]
    with bare.read() as view:
        assert max(id_ for (id_,) in view.rows("term", ("id",))) > number
    erase(bare, 1, 2, 3, 4)
    with bare.read() as view:
        assert terms_in(view) == set()


# Deleting


@pytest.mark.parametrize("wait", [True, False])
def test_words_go_with_the_last_document_that_has_them(
    bare: Store, wait: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(word_index, "_MOST_UNMERGED", 99 if wait else 0)
    write(bare, {1: "secret shared чай", 2: "shared common кофе", 3: "common"})
    erase(bare, 1)
    with bare.read() as view:
        assert terms_in(view) == {"shared", "common", "кофе", "ко", "оф", "фе", "е"}
    write(bare, {2: "common"})
    with bare.read() as view:
        assert terms_in(view) == {"common"}
    erase(bare, 2, 3)
    with bare.read() as view:
        assert [view.count(table) for table in TABLES] == [{None: 0}] * 3


@pytest.mark.parametrize("first_merged", [True, False])
def test_a_word_stays_while_a_document_that_waits_or_a_merged_one_has_it(
    bare: Store, first_merged: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for id_, is_merged in ((1, first_merged), (2, not first_merged)):
        # A merge takes all waiting documents along, so the unmerged one must come last.
        monkeypatch.setattr(word_index, "_MOST_UNMERGED", 0 if is_merged and id_ == 1 else 99)
        write(bare, {id_: "tea"})
    erase(bare, 1)
    assert ids_with_word(bare, "tea") == [2]
    erase(bare, 2)
    with bare.read() as view:
        assert terms_in(view) == set()


def test_an_index_that_is_cleared_is_empty_and_the_other_untouched(bare: Store, merged_soon: None) -> None:
    write(bare, dict.fromkeys(range(1, 6), "tea чай"))
    write(bare, dict.fromkeys(range(11, 16), "tea чай"), scope=2)
    bare.transact(lambda rows: clear_index(rows, 1))
    assert (ids_with_word(bare, "tea"), ids_with_word(bare, "tea", 2)) == ([], [11, 12, 13, 14, 15])
    with bare.read() as view:
        assert TermIndex(view, 1).sizes == IndexSize()
        assert {scope for (scope,) in view.rows("document", ("scope_id",))} == {2}
        of_terms = {id_ for (id_,) in view.rows("term", ("id",))}
        assert {term for (term,) in view.rows("posting", ("term_id",))} <= of_terms


# Two scopes


def test_a_document_that_moves_to_another_scope_leaves_the_first_one_whole(bare: Store) -> None:
    write(bare, {1: "tea cake", 2: "tea"})
    write(bare, {1: "tea bread"}, scope=2)
    assert (ids_with_word(bare, "tea"), ids_with_word(bare, "tea", 2)) == ([2], [1])
    with bare.read() as view:
        assert (terms_in(view, 1), terms_in(view, 2)) == ({"tea"}, {"tea", "bread"})
        assert TermIndex(view, 1).sizes == IndexSize(1, 1, 0, 0, 1)
        assert TermIndex(view, 2).sizes == IndexSize(1, 2, 0, 0, 1)


def test_an_id_that_is_taken_over_by_another_scope_in_one_batch_leaves_all_in_step(store: Repository) -> None:
    kept, gone = (
        outcome.ids[0]
        for outcome in store.apply(
            [PutText(ME, NewText(Kind.NOTE, text)) for text in ("green tea", "tea cake")], at=AT
        ).outcomes
    )
    with store.read() as view:
        memory = memories_by_id(view, [gone])[gone]
    later = AT + timedelta(days=1)
    taken_over = replace(memory, scope=YOU, text="black tea")
    store.apply([Forget(ME, (gone,)), Purge(later + timedelta(days=1)), Adopt(taken_over)], at=later)
    assert list(store.verify()) == []
    with store.read() as view:
        assert [hit.id for hit in Search(view, Filter()).by_words("tea", 9)] == [kept]
        assert [hit.id for hit in Search(view, Filter("you")).by_words("tea", 9)] == [gone]


# Failures


def test_what_is_rolled_back_leaves_no_word(bare: Store, merged_soon: None) -> None:
    write(bare, dict.fromkeys(range(1, 6), "tea"))

    def work(rows: Transaction) -> None:
        write_documents(rows, 1, [Document(id_, Kind.NOTE, "", "", "cake") for id_ in range(4, 20)])
        raise InvalidInput("No cake.")

    with pytest.raises(InvalidInput):
        bare.transact(work)
    assert (ids_with_word(bare, "tea"), ids_with_word(bare, "cake")) == ([1, 2, 3, 4, 5], [])
    with bare.read() as view:
        assert terms_in(view) == {"tea"}
        assert TermIndex(view, 1).sizes.documents == 5


def test_a_batch_that_keeps_going_indexes_what_succeeded(store: Repository, merged_soon: None) -> None:
    lost = AddObservations(ME, "Ada", (NewObservation("lost"), NewObservation("x", supersedes="nothing")))
    batch: list[Change] = [
        *(PutText(ME, NewText(Kind.NOTE, f"tea {number}")) for number in range(6)),
        PutEntity(ME, NewEntity("Ada", "person", (NewObservation("tea"),))),
        lost,
        Amend(ME, 999, text="nobody's"),
        *(PutText(YOU, NewText(Kind.NOTE, f"tea {number}")) for number in range(6)),
        lost,
    ]
    outcomes = store.apply(batch, at=AT, keep_going=True).outcomes
    assert [place for place, outcome in enumerate(outcomes) if outcome.error is not None] == [7, 8, 15]
    assert list(store.verify()) == []
    with store.read() as view:
        assert len(Search(view, Filter()).by_words("tea", 99)) == 7
        assert Search(view, Filter()).by_words("lost", 99) == []
        assert len(Search(view, Filter("you")).by_words("tea", 99)) == 6


# Long stories

WORDS = ["tea", "teas", "cake", "walking", "walked", "año", "кот", "котёл", "東京", "京都", "🚀", "", "the"]


def random_text(chance: random.Random) -> str:
    return " ".join(chance.choices(WORDS, k=chance.randint(1, 9))) or "?"


def next_changes(chance: random.Random, ids: Sequence[int]) -> list[Change]:
    scope = chance.choice([ME, ME, YOU])
    id_ = chance.choice(ids) if ids else 1
    name = chance.choice(["Ada", "東京タワー", "Кот"])
    text = NewText(
        chance.choice([Kind.NOTE, Kind.MESSAGE]),
        f"{random_text(chance)} {chance.randint(0, 999)}",
        session="s",
    )
    seen = NewObservation(random_text(chance) or "tea")
    options: list[list[Change]] = [
        [PutText(scope, text)],
        [
            PutText(scope, replace(text, text=f"{random_text(chance)} {at}"))
            for at in range(chance.randint(1, 9))
        ],
        [PutEntity(scope, NewEntity(name, "thing", (seen,)))],
        [AddObservations(scope, name, (seen,))],
        [RemoveObservations(scope, name, (seen.content,))],
        [Amend(scope, id_, text=f"{random_text(chance)} {chance.randint(0, 999)}")],
        [
            Amend(scope, id_, text=f"{random_text(chance)} again"),
            Amend(scope, id_, text=f"{random_text(chance)} and again"),
        ],
        [Forget(scope, (id_,))],
        [Restore(scope, id_)],
        [Supersede(scope, (id_,), text)],
        [Forget(scope, (id_,)), Restore(scope, id_)],
        [
            PutText(scope, text),
            Forget(scope, (id_,)),
            PutText(scope, replace(text, text=f"{random_text(chance)} !")),
        ],
    ]
    return chance.choice(options)


@pytest.mark.parametrize("seed", range(4))
def test_after_any_story_all_is_in_step_and_an_index_made_anew_finds_the_same(
    store: Repository, merged_soon: None, seed: int
) -> None:
    chance = random.Random(seed)  # noqa: S311  # the same story each time
    at = AT

    def everything() -> dict[tuple[str, str], list[object]]:
        with store.read() as view:
            return {
                (owner, word): [*Search(view, Filter(owner)).by_words(word, 999)]
                for owner in ("", "you")
                for word in WORDS
            }

    for step in range(120):
        at += timedelta(minutes=1)
        with store.read() as view:
            ids = [id_ for (id_,) in view.rows("memory", ("id",))]
        store.apply(next_changes(chance, ids), at=at, keep_going=True)
        if step % 30 == 29:
            store.apply([Purge(at - timedelta(minutes=chance.randint(0, 30)))], at=at)
        if step % 10 == 9:
            assert list(store.verify()) == []
    before = everything()
    assert any(before.values())
    assert list(store.repair()) == []
    assert everything() == before
