"""Each profile finds what its caller would find, and what is cached is not asked twice."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np
import pytest
from judged import Arbitrary, Counting, history, write, write_beir, write_folder, write_locomo
from token_model import WordTokens

from recollect.domain.errors import InvalidInput, StoreUnavailable
from recollect.domain.records import Kind, RecallOptions, Scope
from recollect.engine import Engine
from recollect.models.embedders import embedder_named
from recollect.models.hashing import HashingEmbedder
from recollect.ranking.profiles import RECOLLECT
from recollect.search.recording import UsageRecorder
from recollect.services import Services
from recollect.stores.sqlite.store import SqliteStore
from recollect.write.repository import Repository
from recollect_bench.caches import CachedReranker, cached_vectors
from recollect_bench.datasets import ORIGIN, Dataset, Document, Haystack, Question
from recollect_bench.haystack_store import open_haystack
from recollect_bench.loading import load_datasets
from recollect_bench.models import Models
from recollect_bench.profiles import ablations, select_profiles
from recollect_bench.runs import Contender, Run, run

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from recollect.domain.records import Memory
    from recollect.ranking.candidates import Profile
    from recollect.stores.port import Embedder, Reranker, Vectors
    from recollect_bench.haystack_store import StoredHaystack


@pytest.fixture
def embedder() -> Embedder:
    found = embedder_named("hashing")
    assert found is not None
    return found


def load(path: Path) -> Sequence[Dataset]:
    return load_datasets([path])


def ask(
    dataset: Dataset, profiles: Sequence[Profile], embedder: Embedder, reranker: Reranker | None = None
) -> Run:
    """With a re-ranker, also the first profile, read again."""
    contenders = [Contender(profile.name, profile) for profile in profiles]
    if reranker is not None:
        contenders.append(Contender(f"{profiles[0].name} + rerank", profiles[0], rerank=True))
    return run(dataset, contenders, Models.only(embedder), reranker=reranker)


@contextmanager
def filled(haystack: Haystack, embedder: Embedder, *, extract: bool = True) -> Iterator[StoredHaystack]:
    with open_haystack(haystack, Models.only(embedder), extract=extract) as stored:
        stored.fill()
        yield stored


def _all(stored: StoredHaystack) -> list[Memory]:
    return list(stored.engine.get_many(range(1, 100)).values())


def _talk(turns: int = 240) -> Haystack:
    """Turns made of few words, so that every search has more to give than any profile takes."""
    words = ("kettle", "harbour", "ferry", "oolong", "cat", "bread", "bicycle", "garden", "letter", "violin")
    documents = tuple(
        Document(
            f"D{number}",
            " ".join(words[(number * step + step) % len(words)] for step in (1, 2, 3, 5, 7)[: 2 + number % 4])
            + (" yesterday" if number % 9 == 0 else f" place{number}"),
            "message",
            session=f"session {number // 40}",
            speaker=("Ana", "Ben")[number % 2],
            at=ORIGIN - timedelta(days=30 - number // 40 * 5, minutes=-number),
        )
        for number in range(turns)
    )
    questions = tuple(
        Question(str(number), text, "made", frozenset({f"D{7 * number}"}))
        for number, text in enumerate(
            (
                "Which kettle stands in the harbour?",
                "What did Ana say about the violin last week?",
                "oolong",
                "What is the relation between the ferry and the winter garden?",
                "bread and bicycle on December 20",
            )
        )
    )
    return Haystack("made", documents, questions, ORIGIN)


def _plain_engine(
    folder: Path, haystack: Haystack, embedder: Embedder, reranker: Reranker | None = None
) -> tuple[Engine, dict[int, str]]:
    """The haystack as any program would store it, with nothing of the benchmark's between."""
    store = Repository(SqliteStore(folder / "plain.db"))
    usage = UsageRecorder(store, "test")
    now = [ORIGIN]
    parts = Services(store, lambda: now[0], lambda _: embedder, "hashing", Scope(), usage)
    engine = Engine(parts if reranker is None else replace(parts, reranker=lambda: reranker))
    of: dict[int, str] = {}
    for document in haystack.documents:
        assert document.session is not None
        assert document.at is not None
        now[0] = document.at
        message = {"content": document.text, "speaker": document.speaker, "at": document.at}
        told = engine.add_messages(document.session, [message], extract=False)
        of[told.ids[0]] = document.id
    now[0] = ORIGIN
    return engine, of


