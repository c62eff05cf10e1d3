"""An answer says how sure it is, and abstains where asked to."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np
import pytest
from harbour_notes import NOTES
from semantic import search_semantic

from recollect.domain.errors import InvalidInput
from recollect.domain.limits import UNLIKELY
from recollect.domain.records import RecallOptions
from recollect.domain.results import Answer
from recollect.dreams.state import past_questions
from recollect.engine import Engine
from recollect.ranking.candidates import ByMeaning, ByWords, Profile, run
from recollect.ranking.profiles import PROFILES
from recollect.ranking.steps import Cut, Order, Rrf
from recollect.search.candidates import gather
from recollect.search.recall import confidence_input, memories_to_read, open_search, query_of, recall
from recollect.search.rows import memories_by_id, scope_id

if TYPE_CHECKING:
    from conftest import MakeEngine


pytestmark = pytest.mark.ranking
UNKNOWN = "Which orchestra performed Mahler's symphony in Vienna?"


@pytest.fixture
def harbour(make_engine: MakeEngine) -> Engine:
    engine = make_engine()
    engine.remember_many(NOTES)
    return engine


@pytest.fixture
def worded(make_engine: MakeEngine) -> Engine:
    """An engine without a model: for an uncalibrated one, a few memories do not show which cosine is near."""
    engine = make_engine(model="none")
    engine.remember_many(NOTES)
    return engine


def test_what_is_stored_gets_more_than_what_never_was(worded: Engine) -> None:
    known = worded.search("Where does the spare key of the boathouse hang?")
    assert known.hits[0].memory.text == NOTES[8]
    unknown = worded.search(UNKNOWN)
    assert known.confidence is not None
    assert unknown.confidence is not None
    assert known.confidence > 0.6
    assert not known.doubtful
    assert unknown.confidence < UNLIKELY
    assert unknown.doubtful
    assert known.hits[0].confidence == max(hit.confidence or 0 for hit in known.hits)


@pytest.mark.parametrize("profile", PROFILES)
def test_every_profile_gives_a_probability_to_every_hit(harbour: Engine, profile: str) -> None:
    for query in ("boathouse key", "Who is allergic to nuts?", "symphony orchestra", "?"):
        answer = harbour.search(query, profile=profile)
        assert answer.confidence is not None
        for hit in answer.hits:
            assert hit.confidence is not None
            assert 0 <= hit.confidence <= answer.confidence <= 1


@pytest.fixture
def archive(make_engine: MakeEngine) -> Engine:
    """More than any search goes down to at first; each says a few words of many others."""
    engine = make_engine()
    things = ["rope", "anchor", "lantern", "compass", "barometer", "sail", "chart", "bell", "buoy", "oar"]
    engine.remember_many(NOTES)
    engine.remember_many(
        f"Shelf {place} of the boathouse holds the {things[place % 10]} of crew {place % 13}, "
        f"and the {things[(place // 3 + 5) % 10]} too"
        for place in range(150)
    )
    return engine


# The default and one more look 100 down at least, whatever the limit is up to that.
LIMITS = {"recollect": (1, 3, 10, 20), "reverie": (1, 40, 100)}
QUERIES = ("Where does the spare key of the boathouse hang?", "the bell of crew 4", "Ana")


@pytest.mark.parametrize(("profile", "limits"), LIMITS.items())
@pytest.mark.parametrize("query", QUERIES)
def test_asking_for_more_moves_no_confidence(
    archive: Engine, profile: str, limits: tuple[int, ...], query: str
) -> None:
    least, *more = (archive.search(query, limit=limit, profile=profile) for limit in limits)
    known = {hit.memory.id: hit.confidence for hit in least.hits}
    for answer in more:
        assert answer.confidence == least.confidence
        also = {hit.memory.id: hit.confidence for hit in answer.hits}
        assert {id_: also[id_] for id_ in known if id_ in also} == {
            id_: sure for id_, sure in known.items() if id_ in also
        }


def test_what_words_have_found_is_judged_by_its_meaning_too(archive: Engine) -> None:
    profile = Profile("made", "", (ByMeaning(times=0, least=30), ByWords("stemmed")), (Rrf(), Order(), Cut()))
    services = archive._services
    asked = query_of(services, QUERIES[0], profile, limit=200, record=False)
    with open_search(services, asked) as (search, query, _):
        gathered = gather(search, profile, query)
        ranked = run(profile, gathered.candidates, query)
        memories = memories_by_id(search.snapshot, memories_to_read(ranked))
        inputs, _ = confidence_input(search, gathered, ranked, memories)
    below = ~np.isfinite(inputs.cosine[inputs.rows])
    # The search by meaning has not gone down to them; their own vectors tell the cosine.
    assert below.sum() > 10
    assert np.isfinite(inputs.near).all()
    assert inputs.near[below].max() <= inputs.near[~below].min() + 1e-6


def test_abstaining_withholds_guesses_and_nothing_else(harbour: Engine) -> None:
    for limit in (None, 3):
        silent = harbour.recall(UNKNOWN, limit=limit, options=RecallOptions(abstain=True))
        guesses = harbour.search(UNKNOWN, limit=10 if limit is None else limit)
        assert (silent.hits, silent.abstained, silent.withheld) == ((), True, len(guesses.hits))
        assert guesses.hits
        assert silent.confidence == guesses.confidence
    sure = harbour.recall(QUERIES[0], options=RecallOptions(abstain=True))
    assert sure.hits == harbour.search(QUERIES[0]).hits
    assert not sure.abstained


def test_without_abstaining_a_doubtful_answer_has_its_hits_and_is_false(harbour: Engine) -> None:
    for limit in (None, 3):
        answer = harbour.recall(UNKNOWN, limit=limit)
        assert answer.doubtful
        assert not answer
        assert not answer.abstained
        assert 1 <= len(answer.hits) <= 10
        assert answer.withheld == 0


@pytest.mark.parametrize(("line", "is_withheld"), [(-0.01, False), (0.0, False), (0.01, True)])
def test_only_what_is_below_the_line_is_withheld(
    worded: Engine, monkeypatch: pytest.MonkeyPatch, line: float, is_withheld: bool
) -> None:
    confidence = worded.search(QUERIES[0]).confidence
    assert confidence is not None
    monkeypatch.setattr("recollect.search.recall.UNLIKELY", confidence + line)
    answer = worded.recall(QUERIES[0], options=RecallOptions(abstain=True))
    assert (answer.abstained, not answer.hits) == (is_withheld, is_withheld)


def test_what_was_withheld_was_not_seen(worded: Engine) -> None:
    worded.recall(UNKNOWN, options=RecallOptions(abstain=True))
    worded.recall("spare key of the boathouse", options=RecallOptions(min_confidence=0.5))
    worded._services.usage.settle(None)
    with worded._services.store.read() as view:
        asked = past_questions(view, scope_id(view, worded.scope), 10)
    assert [(each.query, len(each.shown)) for each in asked] == [("spare key of the boathouse", 1)]


def test_the_least_confidence_leaves_out_what_is_below(harbour: Engine) -> None:
    query = "spare key of the boathouse"
    every = harbour.search(query, limit=10).hits
    some = harbour.recall(query, limit=10, options=RecallOptions(min_confidence=0.5))
    assert some.hits == tuple(hit for hit in every if (hit.confidence or 0) >= 0.5)
    assert some.withheld == len(every) - len(some.hits) > 0
    assert harbour.recall(query, limit=10, options=RecallOptions(min_confidence=0.0)).hits == every
    for least in (-0.1, 1.1, "much", True, float("nan")):
        with pytest.raises(InvalidInput, match="from 0 to 1"):
            harbour.recall("key", options=RecallOptions(min_confidence=least))  # type: ignore[arg-type]


def test_whoever_does_not_ask_how_sure_gets_the_same_hits_unjudged(harbour: Engine) -> None:
    services, profile = harbour._services, PROFILES["recollect"]
    asked = query_of(services, "spare key of the boathouse", profile, limit=10, record=False)
    judged, bare = (recall(services, replace(asked, with_confidence=told), profile) for told in (True, False))
    assert bare.confidence is None
    assert not bare.doubtful
    assert bare.hits == tuple(replace(hit, confidence=None) for hit in judged.hits)


def test_a_search_that_shows_no_confidence_does_not_pay_for_it(
    harbour: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    harbour.create_entities(
        [{"name": "Biscuit", "entityType": "cat", "observations": ["sleeps on the stairs"]}]
    )

    def judging(*_: object) -> None:
        raise AssertionError("Nobody asked how sure it is.")

    monkeypatch.setattr("recollect.search.recall.answer_confidence", judging)
    assert search_semantic(harbour, "Biscuit the cat")["results"]


def test_an_empty_question_has_no_confidence_and_below_one_half_an_answer_is_doubtful(
    harbour: Engine,
) -> None:
    answer = harbour.search("  ")
    assert (answer.confidence, answer.doubtful) == (None, False)
    assert [Answer("key", (), "words", confidence=sure).doubtful for sure in (0.499, 0.5)] == [True, False]
    # In Python, the best hit comes back however unlikely it is.
    assert 1 <= len(harbour.search(UNKNOWN).hits) <= 10


def test_what_happened_in_a_time_that_is_all_that_was_asked_for_is_an_answer(harbour: Engine) -> None:
    answer = harbour.search("What happened today?")
    assert answer.confidence == 0.95
    assert {hit.confidence for hit in answer.hits} == {0.95}


def test_without_a_limit_come_the_hits_that_are_worth_reading_and_a_limit_is_filled(archive: Engine) -> None:
    query = "Where does the spare key of the boathouse hang?"
    bare, filled = archive.search(query), archive.search(query, limit=10)
    assert len(filled.hits) == 10
    assert 1 <= len(bare.hits) < 10
    # The same list, cut: nothing else moves.
    assert bare.hits == filled.hits[: len(bare.hits)]
    assert (bare.unread, filled.unread) == (10 - len(bare.hits), 0)
    assert (bare.withheld, bare.confidence) == (0, filled.confidence)
    least = max(0.02, 0.1 * max(hit.confidence or 0 for hit in filled.hits))
    assert (bare.hits[-1].confidence or 0) >= least
    assert all((hit.confidence or 0) < least for hit in filled.hits[len(bare.hits) :])


def test_a_right_month_makes_a_hit_no_less_likely(make_engine: MakeEngine) -> None:
    engine = make_engine()
    engine.remember(
        "The outage of the ferry office lasted three hours", happened_at=datetime(2026, 2, 10, tzinfo=UTC)
    )
    engine.remember_many(NOTES)
    plain, timed = (
        engine.search(f"How long was the {what}?").hits[0] for what in ("outage", "February outage")
    )
    assert plain.memory.id == timed.memory.id
    assert plain.confidence is not None
    assert timed.confidence is not None
    assert timed.confidence >= plain.confidence


def test_an_answer_without_hits_is_not_sure_because_of_the_time(engine: Engine) -> None:
    engine.add_messages("now", [{"role": "user", "content": "What happened today?"}])
    answer = engine.recall("What happened today?", session="now")
    # The only candidate is the question itself, which is no answer to it.
    assert (answer.hits, answer.confidence) == ((), 0.0)
