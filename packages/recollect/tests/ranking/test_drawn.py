"""Of a message and the notes that were drawn from it, an answer shows the better."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from worlds import Row, gathered, moment

from recollect.ranking.steps import DropRepeats, Order

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recollect.ranking.candidates import Candidates


def after(rows: list[Row], score: Mapping[int, float]) -> Candidates:
    """What is left, the best first."""
    candidates = gathered(rows)
    candidates = replace(candidates, score=np.array([score[id_] for id_ in candidates.ids.tolist()]))
    when = moment(rows)
    return Order()(DropRepeats()(candidates, when), when)


def left(rows: list[Row], score: Mapping[int, float]) -> list[int]:
    ids: list[int] = after(rows, score).ids.tolist()
    return ids


MESSAGE, NOTE, OTHER_NOTE, STRANGER = Row(1), Row(5, origin=1), Row(6, origin=1), Row(9)


def test_a_note_above_its_message_takes_its_place() -> None:
    found = after([MESSAGE, NOTE, STRANGER], {1: 0.5, 5: 0.8, 9: 0.6})
    assert found.ids.tolist() == [5, 9]
    (gone,) = found.dropped
    assert (gone.id, gone.step, gone.reason, gone.score) == (1, "repeats", "memory 5 says it", 0.5)


def test_a_message_above_its_notes_says_it_for_all_of_them() -> None:
    found = after([MESSAGE, NOTE, OTHER_NOTE, STRANGER], {1: 0.9, 5: 0.8, 6: 0.2, 9: 0.6})
    assert found.ids.tolist() == [1, 9]
    assert [(gone.id, gone.reason) for gone in found.dropped] == [
        (5, "memory 1 says it"),
        (6, "memory 1 says it"),
    ]


def test_a_message_between_its_notes_goes_and_all_of_them_stay() -> None:
    # The note below says something that the note above does not.
    assert left([MESSAGE, NOTE, OTHER_NOTE], {1: 0.5, 5: 0.8, 6: 0.2}) == [5, 6]


def test_of_equally_good_ones_the_lowest_id_is_better() -> None:
    assert left([MESSAGE, NOTE], {1: 0.5, 5: 0.5}) == [1]
    # A note that was there before the message, as after an import.
    assert left([Row(7), Row(2, origin=7)], {7: 0.5, 2: 0.5}) == [2]


def test_notes_of_a_message_that_was_not_found_all_stay() -> None:
    assert left([NOTE, OTHER_NOTE, STRANGER], {5: 0.8, 6: 0.2, 9: 0.6}) == [5, 9, 6]


def test_each_message_is_weighed_against_its_own_notes() -> None:
    rows = [Row(1), Row(2), Row(5, origin=1), Row(6, origin=2)]
    assert left(rows, {1: 0.9, 2: 0.1, 5: 0.5, 6: 0.4}) == [1, 6]


def test_a_note_in_the_words_of_its_message_is_a_repeat_before_anything_else() -> None:
    # The note says word for word what the message says: the better one stays, whichever it is.
    rows = [Row(1, content=7), Row(5, origin=1, content=7)]
    for score, kept, gone in (({1: 0.9, 5: 0.5}, 1, 5), ({1: 0.5, 5: 0.9}, 5, 1)):
        found = after(rows, score)
        assert found.ids.tolist() == [kept]
        assert [(each.id, each.reason) for each in found.dropped] == [(gone, f"it repeats memory {kept}")]


def test_a_message_that_repeats_another_takes_no_note_with_it() -> None:
    # Message 2 says the same as message 1 and goes; its note was not drawn from message 1.
    rows = [Row(1, content=7), Row(2, content=7), Row(5, origin=2)]
    assert left(rows, {1: 0.9, 2: 0.8, 5: 0.1}) == [1, 5]


@given(
    st.lists(st.sampled_from([0.1, 0.5, 0.9]), min_size=2, max_size=6),
    st.sampled_from([0.1, 0.5, 0.9]),
)
def test_something_of_a_message_and_its_notes_always_stays_and_the_best_of_all_does(
    notes: list[float], message: float
) -> None:
    rows = [Row(1), *(Row(2 + place, origin=1) for place in range(len(notes)))]
    score = {1: message} | {2 + place: value for place, value in enumerate(notes)}
    found = left(rows, score)
    assert found[0] == min(score, key=lambda id_: (-score[id_], id_))
    # Either the message alone, or every note without it.
    assert found == [1] or sorted(found) == [row.id for row in rows[1:]]