def test_each_profile_finds_what_a_caller_of_it_finds(tmp_path: Path, embedder: Embedder) -> None:
    haystack = _talk()
    profiles = (*select_profiles([], "rrf"), *ablations(RECOLLECT))
    answers = ask(Dataset("made", (haystack,)), profiles, embedder)
    engine, document_of = _plain_engine(tmp_path, haystack, embedder)
    with engine:
        for profile in profiles:
            for limit in (10, 20):
                answered = (
                    engine.recall(question.text, limit=limit, profile=profile, record=False)
                    for question in haystack.questions
                )
                expected = [[document_of[hit.memory.id] for hit in each.hits] for each in answered]
                found = [list(row.found[limit]) for row in answers.found[profile.name]]
                assert found == expected, (profile.name, limit)
                assert all(len(ids) == limit for ids in found[:2])  # there was enough to choose from


def test_the_re_ranked_profile_finds_what_a_caller_who_re_ranks_finds(
    tmp_path: Path, embedder: Embedder
) -> None:
    haystack = _talk()
    answers = ask(Dataset("made", (haystack,)), (RECOLLECT,), embedder, reranker=Arbitrary())
    assert list(answers.found) == list(answers.milliseconds) == ["recollect", "recollect + rerank"]
    engine, document_of = _plain_engine(tmp_path, haystack, embedder, Arbitrary())
    with engine:
        for limit in (10, 20):
            for rerank, name in enumerate(answers.found):
                options = RecallOptions(rerank=bool(rerank))
                answered = (
                    engine.recall(question.text, limit=limit, record=False, options=options)
                    for question in haystack.questions
                )
                expected = [[document_of[hit.memory.id] for hit in each.hits] for each in answered]
                assert [list(row.found[limit]) for row in answers.found[name]] == expected, (name, limit)
    plain, read = answers.found.values()
    assert all(one.found[10] != other.found[10] for one, other in zip(plain, read, strict=True))


def test_both_lists_are_read_once(embedder: Embedder) -> None:
    reader = Arbitrary()
    ask(Dataset("made", (_talk(),)), (RECOLLECT,), embedder, reranker=reader)
    counts = Counter(reader.read)
    # Five questions, and twenty texts that a caller of ten has read; a caller of twenty has read others.
    assert set(counts.values()) == {1}
    assert len(counts) >= 5 * 20


def test_a_question_knows_whether_it_speaks_of_a_time(embedder: Embedder) -> None:
    answers = ask(Dataset("made", (_talk(),)), (RECOLLECT,), embedder)
    assert [question.names_time for question in answers.questions] == [False, True, False, False, True]


def test_what_has_no_answer_is_not_asked(tmp_path: Path, embedder: Embedder) -> None:
    (dataset,) = load(write_locomo(tmp_path))
    answers = ask(dataset, (RECOLLECT,), embedder)
    # Of five questions, one is adversarial and one points to no turn.
    assert len(answers.questions) == len(answers.found["recollect"]) == 3
    unasked = replace(dataset.haystacks[0], questions=dataset.haystacks[0].questions[3:])
    with pytest.raises(InvalidInput, match="no question that points to a text"):
        ask(replace(dataset, haystacks=(unasked,)), (RECOLLECT,), embedder)


def test_turns_are_stored_as_messages_and_texts_as_notes(tmp_path: Path, embedder: Embedder) -> None:
    (talks,) = load(write_locomo(tmp_path / "talks"))
    with filled(talks.haystacks[0], embedder, extract=False) as stored:
        memories = {stored.document(memory): memory for memory in _all(stored)}
        memory = memories["D2:1"]
        assert (memory.kind, memory.session, memory.speaker) == (Kind.MESSAGE, "session 2", "Ben")
        assert memory.created_at == talks.haystacks[0].documents[3].at
        assert stored.engine.counts().due == 0
    (texts,) = load(write_beir(tmp_path / "tiny"))
    with filled(texts.haystacks[0], embedder) as stored:
        counts = stored.engine.counts()
        assert (counts.notes, counts.messages) == (2, 0)
        # The third says what the second says.
        assert stored.canonical({"d1", "d2", "d3"}) == {"d1", "d2"}


def test_roles_are_kept_as_roles(tmp_path: Path, embedder: Embedder) -> None:
    (dataset,) = load(write(tmp_path / "lme.json", [history()]))
    with filled(dataset.haystacks[0], embedder, extract=False) as stored:
        told = [(memory.role, memory.speaker) for memory in _all(stored)[:2]]
        assert told == [("user", None), ("assistant", None)]


