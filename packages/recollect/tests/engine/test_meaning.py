"""Vectors in step with texts, and the change of model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from recollect.admin import Internals
from recollect.domain.changes import NewText, PutText, PutVectors
from recollect.domain.errors import ModelUnavailable
from recollect.domain.records import Kind, Scope
from recollect.models.hashing import HashingEmbedder
from recollect.search.texts import passages_of, vectors_of
from recollect.write.repository import Repository

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from conftest import FixedClock, MakeEngine

    from recollect.domain.changes import Change, Receipt
    from recollect.engine import Engine
    from recollect.stores.port import Embedder, Vectors


class Failing(HashingEmbedder):
    """Embeds a number of batches, and then fails."""

    def __init__(self, dims: int, batches: int, error: Exception) -> None:
        super().__init__(dims)
        self.left, self.error = batches, error

    def documents(self, texts: Sequence[str]) -> Vectors:
        self.left -= 1
        if self.left < 0:
            raise self.error
        return super().documents(texts)


class Counting(HashingEmbedder):
    """Remembers what it was given to read."""

    def __init__(self, dims: int = 256) -> None:
        super().__init__(dims)
        self.read: list[str] = []
        self.calls: list[Sequence[str]] = []

    def documents(self, texts: Sequence[str]) -> Vectors:
        self.read += texts
        self.calls.append(texts)
        return super().documents(texts)


UNAVAILABLE = ModelUnavailable("The model is not installed; run: pip install it")


def by_name(**models: Embedder) -> Callable[[str], Embedder | None]:
    """Under the names they are asked for by, and those that the store keeps."""
    full = {model.model.name: model for model in models.values()}
    return lambda name: {**full, **models}[name]


def names(engine: Engine, query: str) -> list[str]:
    return [hit.memory.name for hit in engine.search(query).hits]


def test_a_write_embeds_what_it_wrote(engine: Engine) -> None:
    batch = engine.create_entities([{"name": "Ada", "observations": ["likes tea", "plays chess"]}])
    assert batch.note is None
    counts = engine.counts()
    assert (counts.passages, counts.vectors, counts.due) == (3, 3, 0)
    model = engine.model
    assert model is not None
    assert model.name == "hashing@1"


def test_nothing_is_embedded_twice(make_engine: MakeEngine) -> None:
    model = Counting()
    engine = make_engine(by_name(hashing=model))
    engine.create_entities([{"name": "Ada", "observations": ["likes tea"]}])
    engine.graph.create_relations([("Ada", "knows", "Bob")], create_missing=True)
    engine.reindex()
    assert sorted(model.read) == ["Ada", "Ada: likes tea", "Bob"]


def test_what_is_said_again_and_again_is_embedded_once(make_engine: MakeEngine, clock: FixedClock) -> None:
    model = Counting()
    engine = make_engine(by_name(hashing=model))
    said = [NewText(Kind.MESSAGE, "thank you", session=session) for session in ("one", "two", "three")]
    engine._services.store.apply([PutText(Scope(), text) for text in said], at=clock())
    assert engine.reindex().embedded == 3
    assert model.read == ["thank you"]
    with engine._services.store.read() as view:
        vectors = vectors_of(view, [passage.id for passage in passages_of(view, [1, 2, 3])])
    assert len(vectors) == 3
    assert all(vector.tobytes() == vectors[1].tobytes() for vector in vectors.values())


@pytest.mark.parametrize("when", ["asked for", "reading"])
def test_a_write_succeeds_without_the_model_and_words_find_it(make_engine: MakeEngine, when: str) -> None:
    def load_embedder(_: str) -> Embedder | None:
        if when == "asked for":
            raise UNAVAILABLE
        return Failing(256, 0, UNAVAILABLE)

    engine = make_engine(load_embedder)
    for batch in (
        engine.create_entities([{"name": "Ada", "observations": ["likes tea", "likes green tea so much"]}]),
        engine.graph.add_observations({"Ada": ["likes tea and cake and chess"]}),
    ):
        assert batch.note is not None
        assert "pip install" in batch.note
        assert [len(row.added) for row in batch.entities] != [0]
    assert engine.graph.create_relations([("Ada", "knows", "Bob")], create_missing=True).relations[0].created
    assert names(engine, "cake") == ["Ada"]
    assert engine.counts().due == engine.counts().passages == 5
    (ada,) = engine.graph.delete_entities(["Ada"])
    assert engine.restore(ada).name == "Ada"
    assert list(engine.upkeep.verify()) == []


def test_what_waited_is_embedded_once_the_model_is_back(make_engine: MakeEngine) -> None:
    make_engine(model="none").create_entities([{"name": "Ada", "observations": ["likes tea"]}])
    engine = make_engine()
    assert engine.search("tea").mode == "words"
    assert engine.create_entities(["Bob"]).note is None
    assert engine.counts().due == 0
    assert engine.search("tea").mode == "hybrid"


def test_reindex_catches_up_and_tells_how_far_it_is(make_engine: MakeEngine) -> None:
    waiting = [{"name": f"e{number}", "observations": ["tea"]} for number in range(100)]
    make_engine(model="none").create_entities(waiting)
    engine = make_engine()
    told: list[tuple[int, int | None]] = []
    done = engine.reindex(progress=lambda done, total: told.append((done, total)))
    assert (done.embedded, done.switched, done.model.name) == (200, False, "hashing@1")
    assert [number for number, _ in told] == sorted({number for number, _ in told})
    assert told[-1] == (200, 200)
    assert engine.reindex().embedded == 0


def test_another_model_takes_over_whole(make_engine: MakeEngine) -> None:
    engine = make_engine(by_name(hashing=HashingEmbedder(), wide=HashingEmbedder(64)))
    engine.create_entities([{"name": "Ada", "observations": ["likes tea"]}])
    done = engine.reindex("wide")
    assert (done.switched, done.embedded, done.model.dims) == (True, 2, 64)
    assert engine.model == done.model
    assert engine.counts().vectors == 2
    assert engine.search("tea").mode == "hybrid"
    # new texts get vectors of the model in use, not of the preferred one
    engine.create_entities(["Bob"])
    assert (engine.counts().vectors, engine.counts().due) == (3, 0)
    assert engine.reindex("wide").switched is False
    assert list(engine.upkeep.verify()) == []


@pytest.mark.parametrize("error", [UNAVAILABLE, RuntimeError("power cut"), KeyboardInterrupt()])
def test_a_change_of_model_goes_on_where_it_stopped(make_engine: MakeEngine, error: BaseException) -> None:
    broken, whole = Failing(64, 2, error), Counting(64)  # type: ignore[arg-type]  # it is only raised
    stopped = make_engine(by_name(hashing=HashingEmbedder(), wide=broken))
    stopped.create_entities(
        [{"name": f"e{number}", "observations": [f"tea {number}"]} for number in range(100)]
    )
    before = stopped.search("tea 7")
    with pytest.raises(type(error)):
        stopped.reindex("wide")
    # half way: searches go on with the old model, as if nothing had begun
    model = stopped.model
    assert model is not None
    assert model.name == "hashing@1"
    assert stopped.search("tea 7") == before
    stopped.create_entities([{"name": "new", "observations": ["coffee"]}])
    assert names(stopped, "coffee")[0] == "new"
    assert list(stopped.upkeep.verify()) == []
    # gone on with: what was read is not read again
    engine = make_engine(by_name(hashing=HashingEmbedder(), wide=whole))
    done = engine.reindex("wide")
    assert done.switched
    assert done.embedded == len(whole.read) == 202 - 2 * 64
    assert (engine.counts().vectors, engine.counts().due) == (202, 0)
    assert names(engine, "coffee")[0] == "new"
    assert list(engine.upkeep.verify()) == []


def test_searches_work_during_a_change_of_model(make_engine: MakeEngine) -> None:
    seen: list[tuple[str, str]] = []

    class Watching(HashingEmbedder):
        def documents(self, texts: Sequence[str]) -> Vectors:
            answer = engine.search("tea 7")
            seen.append((answer.mode, answer.hits[0].memory.name))
            return super().documents(texts)

    engine = make_engine(by_name(hashing=HashingEmbedder(), wide=Watching(64)))
    engine.create_entities(
        [{"name": f"e{number}", "observations": [f"tea {number}"]} for number in range(100)]
    )
    engine.reindex("wide")
    assert len(seen) >= 4
    assert set(seen) == {("hybrid", "e7")}


def test_the_next_question_is_asked_by_the_model_that_another_program_changed_to(
    make_engine: MakeEngine, store: Repository
) -> None:
    former, latter = HashingEmbedder(), HashingEmbedder(64)
    there = {"hashing": former, former.model.name: former, "wide": latter, latter.model.name: latter}

    def load_model(name: str) -> Embedder:
        if name not in there:
            raise UNAVAILABLE
        return there[name]

    engine = make_engine(load_model)
    engine.create_entities([{"name": "Ada", "observations": ["likes tea"]}])
    engine.search("tea")
    expected = store.last_model
    engine.reindex("wide")
    # As if another program had done it, and taken the former model away.
    store.last_model = expected
    del there[former.model.name]
    answer = engine.search("tea")
    assert (answer.mode, answer.note) == ("hybrid", None)


def test_what_is_written_during_a_change_of_model_is_not_forgotten(make_engine: MakeEngine) -> None:
    class Interrupted(HashingEmbedder):
        told = False

        def documents(self, texts: Sequence[str]) -> Vectors:
            if not self.told:
                self.told = True
                engine.create_entities([{"name": "late", "observations": ["coffee"]}])
            return super().documents(texts)

    engine = make_engine(by_name(hashing=HashingEmbedder(), wide=Interrupted(64)))
    engine.create_entities([{"name": "Ada", "observations": ["tea"]}])
    engine.reindex("wide")
    assert (engine.counts().vectors, engine.counts().due) == (4, 0)
    assert names(engine, "coffee")[0] == "late"


def test_the_model_of_an_empty_store_can_be_chosen(make_engine: MakeEngine) -> None:
    engine = make_engine(by_name(hashing=HashingEmbedder(), wide=HashingEmbedder(64)))
    engine.reindex("wide")
    engine.create_entities(["Ada"])
    model = engine.model
    assert model is not None
    assert model.dims == 64


def test_having_no_model_is_no_model_to_reindex_with(engine: Engine) -> None:
    with pytest.raises(ModelUnavailable, match="none"):
        engine.reindex("none")
    with pytest.raises(ModelUnavailable, match="no-such-model"):
        engine.reindex("no-such-model")


def test_texts_of_every_kind_and_scope_are_embedded(engine: Engine, clock: FixedClock) -> None:
    new = [NewText(Kind.NOTE, "a note"), NewText(Kind.MESSAGE, "a message", session="s")]
    engine._services.store.apply([PutText(Scope("someone"), text) for text in new], at=clock())
    assert engine.reindex().embedded == 2
    assert engine.scoped("someone").search("message").hits[0].memory.text == "a message"


def test_a_memory_that_ends_keeps_what_is_written_and_embeds_no_further_batch(
    make_engine: MakeEngine,
) -> None:
    class Ending(Counting):
        def documents(self, texts: Sequence[str]) -> Vectors:
            engine._services.shutdown.set()
            return super().documents(texts)

    embedder = Ending()
    engine = make_engine(lambda _: embedder)
    rows = [{"name": f"Buoy {n}", "type": "buoy", "observations": ["is red"]} for n in range(100)]
    batch = engine.create_entities(rows)
    assert len(batch.entities) == 100
    assert len(embedder.read) == 64
    assert (engine.counts().vectors, engine.counts().due) == (64, 200 - 64)
    assert batch.note is not None
    assert "embeds the waiting texts" in batch.note


def test_vectors_of_many_scopes_are_made_in_full_batches_and_written_scope_by_scope(
    make_engine: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(100):
        make_engine(model="none").scoped(f"owner {number % 3}").remember(f"note {number}")
    counting = Counting()
    engine = make_engine(lambda _: counting)
    written: list[tuple[Scope, int]] = []
    apply = Repository.apply

    def apply_recorded(store: Repository, changes: Sequence[Change], **options: Any) -> Receipt:
        for change in changes:
            assert isinstance(change, PutVectors)
            assert change.scope is not None
            written.append((change.scope, len(change.vectors)))
        return apply(store, changes, **options)

    monkeypatch.setattr(Repository, "apply", apply_recorded)
    assert Internals(engine).embed_pending().embedded == 100
    # 34, 33 and 33 notes, of which the model reads 64 and 36 at once: the second scope's are in both.
    assert [len(texts) for texts in counting.calls] == [64, 36]
    assert [(scope.owner[-1], count) for scope, count in written] == [
        ("0", 34), ("1", 30), ("1", 3), ("2", 33),
    ]  # fmt: skip
