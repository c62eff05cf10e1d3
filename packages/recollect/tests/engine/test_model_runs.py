"""How often a write asks the model, and for what: one call for each write, and each text once.

A model reads a text in milliseconds, or over the network; all else that a write does takes less.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import pytest
from token_model import WordTokens

from recollect.admin import Internals
from recollect.domain.errors import ModelUnavailable
from recollect.engine import Engine
from recollect.models.extractors import Rules
from recollect.models.hashing import HashingEmbedder
from recollect.services import EmbeddedText, RecentTexts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conftest import MakeEngine

    from recollect.stores.port import Vectors

TEA, DESK, BOAT = "drinks green tea", "keeps a tidy desk", "sails a small boat"


class Counting(HashingEmbedder):
    """Notes the texts of every call."""

    def __init__(self, dims: int = 256) -> None:
        super().__init__(dims)
        self.calls: list[list[str]] = []

    def documents(self, texts: Sequence[str]) -> Vectors:
        self.calls.append(list(texts))
        return super().documents(texts)

    def take_calls(self) -> list[list[str]]:
        """The calls since the last time, each with its texts in order."""
        calls, self.calls = self.calls, []
        return [sorted(call) for call in calls]


class CountingTokens(WordTokens, Counting):
    """The same for a model that gives tokens, in the same run."""


@pytest.fixture(params=[Counting, CountingTokens], ids=["vectors", "with tokens"])
def model(request: pytest.FixtureRequest) -> Counting:
    made: Counting = request.param()
    return made


@pytest.fixture
def engine(make_engine: MakeEngine, model: Counting) -> Engine:
    plain = make_engine(lambda _: model)
    return Engine(replace(plain._services, extractor=Rules))


def in_another_process(engine: Engine) -> Engine:
    """One on the same store that has embedded nothing yet."""
    return Engine(replace(engine._services, recent_texts=RecentTexts()))


def test_a_note_is_one_call_of_one_text_and_many_are_one_call(engine: Engine, model: Counting) -> None:
    engine.remember("Ada drinks green tea")
    assert model.take_calls() == [["Ada drinks green tea"]]
    engine.remember("Ada drinks green tea every day")  # compared with the first
    assert model.take_calls() == [["Ada drinks green tea every day"]]
    engine.remember("Ada drinks green tea")
    engine.remember("ada drinks green tea.")  # says the same, and is counted there
    assert model.take_calls() == []
    texts = sorted(f"Ada has {number} cups" for number in range(40))
    engine.remember_many(texts)
    assert model.take_calls() == [texts]


def test_an_update_is_one_call_of_the_new_text_and_none_without_one(engine: Engine, model: Counting) -> None:
    note = engine.remember("Ada drinks green tea").id
    model.take_calls()
    engine.update(note, importance=0.9, tags=["drinks"])
    engine.forget([note])
    engine.restore(note)
    assert model.take_calls() == []
    engine.update(note, text="Ada drinks black tea")
    assert model.take_calls() == [["Ada drinks black tea"]]


def test_an_entity_is_one_call_though_its_observations_are_compared(engine: Engine, model: Counting) -> None:
    engine.create_entities([{"name": "Ada", "type": "person", "observations": [TEA, DESK, BOAT]}])
    passages = ["Ada (person)", *(f"Ada (person): {text}" for text in (TEA, DESK, BOAT))]
    assert model.take_calls() == [sorted([*passages, TEA, DESK, BOAT])]
    # Several entities are one call, and what they share is embedded once.
    names = ["Bob", "Eve", "Zoe"]
    engine.create_entities([{"name": name, "observations": ["likes cake", "owns a dog"]} for name in names])
    passages = [f"{name}{seen}" for name in names for seen in ("", ": likes cake", ": owns a dog")]
    assert model.take_calls() == [sorted([*passages, "likes cake", "owns a dog"])]
    engine.graph.create_relations([("Ian", "knows", "Joe"), ("Joe", "knows", "Kim")], create_missing=True)
    assert model.take_calls() == [["Ian", "Joe", "Kim"]]


def test_an_observation_is_one_call_and_older_ones_are_known(engine: Engine, model: Counting) -> None:
    engine.create_entities([{"name": "Ada", "observations": [TEA, DESK]}])
    model.take_calls()
    engine.graph.add_observations({"Ada": [BOAT]})
    assert model.take_calls() == [sorted([f"Ada: {BOAT}", BOAT])]
    # A new process embeds the older ones in the same call.
    in_another_process(engine).graph.add_observations({"Ada": ["likes cake"]})
    assert model.take_calls() == [sorted(["Ada: likes cake", "likes cake", BOAT, TEA, DESK])]


def test_among_many_only_those_near_by_vectors_need_a_second_call(engine: Engine, model: Counting) -> None:
    pairs = product(("cup", "ring", "spoon"), ("tin", "gold", "wood"))
    many = [f"owns a {thing} of {stuff}" for thing, stuff in pairs]
    engine.create_entities([{"name": "Ada", "observations": [*many, "of gold and wood: a ring"]}])
    model.take_calls()
    in_another_process(engine).graph.add_observations({"Ada": [BOAT]})
    first, *more = model.take_calls()
    # The new passage, its content, and the eight that are likeliest by their letters.
    assert len(first) == 10
    # At most one of the other two is among the eight nearest.
    assert len(more) <= 1
    assert sum(map(len, more)) <= 2
    engine.graph.add_observations({"Ada": ["sings in a choir"]})
    # The new passage, its content, and the boat, which another process embedded.
    assert [len(call) for call in model.take_calls()] == [3]


def test_messages_and_the_notes_drawn_from_them_are_one_call(engine: Engine, model: Counting) -> None:
    done = engine.add_messages(
        "talk",
        [
            {"role": "user", "speaker": "Ada", "content": "I work at the harbour in Oslo."},
            {"role": "user", "speaker": "Bob", "content": "My sister lives in Rome."},
        ],
    )
    assert done.notes, "the rules draw something out of these"
    notes = [
        f'{speaker} said, "{note.text}"' for note, speaker in zip(done.notes, ("Ada", "Bob"), strict=True)
    ]
    said = ['Ada said, "I work at the harbour in Oslo."', 'Bob said, "My sister lives in Rome."']
    assert model.take_calls() == [sorted({*said, *notes})]
    for _ in range(2):
        engine.add_messages("talk", [{"role": "user", "content": text} for text in ("Hi!", "Hi!", "Bye!")])
    assert model.take_calls() == [["Bye!", "Hi!"]]


def test_a_correction_is_one_call_of_the_new_text(engine: Engine, model: Counting) -> None:
    old = engine.remember("Ada works at the harbour in Oslo").id
    engine.remember("Ada has been working at the harbour in Oslo")
    model.take_calls()
    engine.supersede(old, "Ada works at the airport in Oslo")
    # The vectors of the texts that it is compared with are in the store.
    assert model.take_calls() == [["Ada works at the airport in Oslo"]]


def test_a_correction_of_somebody_s_words_is_one_call(engine: Engine, model: Counting) -> None:
    said = ["I work at the harbour in Oslo", "I am employed at the harbour in Oslo"]
    turns = [{"speaker": "Ada", "content": text} for text in said]
    old, _ = engine.add_messages("talk", turns, extract=False).ids
    model.take_calls()
    engine.supersede(old, "I work at the airport in Oslo")
    compared = [f"Ada: {text}" for text in said]
    assert model.take_calls() == [sorted([*compared, 'Ada said, "I work at the airport in Oslo"'])]


def test_who_writes_one_note_waits_for_a_few_others_at_most(
    make_engine: MakeEngine, engine: Engine, model: Counting
) -> None:
    make_engine(model="none").remember_many([f"Ada has {number} cups" for number in range(100)])
    engine.remember("Ada drinks green tea")
    # The own text first, and 16 of those that waited.
    assert [len(call) for call in model.take_calls()] == [1, 16]


def test_what_the_model_could_not_embed_is_asked_for_again(make_engine: MakeEngine) -> None:
    class Asleep(Counting):
        awake = False

        def documents(self, texts: Sequence[str]) -> Vectors:
            if not self.awake:
                raise ModelUnavailable("The server is asleep; wake it.")
            return super().documents(texts)

    model = Asleep()
    engine = make_engine(lambda _: model)
    engine.remember("Ada drinks green tea")
    model.awake = True
    assert Internals(engine).embed_pending().embedded == 1
    assert model.take_calls() == [["Ada drinks green tea"]]


# Cached vectors


def test_the_texts_that_were_not_asked_for_the_longest_are_forgotten() -> None:
    first, second, third = (EmbeddedText(bytes([number]), None) for number in range(3))
    recent = RecentTexts(most=2)
    recent.keep("m", {"a": first, "b": second})
    assert recent.lookup("m", ["a", "x"]) == {"a": first}
    recent.keep("m", {"c": third})
    assert recent.lookup("m", ["a", "b", "c"]) == {"a": first, "c": third}
    assert recent.lookup("another model", ["a"]) == {}
