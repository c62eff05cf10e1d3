"""Every answer is logged with both rankings, in the background; and who is shown which is no accident."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from semantic import search_semantic

from recollect.domain.changes import Bounds
from recollect.domain.errors import InvalidInput, NotFound
from recollect.domain.records import RecallOptions, Scope
from recollect.dreams.state import past_questions
from recollect.engine import Engine
from recollect.ranking.candidates import recompute_score, run
from recollect.ranking.profiles import PROFILES
from recollect.search.recording import SIMILARITY, TrialSettings, arm_of, log_bytes, unpack
from recollect.search.rows import scope_id
from recollect.search.texts import store_setting
from recollect.tuning.answers import logged_answers

if TYPE_CHECKING:
    from conftest import FixedClock

    from recollect.domain.records import LoggedAnswer
    from recollect.domain.results import Answer
    from recollect.search.recording import Design

COLOURS = ("green", "black", "white", "red", "blue", "yellow", "brown", "grey", "pink", "plum", "mint", "rye")
QUERIES = [f"{colour} tea" for colour in COLOURS]


@pytest.fixture
def teas(engine: Engine) -> Engine:
    """Entities that hold the word tea, some of them opened often, so that limbic and likeness disagree."""
    engine.create_entities(
        [{"name": f"tea {number}", "observations": [f"tea {'leaf ' * number}"]} for number in range(8)]
    )
    for _ in range(3):
        engine.graph.open_nodes(["tea 7", "tea 6"])
    return engine


def in_trial(engine: Engine, design: Design, against: str = SIMILARITY, share: float = 0.5) -> Engine:
    trial = TrialSettings(design=design, against=against, share=share)
    return Engine(replace(engine._services, trial=trial))


def logged(engine: Engine, profile: str = "limbic", scope: Scope | None = None) -> list[LoggedAnswer]:
    engine._services.usage.settle(None)
    with engine._services.store.read() as view:
        return list(logged_answers(view, scope_id(view, scope or engine.scope), profile))


def ids(answer: Answer) -> tuple[int, ...]:
    return tuple(hit.memory.id for hit in answer.hits)


# Logging


@pytest.mark.parametrize("profile", PROFILES)
def test_an_answer_is_logged_with_both_rankings(teas: Engine, clock: FixedClock, profile: str) -> None:
    answer = teas.recall("tea leaf", profile=profile, limit=4)
    (kept,) = logged(teas, profile)
    assert (kept.at, kept.query, kept.session, kept.handle) == (clock(), "tea leaf", "test", answer.event)
    assert (kept.arm, kept.version, kept.against) == ("ours", 0, SIMILARITY)
    assert kept.shown == kept.ranked == ids(answer)
    assert len(kept.baseline) == 4


def test_the_baseline_is_likeness_alone_or_another_profile_over_the_same_candidates(teas: Engine) -> None:
    teas.recall("tea leaf", profile="limbic", limit=8)
    nearest = sorted(
        teas.search("tea leaf", profile="limbic", limit=8).hits,
        key=lambda hit: (-hit.places["meaning"].score, hit.memory.id),
    )
    (kept,) = logged(teas)
    assert kept.baseline == tuple(hit.memory.id for hit in nearest)
    assert kept.baseline != kept.ranked
    engine = in_trial(teas, "off", "mnemosyne")
    answer = engine.recall("tea leaf", profile="limbic", limit=8)
    kept = logged(engine)[-1]
    assert kept.against == "mnemosyne"
    assert answer.trace is not None
    other = run(PROFILES["mnemosyne"], answer.trace.candidates, answer.trace.query)
    assert kept.baseline == tuple(other.ids.tolist())
    found = search_semantic(teas, "tea leaf", 3)["results"]
    assert len(logged(teas)[-1].shown) == len(found) == 3


def test_only_what_was_shown_counts_as_shown(teas: Engine) -> None:
    answer = teas.recall("tea leaf", profile="limbic", limit=8, budget_tokens=12)
    (kept,) = logged(teas)
    assert 0 < len(answer.hits) < 8
    assert kept.shown == ids(answer)
    # Both rankings, down to what was asked for: which of them was cut by the budget makes no difference.
    assert len(kept.ranked) == len(kept.baseline) == 8


def test_what_leaves_no_trace_leaves_none_in_the_log(teas: Engine, clock: FixedClock) -> None:
    assert teas.recall("tea leaf", profile="limbic", record=False).event is not None
    teas.search("tea leaf", profile="limbic")
    teas.why_not("tea leaf", "tea 1", profile="limbic")
    teas.context("tea leaf", profile="limbic")
    assert teas.recall("tea leaf", profile="limbic", as_of=clock()).event is None
    assert teas.recall("zzz", profile="limbic", kinds=["note"]).hits == ()
    teas.recall("tea " * 1_000, profile="limbic")  # a text that was pasted
    assert logged(teas) == []


def test_a_list_that_nobody_reads_is_not_logged(engine: Engine) -> None:
    engine.remember_many([f"tea number {number}" for number in range(1_001)])
    engine.recall("tea", profile="limbic", limit=500)
    assert logged(engine) == []
    engine.recall("tea", profile="limbic", limit=100)
    assert len(logged(engine)) == 1


def test_the_log_can_be_switched_off(teas: Engine) -> None:
    engine = Engine(replace(teas._services, trial=TrialSettings(log=False)))
    answer = engine.recall("tea leaf", profile="limbic")
    assert (logged(engine), answer.event) == ([], None)
    with pytest.raises(InvalidInput, match="the log is off"):
        engine.feedback(answer.hits[0].memory.id, 1, answer)


def test_the_log_has_its_bounds(teas: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine(replace(teas._services, trial=TrialSettings(bounds=Bounds(events=2))))
    for query in QUERIES[:4]:
        engine.recall(query, profile="limbic")
    assert [each.query for each in logged(engine)] == QUERIES[2:4]
    # A tenth of the store or sixteen megabytes, and never more than the setting
    assert log_bytes(64_000_000, 84_000_000, 1) == 16_000_000
    assert log_bytes(64_000_000, 300_000_000, 1) == 30_000_000
    assert log_bytes(64_000_000, 300_000_000, 3) == 10_000_000
    assert log_bytes(64_000_000, 10_000_000_000, 1) == 64_000_000
    assert log_bytes(1_000_000, 10_000_000_000, 1) == 1_000_000
    monkeypatch.setattr("recollect.search.recording._SMALL_LOG_BYTES", 0)
    monkeypatch.setattr("recollect.search.recording._SHARE_OF_STORE", 10**9)
    engine = Engine(replace(teas._services, trial=TrialSettings(fits_store=True)))
    for query in QUERIES[:3]:
        engine.recall(query, profile="limbic")
    assert logged(engine) == []


def test_what_was_asked_can_be_left_out_of_the_log(teas: Engine) -> None:
    engine = Engine(replace(teas._services, trial=TrialSettings(keeps_text=False)))
    answer = engine.recall("tea leaf", profile="limbic", limit=4)
    engine.recall("green tea", profile="limbic", limit=4)
    kept = logged(engine)
    assert [each.query for each in kept] == ["", ""]
    assert kept[0].shown == ids(answer)
    assert all(unpack(each.candidates)[1].text == "" for each in kept)
    with engine._services.store.read() as view:
        assert past_questions(view, scope_id(view, engine.scope), 9) == []
        assert {query for (query,) in view.rows("recall", ("query",))} == {None}
    # It still can be judged, by its handle.
    engine.feedback(answer.hits[0].memory.id, 1, answer)


def test_the_log_can_be_emptied(teas: Engine) -> None:
    answer = teas.recall("tea leaf", profile="limbic", limit=4)
    teas.feedback(answer.hits[0].memory.id, 1, answer)
    assert teas.tuning.empty_log() == 1
    assert logged(teas) == []
    with teas._services.store.read() as view:
        assert {query for (query,) in view.rows("recall", ("query",))} == {None}
        assert view.rows("feedback", ("id",)) == []
    assert teas.tuning.empty_log() == 0


def test_a_log_that_fails_keeps_nobody_from_counting(
    teas: Engine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(*_: object) -> bytes:
        raise ZeroDivisionError

    monkeypatch.setattr("recollect.search.recording.pack", fails)
    teas.recall("tea leaf", profile="limbic")
    assert logged(teas) == []
    assert teas._services.usage.failures == 0
    assert "could not be logged" in caplog.text
    with teas._services.store.read() as view:
        assert len(past_questions(view, scope_id(view, teas.scope), 9)) == 1


def test_answers_of_another_scope_are_logged_there(teas: Engine) -> None:
    you = Scope("you")
    teas.scoped("you").remember("tea leaf")
    teas.scoped(you.owner, you.agent).recall("tea leaf", profile="limbic")
    assert logged(teas) == []
    assert len(logged(teas, scope=you)) == 1


# Trials


def test_a_query_always_gets_the_same_ranking_and_some_get_the_other(teas: Engine) -> None:
    engine = in_trial(teas, "split")
    with engine._services.store.read() as view:
        seed = store_setting(view, "trial_seed") or ""
    # Enough queries that each store's random seed assigns both arms.
    queries = [f"{query} {number}" for query in QUERIES for number in range(8)]
    for query in [*queries, *(query.upper() for query in queries)]:
        engine.recall(query, profile="limbic")
    arms = {each.query: each.arm for each in logged(engine)}
    assert set(arms.values()) == {"ours", "baseline"}
    for query in queries:
        assert arms[query] == arms[query.upper()] == arm_of(query, seed)


def test_the_baseline_is_shown_with_its_own_scores_in_the_same_form(teas: Engine) -> None:
    ours, theirs = in_trial(teas, "split", share=1), in_trial(teas, "split", share=0)
    usual = search_semantic(ours, "tea leaf", 5, explain=True)["results"]
    other = search_semantic(theirs, "tea leaf", 5, explain=True)["results"]
    assert [one.keys() for one in usual] == [one.keys() for one in other]
    assert [one["name"] for one in usual] != [one["name"] for one in other]
    # By likeness alone: the score is the cosine, and no habit has a part in it.
    assert [one["score"] for one in other] == sorted((1 - one["distance"] for one in other), reverse=True)
    assert all(one["explanation"][-1]["score"] == one["score"] for one in other)
    assert [one["limbic_score"] for one in other] == [one["score"] for one in other]
    theirs.recall("tea leaf", profile="limbic", limit=5)
    kept = logged(theirs)[-1]
    assert (kept.arm, kept.shown) == ("baseline", kept.baseline)
    assert kept.ranked == ids(ours.search("tea leaf", profile="limbic", limit=5))


@pytest.mark.parametrize("design", ["off", "split"])
@pytest.mark.parametrize("against", [SIMILARITY, "reverie"])
def test_reasons_recombine_to_the_score_in_every_trial(teas: Engine, design: Design, against: str) -> None:
    engine = in_trial(teas, design, against, share=0.0)
    for profile in PROFILES:
        for hit in engine.recall("tea leaf", profile=profile, explain=True, limit=5).hits:
            assert recompute_score(hit.reasons) == hit.score


def test_a_profile_is_no_better_than_itself_whatever_a_budget_leaves(teas: Engine) -> None:
    # A budget keeps short hits, not the first ones.
    engine = in_trial(teas, "off", "limbic")
    for query in ("tea leaf", "leaf of tea", "a leaf", "tea"):
        answer = engine.recall(query, profile="limbic", limit=8, budget_tokens=12)
        assert 0 < len(answer.hits) < 8
        engine.feedback(answer.hits[0].memory.id, 1, answer)
    overall = engine.tuning.analyze("limbic").analysis.overall
    assert overall is not None
    assert overall.ours == overall.baseline
    assert overall.ours.ndcg_10 > 0


def test_an_answer_that_nobody_notes_is_in_no_trial(teas: Engine, clock: FixedClock) -> None:
    usual = teas.search("tea leaf", profile="limbic", limit=5).hits
    told = teas.context("tea leaf", profile="limbic").memories
    engine = in_trial(teas, "split", share=0)
    assert engine.search("tea leaf", profile="limbic", limit=5).hits == usual
    assert engine.recall("tea leaf", profile="limbic", limit=5, record=False).hits == usual
    assert engine.context("tea leaf", profile="limbic").memories == told
    past = engine.recall("tea leaf", profile="limbic", limit=5, as_of=clock())
    assert [hit.memory.id for hit in past.hits] == [
        hit.memory.id for hit in teas.recall("tea leaf", profile="limbic", limit=5, as_of=clock()).hits
    ]
    off = Engine(replace(teas._services, trial=TrialSettings(log=False, design="split", share=0)))
    # A recall that defers its recording takes part in the trial, unless logging is off.
    later = engine.recall("tea leaf", profile="limbic", limit=5, options=RecallOptions(defer_recording=True))
    assert later.hits != usual
    assert off.recall("tea leaf", profile="limbic", limit=5).hits == usual


def test_why_not_speaks_of_the_ranking_that_is_shown_and_the_published_profile_is_in_no_trial(
    teas: Engine,
) -> None:
    engine = in_trial(teas, "split", share=0)
    answer = engine.recall("tea leaf", profile="limbic", limit=3)
    for place, hit in enumerate(answer.hits, start=1):
        told = engine.why_not("tea leaf", hit.memory.id, profile="limbic", limit=3)
        assert told.standing is not None
        assert told.standing.place == place
    published = engine.recall("tea leaf", profile="limbic", options=RecallOptions(tuned=False))
    assert [each.arm for each in logged(engine)] == ["baseline", "ours"]
    assert published.hits[0].scores["limbic_score"] > 0


def test_an_arm_goes_by_the_words_the_seed_and_the_share() -> None:
    for number in range(50):
        assert arm_of(f"Qué es {number}", "seed") == arm_of(f"  QUE es   {number} ", "seed")
    for share in (0.0, 0.2, 0.5, 1.0):
        treated = sum(arm_of(f"question {number}", "seed", share) == "ours" for number in range(2_000))
        # Four standard deviations of a binomial: 4 * sqrt(2000 * 0.25) = 89 at most.
        assert abs(treated - 2_000 * share) <= (90 if 0 < share < 1 else 0)
    arms = [[arm_of(f"question {number}", seed) for number in range(200)] for seed in ("one", "two")]
    assert 60 <= sum(one == other for one, other in zip(*arms, strict=True)) <= 140
    for share in (-0.1, 1.1, float("nan")):
        with pytest.raises(InvalidInput, match="from 0 to 1"):
            arm_of("any", "seed", share)


# Feedback


def test_opening_a_hit_is_feedback_and_asking_again_is_not(teas: Engine, clock: FixedClock) -> None:
    answer = teas.recall("tea leaf", profile="limbic", limit=3)
    teas.recall("TEA leaf", profile="limbic", limit=3)
    clock.tick(60)
    first = answer.hits[0].memory
    teas.graph.open_nodes([first.name], record=False)
    assert [each.feedback for each in logged(teas)] == [(), ()]
    teas.graph.open_nodes([first.name])
    assert [each.feedback for each in logged(teas)] == [(), ((first.id, "opened", 1.0),)]


def test_reading_a_note_by_its_id_is_opening_it_where_one_says_so(engine: Engine) -> None:
    note = engine.remember("green tea").id
    gone = engine.remember("black tea").id
    engine.recall("tea", profile="limbic")
    engine.get(note)
    assert [each.feedback for each in logged(engine)] == [()]
    engine.get(note, record=True)
    engine.forget([gone])
    assert engine.get(gone, record=True) is not None
    assert engine.get(99_999, record=True) is None
    assert [each.feedback for each in logged(engine)] == [((note, "opened", 1.0),)]


def test_a_question_that_is_no_text_is_not_logged_but_what_it_showed_counts(teas: Engine) -> None:
    assert teas.recall("tea leaf \ud83d", profile="limbic", limit=3).hits
    assert logged(teas) == []
    assert teas._services.usage.failures == 0
    with teas._services.store.read() as view:
        uses = view.connection.execute("SELECT count(*) FROM recall_hit").fetchone()  # type: ignore[attr-defined]
    # Three times two that the fixture opened, and these three.
    assert uses == (9,)


def test_being_found_by_another_question_is_feedback(teas: Engine) -> None:
    teas.recall("tea leaf", profile="limbic", limit=8)
    best, other = ids(teas.recall("leaf of tea", profile="reverie", limit=2))
    (kept,) = logged(teas)
    assert {best, other} <= set(kept.shown)
    # The second place came along; it was not what was asked for.
    assert kept.feedback == ((best, "recalled", 0.5),)


def test_what_comes_up_whatever_is_asked_is_no_feedback(teas: Engine) -> None:
    for query in ("tea leaf", "leaf of tea", "a leaf, and tea", "tea"):
        teas.recall(query, profile="limbic", limit=8)
    judged = [each.feedback for each in logged(teas)]
    # The second and the third question tell of the one before; by the fourth, the first place of each has
    # come up in three of three.
    assert [len(given) for given in judged] == [1, 1, 0, 0]


def test_a_caller_says_how_good_an_answer_was(teas: Engine) -> None:
    first = teas.recall("tea leaf", profile="limbic", limit=3)
    second = teas.recall("leaf tea", profile="limbic", limit=3)
    best, other = first.hits[0].memory.id, first.hits[1].memory.id
    teas.feedback(best, 1, first)
    teas.feedback([best, other], -1, second.event)
    teas.feedback(best, 0.5, query="Tea Leaf")

    def ratings() -> list[tuple[tuple[int, float], ...]]:
        return [
            tuple((id_, grade) for id_, kind, grade in each.feedback if kind == "said")
            for each in logged(teas)
        ]

    assert ratings() == [((best, 0.5),), tuple(sorted([(best, -1.0), (other, -1.0)]))]
    unseen = teas.remember("the tide").id
    with pytest.raises(NotFound, match="That answer did not show memory"):
        teas.feedback([best, unseen], 1, first)
    with pytest.raises(NotFound, match="There is no memory 99999"):
        teas.feedback([best, 99_999], 1, first)
    with pytest.raises(InvalidInput, match="from -1"):
        teas.feedback(best, 2, first)
    with pytest.raises(InvalidInput, match="from -1"):
        teas.feedback(best, True, first)
    assert ratings() == [((best, 0.5),), tuple(sorted([(best, -1.0), (other, -1.0)]))]


def test_what_is_noted_later_is_logged_as_the_answer_that_it_was_part_of(teas: Engine) -> None:
    answer = teas.recall("tea leaf", profile="limbic", limit=5, record=False)
    teas.record_shown(ids(answer)[:2], answer)
    (kept,) = logged(teas)
    assert (kept.query, kept.shown, kept.handle) == ("tea leaf", ids(answer)[:2], answer.event)
