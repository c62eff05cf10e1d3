"""What stands around a message: the steps by hand, and laws that hold in any world."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from worlds import Row, gathered, moment, scores, stepped

from recollect.ranking.candidates import Source
from recollect.ranking.explain import reasons, recombined
from recollect.ranking.factors.content import EndsWithQuestion, NamedSpeaker
from recollect.ranking.pipeline import ByContext, run
from recollect.ranking.profiles import RECOLLECT
from recollect.ranking.steps.adjust import Plus
from recollect.ranking.steps.conversation import LinkScore, NeighbourScore, ReplyScore
from recollect.ranking.steps.fuse import Blend
from recollect.ranking.steps.plain import from_plain, to_plain
from recollect.records import Status

AROUND = (Blend(), NeighbourScore(nearby=0.35, conversation=0.2))

share = st.floats(0, 1)
maybe = st.none() | share


@st.composite
def talks(draw: st.DrawFn, *, spoken: bool | None = None) -> list[Row]:
    """Notes and messages of three talks; no two messages at one place. `spoken`: only the one sort."""
    places = draw(
        st.lists(st.tuples(st.integers(1, 3), st.integers(1, 6)), unique=True, max_size=10).filter(
            lambda listed: spoken is not True or bool(listed)
        )
    )
    notes = draw(st.integers(0 if spoken is not False else 1, 5))
    listed = [] if spoken is False else places
    rows = []
    for id_, (session, position) in enumerate([*listed, *[(0, 0)] * (0 if spoken else notes)], start=1):
        rows.append(
            Row(
                id_,
                cosine=draw(maybe),
                bm25=draw(maybe),
                session=session,
                position=position,
                nearby=draw(share) if session else None,
                conversation=draw(share) if session else None,
                named=draw(st.booleans()),
                asks=draw(st.booleans()),
                status=draw(st.sampled_from(list(Status))),
            )
        )
    return rows


def test_an_entity_gains_by_its_relation_to_whom_the_query_names() -> None:
    found = gathered([Row(1, cosine=0.5), Row(2, cosine=0.5), Row(3, cosine=0.5)])
    assert LinkScore()(found, moment()).score_changes == ()
    said = Source(np.array([1, 2, 0]), np.array([1.0, 0.25, np.nan]))
    tied = LinkScore(weight=0.6)(replace(found, sources={**found.sources, "linked": said}), moment())
    # 0.6 * 1, 0.6 * 0.25, and nothing for the third
    assert tied.score.tolist() == pytest.approx([0.6, 0.15, 0.0])


def test_a_message_gains_by_what_is_said_near_it_and_in_its_talk() -> None:
    rows = [
        Row(1, bm25=4, session=1, position=1, nearby=1, conversation=3),
        Row(2, bm25=2, session=1, position=2, nearby=4, conversation=3),
        Row(3, session=2, position=1, nearby=2, conversation=6),
    ]
    # blend: 0.4 * 4/4, 0.4 * 2/4, 0; near: 0.35 * 1/4, 4/4, 2/4; talk: 0.2 * 3/6, 3/6, 6/6
    # 1: 0.4 + 0.0875 + 0.1 = 0.5875    2: 0.2 + 0.35 + 0.1 = 0.65    3: 0 + 0.175 + 0.2 = 0.375
    assert scores(AROUND, rows) == pytest.approx({1: 0.5875, 2: 0.65, 3: 0.375})


def test_a_note_is_its_own_surroundings() -> None:
    rows = [
        Row(1, bm25=4),
        Row(2, bm25=2),
        Row(3, bm25=4, session=1, position=1, nearby=2, conversation=2),
        Row(4, bm25=2, session=1, position=2, nearby=1, conversation=2),
    ]
    # notes: 0.4 * (1 + 0.35 + 0.2) = 0.62, 0.2 * 1.55 = 0.31
    # messages: 0.4 + 0.35 + 0.2 = 0.95, 0.2 + 0.35 * 1/2 + 0.2 = 0.575
    assert scores(AROUND, rows) == pytest.approx({1: 0.62, 2: 0.31, 3: 0.95, 4: 0.575})


def test_a_message_with_nothing_around_it_keeps_its_score() -> None:
    rows = [
        Row(1, bm25=4, session=1, position=1),
        Row(2, bm25=4, session=2, position=1, nearby=1, conversation=1),
    ]
    assert scores(AROUND, rows) == pytest.approx({1: 0.4, 2: 0.95})


def test_where_nothing_is_said_around_anybody_notes_and_messages_stay_level() -> None:
    """As with a query of words that every text holds."""
    rows = [Row(1, bm25=4), Row(2, bm25=4, session=1, position=1), Row(3, bm25=2, session=1, position=2)]
    assert scores(AROUND, rows) == scores(AROUND[:1], rows)
    only_near = [replace(rows[0]), replace(rows[1], nearby=2.0), rows[2]]
    # near: note 0.35 * 0.4 of its own, message 0.35; of talks nothing is known, so that nobody gains
    assert scores(AROUND, only_near) == pytest.approx({1: 0.54, 2: 0.75, 3: 0.2})


def test_who_stands_right_behind_a_question_gains_by_how_near_it_is_to_the_query() -> None:
    rows = [
        Row(1, cosine=0.8, session=1, position=4, asks=True),
        Row(2, session=1, position=5),
        Row(3, cosine=0.6, session=1, position=6, asks=True),
        Row(4, cosine=0.4, session=1, position=7, asks=True),
        Row(5, session=1, position=8),
        Row(6, cosine=0.8, session=1, position=10, asks=True),
        Row(7, session=1, position=12),
        Row(8, session=2, position=5),
        Row(9),
    ]
    # stretched over 0.4 to 0.8: 1 and 6: 1, 3: 0.5, 4: 0
    # 2 answers 1: 0.2; 4 answers 3: 0.2 * 0.5; 5 answers 4, which is the farthest: 0
    # 7 stands two places behind, 8 in another talk, 9 in none
    gained = scores((ReplyScore(weight=0.2),), rows)
    assert gained == pytest.approx({1: 0, 2: 0.2, 3: 0, 4: 0.1, 5: 0, 6: 0, 7: 0, 8: 0, 9: 0})


def test_a_question_that_meaning_did_not_find_gives_its_reply_nothing() -> None:
    rows = [Row(1, bm25=4, session=1, position=1, asks=True), Row(2, session=1, position=2)]
    assert scores((ReplyScore(),), rows) == {1: 0, 2: 0}


def test_what_is_no_question_has_no_reply() -> None:
    rows = [Row(1, cosine=0.8, session=1, position=1), Row(2, session=1, position=2)]
    assert stepped((ReplyScore(),), rows).score_changes == ()


def test_two_notes_are_no_talk() -> None:
    """Neither has a place: they are not one behind the other in a talk of number 0."""
    rows = [Row(1, cosine=0.8, asks=True), Row(2, position=1)]
    assert stepped((ReplyScore(),), rows).score_changes == ()


def test_named_and_asks_are_one_or_nothing() -> None:
    rows = [Row(1, named=True), Row(2, asks=True), Row(3, named=True, asks=True), Row(4)]
    assert scores((Plus(NamedSpeaker(), weight=0.25),), rows) == {1: 0.25, 2: 0, 3: 0.25, 4: 0}
    assert scores((Plus(EndsWithQuestion(), weight=-0.1),), rows) == pytest.approx(
        {1: 0, 2: -0.1, 3: -0.1, 4: 0}
    )


def test_our_own_profile_on_a_talk_by_hand() -> None:
    """Ana was asked where she went; her reply holds none of the query's words."""
    rows = [
        Row(1, cosine=0.9, bm25=6, session=1, position=1, asks=True, nearby=0, conversation=2),
        Row(2, cosine=0.5, session=1, position=2, named=True, nearby=3, conversation=2),
        Row(3, cosine=0.7, bm25=3),
    ]
    # blend: 1: 0.6 * 1 + 0.4 * 6/6 = 1    2: 0    3: 0.6 * 0.5 + 0.4 * 3/6 = 0.5
    # near:  1: 0                          2: 0.35    3: 0.35 * 0.5 = 0.175
    # talk:  1: 0.2 * 2/2 = 0.2            2: 0.2     3: 0.2 * 0.5 = 0.1
    # reply: 2: 0.2 * 1 = 0.2;  named: 2: 0.25;  asks: 1: -0.1
    assert scores(RECOLLECT.steps, rows) == pytest.approx({1: 1.1, 2: 1.0, 3: 0.775})


