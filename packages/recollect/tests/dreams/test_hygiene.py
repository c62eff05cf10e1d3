"""Tidying up in sleep: repeats become one, errors lose their copies, what goes together is tied."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sleepers import Row, snapshot, stages

from recollect.domain.records import Consolidation
from recollect.dreams.knobs import Knobs
from recollect.dreams.phases import correct, link, merge
from recollect.dreams.snapshot import Copy, Draft, Link, Merge, Pair, Said, Twins

KNOBS = Knobs()
ROWS = [Row(1), Row(2), Row(3)]
TEA, AGAIN = Said(1, "Ada drinks tea."), Said(2, "Ada drinks the tea")


def merged(*twins: Twins, pruned: tuple[int, ...] = ()) -> list[tuple[int, int]]:
    told = snapshot(ROWS, twins=twins)
    draft = merge(told, KNOBS, replace(Draft.of(told), pruned=pruned))
    return [(one.gone.memory, one.into.memory) for one in draft.merges]


def test_of_two_that_say_the_same_the_older_stays() -> None:
    told = snapshot(ROWS, twins=(Twins(TEA, AGAIN, 0.98),))
    assert merge(told, KNOBS, Draft.of(told)).merges == (Merge(gone=AGAIN, into=TEA, similarity=0.98),)


def test_the_one_that_is_used_more_stays() -> None:
    assert merged(Twins(TEA, replace(AGAIN, accesses=1), 0.98)) == [(1, 2)]
    assert merged(Twins(replace(TEA, accesses=1), replace(AGAIN, accesses=1), 0.98)) == [(2, 1)]


def test_the_one_that_is_pinned_stays_however_little_it_is_used() -> None:
    assert merged(Twins(replace(TEA, accesses=9), replace(AGAIN, kept=True), 0.98)) == [(1, 2)]


def test_of_two_that_are_pinned_both_stay() -> None:
    assert merged(Twins(replace(TEA, kept=True), replace(AGAIN, kept=True), 0.98)) == []


def test_nearness_alone_merges_nothing() -> None:
    assert merged(Twins(TEA, Said(2, "Bob drinks tea."), 0.999)) == []
    assert merged(Twins(TEA, Said(2, "Ada drank tea."), 0.999)) == []


def test_what_is_pruned_in_the_same_night_is_neither_merged_nor_merged_into() -> None:
    assert merged(Twins(TEA, AGAIN, 0.98), pruned=(1,)) == []
    assert merged(Twins(TEA, AGAIN, 0.98), pruned=(2,)) == []


def test_three_that_say_the_same_become_one() -> None:
    third = Said(3, "The Ada drinks tea")
    assert merged(Twins(TEA, AGAIN, 0.99), Twins(TEA, third, 0.97)) == [(2, 1), (3, 1)]


def test_nobody_is_merged_into_what_is_gone() -> None:
    third = Said(3, "Ada drinks tea!")
    assert merged(Twins(TEA, AGAIN, 0.99), Twins(AGAIN, third, 0.97)) == [(2, 1)]


def test_two_observations_of_one_entity_are_two_places() -> None:
    first, second = Said(1, "likes tea", observation=11), Said(1, "Likes tea!", observation=12)
    third = Said(1, "likes the tea", observation=13)
    told = snapshot(ROWS, twins=(Twins(first, second, 0.99), Twins(first, third, 0.98)))
    draft = merge(told, KNOBS, Draft.of(told))
    assert [(one.gone.observation, one.into.observation) for one in draft.merges] == [(12, 11), (13, 11)]
    assert draft.gone == {}  # the entity is there


def test_who_speaks_for_what_was_merged_twice_over_is_the_last() -> None:
    # 3 lives on in 2, and 2 in 1: whoever looks for 3 finds 1.
    draft = replace(
        Draft.of(snapshot(ROWS)),
        merges=(Merge(Said(3, "tea"), Said(2, "tea"), 0.99), Merge(Said(2, "tea"), Said(1, "tea"), 0.98)),
    )
    assert draft.gone == {3: 1, 2: 1}


def test_who_lives_on_is_no_weaker_than_whom_it_speaks_for() -> None:
    rows = [
        Row(1, strength=0.2, depth=3, spread=1, stability=4.0, stage=Consolidation.ARCHIVED),
        Row(2, strength=0.9, depth=2, spread=5, stability=2.0, stage=Consolidation.STAGED),
        Row(3, strength=0.1),
    ]
    told = snapshot(rows, twins=(Twins(TEA, AGAIN, 0.98),))
    life = merge(told, KNOBS, Draft.of(told)).life
    assert (life.strength[0], life.depth[0], life.spread[0], life.stability[0]) == (0.9, 3, 5, 4.0)
    assert stages(merge(told, KNOBS, Draft.of(told)))[0] is Consolidation.CONSOLIDATED
    # Nobody else changes, and whoever goes, goes as it was.
    assert life.strength.tolist()[1:] == [0.9, 0.1]


# Corrections

ERROR = Copy(
    place=Said(2, "Alice works for Google"),
    said="Alice works for Google",
    wrong="Alice works at Google",
    right="Alice works at Microsoft",
    by=3,
    cosine=0.9,
)


def corrected(*copies: Copy, draft: Draft | None = None) -> list[tuple[int, int | None, int]]:
    told = snapshot(ROWS, copies=copies)
    done = correct(told, KNOBS, draft or Draft.of(told))
    return [(one.gone.memory, one.gone.observation, one.by) for one in done.corrections]


def test_a_copy_of_an_error_is_retired_in_favour_of_the_correction() -> None:
    assert corrected(ERROR) == [(2, None, 3)]


def test_what_speaks_of_somebody_else_is_no_copy() -> None:
    assert corrected(replace(ERROR, said="Bob works at Google", cosine=0.99)) == []


def test_a_pinned_copy_stays() -> None:
    assert corrected(replace(ERROR, place=replace(ERROR.place, kept=True))) == []


def test_a_correction_does_not_retire_itself() -> None:
    assert corrected(replace(ERROR, by=2)) == []


def test_a_copy_of_two_errors_is_retired_once() -> None:
    assert corrected(ERROR, replace(ERROR, by=1)) == [(2, None, 3)]


def test_what_is_gone_already_is_not_corrected() -> None:
    gone = Draft.of(snapshot(ROWS))
    assert corrected(ERROR, draft=replace(gone, pruned=(2,))) == []
    assert corrected(ERROR, draft=replace(gone, merges=(Merge(Said(2, "x"), Said(1, "x"), 1.0),))) == []


def test_what_is_gone_itself_corrects_nothing() -> None:
    gone = Draft.of(snapshot(ROWS))
    assert corrected(ERROR, draft=replace(gone, pruned=(3,))) == []
    assert corrected(ERROR, draft=replace(gone, merges=(Merge(Said(3, "x"), Said(1, "x"), 1.0),))) == []
    assert corrected(replace(ERROR, place=Said(3, ERROR.said), by=1), ERROR) == [(3, None, 1)]


def test_an_observation_is_retired_and_its_entity_stays() -> None:
    seen = replace(ERROR, place=Said(2, "works for Google", observation=21))
    assert corrected(seen) == [(2, 21, 3)]


# Links


def linked(*pairs: Pair, accesses: int = 4, pruned: tuple[int, ...] = (), **more: Any) -> tuple[Link, ...]:
    told = snapshot([replace(row, accesses=accesses) for row in ROWS], together=pairs, **more)
    return link(told, KNOBS, replace(Draft.of(told), pruned=pruned)).links


def test_what_keeps_coming_up_together_is_linked_as_firmly_as_often_it_did() -> None:
    assert linked(Pair(1, 2, 4)) == (Link(1, 2, 4, 0),)


def test_three_answers_in_common_are_enough_and_two_are_not() -> None:
    assert linked(Pair(1, 2, 3)) == (Link(1, 2, 3),)
    assert linked(Pair(1, 2, 2)) == ()


def test_half_of_the_answers_of_the_one_that_is_used_more_must_show_both() -> None:
    assert linked(Pair(1, 2, 3), accesses=6) == (Link(1, 2, 3),)  # 3 >= 0.5 * 6
    assert linked(Pair(1, 2, 3), accesses=7) == ()  # 3 < 3.5


def test_a_link_is_made_firmer_and_never_made_again() -> None:
    assert linked(Pair(1, 2, 4), linked={(1, 2): 3}) == (Link(1, 2, 4, 3),)
    assert linked(Pair(1, 2, 4), linked={(1, 2): 4}) == ()


def test_what_is_gone_is_not_linked() -> None:
    assert linked(Pair(1, 2, 4), Pair(2, 3, 4), pruned=(1,)) == (Link(2, 3, 4),)
