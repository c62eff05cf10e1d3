"""Searching by words and by meaning at once, through the façade."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hand_weights import MATCHED_FUSION

from recollect.domain.changes import NewText, PutText
from recollect.domain.errors import InvalidInput, ModelUnavailable
from recollect.domain.records import Kind, Model, Scope
from recollect.models.hashing import HashingEmbedder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conftest import FixedClock, MakeEngine

    from recollect.domain.results import Answer
    from recollect.engine import Engine
    from recollect.stores.port import Vector, Vectors


def names(answer: Answer) -> list[str]:
    return [hit.memory.name for hit in answer.hits]


def tea_world(engine: Engine) -> None:
    engine.create_entities(
        [
            {"name": "Ada", "observations": ["drinks green tea in the morning"]},
            {"name": "Bob", "observations": ["drinks black coffee"]},
            {"name": "Café Azul", "entityType": "place", "observations": ["serves tea and cake"]},
            {"name": "東京", "entityType": "city", "observations": ["茶を飲む"]},
        ]
    )


def test_hits_have_their_rank_in_each_search(engine: Engine) -> None:
    tea_world(engine)
    answer = engine.search("green tea", profile=MATCHED_FUSION)
    assert (answer.mode, answer.note, answer.query) == ("hybrid", None, "green tea")
    first = answer.hits[0]
    assert first.memory.name == "Ada"
    assert {source: place.rank for source, place in first.places.items()} == {"words": 1, "meaning": 1}
    # First in both: 0.6 * 1 for meaning, 0.4 * 1 for words, and 0.4 * 1 since it has all words of the query.
    assert first.score == pytest.approx(1.4)
    assert first.passage == "Ada: drinks green tea in the morning"


def test_scores_fall_and_sum_over_the_places(engine: Engine) -> None:
    tea_world(engine)
    hits = engine.search("tea coffee cake", profile="reverie").hits
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    for hit in hits:
        # 1 / (30 + rank) from each search, times 1.3 since it was written just now
        fused = sum(1 / (30 + place.rank) for place in hit.places.values())
        assert hit.score == pytest.approx(1.3 * fused)


def test_every_query_is_read_as_plain_text(engine: Engine) -> None:
    tea_world(engine)
    for query, first in (
        ("cafe", "Café Azul"),
        ("¿qué es el café azul?", "Café Azul"),
        ("東京", "東京"),
        ("coffee*", "Bob"),
    ):
        assert names(engine.search(query))[0] == first
    for query in ("", " ", "\n"):
        assert engine.search(query).hits == ()
    for query in ("\0", "\ud800", "((((", "x" * 10_000, '"', "NEAR(a b, 3)", "🎉", "a\ud83d b"):
        assert engine.search(query).mode in {"hybrid", "meaning", "words"}
    everything = names(engine.search("tea"))
    assert names(engine.search("tea", limit=2)) == everything[:2]


def test_kinds_are_filtered_before_ranking(engine: Engine, clock: FixedClock) -> None:
    for number in range(40):
        engine.create_entities([{"name": f"tea {number}", "observations": ["tea"]}])
    note, message = (NewText(Kind.NOTE, "tea, once"), NewText(Kind.MESSAGE, "tea?", session="s"))
    engine._services.store.apply([PutText(Scope(), note), PutText(Scope(), message)], at=clock())
    engine.reindex()
    assert [hit.memory.text for hit in engine.search("tea", limit=1, kinds=["note"]).hits] == ["tea, once"]
    found = engine.search("tea", limit=2, kinds=["note", "message"]).hits
    assert {hit.memory.kind for hit in found} == {Kind.NOTE, Kind.MESSAGE}
    with pytest.raises(InvalidInput, match="'dream'"):
        engine.search("tea", kinds=["dream"])


def test_words_find_stems(engine: Engine) -> None:
    engine.create_entities([{"name": "Ada", "observations": ["configured the connections"]}])
    assert engine.search("configuring a connection").hits[0].places["words"].rank == 1


def test_without_a_model_words_still_find_and_the_answer_says_why(make_engine: MakeEngine) -> None:
    engine = make_engine(model="none")
    batch = engine.create_entities([{"name": "Ada", "observations": ["likes tea"]}])
    assert batch.note is not None
    answer = engine.search("tea")
    assert (names(answer), answer.mode) == (["Ada"], "words")
    assert answer.note is not None
    assert "doctor" in answer.note


def test_meaning_finds_what_words_do_not(make_engine: MakeEngine) -> None:
    """Words find nothing here; a model that knows the synonym does."""

    class Synonyms(HashingEmbedder):
        def documents(self, texts: Sequence[str]) -> Vectors:
            return super().documents([text.replace("automobile", "car") for text in texts])

    model = Synonyms()
    engine = make_engine(lambda _: model)
    engine.create_entities([{"name": "x", "observations": ["car"]}, {"name": "y", "observations": ["boat"]}])
    answer = engine.search("automobile")
    assert (names(answer)[0], answer.mode) == ("x", "meaning")
    assert list(answer.hits[0].places) == ["meaning"]


def test_words_find_what_the_model_cannot_read(make_engine: MakeEngine) -> None:
    """The query's vector is zero, so every cosine is 0. The word search still finds the text."""
    engine = make_engine()
    tea_world(engine)
    engine.create_entities([{"name": "party", "observations": ["🎉"]}])
    assert names(engine.search("🎉"))[0] == "party"


