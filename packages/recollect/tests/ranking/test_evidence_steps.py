"""The evidence that our own profile adds up: every sign by hand, and laws that hold in any world."""

from __future__ import annotations

from dataclasses import fields, replace
from math import log, sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from worlds import Row, gathered, moment, scores, stepped

from recollect.domain.records import Kind, Status
from recollect.ranking.candidates import (
    ASSISTANT,
    NOBODY,
    SPEAKER,
    USER,
    ByContext,
    Source,
    reasons,
    recombined,
    run,
)
from recollect.ranking.factors import NamedSpeaker
from recollect.ranking.profiles import LEARNED_WEIGHTS, RECOLLECT, from_plain, to_plain
from recollect.ranking.steps import (
    STEPS,
    ConversationScore,
    DrawnNotes,
    LinkScore,
    MeaningScore,
    OriginScore,
    Plus,
    TokenScore,
    WordScore,
)

share = st.floats(0, 1)
maybe = st.none() | share


@st.composite
def talks(draw: st.DrawFn) -> list[Row]:
    """Notes and messages of three talks; no two messages at one place."""
    places = draw(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 6)), unique=True, max_size=10))
    notes = draw(st.integers(0, 5))
    rows = []
    for id_, (session, position) in enumerate([*places, *[(0, 0)] * notes], start=1):
        rows.append(
            Row(
                id_,
                cosine=draw(maybe),
                bm25=draw(maybe),
                matched=draw(maybe),
                tokens=draw(maybe),
                session=session,
                position=position,
                kind=Kind.MESSAGE if session else draw(st.sampled_from([Kind.NOTE, Kind.ENTITY])),
                role=draw(st.sampled_from([USER, ASSISTANT, SPEAKER])) if session else NOBODY,
                nearby=draw(share) if session else None,
                conversation=draw(share) if session else None,
                named=draw(st.booleans()),
                asks=draw(st.booleans()),
                informativeness=draw(share) if session else 1.0,
                length=draw(st.integers(0, 5_000)),
                status=draw(st.sampled_from(list(Status))),
            )
        )
    return rows


def test_meaning_is_the_stretched_cosine_and_the_place() -> None:
    rows = [Row(1, cosine=0.9), Row(2, cosine=0.6), Row(3, cosine=0.5), Row(4, bm25=1)]
    # stretched over 0.5 to 0.9: 1, 0.25, 0, and 0 where it was not found; places: 11/11, 11/12, 11/13, 0
    expected = {1: 0.5 + 0.1, 2: 0.125 + 0.1 * 11 / 12, 3: 0.1 * 11 / 13, 4: 0.0}
    assert scores((MeaningScore(cosine=0.5, rank=0.1),), rows) == pytest.approx(expected)


def test_words_are_bm25_the_place_and_the_matched_share() -> None:
    rows = [Row(1, bm25=4, matched=0.5), Row(2, bm25=1, matched=1.0), Row(3, cosine=0.5)]
    # 0.4 * 4/4 + 0.1 * 11/11 + 0.2 * 0.5 = 0.6;  0.4 * 1/4 + 0.1 * 11/12 + 0.2 = 0.3916…;  nothing
    expected = {1: 0.6, 2: 0.1 + 0.1 * 11 / 12 + 0.2, 3: 0.0}
    assert scores((WordScore(bm25=0.4, rank=0.1, share=0.2),), rows) == pytest.approx(expected)


def test_tokens_are_the_stretched_match_its_deviation_and_its_place() -> None:
    rows = [Row(1, tokens=0.7), Row(2, tokens=0.3), Row(3, tokens=0.5), Row(4, cosine=0.4)]
    # stretched: 1, 0, 0.5. The mean is 0.5 and the standard deviation sqrt(0.08 / 3) = 0.1633, so that 0.7
    # lies 1.2247 above it: 0.3062 quarters. Places: 1, 3, 2.
    quarter = 0.2 / sqrt(0.08 / 3) / 4
    assert quarter == pytest.approx(0.3062, abs=1e-4)
    expected = {
        1: 0.3 + 0.2 * quarter + 0.1,
        2: -0.2 * quarter + 0.1 * 11 / 13,
        3: 0.15 + 0.1 * 11 / 12,
        4: 0.0,
    }
    step = TokenScore(match=0.3, deviation=0.2, rank=0.1)
    assert scores((step,), rows) == pytest.approx(expected)


