"""Sentences of notes: found by a vector of their own, and never shown instead of the note."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest
from token_model import WordTokens
from transfer_world import engines, exported

from recollect.admin import Internals
from recollect.memories.notes import nearest_cosines
from recollect.models.hashing import HashingEmbedder
from recollect.ranking.profiles import RECOLLECT
from recollect.search.candidates import Search, gather
from recollect.search.recall import open_search, query_of
from recollect.search.texts import memory_vectors
from recollect.text.passages import passage_spans
from recollect.transfer import import_file

if TYPE_CHECKING:
    from conftest import FixedClock, MakeEngine

    from recollect.engine import Engine

NOTE = "The boiler leaks again. Rosa moved her appointment to Friday."
MANY = (
    "One pear for breakfast. Two plums for luncheon. Three figs for dinner. "
    "Four dates for supper. Five grapes at midnight."
)


def cosines(engine: Engine, query: str) -> dict[int, float]:
    return {hit.memory.id: hit.places["meaning"].score for hit in engine.recall(query, limit=10).hits}


def spans_of(engine: Engine) -> list[tuple[int, int]]:
    with engine._services.store.read() as view:
        return [(start, stop) for start, stop in view.rows("passage", ("start", "stop"))]


def make_older_note(engine: Engine, monkeypatch: pytest.MonkeyPatch, text: str) -> int:
    """Store a note as versions before this one did: without sentences."""
    with monkeypatch.context() as patched:
        for module in ("recollect.write.texts", "recollect.write.embedding", "recollect.text.passages"):
            patched.setattr(f"{module}.text_spans", lambda _, text: passage_spans(text))
        return engine.remember(text).id


def test_a_note_is_as_near_as_its_nearest_sentence(engine: Engine) -> None:
    note = engine.remember(NOTE).id
    message = {"speaker": "Ana", "content": "The boiler leaks again. Ben rang the plumber on Monday."}
    said = engine.add_messages("home", [message], extract=False).ids[0]
    # The whole note, its two sentences, and the whole message.
    assert engine.counts().passages == engine.counts().vectors == 4
    found = cosines(engine, "The boiler leaks again.")
    assert found[note] == pytest.approx(1.0)
    assert found[said] < 0.7


def test_a_hit_shows_the_whole_note(engine: Engine) -> None:
    engine.remember_many([{"text": NOTE, "speaker": "Ana"}])
    (hit,) = engine.recall("The boiler leaks again.").hits
    assert (hit.text, hit.piece, hit.passage) == (NOTE, None, f'Ana said, "{NOTE}"')
    assert [item.text for item in engine.context("The boiler leaks again.").memories] == [hit.memory.text]


def test_one_sentence_and_short_pieces_add_nothing(engine: Engine) -> None:
    engine.remember("Rosa moved her appointment to Friday.")
    engine.remember("Yes. No. Rosa moved her appointment to Monday.")
    assert engine.counts().passages == 2


def test_tokens_are_kept_and_compared_only_for_the_whole_note(make_engine: MakeEngine) -> None:
    engine = make_engine(lambda _: WordTokens())
    # Six passages, more than are compared token by token.
    note = engine.remember(MANY).id
    assert Internals(engine).passages_without_tokens() == 0
    assert engine.reindex().embedded == 0
    services = engine._services
    with open_search(services, query_of(services, "midnight pear", RECOLLECT)) as (search, query, _):
        assert query.tokens is not None
        passages = [passage for passage, _ in search.snapshot.embedded_passages([note])]
        signs: dict[int, bytes] = dict(search.snapshot.rows("passage_tokens", ("passage_id", "signs")))
        scores = gather(search, RECOLLECT, query).candidates.source("tokens").score.tolist()
    assert [bool(signs[passage]) for passage in passages] == [True, *[False] * 5]
    # Both words are in the whole note, though in different sentences: 1 / sqrt(256).
    assert scores == pytest.approx([1 / 16])


def test_a_repeated_sentence_is_compared_with_the_whole_note(engine: Engine) -> None:
    note = engine.remember(NOTE).id
    sentence = "The boiler leaks again."
    vector = HashingEmbedder().query(sentence)
    with engine._services.read() as view:
        (whole,) = memory_vectors(view, [note])[note]
        found = nearest_cosines(Search(view, engine._services.where()), sentence, vector, 5)
    assert found == {note: pytest.approx(float(whole @ vector))}
    assert found[note] < 0.7


def test_a_former_text_is_found_by_its_sentence(engine: Engine, clock: FixedClock) -> None:
    note = engine.remember(NOTE).id
    before = clock()
    clock.tick(86_400)
    engine.update(note, text="The boiler works. Rosa moved her appointment to Monday.")
    assert cosines(engine, "The boiler leaks again.")[note] < 0.9
    (hit,) = engine.recall("The boiler leaks again.", as_of=before).hits
    assert hit.places["meaning"].score == pytest.approx(1.0)
    assert (hit.text, hit.passage) == (NOTE, NOTE)
    assert list(engine.upkeep.verify()) == []


def test_reindex_adds_the_sentences_of_older_notes(
    make_engine: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = make_engine(lambda _: HashingEmbedder())
    older = make_older_note(engine, monkeypatch, NOTE)
    gone = make_older_note(engine, monkeypatch, MANY)
    engine.forget(gone)
    newer = engine.remember("The boiler hums again. Ben paid for the repair.").id
    assert cosines(engine, "The boiler leaks again.")[older] < 0.9
    assert list(engine.upkeep.verify()) == []
    assert engine.reindex().embedded == 2
    assert cosines(engine, "The boiler leaks again.")[older] == pytest.approx(1.0)
    assert cosines(engine, "Ben paid for the repair.")[newer] == pytest.approx(1.0)
    assert list(engine.upkeep.verify()) == []
    counts = engine.counts()
    assert (engine.reindex().embedded, engine.counts()) == (0, counts)
    # A restored note gets the vectors of its sentences with the next write.
    engine.restore(gone)
    engine.reindex()
    assert cosines(engine, "Two plums for luncheon.")[gone] == pytest.approx(1.0)


def test_an_import_and_a_repair_give_notes_their_sentences() -> None:
    with engines(2) as (one, other):
        one.remember(NOTE)
        import_file(other, io.StringIO(exported(one)), embed=True)
        # `The boiler leaks again.` has 23 letters, and the note 61.
        assert spans_of(other) == spans_of(one) == [(0, 61), (0, 23), (24, 61)]
        other._services.store.store.transact(lambda rows: rows.remove("passage", ()))
        assert len(list(other.upkeep.verify())) == 1
        assert list(other.upkeep.repair()) == []
        assert spans_of(other) == spans_of(one)