def test_a_query_that_cannot_be_embedded_is_searched_by_words(make_engine: MakeEngine) -> None:
    class FailingEmbedder(HashingEmbedder):
        def query(self, text: str) -> Vector:
            raise ModelUnavailable("The server is asleep; wake it.")

    model = FailingEmbedder()
    engine = make_engine(lambda _: model)
    tea_world(engine)
    answer = engine.search("green tea")
    assert names(answer)[0] == "Ada"
    assert (answer.mode, answer.note) == ("words", "Searched by words only: The server is asleep; wake it.")


def test_no_search_finds_forgotten_or_superseded_memories(engine: Engine, clock: FixedClock) -> None:
    tea_world(engine)
    clock.tick()
    (ada,) = engine.graph.delete_entities(["Ada"])
    engine.graph.add_observations({"Bob": [{"content": "drinks water", "supersedes": "drinks black coffee"}]})
    assert "Ada" not in names(engine.search("green tea"))
    assert not any("coffee" in (hit.passage or "") for hit in engine.search("black coffee").hits)
    clock.tick()
    engine.restore(ada)
    assert names(engine.search("green tea"))[0] == "Ada"


def test_a_query_is_never_compared_with_another_models_vectors(make_engine: MakeEngine) -> None:
    """Another process may change the model after the query is embedded and before the store is read."""

    class Backwards(HashingEmbedder):
        def __init__(self) -> None:
            super().__init__()
            self.model = Model("backwards", self.model.dims)

        def documents(self, texts: Sequence[str]) -> Vectors:
            rows: Vectors = super().documents(texts)[:, ::-1]
            return rows

    class ModelSwitcher(HashingEmbedder):
        switched = False

        def query(self, text: str) -> Vector:
            vector = super().query(text)
            if not self.switched:
                self.switched = True
                engine.reindex("backwards")
            return vector

    models = {"hashing": ModelSwitcher(), "hashing@1": ModelSwitcher(), "backwards": Backwards()}
    engine = make_engine(models.__getitem__)
    engine.create_entities([{"name": "x", "observations": ["tea"]}, {"name": "y", "observations": ["boat"]}])
    answer = engine.search("tea")
    hit = next(hit for hit in answer.hits if hit.memory.name == "x")
    # "tea" and "x: tea" share one of two words, so their cosine by one model is the root of 1/2
    assert hit.places["meaning"].score == pytest.approx(0.5**0.5)