@given(rows=talks(spoken=False))
def test_without_a_message_the_steps_change_nothing(rows: list[Row]) -> None:
    plain = stepped((Blend(),), rows)
    for step in (NeighbourScore(), ReplyScore()):
        ranked = stepped((Blend(), step), rows)
        assert [mark.step for mark in ranked.score_changes] == [mark.step for mark in plain.score_changes]
        assert ranked.score.tolist() == plain.score.tolist()


@given(rows=talks())
def test_among_notes_the_order_stays_that_of_the_blend(rows: list[Row]) -> None:
    notes = [row.id for row in rows if not row.session]
    before, after = scores((Blend(),), rows), scores(AROUND, rows)
    for one in notes:
        for other in notes:
            if before[one] < before[other]:
                assert after[one] <= after[other]
            if before[one] == before[other]:
                assert after[one] == after[other]


@given(rows=talks())
def test_a_note_gains_by_its_own_score_for_each_part_and_a_message_by_no_more_than_the_weights(
    rows: list[Row],
) -> None:
    before, ranked = scores((Blend(),), rows), stepped(AROUND, rows)
    weights = {"around: nearby": 0.35, "around: conversation": 0.2}
    for mark in ranked.score_changes[2:]:
        for place, id_ in enumerate(ranked.ids.tolist()):
            row = next(row for row in rows if row.id == id_)
            value = mark.values[place]
            if row.session:
                assert 0 <= value <= weights[mark.step]
            else:
                assert value == weights[mark.step] * before[id_]


