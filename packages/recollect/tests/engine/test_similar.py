"""Observations that nearly repeat another: flagged, never dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from recollect.domain.errors import ModelUnavailable
from recollect.domain.records import Model

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conftest import MakeEngine

    from recollect.engine import Engine
    from recollect.stores.port import Vector, Vectors


class Angles:
    """A text that ends in a number points that many degrees away from east; any other points west."""

    model = Model("angles", 2)

    def documents(self, texts: Sequence[str]) -> Vectors:
        degrees = [text.rsplit(" ", 1)[-1] for text in texts]
        angles = np.deg2rad([float(each) if each.isdecimal() else 180.0 for each in degrees])
        return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)

    def query(self, text: str) -> Vector:
        row: Vector = self.documents([text])[0]
        return row


@pytest.fixture
def angles(make_engine: MakeEngine) -> Iterator[Engine]:
    model = Angles()
    engine = make_engine(lambda _: model)
    yield engine
    assert list(engine.upkeep.verify()) == []


@pytest.fixture
def words_only(make_engine: MakeEngine) -> Engine:
    return make_engine(model="none")


def test_what_means_nearly_the_same_is_flagged_and_kept(angles: Engine) -> None:
    angles.create_entities([{"name": "Ada", "observations": ["first 0"]}])
    (row,) = angles.graph.add_observations({"Ada": ["second 30"]}).entities
    (flag,) = row.similar
    assert (flag.content, flag.similar_content) == ("second 30", "first 0")
    # cos 30° = 0.866
    assert flag.similarity == pytest.approx(3**0.5 / 2, abs=1e-6)
    (ada,) = angles.graph.read_graph().entities
    first, second = ada.in_force
    assert second.similar_to == first.id
    assert second.similarity == pytest.approx(3**0.5 / 2, abs=1e-6)
    assert (first.similar_to, first.similarity) == (None, None)


@pytest.mark.parametrize(
    ("old", "new", "flagged"),
    [
        # The threshold is a cosine of 0.85: cos 31° = 0.857, cos 32° = 0.848
        (["first 0"], "second 31", ["first 0"]),
        (["first 0"], "second 32", []),
        (["first 0"], "second 90", []),
        # the closest is named
        (["first 0", "other 90", "close 20"], "new 24", ["close 20"]),
        # a correction does not count as a repeat of the old text
        (["one 0"], {"content": "two 1", "supersedes": "one 0"}, []),
        (
            ["quite another wording 3", *(f"thing number {degrees}" for degrees in range(40, 360, 40))],
            "thing number 0",
            ["quite another wording 3"],
        ),
    ],
)
def test_the_nearest_above_the_threshold_is_flagged(
    angles: Engine, old: list[str], new: Any, flagged: list[str]
) -> None:
    angles.create_entities([{"name": "Ada", "observations": old}])
    (row,) = angles.graph.add_observations({"Ada": [new]}).entities
    assert [flag.similar_content for flag in row.similar] == flagged


def test_new_ones_are_compared_with_one_another_and_never_with_another_entitys(angles: Engine) -> None:
    (row,) = angles.create_entities([{"name": "Ada", "observations": ["one 0", "two 10", "far 90"]}]).entities
    assert [(flag.content, flag.similar_content) for flag in row.similar] == [("two 10", "one 0")]
    assert len(row.added) == 3
    (row,) = angles.create_entities([{"name": "Bob", "observations": ["two 0"]}]).entities
    assert row.similar == ()
    (row,) = angles.create_entities([{"name": "Cem", "observations": ["one 37", "two 37"]}]).entities
    assert 0.999 < row.similar[0].similarity <= 1


class Counting(Angles):
    """Notes what it was asked to embed."""

    def __init__(self) -> None:
        self.calls: list[list[str]] = []

    def documents(self, texts: Sequence[str]) -> Vectors:
        self.calls.append(list(texts))
        return super().documents(texts)


def test_a_text_is_embedded_once_however_many_it_is_compared_with(make_engine: MakeEngine) -> None:
    model = Counting()
    engine = make_engine(lambda _: model)
    told = ["one 0", "two 10", "three 90"]
    batch = engine.create_entities([{"name": name, "observations": told} for name in ("Ada", "Bob")])
    (texts,) = model.calls
    # Of each entity its name and three observations; of both together the three contents by themselves.
    assert sorted(texts) == sorted(
        ["Ada", "Bob", *(f"{name}: {text}" for name in ("Ada", "Bob") for text in told), *told]
    )
    assert [[flag.content for flag in row.similar] for row in batch.entities] == [["two 10"], ["two 10"]]


@pytest.mark.parametrize("told", [["the only one 0"], ["one", "two"]], ids=["nothing older", "single words"])
def test_nothing_is_embedded_where_nothing_can_be_compared(make_engine: MakeEngine, told: list[str]) -> None:
    model = Counting()
    make_engine(lambda _: model).create_entities([{"name": "Ada", "observations": told}])
    assert model.calls == [["Ada", *(f"Ada: {text}" for text in told)]]


SHORT = "drinks green tea"
LONG = "every morning she drinks green tea with milk"


@pytest.mark.parametrize(("old", "new"), [(SHORT, LONG), (LONG, SHORT)])
def test_containment_is_flagged_without_any_model_from_both_sides(
    words_only: Engine, old: str, new: str
) -> None:
    words_only.create_entities([{"name": "Ada", "observations": [old]}])
    (row,) = words_only.graph.add_observations({"Ada": [new]}).entities
    (flag,) = row.similar
    # all three words of the shorter one
    assert (flag.content, flag.similar_content, flag.similarity) == (new, old, 1.0)
    assert [seen.content for seen in words_only.graph.read_graph().entities[0].in_force] == [old, new]


@pytest.mark.parametrize(
    ("new", "flagged"),
    [
        # 7 of 10 words in a text of 20
        ("a1 a2 a3 a4 a5 a6 a7 x y z", True),
        # 6 of 10
        ("a1 a2 a3 a4 a5 a6 w x y z", False),
        # all 11 words, but 20 are less than twice 11
        ("a1 a2 a3 a4 a5 a6 a7 a8 a9 a10 a11", False),
    ],
)
def test_the_threshold_of_containment_is_07_of_a_text_half_as_long(
    words_only: Engine, new: str, flagged: bool
) -> None:
    old = " ".join(f"a{number}" for number in range(1, 21))
    words_only.create_entities([{"name": "Ada", "observations": [old]}])
    (row,) = words_only.graph.add_observations({"Ada": [new]}).entities
    assert bool(row.similar) is flagged


def test_a_repeat_word_for_word_is_merged_and_not_flagged(words_only: Engine) -> None:
    words_only.create_entities([{"name": "Ada", "observations": [LONG]}])
    (row,) = words_only.graph.add_observations({"Ada": [LONG]}).entities
    assert (row.added, row.similar) == ((), ())


def test_very_many_at_once_are_all_kept(words_only: Engine) -> None:
    words_only.create_entities([{"name": "Ada", "observations": [LONG]}])
    many = [f"entirely different thing {number}" for number in range(60)]
    (row,) = words_only.graph.add_observations({"Ada": [*many, SHORT]}).entities
    assert [seen.content for seen in row.added] == [*many, SHORT]


def test_a_model_that_fails_leaves_the_words_to_compare(make_engine: MakeEngine) -> None:
    class Broken(Angles):
        def documents(self, texts: Sequence[str]) -> Vectors:
            raise ModelUnavailable("The server is asleep; wake it.")

    broken = Broken()
    engine = make_engine(lambda _: broken)
    engine.create_entities([{"name": "Ada", "observations": [LONG]}])
    batch = engine.graph.add_observations({"Ada": [SHORT]})
    assert batch.note == "The server is asleep; wake it."
    assert [flag.similarity for flag in batch.entities[0].similar] == [1.0]