def test_without_token_vectors_nothing_is_added() -> None:
    assert stepped((TokenScore(match=1.0),), [Row(1, cosine=0.5)]).score_changes == ()


def test_equal_token_matches_deviate_from_nothing() -> None:
    rows = [Row(1, tokens=0.4), Row(2, tokens=0.4)]
    assert scores((TokenScore(deviation=1.0),), rows) == {1: 0.0, 2: 0.0}


def test_a_message_stands_for_its_notes_and_gains_what_they_match_better() -> None:
    rows = [
        Row(1, cosine=0.6, bm25=1, kind=Kind.MESSAGE),
        Row(2, cosine=0.4, kind=Kind.MESSAGE),
        Row(3, cosine=0.8, bm25=0.5, origin=1),
        Row(4, cosine=0.7, bm25=2, origin=1),
        Row(5, cosine=0.5, origin=99),
    ]
    found = stepped((DrawnNotes(meaning=0.5, words=0.3),), rows)
    # stretched over 0.4 to 0.8: the message 0.5, its notes 1 and 0.75: 0.5 * (1 - 0.5) = 0.25
    # words over the best, 2: the message 0.5, its notes 0.25 and 1: 0.3 * (1 - 0.5) = 0.15
    assert dict(zip(found.ids.tolist(), found.score.tolist(), strict=True)) == pytest.approx(
        {1: 0.4, 2: 0.0, 5: 0.0}
    )
    assert [(gone.id, gone.reason) for gone in found.dropped] == [
        (3, "memory 1 says it"),
        (4, "memory 1 says it"),
    ]


def test_a_note_whose_message_is_no_candidate_stays() -> None:
    assert stepped((DrawnNotes(1.0, 1.0),), [Row(5, cosine=0.5, origin=1)]).ids.tolist() == [5]


def test_what_is_said_around_a_message_counts_by_who_speaks() -> None:
    rows = [
        Row(1, cosine=0.9, session=1, position=1, role=USER, asks=True, nearby=1, conversation=2),
        Row(2, cosine=0.5, session=1, position=2, role=ASSISTANT, nearby=4, conversation=2),
        Row(3, cosine=0.7, session=1, position=3, role=SPEAKER, nearby=2, conversation=2),
        Row(4, cosine=0.9),
    ]
    step = ConversationScore(
        nearby_user=0.4, nearby_assistant=0.2, conversation_speaker=0.3, reply_assistant=0.1,
        before_speaker=0.5, after_user=0.6, reply_speaker=9.0,
    )  # fmt: skip
    # stretched over 0.5 to 0.9: 1, 0, 0.5
    # 1: near 0.4 * 1/4; after it stands 2, which has 0
    # 2: near 0.2 * 4/4; it replies to 1, a question: 0.1 * 1
    # 3: talk 0.3 * 2/2; before it stands 2: 0; 2 asks nothing, so that 3 is no reply
    assert scores((step,), rows) == pytest.approx({1: 0.1, 2: 0.3, 3: 0.3, 4: 0.0})
    after = ConversationScore(after_user=0.6, after_assistant=0.6)
    # after 1 stands 2: 0; after 2 stands 3: 0.6 * 0.5
    assert scores((after,), rows) == pytest.approx({1: 0.0, 2: 0.3, 3: 0.0, 4: 0.0})


def test_two_notes_are_no_talk() -> None:
    rows = [Row(1, cosine=0.8, asks=True), Row(2, position=1)]
    assert stepped((ConversationScore(before_user=1.0, reply_user=1.0),), rows).score_changes == ()