def test_drawn_notes_stand_for_their_turns(embedder: Embedder) -> None:
    said = Document("D1", "I am allergic to nuts.", "message", session="s", speaker="Ana", at=ORIGIN)
    question = Question("1", "allergic", "made", frozenset({"D1"}))
    with filled(Haystack("made", (said,), (question,)), embedder) as stored:
        counts = stored.engine.counts()
        assert (counts.messages, counts.notes) == (1, 1)
        assert [stored.document(memory) for memory in _all(stored)] == ["D1", "D1"]
        assert stored.documents(_all(stored)) == ("D1",)
        # Without the turn, there is nothing left of it.
        with stored.without({"D1"}):
            assert stored.engine.recall("allergic", record=False).hits == ()
        assert stored.engine.recall("allergic", record=False).hits != ()


def test_a_store_fills_up_and_its_clock_stands_at_each_question(tmp_path: Path, embedder: Embedder) -> None:
    (dataset,) = load(write_folder(tmp_path / "home"))
    haystack = dataset.haystacks[0]
    ferry, early, violin, *_ = haystack.questions
    with open_haystack(haystack, Models.only(embedder)) as stored:
        stored.advance(early)
        # After two notes, and a day after the last of them.
        assert (stored.engine.counts().notes, stored.engine.counts().messages) == (2, 0)
        assert stored.clock() == datetime(2026, 1, 6, 9, tzinfo=UTC)
        stored.advance(ferry)
        assert stored.clock() == datetime(2026, 2, 1, tzinfo=UTC)
        assert stored.engine.counts().messages == 2
        # An entity counts for all of its observations.
        assert stored.canonical(violin.relevant) == stored.canonical({"o2"}) == {"entity:Mira"}
        found = stored.documents(hit.memory for hit in stored.engine.recall("violin", record=False).hits)
        assert "entity:Mira" in found
        # The corrected memory is retired, and each memory has its own time.
        by_document = {stored.document(memory): memory for memory in _all(stored)}
        assert by_document["n2"].superseded_by == by_document["n3"].id
        assert by_document["n3"].created_at == datetime(2026, 1, 7, 9, tzinfo=UTC)
        assert by_document["n3"].happened_at == datetime(2026, 1, 9, tzinfo=UTC)
        assert by_document["n1"].tags == ("house",)


def test_the_default_path_draws_notes_and_the_plain_one_does_not(tmp_path: Path, embedder: Embedder) -> None:
    (dataset,) = load(write_folder(tmp_path / "home"))
    contenders = (Contender("default", extract=True), Contender("plain"), Contender("same", RECOLLECT))
    answers = run(dataset, contenders, Models.only(embedder))
    # By when they are asked: q2 after two memories, then the others; q5 has no answer; then the other store.
    assert [question.category for question in answers.questions] == ["made"] * 5
    relevant = [row.relevant for row in answers.found["default"]]
    assert relevant == [{"n2"}, {"n3"}, {"entity:Mira"}, {"m1"}, {"n1"}]
    assert [row.must_not for row in answers.found["default"]][:2] == [frozenset(), {"n2"}]
    assert answers.found["plain"] == answers.found["same"]
    assert len(answers.found["default"]) == len(answers.found["plain"]) == 5
    assert set(answers.unlimited) == {"hits", "precision", "recall"}
    assert 0 < answers.unlimited["recall"] <= 1


def test_a_text_is_embedded_once_in_all_runs(tmp_path: Path, embedder: Embedder) -> None:
    texts = ["kettle", "harbour", "kettle"]
    first = Counting(embedder)
    with cached_vectors(first, tmp_path) as kept:
        made = kept.documents(texts)
        kept.query("kettle")
    # Once, though it came twice; a question is not a text.
    assert first.asked == ["kettle", "harbour", "? kettle"]
    second = Counting(embedder)
    with cached_vectors(second, tmp_path) as kept, cached_vectors(second, tmp_path) as beside:
        assert np.array_equal(
            kept.documents([*texts, "ferry"]), np.vstack([made, beside.documents(["ferry"])])
        )
        assert np.array_equal(kept.query("kettle"), embedder.query("kettle"))
    assert second.asked == ["ferry"]


