"""Our index of words finds what SQLite's FTS5 finds, with the same scores to the last bit."""

from __future__ import annotations

import random
import tempfile
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
from fts5_twin import Fts5Twin
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis_profiles import tries

from recollect.domain.records import Kind
from recollect.search import words as postings
from recollect.search import words as term_index
from recollect.search.texts import Document
from recollect.search.words import Phrase, TermIndex, bm25, search_words
from recollect.stores.sqlite.store import SqliteStore
from recollect.text.tokens import words
from recollect.write import word_index
from recollect.write.word_index import erase_documents, write_documents

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from recollect.search.words import Analyser
    from recollect.stores.port import Store


def seeded(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311  # the same documents each time


def _shuffled(terms: list[str]) -> list[str]:
    return seeded(7).sample(terms, len(terms))


EVERYTHING = 100_000
ANALYSERS: tuple[Analyser, ...] = ("plain", "stemmed")
# Endings that Porter takes off, and some that he does not.
ENDINGS = ["", "", "s", "ed", "ing", "ation", "ly", "ness", "er", "ers", "ñ", "ción"]
ROOTS = [f"{first}{middle}{last}" for first in ("k", "tr", "b", "ñ") for middle in "aeoü" for last in "ltn"]
OTHERS = [
    "the", "and", "Straße", "naïve", "№5", "кот", "котёл", "котёнок", "Москва", "москвич", "東京", "東京都",
    "京都の紅葉", "東", "天気", "서울에서", "ไทย", "🚀", "🚀🚀", "c++", "5", "x", "word" * 20, "é" * 40,
]  # fmt: skip
# The most common first.
VOCABULARY = _shuffled([*OTHERS[:2], *(root + ending for ending in ENDINGS for root in ROOTS), *OTHERS[2:]])


class Twins:
    """Our index and FTS5."""

    def __init__(self, store: Store, fts5: Fts5Twin) -> None:
        self.store = store
        self.fts5 = fts5
        self.documents: dict[int, Document] = {}
        store.transact(lambda rows: rows.put("scope", [{"owner": "", "agent": ""}]))

    def write(self, documents: Sequence[Document]) -> None:
        self.store.transact(lambda rows: write_documents(rows, 1, documents))
        self.fts5.write(documents)
        self.documents |= {document.id: document for document in documents}

    def erase(self, ids: Sequence[int]) -> None:
        self.store.transact(lambda rows: erase_documents(rows, ids))
        self.fts5.erase(ids)
        for id_ in ids:
            self.documents.pop(id_, None)

    def assert_same(self, queries: Sequence[str]) -> None:
        for query in queries:
            for analyser in ANALYSERS:
                expected = self.fts5.search(query, analyser)
                with self.store.read() as view:
                    found = search_words(TermIndex(view, 1), query, EVERYTHING, analyser, ())
                assert found == expected, (query, analyser)


class Sizes(NamedTuple):
    """How soon documents are merged, blocks are cut, and counts are read without postings."""

    unmerged: int
    block: int
    few: int


AS_IT_IS = Sizes(word_index._MOST_UNMERGED, postings.BLOCK, term_index._SMALL_SCOPE)
SMALL = Sizes(20, 7, 0)


@contextmanager
def twins(sizes: Sizes) -> Iterator[Twins]:
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setattr(word_index, "_MOST_UNMERGED", sizes.unmerged)
        patch.setattr(postings, "BLOCK", sizes.block)
        patch.setattr(term_index, "_SMALL_SCOPE", sizes.few)
        store = stack.enter_context(closing(SqliteStore(Path(folder) / "memory.db")))
        yield Twins(store, stack.enter_context(closing(Fts5Twin())))


def some_words(chance: random.Random, most: int) -> str:
    """Zipf-like: the n-th word of the vocabulary is about 1/n as common as the first."""
    size = chance.randint(0, most)
    picked = [VOCABULARY[int(len(VOCABULARY) ** chance.random()) - 1] for _ in range(size)]
    return chance.choice([" ", ", ", " | "]).join(picked)


def document(chance: random.Random, id_: int) -> Document:
    most = chance.choice([0, 3, 12, 12, 40, 120])
    return Document(
        id_, chance.choice(list(Kind)), some_words(chance, 2), some_words(chance, 1), some_words(chance, most)
    )


def queries(chance: random.Random, count: int) -> list[str]:
    return [f"{some_words(chance, 6)} {chance.choice(VOCABULARY)}" for _ in range(count)]


def fates(chance: random.Random, twins: Twins, steps: int, at_once: int) -> None:
    """Documents come, change, go and come back, with ids in any order."""
    gone: list[int] = []
    for _ in range(steps):
        there = sorted(twins.documents)
        match chance.choice(["new", "new", "change", "go", "return", "mixed"]):
            case "new":
                ids = [id_ for id_ in chance.sample(range(1, 70_000), at_once) if id_ not in twins.documents]
            case "change":
                ids = chance.sample(there, min(len(there), at_once))
            case "return":
                ids = gone[:at_once]
                del gone[:at_once]
            case "mixed":
                ids = list({*chance.sample(there, min(len(there), 3)), *chance.sample(range(1, 300), 5)})
            case _:
                ids = []
                going = chance.sample(there, min(len(there), at_once))
                # Some that are not there go as well: that is no error.
                twins.erase([*going, 99_999])
                gone += going
        twins.write([document(chance, id_) for id_ in ids])
        twins.assert_same(queries(chance, 2))


@given(seed=st.integers(0, 2**32))
@settings(max_examples=tries(8))
def test_random_documents_are_found_as_fts5_finds_them(seed: int) -> None:
    chance = seeded(seed)
    with twins(SMALL) as both:
        both.write([document(chance, id_) for id_ in range(100, 200)])
        fates(chance, both, 9, 12)
        both.assert_same(queries(chance, 10))


def test_hundreds_of_documents_with_the_sizes_that_stores_have() -> None:
    chance = seeded(1)
    with twins(AS_IT_IS) as both:
        for start in range(1, 700, 90):
            both.write([document(chance, id_) for id_ in range(start, start + 90)])
        with both.store.read() as view:
            merged = {is_merged for (is_merged,) in view.rows("document", ("merged",))}
        assert merged == {0, 1}
        both.assert_same(queries(chance, 30))
        both.write([document(chance, id_) for id_ in range(200, 260)])
        both.erase(list(range(1, 700, 3)))
        both.assert_same(queries(chance, 30))


def test_many_documents_in_one_transaction() -> None:
    chance = seeded(2)
    with twins(Sizes(20, 16, 0)) as both:
        both.write([document(chance, id_) for id_ in range(1, 500)])
        both.assert_same(queries(chance, 10))
        both.write([document(chance, id_) for id_ in range(1, 500)])
        both.assert_same(queries(chance, 10))
        both.erase(list(range(1, 500)))
        both.assert_same(queries(chance, 2))
        with both.store.read() as view:
            assert [view.count(table) for table in ("document", "term", "posting")] == [{None: 0}] * 3
            assert TermIndex(view, 1).sizes == (0,) * 7


def test_words_that_only_count_where_others_are_found() -> None:
    chance = seeded(3)
    with twins(SMALL) as both:
        both.write([document(chance, id_) for id_ in range(1, 200)])
        for _ in range(30):
            terms = list(dict.fromkeys(words(" ".join(chance.choices(VOCABULARY, k=5)))))
            required, optional = terms[:2], terms[2:]
            for analyser in ANALYSERS:
                quoted = [[f'"{word}"' for word in each] for each in (required, optional)]
                expected = both.fts5.scores(quoted[0], quoted[1], analyser)
                phrases = [[Phrase((word,)) for word in each] for each in (required, optional)]
                with both.store.read() as view:
                    ids, scores = bm25(TermIndex(view, 1), phrases[0], phrases[1], analyser)
                assert dict(zip(ids.tolist(), scores.tolist(), strict=True)) == expected


@pytest.mark.parametrize("few", [0, 20_000])
def test_words_are_in_as_many_documents_as_fts5_says(few: int) -> None:
    chance = seeded(4)
    with twins(Sizes(20, 7, few)) as both:
        both.write([document(chance, id_) for id_ in range(1, 130)])
        terms = [*dict.fromkeys(words(" ".join(VOCABULARY))), "nowhere"]
        expected = {word: both.fts5.count(word) for word in terms}
        stemmed = {word: both.fts5.count(word, "stemmed") for word in terms}
        with both.store.read() as view:
            index = TermIndex(view, 1)
            assert index.counts(terms) == expected
            assert {word: index.document_count(Phrase((word,)), "stemmed") for word in terms} == stemmed
            # Asked again, and by a part, it says the same.
            assert index.counts(terms[:9]) == {word: expected[word] for word in terms[:9]}


# Scripts other than Latin

CYRILLIC = ["кот", "котёл", "скот", "от", "токарь", "котик", "ко", "т", "кто", "отток", "коткот"]
UNSPACED = ["東京都", "京都", "東", "都", "京", "東京タワー", "都京", "서울", "서울에서", "🚀", "☕"]


@given(
    texts=st.lists(
        st.lists(st.sampled_from([*CYRILLIC, *UNSPACED, "tea", " "]), max_size=8).map(" ".join), max_size=40
    ),
    asked=st.lists(st.sampled_from([*CYRILLIC, *UNSPACED, "коты", "京東", "茶"]), min_size=1, max_size=3),
    apart=st.booleans(),
)
@settings(max_examples=tries(40))
def test_words_of_pairs_and_single_letters_are_found_as_fts5_finds_them(
    texts: list[str], asked: list[str], apart: bool
) -> None:
    with twins(Sizes(6, 3, 0)) as both:
        # No word continues from the name into the body.
        halves = [(text[: len(text) // 2], text[len(text) // 2 :]) if apart else ("", text) for text in texts]
        both.write([Document(id_, Kind.NOTE, name, "", body) for id_, (name, body) in enumerate(halves, 1)])
        both.assert_same([" ".join(asked), *asked])


def test_a_russian_word_is_found_as_a_whole_and_a_letter_of_chinese_wherever_it_stands() -> None:
    texts = {1: "кот спит", 2: "скот и отток", 3: "токарь", 4: "котёл", 5: "東京都", 6: "京都", 7: "都"}
    with twins(AS_IT_IS) as both:
        both.write([Document(id_, Kind.NOTE, "", "", text) for id_, text in texts.items()])
        found = {}
        for query in ("кот", "оток", "都", "京", "東"):
            both.assert_same([query])
            found[query] = sorted(hit.id for hit in both.fts5.search(query, "plain"))
    # `кот` is `ко от`: these follow one another in 1, 2 and 4. `оток` in none: `отток` does not contain it.
    assert found == {"кот": [1, 2, 4], "оток": [], "都": [5, 6, 7], "京": [5, 6], "東": [5]}


def test_a_long_text_and_texts_without_words_are_found_as_fts5_finds_them() -> None:
    with twins(Sizes(2, 2, 0)) as both:
        # Counts, lengths and positions take more than two bytes.
        long = " ".join(f"word{number % 300} tea" for number in range(80_000))
        bodies = ["tea", "", "?!", long, "", "tea " * 300, long[:5_000], "кот " * 30_000, "скот"]
        both.write([Document(id_, Kind.NOTE, "", "", body) for id_, body in enumerate(bodies, 1)])
        both.assert_same(["tea", "word299 tea", "word3", "кот", "nothing"])


@pytest.mark.parametrize("first", [2**16 - 5, 2**31 - 5, 2**32 - 5, 2**53 - 12])
def test_documents_of_any_id_that_an_import_may_bring_are_found(first: int) -> None:
    with twins(Sizes(3, 4, 0)) as both:
        bodies = [
            "кот tea",
            "tea",
            "от ко т",
            "скот",
            "東京",
            "кот кот",
            "tea teas",
            "котёл",
            "т",
            "ко",
            "от",
        ]
        both.write([Document(first + place, Kind.NOTE, "", "", body) for place, body in enumerate(bodies)])
        both.write([Document(7 * place + 1, Kind.NOTE, "", "", body) for place, body in enumerate(bodies)])
        both.assert_same(["кот", "tea", "東", "скот tea"])
