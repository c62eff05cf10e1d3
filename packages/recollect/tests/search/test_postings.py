"""Postings: packing is lossless, and sums equal those of plain Python."""

from __future__ import annotations

from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.errors import StoreDamaged
from recollect.search import words as postings_module
from recollect.search.words import (
    Postings,
    appended_block,
    join_postings,
    pack_block,
    phrase_postings,
    select_rows,
    split_into_blocks,
    sum_postings,
    unpack_block,
)

Places = dict[int, list[int]]
"""The ascending positions of a term, by document."""

# Both sides of the limit of each width.
EDGES = [0, 1, 254, 255, 256, 257, 65_534, 65_535, 65_536, 2**32 - 2, 2**32 - 1, 2**32, 2**40]
IDS = st.one_of(st.integers(1, 40), st.sampled_from(EDGES[1:]), st.integers(1, 2**40))
POSITIONS = st.one_of(st.integers(0, 6), st.sampled_from(EDGES[:11]))
PLACES: st.SearchStrategy[Places] = st.dictionaries(
    IDS, st.lists(POSITIONS, unique=True, min_size=1, max_size=5).map(sorted), max_size=8
)


def of(places: Places, length: int = 10) -> Postings:
    """Make postings of documents with `length` more terms than their last position."""
    ids = sorted(places)
    return Postings(
        np.array(ids, np.int64),
        np.array([len(places[id_]) for id_ in ids], np.int64),
        np.array([length + places[id_][-1] for id_ in ids], np.int64),
        np.array(list(chain.from_iterable(places[id_] for id_ in ids)), np.int64),
    )


def without_positions(postings: Postings) -> Postings:
    return postings._replace(positions=postings.positions[:0])


def as_lists(postings: Postings) -> list[list[int]]:
    return [column.tolist() for column in postings]


def packed_and_unpacked(postings: Postings) -> Postings:
    return unpack_block(int(postings.ids[0]), len(postings.ids), pack_block(postings))


# Packing


@given(PLACES.filter(bool), PLACES.filter(bool), st.booleans())
def test_a_block_with_later_documents_behind_it_is_as_if_packed_anew(
    one: Places, other: Places, with_positions: bool
) -> None:
    before, later = of(one), of({id_: at for id_, at in other.items() if id_ not in one} or {2**41: [3]})
    if not with_positions:
        before, later = without_positions(before), without_positions(later)
    packed = appended_block(int(before.ids[0]), len(before.ids), pack_block(before), later)
    anew = pack_block(join_postings([before, later]))
    wider = anew[:4] != pack_block(before)[:4]
    comes_before = later.ids[0] < before.ids[-1]
    assert packed == (None if wider or comes_before else anew)


def test_nothing_is_put_behind_a_full_or_damaged_block(monkeypatch: pytest.MonkeyPatch) -> None:
    block, later = pack_block(of({1: [1], 2: [2]})), of({3: [1]})
    assert appended_block(1, 2, block, later) is not None
    assert appended_block(1, 2, block[:5], later) is None
    assert appended_block(1, 2, b"\x03" + block[1:], later) is None
    monkeypatch.setattr(postings_module, "BLOCK", 2)
    assert appended_block(1, 2, block, later) is None


def test_a_block_by_hand() -> None:
    # A term is once in document 7 of 3 terms, and twice in document 300 of 70,000.
    block = of({7: [2], 300: [0, 260]})._replace(lengths=np.array([3, 70_000]))
    # Widths in bytes, then the gaps 0 and 300 - 7 = 293 = 0x0125, the counts 1 and 2, the lengths 3 and
    # 70,000 = 0x011170, the positions 2, 0 and 260 = 0x0104, each with its lowest byte first.
    packed = bytes.fromhex("02010402 0000 2501 01 02 03000000 70110100 0200 0000 0401")
    assert pack_block(block) == packed
    assert as_lists(unpack_block(7, 2, packed)) == [[7, 300], [1, 2], [3, 70_000], [2, 0, 260]]


def test_words_take_three_bytes_a_document_where_numbers_are_small() -> None:
    block = without_positions(of({id_: [1] for id_ in range(1_000, 1_100)}))
    assert len(pack_block(block)) == 4 + 3 * 100
    assert as_lists(packed_and_unpacked(block)) == as_lists(block)


@given(PLACES.filter(bool), st.integers(1, 2**33), st.booleans())
def test_what_was_packed_is_unpacked_the_same(places: Places, length: int, with_positions: bool) -> None:
    block = of(places, length)
    block = block if with_positions else without_positions(block)
    assert as_lists(packed_and_unpacked(block)) == as_lists(block)


@pytest.mark.parametrize("gap", EDGES[1:])
def test_ids_of_any_distance_are_kept(gap: int) -> None:
    block = of({5: [0], 5 + gap: [1]})
    found = packed_and_unpacked(block)
    assert found.ids.dtype == np.int64
    assert found.ids.tolist() == [5, 5 + gap]


@pytest.mark.parametrize(
    ("count", "packed"),
    [
        (1, ""),
        (1, "0101"),  # not even the widths
        (1, "00010101" + "000101"),  # no such width
        (1, "03010101" + "000101"),
        (2, "01010101" + "000101"),  # one document too few
        (1, "01010101"),
        (1, "02010101" + "000101"),
        (1, "01010102" + "000101" + "070007"),  # half a position
    ],
)
def test_a_block_that_cannot_be_read_says_how_to_mend_it(count: int, packed: str) -> None:
    with pytest.raises(StoreDamaged, match="doctor --repair"):
        unpack_block(7, count, bytes.fromhex(packed))


