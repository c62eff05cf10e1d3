"""Tidying up in sleep: repeats become one, errors lose their copies, what goes together is tied."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sleepers import Row, snapshot, stages

from recollect.domain.records import Consolidation
from recollect.dreams.knobs import Knobs
from recollect.dreams.phases import correct, link, merge
from recollect.dreams.snapshot import Copy, Draft, DreamText, Link, Merge, Pair, SimilarTexts

KNOBS = Knobs()
ROWS = [Row(1), Row(2), Row(3)]
TEA, AGAIN = DreamText(1, "Ada drinks tea."), DreamText(2, "Ada drinks the tea")


def merged(*twins: SimilarTexts, pruned: tuple[int, ...] = ()) -> list[tuple[int, int]]:
    told = snapshot(ROWS, twins=twins)
    draft = merge(told, KNOBS, replace(Draft.of(told), pruned=pruned))
    return [(one.gone.memory, one.into.memory) for one in draft.merges]


def test_of_two_that_say_the_same_one_survives() -> None:
    told = snapshot(ROWS, twins=(SimilarTexts(TEA, AGAIN, 0.98),))
    assert merge(told, KNOBS, Draft.of(told)).merges == (Merge(gone=AGAIN, into=TEA, similarity=0.98),)
    # The one that is used more stays; of equals, the older.
    assert merged(SimilarTexts(TEA, replace(AGAIN, accesses=1), 0.98)) == [(1, 2)]
    assert merged(SimilarTexts(replace(TEA, accesses=1), replace(AGAIN, accesses=1), 0.98)) == [(2, 1)]
    # A pinned one stays, however little it is used; of two pinned ones, both.
    assert merged(SimilarTexts(replace(TEA, accesses=9), replace(AGAIN, kept=True), 0.98)) == [(1, 2)]
    assert merged(SimilarTexts(replace(TEA, kept=True), replace(AGAIN, kept=True), 0.98)) == []
    # Nearness alone merges nothing.
    assert merged(SimilarTexts(TEA, DreamText(2, "Bob drinks tea."), 0.999)) == []
    assert merged(SimilarTexts(TEA, DreamText(2, "Ada drank tea."), 0.999)) == []


def test_memories_that_are_gone_take_no_part_in_merges() -> None:
    assert merged(SimilarTexts(TEA, AGAIN, 0.98), pruned=(1,)) == []
    assert merged(SimilarTexts(TEA, AGAIN, 0.98), pruned=(2,)) == []
    # Three that say the same become one, but none is merged into one that is gone.
    assert merged(
        SimilarTexts(TEA, AGAIN, 0.99), SimilarTexts(TEA, DreamText(3, "The Ada drinks tea"), 0.97)
    ) == [(2, 1), (3, 1)]
    assert merged(
        SimilarTexts(TEA, AGAIN, 0.99), SimilarTexts(AGAIN, DreamText(3, "Ada drinks tea!"), 0.97)
    ) == [(2, 1)]


def test_two_observations_of_one_entity_are_two_places() -> None:
    first, second = DreamText(1, "likes tea", observation=11), DreamText(1, "Likes tea!", observation=12)
    third = DreamText(1, "likes the tea", observation=13)
    told = snapshot(ROWS, twins=(SimilarTexts(first, second, 0.99), SimilarTexts(first, third, 0.98)))
    draft = merge(told, KNOBS, Draft.of(told))
    assert [(one.gone.observation, one.into.observation) for one in draft.merges] == [(12, 11), (13, 11)]
    assert draft.gone == {}  # the entity is there


def test_who_speaks_for_what_was_merged_twice_over_is_the_last() -> None:
    # 3 was merged into 2, and 2 into 1, so a search for 3 finds 1.
    draft = replace(
        Draft.of(snapshot(ROWS)),
        merges=(
            Merge(DreamText(3, "tea"), DreamText(2, "tea"), 0.99),
            Merge(DreamText(2, "tea"), DreamText(1, "tea"), 0.98),
        ),
    )
    assert draft.gone == {3: 1, 2: 1}


def test_who_lives_on_is_no_weaker_than_whom_it_speaks_for() -> None:
    rows = [
        Row(1, strength=0.2, depth=3, spread=1, stability=4.0, stage=Consolidation.ARCHIVED),
        Row(2, strength=0.9, depth=2, spread=5, stability=2.0, stage=Consolidation.STAGED),
        Row(3, strength=0.1),
    ]
    told = snapshot(rows, twins=(SimilarTexts(TEA, AGAIN, 0.98),))
    life = merge(told, KNOBS, Draft.of(told)).life
    assert (life.strength[0], life.depth[0], life.spread[0], life.stability[0]) == (0.9, 3, 5, 4.0)
    assert stages(merge(told, KNOBS, Draft.of(told)))[0] is Consolidation.CONSOLIDATED
    # Other memories do not change, nor does the one that is removed.
    assert life.strength.tolist()[1:] == [0.9, 0.1]


# Corrections

ERROR = Copy(
    place=DreamText(2, "Alice works for Google"),
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
    # A copy of two errors is retired once.
    assert corrected(ERROR, replace(ERROR, by=1)) == [(2, None, 3)]
    # An observation is retired, and its entity stays.
    assert corrected(replace(ERROR, place=DreamText(2, "works for Google", observation=21))) == [(2, 21, 3)]
    # A text about another person, a pinned copy, and the correction itself stay.
    assert corrected(replace(ERROR, said="Bob works at Google", cosine=0.99)) == []
    assert corrected(replace(ERROR, place=replace(ERROR.place, kept=True))) == []
    assert corrected(replace(ERROR, by=2)) == []


def test_memories_that_are_gone_neither_correct_nor_are_corrected() -> None:
    draft = Draft.of(snapshot(ROWS))
    for gone in (2, 3):
        assert corrected(ERROR, draft=replace(draft, pruned=(gone,))) == []
        merges = (Merge(DreamText(gone, "x"), DreamText(1, "x"), 1.0),)
        assert corrected(ERROR, draft=replace(draft, merges=merges)) == []
    assert corrected(replace(ERROR, place=DreamText(3, ERROR.said), by=1), ERROR) == [(3, None, 1)]


# Links


def linked(*pairs: Pair, accesses: int = 4, pruned: tuple[int, ...] = (), **more: Any) -> tuple[Link, ...]:
    told = snapshot([replace(row, accesses=accesses) for row in ROWS], together=pairs, **more)
    return link(told, KNOBS, replace(Draft.of(told), pruned=pruned)).links


def test_memories_that_keep_coming_up_together_are_linked() -> None:
    assert linked(Pair(1, 2, 4)) == (Link(1, 2, 4, 0),)
    # Three answers in common are enough, and two are not.
    assert linked(Pair(1, 2, 3)) == (Link(1, 2, 3),)
    assert linked(Pair(1, 2, 2)) == ()
    # Half of the answers of the one that is used more must show both: 3 >= 0.5 * 6, and 3 < 0.5 * 7.
    assert linked(Pair(1, 2, 3), accesses=6) == (Link(1, 2, 3),)
    assert linked(Pair(1, 2, 3), accesses=7) == ()
    # A link is made firmer, and never made again.
    assert linked(Pair(1, 2, 4), linked={(1, 2): 3}) == (Link(1, 2, 4, 3),)
    assert linked(Pair(1, 2, 4), linked={(1, 2): 4}) == ()
    # A memory that is gone is not linked.
    assert linked(Pair(1, 2, 4), Pair(2, 3, 4), pruned=(1,)) == (Link(2, 3, 4),)