def test_many_at_once_share_one_file(tmp_path: Path, embedder: Embedder) -> None:
    texts = [f"text {number}" for number in range(200)]

    def run(start: int) -> Vectors:
        # Each with a connection of its own, as processes have; all begin with another text.
        with cached_vectors(embedder, tmp_path / "new") as kept:
            turned = [*texts[start:], *texts[:start]]
            parts = [kept.documents(turned[at : at + 10]) for at in range(0, len(turned), 10)]
            return np.roll(np.concatenate(parts), start, axis=0)

    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(run, range(0, 200, 25)))
    expected = embedder.documents(texts)
    assert all(np.array_equal(each, expected) for each in found)
    with cached_vectors(Counting(embedder), tmp_path / "new") as kept:
        kept.documents(texts)
        assert kept.embedded == 0


def test_vectors_of_another_model_are_not_taken(tmp_path: Path) -> None:
    small, large = embedder_named("hashing@1-16"), embedder_named("hashing@1-32")
    assert small is not None
    assert large is not None
    with cached_vectors(small, tmp_path) as kept:
        kept.documents(["kettle"])
    with cached_vectors(large, tmp_path) as kept:
        assert np.array_equal(kept.documents(["kettle"]), large.documents(["kettle"]))
        assert kept.embedded == 1


def test_a_broken_file_of_vectors_says_what_to_do(tmp_path: Path, embedder: Embedder) -> None:
    (tmp_path / "vectors.db").write_bytes(b"not a database, by any means" * 100)
    with (
        pytest.raises(StoreUnavailable, match=r"remove vectors\.db.*--no-cache"),
        cached_vectors(embedder, tmp_path),
    ):
        pass


def test_without_a_folder_nothing_is_kept(tmp_path: Path, embedder: Embedder) -> None:
    with cached_vectors(embedder, None) as kept:
        assert np.array_equal(kept.documents(["kettle"]), embedder.documents(["kettle"]))
        assert kept.documents([]).shape == (0, embedder.model.dims)
    assert list(tmp_path.iterdir()) == []


def test_a_pair_is_read_once_and_every_place_has_its_score() -> None:
    reader, alone = Arbitrary(), Arbitrary()
    once = CachedReranker(reader)
    asked = ["ferry", "kettle", "ferry"]
    assert np.array_equal(once.scores("tea", asked), alone.scores("tea", asked))
    longer = ["cat", "ferry", "kettle"]
    assert np.array_equal(once.scores("tea", longer), alone.scores("tea", longer))
    assert reader.read == [("tea", "ferry"), ("tea", "kettle"), ("tea", "cat")]
    assert once.name == reader.name


def test_another_query_is_another_pair() -> None:
    reader, alone = Arbitrary(), Arbitrary()
    once = CachedReranker(reader)
    once.scores("tea", ["ferry"])
    assert np.array_equal(once.scores("coffee", ["ferry"]), alone.scores("coffee", ["ferry"]))
    assert reader.read == [("tea", "ferry"), ("coffee", "ferry")]


def test_nothing_to_read_is_not_asked_for() -> None:
    reader = Arbitrary()
    assert CachedReranker(reader).scores("tea", []).shape == (0,)
    assert reader.read == []


def test_tokens_are_kept_beside_vectors(tmp_path: Path) -> None:
    with cached_vectors(HashingEmbedder(), tmp_path) as kept:
        kept.documents(["green tea"])  # as a file from before tokens were kept
        assert not kept.gives_tokens
        assert kept.query_with_tokens("tea")[1] is None
    model = WordTokens()
    for _ in range(2):
        with cached_vectors(model, tmp_path) as kept:
            rows, signs = kept.documents_with_tokens(["green tea", "tea", "green tea"])
            vector, tokens = kept.query_with_tokens("some tea")
            assert kept.query("some tea").tobytes() == vector.tobytes()
    expected = WordTokens().documents_with_tokens(["green tea", "tea", "green tea"])
    assert np.array_equal(rows, expected[0])
    assert signs == expected[1]
    assert tokens is not None
    assert np.array_equal(tokens, HashingEmbedder().documents(["some", "tea"]))
    assert model.read == ["green tea", "tea", "some tea"]


def test_a_query_that_was_asked_without_tokens_gets_them_when_they_are_asked_for() -> None:
    with cached_vectors(WordTokens(), None) as kept:
        kept.query("tea")
        assert kept.query_with_tokens("tea")[1] is not None
