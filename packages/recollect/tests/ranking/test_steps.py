"""The steps one by one: their numbers by hand, and laws that hold in any world."""

from __future__ import annotations

from dataclasses import fields, replace
from math import log, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from worlds import Row, gathered, kept_scores, moment, row_lists, scores, stepped

from recollect.domain.records import Kind, Status
from recollect.ranking.candidates import (
    ASSISTANT,
    NOBODY,
    SPEAKER,
    USER,
    ByContext,
    Candidates,
    Source,
    Step,
    reasons,
    recompute_score,
    run,
)
from recollect.ranking.factors import NamedSpeaker, StatusWeight
from recollect.ranking.profiles import LEARNED_WEIGHTS, LIMBIC, PROFILES, RECOLLECT, from_plain, to_plain
from recollect.ranking.steps import (
    STEPS,
    BaseRelevance,
    Blend,
    ConversationScore,
    DrawnNotes,
    DropRepeats,
    Linear,
    LinkScore,
    MeaningScore,
    Order,
    OriginScore,
    Plus,
    Rrf,
    TimeFirst,
    Times,
    TimeScore,
    TokenScore,
    WeightedRrf,
    WordScore,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

# The example of the Hybrid Search page, by (rank by meaning, rank by words)
A, B, C, D = (
    Row(1, 0.9, 4.0, meaning_rank=1, words_rank=3),
    Row(2, 0.8, meaning_rank=2),
    Row(3, bm25=9.0, words_rank=1),
    Row(4, 0.5, 6.0, meaning_rank=5, words_rank=2),
)
BASE: list[Step] = [Rrf(), BaseRelevance()]
TALK = [
    Row(1, cosine=0.9, session=1, position=1, role=USER, asks=True, nearby=1, conversation=2),
    Row(2, cosine=0.5, session=1, position=2, role=ASSISTANT, nearby=4, conversation=2),
    Row(3, cosine=0.7, session=1, position=3, role=SPEAKER, nearby=2, conversation=2),
    Row(4, cosine=0.9),
]
QUARTER = 0.2 / sqrt(0.08 / 3) / 4

BY_HAND: dict[str, tuple[list[Step], list[Row], dict[int, float]]] = {
    # A 1/61 + 1/63 = 0.03227 (their page: 0.0322)   B 1/62   C 1/61   D 1/65 + 1/62
    "the example table of reciprocal rank fusion": (
        [Rrf()], [A, B, C, D], {1: 1 / 61 + 1 / 63, 2: 1 / 62, 3: 1 / 61, 4: 1 / 65 + 1 / 62},
    ),
    # rrf: 1 by both, 1/61 + 1/62; 2 by words, 1/61; 3 by words, 1/63
    # norm of 2: (1/61 - 1/63) / (1/61 + 1/62 - 1/63); of 3: 0
    "what words alone found is stretched between 0.2 and 0.8": (
        BASE, [Row(1, 0.4, 5.0), Row(2, bm25=9.0), Row(3, bm25=1.0)],
        {1: 0.4, 2: 0.2 + 0.6 * (1 / 61 - 1 / 63) / (1 / 61 + 1 / 62 - 1 / 63), 3: 0.2},
    ),
    # 1 by words first, 1/61; 2 by meaning second place only, 1/62
    "the best by words alone reaches 0.8": (
        BASE, [Row(1, bm25=9.0), Row(2, 0.5, meaning_rank=2)], {1: 0.8, 2: 0.5},
    ),
    # range 0: norm_rrf = 1, 0.2 + 0.6 * 1
    "a single hit by words has 0.8": (BASE, [Row(1, bm25=3.0)], {1: 0.8}),
    "equal fused scores give words 0.8": (BASE, [Row(1, bm25=3.0), Row(2, 0.3)], {1: 0.8, 2: 0.3}),
    # max(0, 1 - distance), distance 1.4
    "what points away has a cosine of 0": (BASE, [Row(1, -0.4)], {1: 0}),
    # 1: 0.7 * 11/11 + 0.3 * 11/11 = 1      2: 0.7 * 11/12      3: 0.3 * 11/12
    "weighted ranks": (
        [WeightedRrf()], [Row(1, 0.9, 9.0), Row(2, 0.8), Row(3, bm25=1.0)],
        {1: 1, 2: 0.7 * 11 / 12, 3: 0.3 * 11 / 12},
    ),
    # 1: 0.5 * 0.8 + 0.3 * 4/8 = 0.55     2: 0.3 * 8/8 = 0.3     3: cosine below 0, so 0
    "shares": ([Linear()], [Row(1, 0.8, 4.0), Row(2, bm25=8.0), Row(3, -0.5)], {1: 0.55, 2: 0.3, 3: 0}),
    "a best BM25 of 0 gives no share": ([Linear()], [Row(1, bm25=0.0), Row(2)], {1: 0, 2: 0}),
    # cosines 0.7 to 0.9: 1: 0.6 * 1 + 0.4 * 0; 2: 0.6 * 0.5 + 0.4 * 2/4; 3: 0.6 * 0 + 0.4 * 1; 4: 0.4 * 1/4
    "stretched shares": (
        [Blend()], [Row(1, 0.9), Row(2, 0.8, 2.0), Row(3, 0.7, 4.0), Row(4, bm25=1.0)],
        {1: 0.6, 2: 0.5, 3: 0.4, 4: 0.1},
    ),
    "equal cosines are all stretched to 1": (
        [Blend()], [Row(1, 0.4), Row(2, 0.4), Row(3)], {1: 0.6, 2: 0.6, 3: 0},
    ),
    # stretched over 0.5 to 0.9: 1, 0.25, 0, and 0 where it was not found
    "meaning is the stretched cosine": (
        [MeaningScore(cosine=0.5)],
        [Row(1, cosine=0.9), Row(2, cosine=0.6), Row(3, cosine=0.5), Row(4, bm25=1)],
        {1: 0.5, 2: 0.125, 3: 0.0, 4: 0.0},
    ),
    # 0.4 * 4/4 + 0.2 * 0.5 = 0.5;  0.4 * 1/4 + 0.2 * 1 = 0.3;  nothing
    "words are BM25 and the matched share": (
        [WordScore(bm25=0.4, share=0.2)],
        [Row(1, bm25=4, matched=0.5), Row(2, bm25=1, matched=1.0), Row(3, cosine=0.5)],
        {1: 0.5, 2: 0.3, 3: 0.0},
    ),
    # stretched: 1, 0, 0.5. The mean is 0.5 and the standard deviation sqrt(0.08 / 3) = 0.1633, so that 0.7
    # lies 1.2247 above it: 0.3062 quarters.
    "tokens are the stretched match and its deviation": (
        [TokenScore(match=0.3, deviation=0.2)],
        [Row(1, tokens=0.7), Row(2, tokens=0.3), Row(3, tokens=0.5), Row(4, cosine=0.4)],
        {1: 0.3 + 0.2 * QUARTER, 2: -0.2 * QUARTER, 3: 0.15, 4: 0.0},
    ),
    "equal token matches deviate from nothing": (
        [TokenScore(deviation=1.0)], [Row(1, tokens=0.4), Row(2, tokens=0.4)], {1: 0.0, 2: 0.0},
    ),
    "a note whose message is no candidate stays": (
        [DrawnNotes()], [Row(5, cosine=0.5, origin=1)], {5: 0.0},
    ),
    # stretched over 0.5 to 0.9: 1, 0, 0.5
    # 1: talk 0.2 * 2/2; after it comes 2, which has 0
    # 2: nothing, since no weight is for assistants
    # 3: near 0.4 * 2/4; talk 0.3 * 2/2; 2 asks nothing, so that 3 is no reply
    "what is said around a message counts by who speaks": (
        [
            ConversationScore(
                nearby_speaker=0.4, conversation_user=0.2, conversation_speaker=0.3, after_user=0.6,
                reply_speaker=9.0,
            )
        ],
        TALK, {1: 0.2, 2: 0.0, 3: 0.5, 4: 0.0},
    ),
    # 2 replies to 1, whose cosine stretches to 1
    "a reply gains by the question before it": (
        [ConversationScore(reply_speaker=0.1)], [TALK[0], replace(TALK[1], role=SPEAKER)], {1: 0.0, 2: 0.1},
    ),
    # before 2 comes 1, whose cosine stretches to 1
    "what comes before a message": (
        [ConversationScore(before_user=0.6, before_assistant=0.5)], TALK, {1: 0.0, 2: 0.5, 3: 0.0, 4: 0.0},
    ),
    # after 1 comes 2: 0; after 2 comes 3: 0.6 * 0.5
    "what comes after a message": (
        [ConversationScore(after_user=0.6, after_assistant=0.6)], TALK, {1: 0.0, 2: 0.3, 3: 0.0, 4: 0.0},
    ),
    # 1: 0.1 - 0.2 - 0.4 * 0.75 + 0.5 * 1 = 0.1
    # 2: 0.5 * ln 45 / ln 2001;  3: 0.05;  4: as long as 2,000 letters: 0.5
    "a candidate is worth what its kind and its speaker are worth": (
        [OriginScore(speaker=0.1, entity=0.05, asks_speaker=-0.2, brief=-0.4, length=0.5)],
        [
            Row(1, kind=Kind.MESSAGE, role=SPEAKER, asks=True, informativeness=0.25, length=2_000),
            Row(2, kind=Kind.MESSAGE, role=ASSISTANT, asks=True, length=44),
            Row(3, kind=Kind.ENTITY),
            Row(4, kind=Kind.NOTE, asks=True, length=1_000_000),
        ],
        {1: 0.1, 2: 0.5 * log(45) / log(2001), 3: 0.05, 4: 0.5},
    ),
    "a named speaker counts one or nothing": (
        [Plus(NamedSpeaker(), weight=0.25)], [Row(1, named=True), Row(2)], {1: 0.25, 2: 0},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BY_HAND)
def test_a_step_by_hand(name: str) -> None:
    steps, rows, expected = BY_HAND[name]
    assert scores(steps, rows) == pytest.approx(expected)


def test_the_published_figures_of_rank_fusion() -> None:
    found = scores([Rrf()], [A, B, C, D])
    assert [round(score, 4) for score in found.values()] == [0.0323, 0.0161, 0.0164, 0.0315]
    # 1/61 - 1/62 = 1/3782 = 0.00026441 (their page: 0.000265)
    first, second = scores([Rrf(60)], [Row(1, 0.9), Row(2, 0.8)]).values()
    assert first - second == pytest.approx(1 / 3_782)
    assert round(first - second, 6) == 0.000264
    assert kept_scores(stepped(LIMBIC.steps, [A, B, C, D]), "rrf_score")[1] == pytest.approx(1 / 61 + 1 / 63)
    assert pytest.approx(0.3062, abs=1e-4) == QUARTER


def test_a_step_without_its_evidence_leaves_no_trace() -> None:
    assert stepped((TokenScore(match=1.0),), [Row(1, cosine=0.5)]).score_changes == ()
    two_notes = [Row(1, cosine=0.8, asks=True), Row(2, position=1)]
    assert stepped((ConversationScore(before_user=1.0, reply_speaker=1.0),), two_notes).score_changes == ()
    assert LinkScore()(gathered([Row(1, cosine=0.5)]), moment()).score_changes == ()


def test_a_lowered_status_falls_below_0_too() -> None:
    rows = [Row(1), Row(2, status=Status.ARCHIVED), Row(3, status=Status.ARCHIVED)]
    start = gathered(rows).with_change("before", "set", np.array([-0.2, -0.2, 0.2]))
    # -0.2 * 1, -0.2 / 0.5 and 0.2 * 0.5
    assert Times(StatusWeight())(start, moment(rows)).score.tolist() == pytest.approx([-0.2, -0.4, 0.1])


def test_an_entity_gains_by_its_relation_to_the_one_that_the_query_names() -> None:
    found = gathered([Row(1, cosine=0.5), Row(2, cosine=0.5), Row(3, cosine=0.5)])
    said = Source(np.array([1, 2, 0]), np.array([1.0, 0.25, np.nan]))
    tied = LinkScore(weight=0.6)(replace(found, sources={**found.sources, "linked": said}), moment())
    # 0.6 * 1, 0.6 * 0.25, and nothing for the third
    assert tied.score.tolist() == pytest.approx([0.6, 0.15, 0.0])


def test_a_message_stands_for_its_notes() -> None:
    rows = [
        Row(1, cosine=0.6, kind=Kind.MESSAGE),
        Row(2, cosine=0.4, kind=Kind.MESSAGE),
        Row(3, cosine=0.8, origin=1),
        Row(4, cosine=0.7, origin=1),
        Row(5, cosine=0.5, origin=99),
    ]
    found = stepped((DrawnNotes(),), rows)
    assert found.ids.tolist() == [1, 2, 5]
    assert [(gone.id, gone.reason) for gone in found.dropped] == [(id_, "memory 1 says it") for id_ in (3, 4)]


# Steps of time

BEFORE = np.array([0.9, 0.2, 0.5])


def timed(*cosines: float, **sources: list[float]) -> Candidates:
    """Three candidates with these scores of sources."""
    made = gathered([Row(1 + place, cosines[place] if cosines else None) for place in range(3)])
    added = {name: Source(np.zeros(3, np.int64), np.array(score)) for name, score in sources.items()}
    return replace(made, sources={**made.sources, **added}).with_change("before", "set", BEFORE)


@pytest.mark.parametrize(
    ("step", "start", "expected"),
    [
        # 0.9 + 0, 0.2 + 0.5, 0.5 + 0.3
        (TimeScore(weight=0.5), timed(time=[0.0, 1.0, 0.6]), [0.9, 0.7, 0.8]),
        # The cosines stretch to 1, 0.5 and 0: 0.9 + 0, 0.2 + (0.1 + 0.4 * 0.5), 0.5 + 0.1
        (TimeScore(weight=0.1, related=0.4), timed(0.9, 0.7, 0.5, time=[0.0, 1.0, 1.0]), [0.9, 0.5, 0.6]),
        (TimeScore(tells=0.15), timed(when=[0.0, 1.0, 0.0]), [0.9, 0.35, 0.5]),
        # 0.2 + 0.4 * 1; 0.5 + 0.4 * 0.5
        (TimeScore(stated=0.4), timed(stated=[0.0, 1.0, 0.5]), [0.9, 0.6, 0.7]),
        # From the lowest to the highest it is 0.7: 0.2 + 0.8 and 0.5 + 0.8.
        (TimeFirst(), timed(then=[0.0, 1.0, 1.0]), [0.9, 1.0, 1.3]),
    ],
)
def test_a_step_of_time_by_hand(step: Step, start: Candidates, expected: list[float]) -> None:
    assert step(start, moment()).score.tolist() == pytest.approx(expected)


def test_without_a_time_nothing_moves() -> None:
    plain, outside = timed(), timed(then=[0.0, 0.0, 0.0])
    for step in (TimeScore(), TimeScore(stated=0.4), TimeFirst()):
        assert step(plain, moment()) is plain
    assert TimeFirst()(outside, moment()) is outside


# An answer shows a message or its extracted note, whichever is better.


def after_repeats(rows: list[Row], score: Mapping[int, float]) -> Candidates:
    """The remaining candidates, best first."""
    candidates = gathered(rows)
    candidates = replace(candidates, score=np.array([score[id_] for id_ in candidates.ids.tolist()]))
    return Order()(DropRepeats()(candidates, moment(rows)), moment(rows))


MESSAGE, NOTE, OTHER_NOTE, STRANGER = Row(1), Row(5, origin=1), Row(6, origin=1), Row(9)
SAME = [Row(1, content=7), Row(5, origin=1, content=7)]
DRAWN: dict[str, tuple[list[Row], dict[int, float], list[int], list[tuple[int, str]]]] = {
    "a note above its message takes its place": (
        [MESSAGE, NOTE, STRANGER], {1: 0.5, 5: 0.8, 9: 0.6}, [5, 9], [(1, "memory 5 says it")],
    ),
    "a message above its notes says it for all of them": (
        [MESSAGE, NOTE, OTHER_NOTE, STRANGER], {1: 0.9, 5: 0.8, 6: 0.2, 9: 0.6}, [1, 9],
        [(5, "memory 1 says it"), (6, "memory 1 says it")],
    ),
    # The note below says something that the note above does not.
    "a message between its notes goes and all of them stay": (
        [MESSAGE, NOTE, OTHER_NOTE], {1: 0.5, 5: 0.8, 6: 0.2}, [5, 6], [(1, "memory 5 says it")],
    ),
    "of equally good ones the lowest id is better": (
        [MESSAGE, NOTE], {1: 0.5, 5: 0.5}, [1], [(5, "memory 1 says it")],
    ),
    "a note that was there before the message, as after an import": (
        [Row(7), Row(2, origin=7)], {7: 0.5, 2: 0.5}, [2], [(7, "memory 2 says it")],
    ),
    "notes of a message that was not found all stay": (
        [NOTE, OTHER_NOTE, STRANGER], {5: 0.8, 6: 0.2, 9: 0.6}, [5, 9, 6], [],
    ),
    "each message is weighed against its own notes": (
        [Row(1), Row(2), Row(5, origin=1), Row(6, origin=2)], {1: 0.9, 2: 0.1, 5: 0.5, 6: 0.4}, [1, 6],
        [(2, "memory 6 says it"), (5, "memory 1 says it")],
    ),
    # The note says word for word what the message says: the better one stays, whichever it is.
    "the better message is repeated": (SAME, {1: 0.9, 5: 0.5}, [1], [(5, "it repeats memory 1")]),
    "the better note is repeated": (SAME, {1: 0.5, 5: 0.9}, [5], [(1, "it repeats memory 5")]),
    # Message 2 says the same as message 1 and goes; its note was not drawn from message 1.
    "a message that repeats another takes no note with it": (
        [Row(1, content=7), Row(2, content=7), Row(5, origin=2)], {1: 0.9, 2: 0.8, 5: 0.1}, [1, 5],
        [(2, "it repeats memory 1")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DRAWN)
def test_of_a_message_and_its_notes_the_better_stays(name: str) -> None:
    rows, score, left, gone = DRAWN[name]
    found = after_repeats(rows, score)
    assert found.ids.tolist() == left
    assert [(each.id, each.reason) for each in found.dropped] == gone
    assert all(each.step == "repeats" and each.score == score[each.id] for each in found.dropped)


@given(st.lists(st.sampled_from([0.1, 0.5, 0.9]), min_size=2, max_size=6), st.sampled_from([0.1, 0.5, 0.9]))
def test_something_of_a_message_and_its_notes_always_stays_and_the_best_of_all_does(
    notes: list[float], message: float
) -> None:
    rows = [Row(1), *(Row(2 + place, origin=1) for place in range(len(notes)))]
    score = {1: message} | {2 + place: value for place, value in enumerate(notes)}
    found = after_repeats(rows, score).ids.tolist()
    assert found[0] == min(score, key=lambda id_: (-score[id_], id_))
    # Either the message alone, or every note without it.
    assert found == [1] or sorted(found) == [row.id for row in rows[1:]]


# Laws

FUSIONS: list[Step] = [Rrf(), Rrf(k=30), WeightedRrf(), Linear(), Blend()]


@given(fusion=st.sampled_from(FUSIONS), rows=row_lists())
def test_fusing_neither_loses_nor_invents_and_an_absent_rank_adds_nothing(
    fusion: Step, rows: list[Row]
) -> None:
    fused = fusion(gathered(rows), moment(rows))
    assert fused.ids.tolist() == sorted(row.id for row in rows)
    assert fused.dropped == ()
    unfound = [row.id for row in rows if row.cosine is None and row.bm25 is None]
    assert not fused.score[np.isin(fused.ids, unfound)].any()


@given(rows=row_lists(min_size=1))
def test_fusing_ranks_rewards_agreement(rows: list[Row]) -> None:
    """A candidate that both searches rank at least as high as another ends at least as high."""
    candidates = gathered(rows)
    fused = Rrf()(candidates, moment(rows)).score
    ranks = [
        np.where(candidates.source(name).found, candidates.source(name).rank, 10_000)
        for name in ("meaning", "words")
    ]
    for one in range(len(rows)):
        for other in range(len(rows)):
            if all(rank[one] <= rank[other] for rank in ranks):
                assert fused[one] >= fused[other]


def test_every_profile_fuses_first() -> None:
    for profile in PROFILES.values():
        fusions = Rrf | WeightedRrf | Linear | MeaningScore
        assert any(isinstance(step, fusions) for step in profile.steps[:3]), profile.name


share = st.floats(0, 1)
maybe = st.none() | share


@st.composite
def talks(draw: st.DrawFn) -> list[Row]:
    """Notes and messages of three talks; no two messages at one place."""
    places = draw(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 6)), unique=True, max_size=10))
    notes = draw(st.integers(0, 5))
    return [
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
        for id_, (session, position) in enumerate([*places, *[(0, 0)] * notes], start=1)
    ]


@given(rows=talks(), chance=st.randoms(use_true_random=False))
def test_the_order_of_arrival_and_the_numbers_of_talks_do_not_matter(rows: list[Row], chance: object) -> None:
    renumbered = [replace(row, session=(0, 77, 5, 1 << 50)[row.session]) for row in rows]
    chance.shuffle(renumbered)  # type: ignore[attr-defined]  # a Random, which may not be imported here
    assert scores(RECOLLECT.steps, renumbered) == scores(RECOLLECT.steps, rows)


@given(rows=talks())
def test_a_score_is_what_its_reasons_add_up_to(rows: list[Row]) -> None:
    ranked = run(RECOLLECT, gathered(rows), moment(rows))
    assert [recompute_score(each) for each in reasons(ranked)] == ranked.score.tolist()
    assert not np.isnan(ranked.score).any()


@given(rows=talks(), better=st.floats(0, 0.5))
def test_more_of_the_query_in_a_text_never_lowers_it(rows: list[Row], better: float) -> None:
    for row in rows[:1]:
        raised = replace(row, matched=min(1.0, (row.matched or 0.0) + better))
        before, after = (scores((WordScore(share=0.4),), [one, *rows[1:]]) for one in (row, raised))
        assert after[row.id] >= before[row.id]


def test_every_learned_number_has_a_weight_in_the_package() -> None:
    names = ("meaning", "words", "tokens", "conversation", "time_score", "origin")
    learned: dict[str, Any] = {name: STEPS[name] for name in names}
    assert {step: set(numbers) for step, numbers in LEARNED_WEIGHTS.items()} == {
        "named": {"weight"},
        **{name: {each.name for each in fields(kind)} for name, kind in learned.items()},
    }


def test_the_parts_go_to_plain_data_and_back() -> None:
    own = replace(RECOLLECT, retrieve=(ByContext(times=2, least=7, within=4), *RECOLLECT.retrieve[:2]))
    plain = to_plain(own)
    assert plain["retrieve"][0] == {"by": "context", "times": 2, "least": 7, "within": 4}
    assert from_plain(plain) == own
    assert (ByContext(times=2, least=7).take(3), ByContext(times=2, least=7).take(4)) == (7, 8)