# Joining


@given(PLACES, st.lists(st.integers(0, 3), min_size=40, max_size=40), st.booleans(), st.booleans())
def test_joining_parts_gives_the_whole(
    places: Places, part_of: list[int], with_positions: bool, packed: bool
) -> None:
    parts: list[Places] = [{}, {}, {}, {}]
    for place, (id_, positions) in enumerate(places.items()):
        parts[part_of[place]][id_] = positions
    each = [of(part) if with_positions else without_positions(of(part)) for part in parts if part]
    # Blocks have narrow columns, unmerged documents wide ones.
    each = [packed_and_unpacked(part) if packed and number else part for number, part in enumerate(each)]
    whole = of(places) if with_positions else without_positions(of(places))
    assert as_lists(join_postings(each)) == as_lists(whole)


def test_nothing_joined_is_nothing() -> None:
    assert as_lists(join_postings([])) == [[], [], [], []]


@given(st.lists(PLACES.filter(bool), max_size=4), st.booleans())
def test_summing_counts_each_document_once_with_all_its_terms(parts: list[Places], packed: bool) -> None:
    length = 2**33
    each = [of(part)._replace(lengths=np.full(len(part), length)) for part in parts]
    each = [packed_and_unpacked(part) if packed else part for part in each]
    counts: dict[int, int] = {}
    for part in parts:
        for id_, positions in part.items():
            counts[id_] = counts.get(id_, 0) + len(positions)
    found = sum_postings(each)
    assert found.ids.tolist() == sorted(counts)
    assert found.counts.tolist() == [counts[id_] for id_ in sorted(counts)]
    assert found.lengths.tolist() == [length] * len(counts)


def test_counts_add_up_beyond_the_width_in_which_they_were_kept() -> None:
    # 200 + 100 = 300 takes two bytes; 200 and 100 take one, and 400 takes two.
    ends = ((0, 200), (200, 300), (300, 700))
    parts = [packed_and_unpacked(of({3: list(range(start, stop))})) for start, stop in ends]
    assert [part.counts.dtype.itemsize for part in parts] == [1, 1, 2]
    assert sum_postings(parts[:2]).counts.tolist() == [300]
    assert sum_postings(parts).counts.tolist() == [700]


# Phrases


def test_terms_that_follow_one_another_by_hand() -> None:
    # Document 1: a b a b c; document 2: a c b; document 4: b c.
    a, b, c = of({1: [0, 2], 2: [0]}), of({1: [1, 3], 2: [2], 4: [0]}), of({1: [4], 2: [1], 4: [1]})
    assert as_lists(phrase_postings([a, b])) == [[1], [2], [12], []]  # `a b` twice, of 10 + 2 terms
    assert as_lists(phrase_postings([b, c])) == [[1, 4], [1, 1], [13, 10], []]
    assert as_lists(phrase_postings([a, b, c])) == [[1], [1], [12], []]
    assert as_lists(phrase_postings([c, a])) == [[], [], [], []]
    assert as_lists(phrase_postings([a, Postings.none()])) == [[], [], [], []]


SEQUENCES = st.dictionaries(
    st.one_of(st.integers(1, 20), st.integers(2**30, 2**30 + 9)), st.text("abc", max_size=12), max_size=6
)


@given(SEQUENCES, st.text("abc", min_size=1, max_size=4), st.booleans())
def test_terms_follow_one_another_where_the_text_has_them_so(
    texts: dict[int, str], phrase: str, packed: bool
) -> None:
    def where(letter: str) -> Postings:
        found = {
            id_: [place for place, there in enumerate(text) if there == letter]
            for id_, text in texts.items()
            if letter in text
        }
        each = of(found)._replace(lengths=np.array([len(texts[id_]) for id_ in sorted(found)], np.int64))
        return packed_and_unpacked(each) if packed and found else each

    def times(text: str) -> int:
        return sum(text[place:].startswith(phrase) for place in range(len(text)))

    found = phrase_postings([where(letter) for letter in phrase])
    expected = {id_: times(text) for id_, text in sorted(texts.items()) if times(text)}
    assert dict(zip(found.ids.tolist(), found.counts.tolist(), strict=True)) == expected
    assert found.lengths.tolist() == [len(texts[id_]) for id_ in expected]


# Rows and blocks


@given(PLACES.filter(bool), st.data(), st.booleans())
def test_taking_rows_takes_their_positions(places: Places, data: st.DataObject, with_positions: bool) -> None:
    rows = data.draw(st.lists(st.sampled_from(range(len(places))), unique=True, min_size=1))
    whole = of(places) if with_positions else without_positions(of(places))
    found = select_rows(whole, np.array(rows))
    ids = [sorted(places)[row] for row in rows]
    assert found.ids.tolist() == ids
    assert found.counts.tolist() == [len(places[id_]) for id_ in ids]
    assert found.positions.tolist() == [at for id_ in ids for at in places[id_] if with_positions]


@given(PLACES.filter(bool), st.integers(1, 5))
def test_blocks_are_full_but_the_last_and_hold_everything(places: Places, most: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(postings_module, "BLOCK", most)
        blocks = split_into_blocks(of(places))
    sizes = [len(block.ids) for block in blocks]
    assert sizes[:-1] == [most] * (len(places) // most - (len(places) % most == 0))
    assert 0 < sizes[-1] <= most
    assert as_lists(join_postings(blocks)) == as_lists(of(places))
