"""Tokens from the embedder to the candidates: kept with vectors, asked for by a profile, filled in later."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np
import pytest
from token_model import WordTokens

from recollect.admin import Internals
from recollect.domain.changes import PutVectors, UseModel
from recollect.domain.errors import ModelUnavailable
from recollect.domain.records import Model
from recollect.models.hashing import HashingEmbedder
from recollect.ranking.profiles import LIMBIC, RECOLLECT
from recollect.search.candidates import gather
from recollect.search.recall import open_search, query_of
from recollect.write.apply import digest_of
from recollect.write.embedding import UntilShutdown, embed_documents, embed_query

if TYPE_CHECKING:
    from conftest import MakeEngine

    from recollect.domain.changes import Change
    from recollect.engine import Engine
    from recollect.ranking.candidates import Candidates, Profile
    from recollect.stores.port import Embedder


def engine_with(make_engine: MakeEngine, model: Embedder) -> Engine:
    return make_engine(lambda _: model)


def candidates(engine: Engine, text: str, profile: Profile = RECOLLECT) -> Candidates:
    services = engine._services
    with open_search(services, query_of(services, text, profile)) as (search, query, _):
        return gather(search, profile, query).candidates


def token_scores(engine: Engine, text: str) -> dict[int, float]:
    found = candidates(engine, text)
    pairs = zip(found.ids.tolist(), found.source("tokens").score.tolist(), strict=True)
    return {id_: score for id_, score in pairs if not np.isnan(score)}


def test_candidates_have_token_scores_for_a_profile_that_asks_for_them(make_engine: MakeEngine) -> None:
    engine = engine_with(make_engine, WordTokens())
    first = engine.remember("green tea").id
    second = engine.remember("green coffee").id
    found = token_scores(engine, "green tea")
    # Each word points to one of 256 numbers, and the sign of that number alone is +. A word that the text has
    # finds 1 / sqrt(256), one that it lacks the opposite: (1 + 1) / 2 / 16 and (1 - 1) / 2 / 16.
    assert found == pytest.approx({first: 1 / 16, second: 0})
    assert "tokens" not in candidates(engine, "green tea", LIMBIC).sources


def test_one_run_of_the_model_gives_vector_and_tokens(make_engine: MakeEngine) -> None:
    model = WordTokens()
    engine = engine_with(make_engine, model)
    engine.remember("green tea")
    token_scores(engine, "any tea")
    assert model.read == ["green tea", "any tea"]


def test_without_tokens_everything_is_as_before(make_engine: MakeEngine) -> None:
    engine = engine_with(make_engine, HashingEmbedder())
    engine.remember("green tea")
    assert "tokens" not in candidates(engine, "green tea").sources
    assert [hit.memory.text for hit in engine.recall("green tea").hits] == ["green tea"]
    assert Internals(engine).passages_without_tokens() == 0


def test_only_the_first_of_each_search_are_compared(make_engine: MakeEngine) -> None:
    engine = engine_with(make_engine, WordTokens())
    ids = [engine.remember(f"tea {number}").id for number in range(60)]
    # All are alike for both searches, so the first fifty are those of the lowest ids.
    assert list(token_scores(engine, "tea")) == ids[:50]


def test_reindex_fills_in_what_was_embedded_before_tokens_were_kept(make_engine: MakeEngine) -> None:
    before = engine_with(make_engine, HashingEmbedder())
    first = before.remember("green tea").id
    engine = engine_with(make_engine, WordTokens())
    second = engine.remember("black tea").id
    assert list(token_scores(engine, "tea")) == [second]
    assert Internals(engine).passages_without_tokens() == 1
    done = engine.reindex()
    assert (done.embedded, done.switched) == (1, False)
    assert list(token_scores(engine, "tea")) == [first, second]
    assert Internals(engine).passages_without_tokens() == 0
    assert engine.reindex().embedded == 0


def test_a_change_of_model_brings_its_own_tokens(make_engine: MakeEngine) -> None:
    models = {64: WordTokens(64), 256: WordTokens()}
    named = {model.model.name: model for model in models.values()} | {"hashing": models[256]}
    engine = make_engine(named.__getitem__)
    note = engine.remember("green tea").id
    engine.reindex(models[64].model.name)
    # 1 / sqrt(64), as the model has 64 numbers.
    assert token_scores(engine, "tea") == pytest.approx({note: 1 / 8})


def test_a_memory_that_is_being_closed_embeds_no_more(make_engine: MakeEngine) -> None:
    closing = threading.Event()
    embedder = UntilShutdown(WordTokens(), closing)
    assert embed_documents(embedder, ["tea"])[1] == WordTokens().documents_with_tokens(["tea"])[1]
    closing.set()
    with pytest.raises(ModelUnavailable, match="being closed"):
        embed_documents(embedder, ["tea"])


def test_a_wrapper_gives_tokens_only_where_the_model_does() -> None:
    without = UntilShutdown(HashingEmbedder(), threading.Event())
    assert not without.gives_tokens
    assert embed_query(without, "tea")[1] is None
    assert embed_documents(without, ["tea"])[1] == ()


TINY, VECTORS = Model("tiny", 2), ((1, b"12345678"),)


@pytest.mark.parametrize(
    ("change", "digest"),
    [
        (PutVectors(TINY, VECTORS), "50071922311b75b172919f67c8079c4e"),
        (UseModel(TINY), "4fe71f9ce85b755dcc612f187c609329"),
    ],
)
def test_a_change_without_the_later_fields_has_the_digest_that_it_always_had(
    change: Change, digest: str
) -> None:
    """As stores keep it from before there were tokens and models that are chosen by language."""
    assert digest_of([change]) == digest


@pytest.mark.parametrize(
    "change",
    [
        PutVectors(TINY, VECTORS, searched=True),
        PutVectors(TINY, VECTORS, automatic=True),
        PutVectors(TINY, VECTORS, tokens=((1, b"a"),)),
        UseModel(TINY, automatic=True),
    ],
)
def test_a_later_field_that_is_set_makes_another_change(change: Change) -> None:
    plain = PutVectors(TINY, VECTORS) if isinstance(change, PutVectors) else UseModel(TINY)
    assert digest_of([change]) != digest_of([plain])
