"""The self-test: what it asks, what it finds out, and that it leaves no trace."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.changes import NewText, PutText
from recollect.domain.errors import InvalidInput
from recollect.domain.records import Filter, Kind, Scope
from recollect.dreams.state import past_questions
from recollect.language.self_questions import QuestionKind
from recollect.ranking.candidates import Profile
from recollect.ranking.profiles import PROFILES, RECOLLECT
from recollect.search.facts import ranking_facts
from recollect.search.rows import MemoryRows, scope_id
from recollect.search.texts import memory_page
from recollect.self_test.questions import Cause, sample_sizes
from recollect.self_test.self_test import SelfTestOptions, self_test

if TYPE_CHECKING:
    from conftest import FixedClock, MakeEngine

    from recollect.engine import Engine
    from recollect.self_test.questions import SelfTest
    from recollect.write.repository import Repository

NOTES = (
    "Marisol repaired the copper boiler in the cellar",
    "The ferry to Ibiza leaves at noon from the old pier",
    "La llave del trastero está en el cajón de la cocina",
    "東京の図書館は月曜日に休みです",
    "Поезд в Казань отправляется в восемь утра",
)


def harbour(engine: Engine) -> None:
    """Two people, a project, notes of several languages, and a talk on two days."""
    engine.create_entities(
        [
            {"name": name, "type": type_, "observations": [said]}
            for name, type_, said in (
                ("Marisol Vega", "person", "Drinks oolong tea after lunch"),
                ("Jun Watanabe", "person", "Walks to the lighthouse on Sundays"),
                ("Tidebook", "project", "Says when it is safe to cross the bay"),
            )
        ]
    )
    engine.graph.create_relations([("Marisol Vega", "leads", "Tidebook")])
    for text in NOTES:
        engine.remember(text)
    engine.remember("Jun Watanabe bought a brass compass")
    first = datetime(2024, 5, 8, 10, tzinfo=UTC)
    turns = ("I painted the rowing boat green", "The gulls stole my sandwich", "A storm sank the green boat")
    for number, said in enumerate(turns):
        turn = {"content": said, "speaker": "Ana", "at": first + timedelta(days=number // 2, hours=number)}
        engine.add_messages("beach", [turn], extract=False)


def causes(result: SelfTest) -> dict[int, Cause]:
    return {miss.id: miss.cause for miss in result.missed}


def test_half_of_a_sample_is_dealt_out_evenly_and_half_by_number() -> None:
    counts = {Kind.ENTITY: 10, Kind.NOTE: 90, Kind.MESSAGE: 900}
    # 120 of 1,000. Evenly: 120 / 2 / 3 = 20 each, but there are only 10 entities. Left are 70, for 70 notes
    # and 880 messages: 70 · 70 / 950 = 5.16 and 70 · 880 / 950 = 64.84, so the one left over is a message.
    assert sample_sizes(counts, 120) == {Kind.ENTITY: 10, Kind.NOTE: 25, Kind.MESSAGE: 85}
    # A kind with few is not left out.
    assert sample_sizes({Kind.ENTITY: 3, Kind.NOTE: 0, Kind.MESSAGE: 5000}, 20)[Kind.ENTITY] == 3


@given(st.lists(st.integers(0, 500), min_size=3, max_size=3), st.integers(0, 600))
def test_a_sample_is_as_large_as_was_asked_and_takes_no_more_than_there_is(
    each: list[int], size: int
) -> None:
    counts = dict(zip(Kind, each, strict=True))
    taken = sample_sizes(counts, size)
    assert sum(taken.values()) == (min(size, sum(each)) if size else sum(each))
    assert all(0 <= taken[kind] <= counts[kind] for kind in Kind)


def test_every_kind_of_question_is_asked(engine: Engine) -> None:
    harbour(engine)
    result = engine.self_test()
    assert (result.memories, result.sampled) == (12, 12)
    # Each of 12 memories by a phrase, each of 3 entities by its name; a relation from both ends; two notes,
    # of which one mentions Jun Watanabe and one Marisol by her first name; one speaker on two days.
    wanted = {"phrase": 12, "entity": 3, "what is": 3, "relation": 2, "mention": 2, "day": 2, "said": 2}
    assert {asks: result.questions[QuestionKind(asks)] for asks in wanted} == wanted
    assert [each.name for each in result.profiles] == list(PROFILES)
    ours = result.profiles[0]
    assert [ours.by_kind[QuestionKind(asks)].recall for asks in ("phrase", "what is", "day")] == [1, 1, 1]
    assert ours.overall.asked == sum(result.questions.values())
    assert result.missed == ()
    # Profiles can be chosen, and the first replaces a missing default. Another scope is not asked.
    other = engine.scoped("somebody else")
    assert other.self_test().memories == 0
    other.remember("A secret recipe for plum jam")
    result = engine.self_test(profiles=["limbic", "reverie"])
    assert (result.memories, [each.name for each in result.profiles]) == (12, ["limbic", "reverie"])
    assert (result.default, [each.name for each in result.compared]) == ("limbic", ["reverie"])


@pytest.mark.ranking
def test_a_share_counts_the_first_hits_and_reads_ranks_to_the_end(engine: Engine) -> None:
    # A hit at the second place counts among five, not among one; to the MRR it adds 1/2 either way.
    harbour(engine)
    wide, narrow = engine.self_test(limit=5), engine.self_test(limit=1)
    for more, fewer in zip(wide.profiles, narrow.profiles, strict=True):
        assert fewer.overall.found <= more.overall.found
        assert fewer.overall.mrr == more.overall.mrr
        assert fewer.overall.recall <= fewer.overall.mrr <= 1


def test_an_empty_store_is_told_as_such(engine: Engine) -> None:
    result = engine.self_test()
    assert (result.memories, result.questions, result.profiles, result.missed) == (0, {}, (), ())
    assert (result.advice, dict(result.latency)) == ((), {})


def test_one_memory_is_enough(engine: Engine) -> None:
    for text in ("Marisol repaired the boiler", "ok", "東京", "🎉", "?!"):
        alone = engine.scoped(text)
        alone.remember(text)
        result = alone.self_test()
        assert (result.sampled, result.questions[QuestionKind.PHRASE]) == (1, 1), text


def test_it_works_without_a_model(make_engine: MakeEngine) -> None:
    engine = make_engine(model="none")
    harbour(engine)
    result = engine.self_test()
    assert result.model is None
    assert result.note is not None
    assert result.note.startswith("Searched by words only")
    assert result.profiles[0].by_kind[QuestionKind.PHRASE].recall == 1
    assert result.advice[0].command == "recollect reindex --list"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"sample": -1}, "0 for all, not -1"),
        ({"limit": 0}, "from 1 to 1,000 hits, not 0"),
        ({"limit": True}, "The limit is a whole number, not True"),
        ({"seed": 1.5}, "The seed is a whole number, not 1.5"),
        ({"profiles": ["moody"]}, "No profile named 'moody'"),
        ({"profiles": 7}, "Profiles come as a list"),
        ({"at": datetime(2026, 1, 1)}, "without a time zone"),  # noqa: DTZ001
    ],
)
def test_bad_options_are_refused(engine: Engine, given: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        engine.self_test(**given)  # type: ignore[arg-type]


def test_the_same_store_seed_and_day_give_the_same_answer(engine: Engine, clock: FixedClock) -> None:
    harbour(engine)
    first = engine.self_test(sample=6)
    clock.tick(3600)
    assert replace(engine.self_test(sample=6), latency={}) == replace(first, latency={})


def test_another_seed_asks_for_other_memories(engine: Engine) -> None:
    engine.remember_many([f"The lamp number {number} is trimmed by keeper {number}" for number in range(60)])

    def phrases(seed: int) -> list[int]:
        result = self_test(engine._services, {"nothing": _NOTHING}, SelfTestOptions(sample=10, seed=seed))
        return [miss.id for miss in result.missed]

    assert len(phrases(0)) == 10
    assert phrases(0) != phrases(1)


def test_nothing_is_written(engine: Engine, store: Repository) -> None:
    harbour(engine)
    before = store.version()
    engine.self_test()
    engine._services.usage.settle(30)
    assert store.version() == before
    with store.read() as view:
        assert past_questions(view, scope_id(view, Scope()), 10) == []
        ids = [memory.id for memory in memory_page(view, Filter(), 0, 50)]
        assert not ranking_facts(MemoryRows(view), ids, "", None, 0).access_count.any()


def test_a_question_is_embedded_once_and_its_time_counts_for_every_profile(make_engine: MakeEngine) -> None:
    engine = make_engine()
    engine.remember("ok")  # a question by this word, and no other
    looks = iter(range(10_000))
    # Each look at the clock is a second later. The warm-up has embedded the question, in 1 second between two
    # looks; each search after that takes 1 second by itself, and that one is added.
    result = self_test(engine._services, dict(PROFILES), SelfTestOptions(), timer=lambda: float(next(looks)))
    assert {name: each.p50_ms for name, each in result.latency.items()} == dict.fromkeys(PROFILES, 2000.0)


# Why a memory is not found

_NOTHING = Profile("nothing", "finds nothing", (), RECOLLECT.steps[-2:])


def test_what_waits_for_a_vector_is_told_apart(engine: Engine, store: Repository, clock: FixedClock) -> None:
    engine.remember("Keeper Olsen trimmed the great lamp at dusk, at the north tower")
    put = PutText(Scope(), NewText(Kind.NOTE, "Keeper Olsen trimmed the great lamp at dusk, he said"))
    (late,) = store.apply([put], at=clock()).outcomes[0].ids
    found = [engine.self_test(limit=1, seed=seed) for seed in range(8)]
    told = {id_: cause for result in found for id_, cause in causes(result).items()}
    assert told[late] is Cause.NO_VECTOR
    assert all("still lack a vector" in result.advice[0].said for result in found)
    assert found[0].advice[0].command == "recollect reindex"
    engine.reindex()
    assert not any("vector" in advice.said for advice in engine.self_test().advice)


def test_what_is_set_aside_is_told_apart(engine: Engine) -> None:
    engine.create_entities(
        [
            {"name": "Old Mill", "type": "mill", "observations": ["grinds barley for the bakers"]},
            {"name": "New Mill", "type": "mill", "observations": ["for the bakers grinds barley"]},
        ]
    )
    engine.graph.set_status("Old Mill", "archived")
    result = engine.self_test(limit=1, profiles=["recollect"])
    (miss,) = result.missed
    assert (miss.text[:8], miss.cause, miss.place) == ("Old Mill", Cause.SET_ASIDE, 2)
    assert (miss.query, miss.first_text[:8]) == ("grinds barley for the bakers", "New Mill")
    assert result.advice[0].command == "recollect update NAME --status active"


@pytest.mark.ranking
def test_near_repeats_crowd_one_another_out(engine: Engine) -> None:
    meetings = [
        "The harbour team meets on Thursday at nine",
        "The harbour team meets on Thursday, nine sharp",
        "Thursday at nine: the harbour team meets",
    ]
    for text in meetings:
        engine.remember(text)
    told = [miss for seed in range(6) for miss in engine.self_test(limit=1, seed=seed).missed]
    assert told
    assert {miss.cause for miss in told} == {Cause.CROWDED}


@pytest.mark.ranking
def test_a_text_of_one_common_word_says_little(engine: Engine) -> None:
    engine.remember("Thanks")
    result = self_test(engine._services, {"nothing": _NOTHING}, SelfTestOptions())
    (miss,) = result.missed
    assert (miss.cause, miss.first, miss.why) == (Cause.LITTLE, None, "no search brought it up")


@pytest.mark.ranking
def test_a_long_text_and_one_in_another_language_are_told_apart(engine: Engine) -> None:
    chapters = (f"Chapter {number} tells how lamp {number} is trimmed by hand." for number in range(60))
    long = engine.remember(" ".join(chapters)).id
    spanish = engine.remember("La llave del trastero está en el cajón de la cocina").id
    nowhere = {"nothing": _NOTHING}
    result = self_test(engine._services, nowhere, SelfTestOptions(languages=("en",)))
    assert causes(result) == {long: Cause.LONG, spanish: Cause.LANGUAGE}
    result = self_test(engine._services, nowhere, SelfTestOptions(languages=("en", "es")))
    assert causes(result) == {long: Cause.LONG, spanish: Cause.OUTRANKED}


@pytest.mark.ranking
def test_mostly_spanish_texts_call_for_a_model_that_knows_spanish(engine: Engine) -> None:
    for text in ("La llave está en el cajón", "El barco sale a las ocho de la tarde", "The boat is green"):
        engine.remember(text)
    (advice,) = engine.self_test(languages=["en"]).advice
    assert advice.said == "Your texts are mostly Spanish, and the model knows only English."
    assert advice.command == "recollect reindex --model e5-memory"
    assert engine.self_test(languages=["en", "es"]).advice == ()
    assert engine.self_test().advice == ()


@pytest.mark.ranking
def test_whoever_holds_the_same_words_is_as_right(engine: Engine) -> None:
    """The same sentence in two longer texts: no ranking could know which of them was meant."""
    for end in ("in the morning with a broom", "after dark by the light of a lantern"):
        engine.remember(f"The gulls stole my sandwich on the quay. She swept up {end}.")
    for seed in range(6):
        assert engine.self_test(limit=1, seed=seed).profiles[0].by_kind[QuestionKind.PHRASE].recall == 1


@pytest.mark.ranking
def test_a_profile_is_praised_only_where_chance_cannot_explain_it(engine: Engine) -> None:
    engine.remember_many([f"Keeper{number} polished lantern{number} at dawn{number}" for number in range(12)])
    blind = replace(_NOTHING, name="recollect")
    few = self_test(
        engine._services, {"recollect": blind, "limbic": PROFILES["limbic"]}, SelfTestOptions(sample=4)
    )
    # All four better: p = 2 · (1/2)^4 = 0.125, nothing to go by.
    (compared,) = few.compared
    assert (compared.better, compared.worse) == (4, 0)
    assert compared.p == pytest.approx(0.125)
    assert not any("limbic" in advice.said for advice in few.advice)
    # All twelve better than each of two others: p = 2 · 2 · (1/2)^12 = 0.000977
    others = {"recollect": blind, "limbic": PROFILES["limbic"], "nothing": _NOTHING}
    many = self_test(engine._services, others, SelfTestOptions())
    assert [each.p for each in many.compared] == pytest.approx([4 / 2**12, 1.0])
    assert many.advice[-1].command == "recollect recall QUERY --profile limbic"
