"""Corrections: after one of four copies of a fact is corrected, no copy ranks above the correction."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import pytest

from recollect.domain.errors import Conflict, InvalidInput, NotFound
from recollect.models.embedders import embedder_named
from recollect.models.registry import availability
from recollect.ranking.profiles import PROFILES

if TYPE_CHECKING:
    from conftest import FixedClock, MakeEngine

    from recollect.domain.results import Hit, SupersedeResult
    from recollect.engine import Engine

ARCTIC = availability("arctic-memory")
# A model is loaded once for all tests.
loaded = lru_cache(embedder_named)
every_model = pytest.mark.parametrize(
    "model",
    [
        "none",
        "hashing",
        pytest.param("arctic-memory", marks=pytest.mark.skipif(not ARCTIC.ready, reason=ARCTIC.reason)),
    ],
)


pytestmark = pytest.mark.usefixtures("nothing_is_out_of_step")


@dataclass(frozen=True)
class Fact:
    """A fact that four texts state in different words."""

    question: str
    notes: tuple[str, str]
    message: tuple[str, str]
    """The speaker, and what they say."""
    observation: tuple[str, str]
    """The entity, and an observation of it."""
    right: str
    others: tuple[str, ...]
    """Similar notes, which must stay current."""

    @property
    def copies(self) -> tuple[str, ...]:
        return (*self.notes, self.message[1], self.observation[1])


FACTS = {
    "job": Fact(
        "Where does Alice work?",
        ("Alice works at Google.", "Alice is currently working at google"),
        ("Alice", "I work at Google"),
        ("Alice", "works at Google"),
        "Alice works at Microsoft.",
        (
            "Bob works at Google.",
            "Alice left Google for Amazon",
            "Alice sued Google",
            "Alice never worked at Google",
        ),
    ),
    "standup": Fact(
        "When is the standup?",
        ("The standup is at 10:00.", "Our daily standup starts at 10 am"),
        ("Dan", "ok so the standup is at 10"),
        ("Standup", "is at 10:00"),
        "The standup is at 9:30.",
        (
            "The retrospective is at 10:00.",
            "The standup is no longer at 10:00",
            "On Friday the standup is at 10:15",
        ),
    ),
    "home": Fact(
        "Where does Bob live?",
        ("Bob lives in Rome.", "btw, Bob is still living in Rome"),
        ("Bob", "I live in Rome"),
        ("Bob", "lived in Rome"),
        "Bob lives in Oslo.",
        (
            "Carl lives in Rome.",
            "Bob lives in Rome, Georgia",
            "Bob used to live in Rome",
            "Bob's dentist is in Rome",
        ),
    ),
    "allergy": Fact(
        "What is Carol allergic to?",
        ("Carol is allergic to peanuts.", "Carol has a peanut allergy"),
        ("Carol", "I'm allergic to peanuts"),
        ("Carol", "allergic to peanuts"),
        "Carol is allergic to walnuts.",
        (
            "Dora is allergic to peanuts.",
            "Carol is not allergic to peanuts",
            "Carol sold peanuts at the fair in Lyon",
        ),
    ),
    "empleo": Fact(
        "¿Dónde trabaja Ana?",
        ("Ana trabaja en Telefónica.", "actualmente Ana está trabajando en telefonica"),
        ("Ana", "Trabajo en Telefónica"),
        ("Ana", "trabaja en Telefónica"),
        "Ana trabaja en Iberdrola.",
        ("Luis trabaja en Telefónica.", "Ana ya no trabaja en Telefónica", "Ana demandó a Telefónica"),
    ),
    "reunión": Fact(
        "¿Cuándo es la reunión?",
        ("La reunión es el martes.", "Recuerda: la reunion se celebra este martes"),
        ("Luis", "vale, la reunión es el martes"),
        ("Reunión", "es el martes"),
        "La reunión es el jueves.",
        (
            "La fiesta es el martes.",
            "La reunión nunca es el martes",
            "La reunión con Marta es el martes a las 8",
        ),
    ),
    "precio": Fact(
        "¿Cuánto cuesta el viaje?",
        ("El viaje cuesta 1200 euros.", "Hoy el viaje cuesta 1.200 Euros"),
        ("Luis", "el viaje son 1.200 euros, sabes"),
        ("Viaje", "cuesta 1200 euros"),
        "El viaje cuesta 1500 euros.",
        (
            "El coche cuesta 1200 euros.",
            "El viaje no cuesta 1200 euros",
            "El viaje cuesta 1200 euros y dura 8 días",
        ),
    ),
}
every_fact = pytest.mark.parametrize("fact", FACTS)


def store_fact(engine: Engine, fact: Fact) -> list[int]:
    """Store the four copies and the similar notes; return the ids of the copies."""
    ids = [engine.remember(text).id for text in fact.notes]
    speaker, said = fact.message
    ids += engine.add_messages("talk", [{"content": said, "speaker": speaker}]).ids
    name, seen = fact.observation
    ids.append(engine.create_entities([{"name": name, "observations": [seen]}]).entities[0].id)
    engine.remember_many(fact.others)
    return ids


def texts_of(hit: Hit) -> set[str]:
    memory = hit.memory
    return {memory.text} if memory.text else {seen.content for seen in memory.in_force}


def shown_texts(engine: Engine, question: str, **options: Any) -> list[set[str]]:
    return [texts_of(hit) for hit in engine.search(question, limit=50, **options).hits]


def retired_texts(done: SupersedeResult) -> set[str]:
    return {retired.text for retired in done.retired}


# No copy outranks the correction


@pytest.mark.ranking
@every_model
@every_fact
@pytest.mark.parametrize("corrected", [0, 1, 2])
def test_no_copy_outranks_the_correction_under_any_profile(
    make_engine: MakeEngine, clock: FixedClock, model: str, fact: str, corrected: int
) -> None:
    example = FACTS[fact]
    engine = make_engine(loaded, model)
    ids = store_fact(engine, example)
    before = clock()
    clock.tick(timedelta(days=1).total_seconds())
    done = engine.supersede(ids[corrected], example.right)
    copies = set(example.copies)
    assert retired_texts(done) == copies
    for profile in PROFILES:
        now = shown_texts(engine, example.question, profile=profile)
        assert {example.right} in now
        assert not copies & set().union(*now)
        then = set().union(*shown_texts(engine, example.question, profile=profile, as_of=before))
        assert example.right not in then
        # The step `repeats` may have dropped one of two equal texts.
        assert len(copies & then) >= 2
        both = shown_texts(engine, example.question, profile=profile, include_superseded=True)
        assert {example.right} in both
        assert example.copies[corrected] in set().union(*both)


@every_model
@every_fact
def test_notes_that_are_only_similar_stay(make_engine: MakeEngine, model: str, fact: str) -> None:
    example = FACTS[fact]
    engine = make_engine(loaded, model)
    ids = store_fact(engine, example)
    done = engine.supersede(ids[0], example.right)
    assert not retired_texts(done) & set(example.others)
    for other in example.others:
        assert {other} in shown_texts(engine, other, kinds=["note"])
    assert {alike.text for alike in done.similar} <= set(example.others)


@pytest.mark.skipif(not ARCTIC.ready, reason=ARCTIC.reason)
def test_all_facts_are_corrected_in_one_store_without_touching_one_another(make_engine: MakeEngine) -> None:
    engine = make_engine(loaded, "arctic-memory")
    ids = {name: store_fact(engine, fact) for name, fact in FACTS.items()}
    for name, fact in FACTS.items():
        done = engine.supersede(ids[name][0], fact.right)
        assert retired_texts(done) == set(fact.copies)
    for fact in FACTS.values():
        for profile in PROFILES:
            assert not set(fact.copies) & set().union(*shown_texts(engine, fact.question, profile=profile))
        assert {fact.right} in shown_texts(engine, fact.question)[:3]


@every_model
def test_the_same_words_of_two_people_are_two_facts(make_engine: MakeEngine, model: str) -> None:
    engine = make_engine(loaded, model)
    turns = [{"speaker": speaker, "content": "I work at Google"} for speaker in ("Alice", "Bob")]
    alice, bob = engine.add_messages(
        "talk", [*turns, {"speaker": "Luis", "content": "Trabajo en Google"}]
    ).ids[:2]
    assert [one.id for one in engine.supersede(alice, "I work at Microsoft").retired] == [alice]
    assert [one.id for one in engine.supersede(bob, "Bob works at Apple").retired] == [bob]


def test_all_copies_are_retired_however_many_there_are(engine: Engine) -> None:
    engine.add_messages("talk", [{"speaker": "Dan", "content": "so the standup is at 10"} for _ in range(58)])
    old = engine.remember("The standup is at 10:00.").id
    done = engine.supersede(old, "The standup is at 9:30.")
    assert len(done.retired) == 59
    assert shown_texts(engine, "when is the standup") == [{"The standup is at 9:30."}]


# Recognising copies


def test_a_correction_keeps_category_tags_and_speaker(engine: Engine, clock: FixedClock) -> None:
    old = engine.remember("Alice works at Google", category="work", tags=["people"], importance=0.9).id
    clock.tick(60)
    done = engine.supersede(old, "Alice works at Microsoft")
    assert (done.by.text, done.by.category) == ("Alice works at Microsoft", "work")
    assert (done.by.tags, done.by.importance) == (("people",), 0.9)
    assert done.by.created_at == clock()
    wrong = engine.get(old)
    assert wrong is not None
    assert (wrong.superseded_by, wrong.superseded_at) == (done.by.id, clock())
    (retired,) = done.retired
    assert (retired.id, retired.text, retired.observation) == (old, "Alice works at Google", None)
    (said,) = engine.add_messages("talk", [{"speaker": "Alice", "content": "I live in Rome"}]).ids
    by = engine.supersede(said, "I live in Oslo").by
    assert (by.kind, by.speaker, by.session) == ("note", "Alice", None)


def test_an_existing_memory_can_be_the_correction(engine: Engine) -> None:
    old = engine.remember("Alice works at Google").id
    new = engine.remember("Alice works at Microsoft").id
    done = engine.supersede(old, new)
    assert done.by.id == new
    assert engine.counts().notes == 2
    assert shown_texts(engine, "Alice works") == [{"Alice works at Microsoft"}]
    # If a note has the correction's text already, it is used. With copies=False, copies stay current.
    third = engine.remember("Alice works at Apple").id
    engine.remember("Alice is working at Apple")
    done = engine.supersede(third, "alice works at microsoft", copies=False)
    assert (done.by.id, retired_texts(done)) == (new, {"Alice works at Apple"})
    assert {"Alice is working at Apple"} in shown_texts(engine, "Alice")


def test_an_observation_that_repeats_the_error_is_retired_and_the_entity_stays(engine: Engine) -> None:
    engine.create_entities([{"name": "Alice", "observations": ["works at Google", "likes tea"]}])
    old = engine.remember("Alice works at Google").id
    done = engine.supersede(old, "Alice works at Microsoft")
    (retired,) = [one for one in done.retired if one.observation is not None]
    assert retired.text == "works at Google"
    (alice,) = engine.graph.open_nodes(["Alice"]).entities
    assert [seen.content for seen in alice.in_force] == ["likes tea"]
    (seen,) = [seen for seen in alice.observations if not seen.in_force]
    assert (seen.id, seen.corrected_by) == (retired.observation, done.by.id)


def test_a_retry_with_the_same_key_returns_the_first_result(engine: Engine) -> None:
    engine.create_entities([{"name": "Alice", "observations": ["works at Google"]}])
    engine.remember("Alice is working at Google")
    old = engine.remember("Alice works at Google").id
    first = engine.supersede(old, "Alice works at Microsoft", key="once")
    again = engine.supersede(old, "Alice works at Microsoft", key="once")
    assert len(first.retired) == 3
    assert (again.by, again.retired) == (first.by, first.retired)
    with pytest.raises(Conflict, match="used for other changes"):
        engine.supersede(old, "Alice works at Apple", key="once")
    engine.forget([first.by.id])
    engine.purge(ids=[first.by.id])
    with pytest.raises(InvalidInput, match="either a time"):
        engine.purge()
    with pytest.raises(NotFound, match="has been purged"):
        engine.supersede(old, "Alice works at Microsoft", key="once")


def test_the_correction_can_be_corrected_in_its_turn(engine: Engine, clock: FixedClock) -> None:
    first = engine.remember("Alice works at Google").id
    second = engine.supersede(first, "Alice works at Microsoft").by.id
    clock.tick(60)
    third = engine.supersede(second, "Alice works at Apple").by.id
    assert shown_texts(engine, "Alice works") == [{"Alice works at Apple"}]
    memory = engine.get(second)
    assert memory is not None
    assert memory.superseded_by == third
    with pytest.raises(Conflict, match=f"superseded already by memory {second}"):
        engine.supersede(first, "Alice works at Amazon")


def test_another_scopes_copies_stay(engine: Engine) -> None:
    others = [engine.scoped("someone"), engine.scoped("", "an agent")]
    for other in others:
        other.remember("Alice works at Google")
        other.create_entities([{"name": "Alice", "observations": ["works at Google"]}])
    old = engine.remember("Alice works at Google").id
    done = engine.supersede(old, "Alice works at Microsoft")
    assert [one.id for one in done.retired] == [old]
    for other in others:
        assert shown_texts(other, "Alice works", kinds=["note"]) == [{"Alice works at Google"}]
        with pytest.raises(NotFound):
            other.supersede(old, "Alice works nowhere")
        with pytest.raises(NotFound):
            other.supersede(other.remember("Alice works at Google").id, done.by.id)


def test_refused_corrections_say_why(engine: Engine) -> None:
    entity = engine.create_entities(["Alice"]).entities[0].id
    old = engine.remember("Alice works at Google").id
    refused: list[tuple[int, Any, str]] = [
        (entity, "Alice works at Microsoft", "supersede one of its observations"),
        (old, old, "cannot supersede itself"),
        (old, "alice works at google!", "cannot supersede itself"),
        (old, " ", "empty"),
        (old, entity, "is an entity"),
        *((old, wrong, "is a text, or the id|is text or a mapping") for wrong in (True, 1.5, None)),
    ]
    for wrong_id, by, message in refused:
        with pytest.raises(InvalidInput, match=message):
            engine.supersede(wrong_id, by)
    for wrong_id, absent in ((99, "Alice works at Microsoft"), (old, 99)):
        with pytest.raises(NotFound, match="no memory 99"):
            engine.supersede(wrong_id, absent)
    engine.forget([old])
    with pytest.raises(NotFound):
        engine.supersede(old, "Alice works at Microsoft")
    assert engine.counts().notes == 0


# Restoring


@every_model
def test_a_retired_memory_can_be_restored(make_engine: MakeEngine, clock: FixedClock, model: str) -> None:
    engine = make_engine(loaded, model)
    old = engine.remember("Alice works at Google").id
    copy = engine.remember("Alice is working at Google").id
    engine.supersede(old, "Alice works at Microsoft")
    clock.tick(60)
    back = engine.restore(old)
    assert (back.superseded_at, back.superseded_by) == (None, None)
    assert shown_texts(engine, "Google") == [{"Alice works at Google"}] or model != "none"
    assert {"Alice works at Google"} in shown_texts(engine, "Alice works at Google")
    # Its copies stay retired until they are restored themselves.
    assert {"Alice is working at Google"} not in shown_texts(engine, "Alice works at Google")
    engine.restore(copy)
    assert {"Alice is working at Google"} in shown_texts(engine, "Alice works at Google")
    with pytest.raises(NotFound, match="no forgotten or superseded memory"):
        engine.restore(old)
    assert engine.supersede(old, "Alice works at Apple").by.text == "Alice works at Apple"
    assert {"Alice works at Google"} not in shown_texts(engine, "Alice works")


def test_a_retired_memory_that_was_forgotten_comes_back_as_retired(engine: Engine) -> None:
    old = engine.remember("Alice works at Google").id
    engine.supersede(old, "Alice works at Microsoft")
    engine.forget([old])
    assert shown_texts(engine, "Alice works", include_superseded=True) == [{"Alice works at Microsoft"}]
    engine.restore(old)
    assert shown_texts(engine, "Alice works") == [{"Alice works at Microsoft"}]
    assert {"Alice works at Google"} in shown_texts(engine, "Alice works", include_superseded=True)


def test_a_correction_may_set_further_fields(engine: Engine) -> None:
    wrong = engine.remember("The shop opens at nine", category="work", tags=["shop"], importance=0.9)
    done = engine.supersede(
        wrong.id, {"text": "The shop opens at ten", "source": "the door", "tags": ["hours"]}
    )
    assert (done.by.text, done.by.source, done.by.tags) == ("The shop opens at ten", "the door", ("hours",))
    # Fields that the correction does not name are kept.
    assert (done.by.category, done.by.importance) == ("work", 0.9)
