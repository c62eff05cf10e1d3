"""Why a memory was not returned: the answer names where it fell out, and what it promises comes true."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from hand_weights import hand_weighted

from recollect.domain.changes import Adopt, AdoptLinks, NewEntity, NewObservation, NewText, PutEntity, PutText
from recollect.domain.errors import InvalidInput, NotFound
from recollect.domain.records import Kind, Memory, Scope
from recollect.ranking.profiles import PROFILES

if TYPE_CHECKING:
    from conftest import FixedClock, MakeEngine

    from recollect.engine import Engine
    from recollect.search.why_not import WhyNot
    from recollect.write.repository import Repository

every_profile = pytest.mark.parametrize("profile", PROFILES)


def kitchen(engine: Engine) -> dict[str, int]:
    """From much tea to none."""
    made = engine.create_entities(
        [
            {"name": "teapot", "observations": ["green tea", "tea"]},
            {"name": "samovar", "observations": ["tea for many"]},
            {"name": "saucer", "observations": ["under a cup of tea or coffee"]},
            {"name": "old kettle", "observations": ["boils water for green tea"], "status": "archived"},
            {"name": "cat", "observations": ["sleeps under the table most of the day"]},
        ]
    )
    return {entity.name: entity.id for entity in made.entities}


def promised(answer: WhyNot) -> int | None:
    """The limit that the advice says would do."""
    found = [re.fullmatch(r"A limit of (\d+) would show it\.", line) for line in answer.advice]
    limits = [int(match[1]) for match in found if match]
    return limits[0] if limits else None


def test_a_returned_memory_is_said_to_be_returned(engine: Engine) -> None:
    kitchen(engine)
    for place, hit in enumerate(engine.search("green tea", limit=3).hits, start=1):
        answer = engine.why_not("green tea", hit.memory.id, limit=3)
        assert answer.verdict == f"It was returned, at place {place}."
        assert answer.standing is not None
        assert (answer.standing.place, answer.standing.score) == (place, hit.score)
        assert promised(answer) is None


def test_what_no_search_could_have_found_says_why_and_what_to_do(
    engine: Engine, store: Repository, clock: FixedClock
) -> None:
    ids = kitchen(engine)
    old = Memory(91, Kind.NOTE, Scope(), clock(), clock(), text="tea at four", superseded_at=clock())
    new = Memory(92, Kind.NOTE, Scope(), clock(), clock(), text="tea at five")
    store.apply([Adopt(old), Adopt(new), AdoptLinks(superseded=((91, 92),))], at=clock())
    engine.reindex()
    answer = engine.why_not("tea at four", 91)
    assert answer.verdict == "It was superseded on 2026-03-01 by memory 92."
    assert answer.advice == ("Ask for memory 92, which replaces it.",)
    assert [hit.memory.id for hit in engine.search("tea at four", kinds=["note"]).hits] == [92]
    answer = engine.why_not("tea", 92, kinds=["entity", "message"])
    assert answer.verdict == "It is of the kind note, and the search was for entity, message."
    assert answer.advice == ("Ask for the kind note too.",)
    clock.now = datetime(2026, 4, 5, tzinfo=UTC)
    engine.graph.delete_entities(["teapot"])
    answer = engine.why_not("green tea", ids["teapot"])
    assert answer.verdict == "It was forgotten on 2026-04-05."
    assert answer.advice == (f"Restore it: recollect restore {ids['teapot']}",)
    assert (answer.branches, answer.standing) == ((), None)
    engine.restore(ids["teapot"])
    assert "returned" in engine.why_not("green tea", ids["teapot"]).verdict


@every_profile
def test_a_memory_that_no_search_brought_up_says_what_each_search_lacked(
    engine: Engine, store: Repository, clock: FixedClock, profile: str
) -> None:
    kitchen(engine)
    unread = NewEntity("dog", "animal", (NewObservation("barks at the postman"),))
    store.apply([PutEntity(Scope(), unread)], at=clock())  # no vector, and no word of the query
    answer = engine.why_not("green tea", "dog", profile=profile)
    assert answer.verdict == "No search brought it up, so it was never a candidate."
    assert {branch.name: (branch.rank, branch.reached) for branch in answer.branches} == {
        "meaning": (None, False),
        "words": (None, False),
    }
    assert any("may still wait for a vector" in line for line in answer.advice)
    assert "It shares no word with the query." in answer.advice
    assert promised(answer) is None
    engine.reindex()
    assert engine.why_not("green tea", "dog", profile=profile).branches[0].rank == 6


def test_words_too_common_to_count_are_named(
    make_engine: MakeEngine, store: Repository, clock: FixedClock
) -> None:
    engine = make_engine(model="none")
    kitchen(engine)
    answer = engine.why_not("most of the tea", "cat")
    assert "By words it shares only 'most', 'of', 'the' with the query, too common to count." in answer.advice


def test_the_step_that_dropped_it_is_named_with_its_reason(
    engine: Engine, store: Repository, clock: FixedClock
) -> None:
    kitchen(engine)
    answer = engine.why_not("green tea", "cat", profile="cognis")
    # "green tea" and the cat have no word in common: a cosine of 0, below the threshold of 0.3
    assert answer.verdict == (
        "It was found by meaning, and the step 'threshold' dropped it: cosine 0.000 is below 0.3."
    )
    assert answer.standing is not None
    assert (answer.standing.place, promised(answer)) == (None, None)
    put = [PutText(Scope(), NewText(Kind.MESSAGE, "tea again", session=session)) for session in "ab"]
    first, second = (outcome.ids[0] for outcome in store.apply(put, at=clock()).outcomes)
    engine.reindex()
    for profile in ("mnemosyne", "cognis", "recollect"):
        answer = engine.why_not("tea again", second, profile=profile)
        assert f"the step 'repeats' dropped it: it repeats memory {first}." in answer.verdict


def test_below_the_limit_the_dearest_factor_comes_first_and_its_price_is_right(engine: Engine) -> None:
    kitchen(engine)
    query = "hot water on green leaves"

    def place() -> int:
        return [hit.memory.name for hit in engine.search(query).hits].index("old kettle") + 1

    fell_to = place()
    answer = engine.why_not(query, "old kettle", limit=1)
    assert fell_to > 1
    assert answer.verdict == (
        f"It was found by meaning and words and is at place {fell_to}, below the limit of 1."
    )
    assert answer.standing is not None
    dearest = answer.standing.costs[0]
    # Archived halves the score, and nothing else cost it a place.
    assert (dearest.step, dearest.value, dearest.places) == ("status", 0.5, fell_to - 1)
    assert "Without 'status' (0.5) it would be at 1 and would be on the list." in answer.advice
    engine.graph.set_status("old kettle", "active")
    assert place() == dearest.place_without == 1


@every_profile
@pytest.mark.parametrize("limit", [1, 2, 4])
def test_every_verdict_agrees_with_the_list_and_every_promise_is_kept(
    engine: Engine, clock: FixedClock, profile: str, limit: int
) -> None:
    ids = kitchen(engine)
    words = ("tea", "water", "cup", "green", "table", "day", "coffee")
    for number in range(14):
        clock.tick(3600 * number)
        name = f"thing {number}"
        text = " ".join(words[: 1 + number % 6]) + " filler" * (number % 4)
        made = engine.create_entities([{"name": name, "observations": [text]}])
        ids[name] = made.entities[0].id
        if number % 3 == 0:
            engine.graph.open_nodes([name, "teapot"])
    query = "green tea in a cup of water"
    listed = [hit.memory.id for hit in engine.search(query, limit=limit, profile=profile).hits]
    promises = 0
    for id_ in ids.values():
        answer = engine.why_not(query, id_, limit=limit, profile=profile)
        returned = re.fullmatch(r"It was returned, at place (\d+)\.", answer.verdict)
        assert (id_ in listed) == bool(returned)
        if returned:
            assert listed[int(returned[1]) - 1] == id_
        enough = promised(answer)
        if enough is not None:
            promises += 1
            shown = engine.search(query, limit=enough, profile=profile).hits
            assert id_ in [hit.memory.id for hit in shown], answer.verdict
        elif not returned:
            # no limit helps: a step drops it, whatever the limit
            everything = engine.search(query, limit=1_000, profile=profile).hits
            assert id_ not in [hit.memory.id for hit in everything], answer.verdict
    assert promises


@every_profile
def test_what_a_search_ranks_too_low_to_be_taken_is_told_with_its_rank(engine: Engine, profile: str) -> None:
    names = [f"tea {number}" for number in range(130)]
    engine.create_entities([{"name": name, "observations": ["tea " + "pot " * 9]} for name in names])
    engine.create_entities([{"name": "last", "observations": ["a mention of tea " + "and more words " * 30]}])
    answer = engine.why_not("tea", "last", limit=1, profile=profile)
    assert answer.verdict == "No search brought it up, so it was never a candidate."
    taken = {"recollect": 100, "reverie": 100, "mnemosyne": 20, "cognis": 30}.get(profile, 3)
    for branch in answer.branches:
        assert (branch.rank, branch.taken, branch.reached) == (131, taken, False)
        assert f"By {branch.name} it is number 131; the profile takes {taken}." in answer.advice
    assert answer.standing is not None
    assert (answer.standing.place or 0) > 1  # among those that were taken, as if it had been too
    enough = promised(answer)
    assert enough is not None
    shown = engine.search("tea", limit=enough, profile=profile).hits
    assert "last" in [hit.memory.name for hit in shown]


def test_what_does_not_exist_here_is_not_found_and_a_question_without_an_answer_is_refused(
    engine: Engine,
) -> None:
    kitchen(engine)
    yours = kitchen(engine.scoped("you"))
    for missing in (yours["cat"], 10_000, "no such"):
        with pytest.raises(NotFound):
            engine.why_not("tea", missing)
    for query, limit in ((" ", None), ("tea", 0), ("tea", -1), ("tea", 1_001)):
        with pytest.raises(InvalidInput):
            engine.why_not(query, "cat", limit=limit)
    # A memory outside of conversations gets no branch for neighbours.
    branches = engine.why_not("green tea", "cat").branches
    assert [branch.name for branch in branches] == ["meaning", "words"]


def test_a_message_is_told_whether_its_neighbours_brought_it_up(engine: Engine) -> None:
    talk = ("The harbour is closed", "I see", "Go on", "Not yet", "Fine")
    ids = engine.add_messages("port", [{"content": text} for text in talk], extract=False).ids
    engine.reindex()
    answer = engine.why_not("harbour", ids[1])
    near = {branch.name: branch for branch in answer.branches}["nearby"]
    assert (near.rank, near.taken, near.reached) == (1, 100, True)
    assert "nearby" in answer.verdict or answer.verdict.startswith("It was returned")
    # The last message is four turns away.
    far = engine.why_not("harbour", ids[4])
    near = {branch.name: branch for branch in far.branches}["nearby"]
    assert (near.rank, near.reached) == (None, False)
    told = "The messages next to it contain none of the query's rarer words."
    assert told in far.advice
    assert told not in answer.advice


def test_a_reply_to_a_question_like_the_query_was_brought_along(engine: Engine) -> None:
    talk = ("Do you paint boats?", "Each weekend", "Fine", "Good", "Well")
    ids = engine.add_messages("port", [{"content": text} for text in talk], extract=False).ids
    engine.reindex()
    profile = hand_weighted(meaning={"cosine": 0.6}, conversation={"reply_speaker": 0.25})
    answer = engine.why_not("paint boats", ids[1], profile=profile)
    near = {branch.name: branch for branch in answer.branches}["nearby"]
    assert near.reached
    assert answer.standing is not None
    # 0.25 * 1, since the question before it is the nearest of all
    (reply,) = [reason for reason in answer.standing.reasons if reason.step == "conversation: reply"]
    assert reply.value == pytest.approx(0.25)