def test_a_candidate_is_worth_what_its_kind_and_its_speaker_are_worth() -> None:
    rows = [
        Row(1, kind=Kind.MESSAGE, role=USER, asks=True, informativeness=0.25, length=2_000),
        Row(2, kind=Kind.MESSAGE, role=ASSISTANT, asks=True, length=44),
        Row(3, kind=Kind.ENTITY),
        Row(4, kind=Kind.NOTE, asks=True, length=1_000_000),
    ]
    step = OriginScore(user=0.1, assistant=-0.2, entity=0.05, asks_assistant=-0.3, brief=-0.4, length=0.5)
    # 1: 0.1 - 0.4 * 0.75 + 0.5 * 1 = 0.3
    # 2: -0.2 - 0.3 + 0.5 * ln 45 / ln 2001;  3: 0.05;  4: as long as 2,000 letters: 0.5
    expected = {1: 0.3, 2: -0.5 + 0.5 * log(45) / log(2001), 3: 0.05, 4: 0.5}
    assert scores((step,), rows) == pytest.approx(expected)


def test_an_entity_gains_by_its_relation_to_whom_the_query_names() -> None:
    found = gathered([Row(1, cosine=0.5), Row(2, cosine=0.5), Row(3, cosine=0.5)])
    assert LinkScore()(found, moment()).score_changes == ()
    said = Source(np.array([1, 2, 0]), np.array([1.0, 0.25, np.nan]))
    tied = LinkScore(weight=0.6)(replace(found, sources={**found.sources, "linked": said}), moment())
    # 0.6 * 1, 0.6 * 0.25, and nothing for the third
    assert tied.score.tolist() == pytest.approx([0.6, 0.15, 0.0])


def test_who_is_named_counts_one_or_nothing() -> None:
    rows = [Row(1, named=True), Row(2)]
    assert scores((Plus(NamedSpeaker(), weight=0.25),), rows) == {1: 0.25, 2: 0}


def test_every_learned_number_has_a_weight_in_the_package() -> None:
    names = ("drawn_notes", "meaning", "words", "tokens", "conversation", "time_score", "origin")
    learned: dict[str, Any] = {name: STEPS[name] for name in names}
    assert {step: set(numbers) for step, numbers in LEARNED_WEIGHTS.items()} == {
        "named": {"weight"},
        **{name: {each.name for each in fields(kind)} for name, kind in learned.items()},
    }


@given(rows=talks(), chance=st.randoms(use_true_random=False))
def test_the_order_of_arrival_and_the_numbers_of_talks_do_not_matter(rows: list[Row], chance: object) -> None:
    renumbered = [replace(row, session=(0, 77, 5, 1 << 50)[row.session]) for row in rows]
    chance.shuffle(renumbered)  # type: ignore[attr-defined]  # a Random, which may not be imported here
    assert scores(RECOLLECT.steps, renumbered) == scores(RECOLLECT.steps, rows)


@given(rows=talks())
def test_a_score_is_what_its_reasons_add_up_to(rows: list[Row]) -> None:
    ranked = run(RECOLLECT, gathered(rows), moment(rows))
    for place in range(len(ranked)):
        assert recombined(reasons(ranked)[place]) == ranked.score[place]
        assert not np.isnan(ranked.score[place])


@given(rows=talks(), better=st.floats(0, 0.5))
def test_more_of_the_query_in_a_text_never_lowers_it(rows: list[Row], better: float) -> None:
    for row in rows[:1]:
        raised = replace(row, matched=min(1.0, (row.matched or 0.0) + better))
        before, after = (
            scores((WordScore(share=0.4),), rows),
            scores((WordScore(share=0.4),), [raised, *rows[1:]]),
        )
        assert after[row.id] >= before[row.id]


def test_the_parts_go_to_plain_data_and_back() -> None:
    own = replace(RECOLLECT, retrieve=(ByContext(times=2, least=7, within=4), *RECOLLECT.retrieve[:2]))
    plain = to_plain(own)
    assert plain["retrieve"][0] == {"by": "context", "times": 2, "least": 7, "within": 4}
    assert from_plain(plain) == own
    assert (ByContext(times=2, least=7).take(3), ByContext(times=2, least=7).take(4)) == (7, 8)
