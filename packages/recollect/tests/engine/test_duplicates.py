"""Finding observations that nearly repeat one another."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import pytest
from test_similar import Angles

from recollect.domain.errors import InvalidInput, ModelUnavailable, NotFound
from recollect.models.embedders import embedder_named
from recollect.models.registry import availability

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conftest import MakeEngine

    from recollect.engine import Engine
    from recollect.review.results import Duplicates
    from recollect.stores.port import Vectors

ARCTIC = availability("arctic-memory")
# A model is loaded once for all tests.
loaded = lru_cache(embedder_named)


@pytest.fixture
def angles(make_engine: MakeEngine) -> Engine:
    model = Angles()
    return make_engine(lambda _: model)


def pairs(found: Duplicates) -> list[tuple[str, str]]:
    return [(pair.older.content, pair.newer.content) for pair in found.pairs]


def test_pairs_are_by_the_cosine_of_the_plain_contents_the_most_alike_first(angles: Engine) -> None:
    angles.create_entities([{"name": "Ada", "observations": ["one 0", "two 30", "three 90", "four 100"]}])
    found = angles.upkeep.find_duplicate_observations("ada")
    # cos 10° = 0.985, cos 30° = 0.866; all others are 60° and more apart
    assert pairs(found) == [("three 90", "four 100"), ("one 0", "two 30")]
    assert [pair.similarity for pair in found.pairs] == pytest.approx([0.98481, 3**0.5 / 2], abs=1e-5)
    assert {(pair.match, pair.entity) for pair in found.pairs} == {("cosine", "Ada")}
    assert (found.observations, found.left_out, found.note) == (4, 0, None)


@pytest.mark.parametrize(("threshold", "count"), [(0.85, 1), (0.87, 0), (0.49, 2), (0.01, 2)])
def test_the_threshold_may_be_given(angles: Engine, threshold: float, count: int) -> None:
    # cos 30° = 0.866, cos 60° = 0.5, cos 90° = 0
    angles.create_entities([{"name": "Ada", "observations": ["one 0", "two 30", "three 90"]}])
    assert len(angles.upkeep.find_duplicate_observations("Ada", threshold=threshold).pairs) == count


def test_all_entities_are_looked_at_and_never_compared_with_one_another(angles: Engine) -> None:
    angles.create_entities(
        [
            {"name": "Ada", "observations": ["one 0", "two 90"]},
            {"name": "Bob", "observations": ["one 0", "two 20"]},
            {"name": "Cy", "observations": ["one 0", "two 10"]},
            {"name": "Di", "observations": ["one 0"]},
            "Eve",
        ]
    )
    found = angles.upkeep.find_duplicate_observations()
    assert [pair.entity for pair in found.pairs] == ["Cy", "Bob"]
    assert found.observations == 7


def test_groups_hang_together_by_pairs(angles: Engine) -> None:
    # 0, 25 and 50 are pairwise near, but 0 and 50 are not; 180 and 181 are a group of their own.
    angles.create_entities(
        [{"name": "Ada", "observations": ["far 181", "a 0", "c 50", "far 180", "b 25", "alone 90"]}]
    )
    found = angles.upkeep.find_duplicate_observations("Ada")
    assert [[seen.content for seen in group.observations] for group in found.groups] == [
        ["far 181", "far 180"],
        ["a 0", "c 50", "b 25"],
    ]
    assert {(group.entity, group.entity_id) for group in found.groups} == {("Ada", found.pairs[0].entity_id)}


def test_the_limit_cuts_the_least_alike_and_says_so(angles: Engine) -> None:
    angles.create_entities([{"name": "Ada", "observations": ["one 0", "two 30", "three 90", "four 100"]}])
    found = angles.upkeep.find_duplicate_observations(limit=1)
    assert (pairs(found), found.left_out, len(found.groups)) == ([("three 90", "four 100")], 1, 1)


def test_what_is_no_longer_in_force_repeats_nothing(angles: Engine) -> None:
    angles.create_entities([{"name": "Ada", "observations": ["one 0", "two 1", "three 2"]}])
    angles.graph.add_observations({"Ada": [{"content": "four 90", "supersedes": "two 1"}]})
    angles.graph.delete_observations({"Ada": ["three 2"]})
    assert angles.upkeep.find_duplicate_observations().pairs == ()


def test_words_find_what_holds_another_and_what_differs_in_letters_alone(make_engine: MakeEngine) -> None:
    words_only = make_engine(model="none")
    more = "every morning she drinks green tea with milk"
    said = ["drinks green tea", "plays chess", more, "Plays chess!"]
    words_only.create_entities([{"name": "Ada", "observations": said}])
    found = words_only.upkeep.find_duplicate_observations("Ada")
    assert [(pair.older.content, pair.similarity, pair.match) for pair in found.pairs] == [
        ("drinks green tea", 1.0, "containment"),
        ("plays chess", 1.0, "same"),
    ]
    assert found.note is not None
    # Two of three words are less than 0.7.
    words_only.create_entities([{"name": "Bob", "observations": ["a b c", "a b x y z w"]}])
    assert words_only.upkeep.find_duplicate_observations("Bob").pairs == ()
    (pair,) = words_only.upkeep.find_duplicate_observations("Bob", containment=0.6).pairs
    assert pair.similarity == pytest.approx(2 / 3)


def test_a_single_word_is_not_compared_by_meaning(angles: Engine) -> None:
    angles.create_entities([{"name": "Ada", "observations": ["0", "1"]}])
    assert angles.upkeep.find_duplicate_observations().pairs == ()


def test_only_the_likely_are_embedded(make_engine: MakeEngine) -> None:
    asked: list[str] = []

    class RecordingAngles(Angles):
        def documents(self, texts: Sequence[str]) -> Vectors:
            asked.extend(texts)
            return super().documents(texts)

    model = RecordingAngles()
    engine = make_engine(lambda _: model)
    ada = {"name": "Ada", "observations": ["one 0", "two 90", "three 180", "four 185"]}
    engine.create_entities([ada, {"name": "Bob", "observations": ["alone 0"]}])
    asked.clear()
    assert len(engine.upkeep.find_duplicate_observations().pairs) == 1
    assert asked == ["three 180", "four 185"]


def test_what_waits_for_a_vector_is_compared_as_well(make_engine: MakeEngine) -> None:
    make_engine(model="none").create_entities([{"name": "Ada", "observations": ["one 0", "two 10"]}])
    model = Angles()
    assert len(make_engine(lambda _: model).upkeep.find_duplicate_observations().pairs) == 1


def test_a_model_that_fails_leaves_the_words(make_engine: MakeEngine) -> None:
    class Broken(Angles):
        def documents(self, texts: Sequence[str]) -> Vectors:
            raise ModelUnavailable("The server is asleep; wake it.")

    broken = Broken()
    engine = make_engine(lambda _: broken)
    engine.create_entities([{"name": "Ada", "observations": ["one 0", "two 10", "One 0."]}])
    found = engine.upkeep.find_duplicate_observations()
    assert (pairs(found), found.note) == ([("one 0", "One 0.")], "The server is asleep; wake it.")


def test_many_observations_are_compared_in_blocks(angles: Engine) -> None:
    far = [f"thing {number} 90" for number in range(3)]
    many = [f"n{number}x at {number * 7 % 60 + 150}" for number in range(600)]
    angles.create_entities([{"name": "Ada", "observations": [*far, "twin 0", *many, "other twin 1"]}])
    found = angles.upkeep.find_duplicate_observations(limit=10_000)
    assert ("twin 0", "other twin 1") in pairs(found)
    assert all(pair.older.id < pair.newer.id for pair in found.pairs)


def test_wrong_numbers_are_refused(engine: Engine) -> None:
    wrong: dict[str, list[Any]] = {"threshold": [0, 1.1], "containment": [0], "limit": [0, 10_001, True]}
    for name, value in ((name, value) for name, values in wrong.items() for value in values):
        with pytest.raises(InvalidInput, match=f"(?i){name}"):
            engine.upkeep.find_duplicate_observations(**{name: value})


def test_an_entity_that_is_not_there_is_named(engine: Engine) -> None:
    with pytest.raises(NotFound, match="Nobody"):
        engine.upkeep.find_duplicate_observations("Nobody")
    assert engine.upkeep.find_duplicate_observations().pairs == ()


def test_another_scope_is_not_looked_at(angles: Engine) -> None:
    angles.scoped("you").create_entities([{"name": "Ada", "observations": ["one 0", "two 1"]}])
    found = angles.upkeep.find_duplicate_observations()
    assert (found.pairs, found.observations) == ((), 0)


@pytest.mark.skipif(not ARCTIC.ready, reason=ARCTIC.reason)
def test_a_model_that_reads_finds_other_words_for_the_same(make_engine: MakeEngine) -> None:
    engine = make_engine(loaded, "arctic-memory")
    twins = ("The nightly backup runs at three in the morning", "The backup runs every night at 3 am")
    said = [twins[0], "Ana leads the frontend team", twins[1], "The budget was cut by ten percent"]
    engine.create_entities([{"name": "Apollo", "type": "project", "observations": said}])
    assert pairs(engine.upkeep.find_duplicate_observations("Apollo")) == [twins]