@given(rows=talks(), weight=st.floats(0, 2))
def test_a_reply_only_ever_gains(rows: list[Row], weight: float) -> None:
    before, after = scores((Blend(),), rows), scores((Blend(), ReplyScore(weight)), rows)
    asked = {(row.session, row.position): row for row in rows if row.asks and row.session}
    for row in rows:
        question = asked.get((row.session, row.position - 1))
        assert before[row.id] <= after[row.id] <= before[row.id] + weight
        if question is None or question.cosine is None:
            assert after[row.id] == before[row.id]


@given(rows=talks(), chance=st.randoms(use_true_random=False))
def test_the_order_of_arrival_and_the_numbers_of_talks_do_not_matter(rows: list[Row], chance: object) -> None:
    renumbered = [replace(row, session=(0, 77, 5, 1 << 50)[row.session]) for row in rows]
    chance.shuffle(renumbered)  # type: ignore[attr-defined]  # a Random, which may not be imported here
    assert scores(RECOLLECT.steps, renumbered) == scores(RECOLLECT.steps, rows)
    assert scores(RECOLLECT.steps, rows) == scores(RECOLLECT.steps, rows)


@given(rows=talks(), factor=st.floats(0.01, 100))
def test_only_how_the_surroundings_compare_counts(rows: list[Row], factor: float) -> None:
    scaled = [
        replace(
            row,
            nearby=None if row.nearby is None else row.nearby * factor,
            conversation=None if row.conversation is None else row.conversation * factor,
        )
        for row in rows
    ]
    # Too small to be told from nothing, a number may vanish when it is scaled.
    if all(
        number is None or number == 0 or number > 1e-300
        for row in (*rows, *scaled)
        for number in (row.nearby, row.conversation)
    ):
        assert scores(AROUND, scaled) == pytest.approx(scores(AROUND, rows))


@given(rows=talks(spoken=True))
def test_a_score_is_what_its_reasons_add_up_to(rows: list[Row]) -> None:
    ranked = run(RECOLLECT, gathered(rows), moment(rows))
    for place in range(len(ranked)):
        assert recombined(reasons(ranked, place)) == ranked.score[place]
        assert not np.isnan(ranked.score[place])


def test_the_parts_go_to_plain_data_and_back() -> None:
    own = replace(
        RECOLLECT,
        retrieve=(ByContext(times=2, least=7, within=4), *RECOLLECT.retrieve[:2]),
        steps=(
            Blend(),
            NeighbourScore(0.1, 0.3),
            ReplyScore(0.4),
            Plus(NamedSpeaker(), 0.5),
            Plus(EndsWithQuestion(), -0.2),
            *RECOLLECT.steps[-2:],
        ),
    )
    plain = to_plain(own)
    assert plain["retrieve"][0] == {"by": "context", "times": 2, "least": 7, "within": 4}
    assert plain["steps"][1:3] == [
        {"step": "around", "nearby": 0.1, "conversation": 0.3},
        {"step": "reply", "weight": 0.4},
    ]
    assert from_plain(plain) == own
    assert (ByContext(times=2, least=7).take(3), ByContext(times=2, least=7).take(4)) == (7, 8)
