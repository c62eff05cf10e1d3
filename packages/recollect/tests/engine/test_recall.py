"""Recall by every profile, from the store to the answer."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from datetime import timedelta
from typing import TYPE_CHECKING

import numpy as np
import pytest
from semantic import search_semantic

from recollect.domain.changes import NewText, PutText
from recollect.domain.errors import InvalidInput
from recollect.domain.records import Filter, Kind, Scope
from recollect.ranking.candidates import Reason, recompute_score
from recollect.ranking.factors import microseconds
from recollect.ranking.profiles import LIMBIC, PROFILES, REVERIE
from recollect.search.candidates import Search
from recollect.search.recall import query_of
from recollect.search.rows import memories_by_id
from recollect.stores.sqlite.snapshot import SqliteSnapshot

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    import apsw
    from conftest import FixedClock, MakeEngine

    from recollect.domain.results import Answer
    from recollect.engine import Engine
    from recollect.stores.port import Snapshot
    from recollect.write.repository import Repository

DAY_US = 24 * 3600 * 1_000_000
every_profile = pytest.mark.parametrize("profile", PROFILES)
WORDS = ("tea", "leaf", "cup", "green", "pot", "kettle", "water", "sugar")


def garden(engine: Engine, count: int = 12) -> list[int]:
    """Create entities with overlapping words, some with a lower status, and return their ids."""
    made = engine.create_entities(
        [
            {
                "name": f"{WORDS[number % 8]} {number}",
                "entityType": "plant" if number % 2 else "thing",
                "observations": [" ".join(WORDS[: 1 + number % 5]), f"number {number}"],
                "status": "archived" if number % 7 == 3 else "active",
            }
            for number in range(count)
        ]
    )
    return [entity.id for entity in made.entities]


def ids(answer: Answer) -> list[int]:
    return [hit.memory.id for hit in answer.hits]


# The edges of a question


@every_profile
def test_an_empty_store_and_no_kind_answer_with_nothing(engine: Engine, profile: str) -> None:
    answer = engine.recall("green tea", profile=profile, explain=True)
    assert (answer.hits, answer.profile, answer.mode) == ((), profile, "words")
    garden(engine)
    assert engine.search("tea", kinds=[], profile=profile).hits == ()


@every_profile
@pytest.mark.parametrize("model", ["hashing", "none"])
@pytest.mark.parametrize(
    "query", ["", " ", "\0", "((((", "tea " * 2_500, "x" * 10_000, "how does " * 1_250, "🎉" * 10_000]
)
def test_no_query_is_too_short_long_or_strange(
    make_engine: MakeEngine, profile: str, model: str, query: str
) -> None:
    engine = make_engine(model=model)
    garden(engine)
    answer = engine.recall(query, profile=profile, explain=True)
    assert len(answer.hits) <= 10
    assert all(np.isfinite(hit.score) for hit in answer.hits)
    if query.startswith("tea"):
        assert "tea" in answer.hits[0].memory.name or "tea" in str(answer.hits[0].memory.observations)


@every_profile
def test_a_limit_of_none_at_all_and_one_larger_than_the_store(engine: Engine, profile: str) -> None:
    everything = garden(engine)
    assert engine.recall("green tea", limit=0, profile=profile).hits == ()
    whole = ids(engine.recall("green tea", limit=1_000, profile=profile))
    assert len(whole) == len(set(whole))
    if profile != "cognis":  # which drops what is too far in meaning and was not found by words
        assert set(whole) == set(everything)
    first = engine.recall("green tea", limit=1, profile=profile)
    assert len(first.hits) == 1


def test_a_limit_out_of_range_is_named(engine: Engine) -> None:
    for limit in (-1, 1_001):
        with pytest.raises(InvalidInput, match=f"0 to 1,000 hits, not {limit}"):
            engine.recall("tea", limit=limit)


def test_a_profile_is_a_name_or_a_value(engine: Engine) -> None:
    garden(engine)
    by_name = engine.search("tea", profile="reverie")
    assert engine.search("tea", profile=REVERIE) == by_name
    mine = replace(REVERIE, name="mine", steps=REVERIE.steps[:1] + REVERIE.steps[-2:])
    assert engine.search("tea", profile=mine).profile == "mine"
    with pytest.raises(InvalidInput, match="No profile named 'mood'; there are: recollect, limbic"):
        engine.search("tea", profile="mood")


# Hits


@every_profile
def test_answers_are_best_first_explained_and_the_same_when_asked_again(engine: Engine, profile: str) -> None:
    garden(engine)
    engine.create_entities([{"name": f"twin {number}", "observations": ["same"]} for number in range(4)])
    engine.recall("green tea")
    for query in ("green tea", "tea same", "kettle", "what is a pot of sugar", "ñ"):
        plain = engine.search(query, profile=profile, limit=20)
        hits = [(-hit.score, hit.memory.id) for hit in plain.hits]
        assert hits == sorted(hits)
        told = engine.search(query, profile=profile, limit=20, explain=True)
        assert engine.search(query, profile=profile, limit=20, explain=True) == told
        assert [replace(hit, reasons=()) for hit in told.hits] == list(plain.hits)
        for hit in told.hits:
            text = json.dumps([asdict(reason) for reason in hit.reasons], allow_nan=False)
            assert recompute_score(Reason(**one) for one in json.loads(text)) == hit.score
            assert hit.reasons[-1].score == hit.score


@every_profile
def test_every_kind_is_ranked_by_every_profile(
    engine: Engine, store: Repository, clock: FixedClock, profile: str
) -> None:
    garden(engine, 3)
    store.apply(
        [
            PutText(Scope(), NewText(Kind.NOTE, "tea is served at four")),
            PutText(Scope(), NewText(Kind.MESSAGE, "is there tea?", session="yesterday", speaker="Ada")),
        ],
        at=clock(),
    )
    engine.reindex()
    hits = engine.search("tea", profile=profile, limit=10).hits
    assert {hit.memory.kind for hit in hits} == set(Kind)
    message = next(hit for hit in hits if hit.memory.kind is Kind.MESSAGE)
    assert message.passage == 'Ada said, "is there tea?"'


@pytest.mark.parametrize("profile", ["recollect", "cognis"])
def test_the_query_itself_is_no_answer_but_a_note_that_says_the_same_is(
    engine: Engine, store: Repository, clock: FixedClock, profile: str
) -> None:
    """The engine's session is `test`; the same words of another session, or as a note, are no echo."""
    garden(engine, 3)

    def message_origins() -> set[tuple[Kind, str | None]]:
        hits = engine.search("where is the kettle", profile=profile, limit=50).hits
        return {(hit.memory.kind, hit.memory.session) for hit in hits if hit.memory.text}

    for session in ("test", "another"):
        put = PutText(Scope(), NewText(Kind.MESSAGE, "where is the kettle", session=session))
        store.apply([put], at=clock())
    engine.reindex()
    assert message_origins() == {(Kind.MESSAGE, "another")}
    store.apply([PutText(Scope(), NewText(Kind.NOTE, "where is the kettle"))], at=clock())
    engine.reindex()
    # Equal texts are shown once: whichever ranks higher of the note and the other session's message.
    assert len(message_origins()) == 1
    assert (Kind.MESSAGE, "test") not in message_origins()


@every_profile
def test_each_hit_says_where_each_search_put_it(engine: Engine, profile: str) -> None:
    garden(engine)
    hits = engine.search("green tea kettle", profile=profile, limit=30).hits
    vector = engine._services.embedder_named("hashing")
    assert vector is not None
    index = "stemmed" if profile in {"cognis", "recollect"} else "plain"
    with engine._services.store.read() as view:
        near = Search(view, Filter()).by_meaning(vector.query("green tea kettle"), 100)
        held = Search(view, Filter()).by_words("green tea kettle", 100, index)  # type: ignore[arg-type]
    for source, listed in (("meaning", near), ("words", held)):
        expected = {found.id: (rank, found.score) for rank, found in enumerate(listed, 1)}
        told = {
            hit.memory.id: (hit.places[source].rank, hit.places[source].score)
            for hit in hits
            if source in hit.places
        }
        assert told
        assert told == {id_: expected[id_] for id_ in told}


# Branches


@every_profile
def test_words_alone_answer_where_there_is_no_vector(make_engine: MakeEngine, profile: str) -> None:
    engine = make_engine(model="none")
    garden(engine)
    answer = engine.search("kettle", profile=profile, explain=True)
    assert {hit.memory.name.split()[0] for hit in answer.hits} == {"kettle"}
    assert answer.mode == "words"
    assert answer.note is not None


@every_profile
def test_meaning_alone_answers_where_no_word_is_shared(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, profile: str
) -> None:
    garden(engine)
    monkeypatch.setattr("recollect.search.candidates.Search.by_words", lambda *_: [])
    answer = engine.search("kettle", profile=profile, explain=True)
    assert answer.hits[0].memory.name.startswith("kettle")
    assert answer.mode == "meaning"
    assert all(set(hit.places) == {"meaning"} for hit in answer.hits)


# Scopes


@every_profile
def test_another_owners_memories_and_habits_change_no_score(engine: Engine, profile: str) -> None:
    garden(engine)
    engine.recall("green tea")
    engine.graph.open_nodes(["tea 0", "kettle 5"])
    queries = ["green tea", "kettle water", "what is sugar", "number"]

    def ask_all() -> list[Answer]:
        return [engine.search(query, profile=profile, explain=True) for query in queries]

    before = ask_all()
    for other in (engine.scoped("someone"), engine.scoped("", "an agent of mine")):
        garden(other, 60)
        for query in queries:
            other.recall(query)
            search_semantic(other, query)
        other.graph.open_nodes(["tea 0", "kettle 5"])
        other.graph.delete_entities(["sugar 7"])
    assert ask_all() == before


# Reverie before the first dream


def test_the_published_profiles_show_once_what_differs_in_case_accents_or_marks(engine: Engine) -> None:
    texts = ("Tea: black, no sugar.", "Téa - BLACK, no sugar", "tea black; no sugar!", "tea black no cream")
    told = [engine.remember(text).id for text in texts]
    assert len(set(told)) == 4  # texts are stored unchanged
    for profile in ("mnemosyne", "cognis"):
        shown = [hit.memory.id for hit in engine.search("tea black no sugar", profile=profile).hits]
        assert len(set(shown) & set(told[:3])) == 1, profile
        assert told[3] in shown


def test_a_fresh_store_under_reverie_is_rrf_with_time_decay_to_the_last_bit(
    engine: Engine, clock: FixedClock
) -> None:
    for number in range(40):
        clock.tick(number * 40_000)
        engine.create_entities(
            [{"name": f"{WORDS[number % 8]} {number}", "observations": [" ".join(WORDS[: 1 + number % 6])]}]
        )
    clock.tick(-200 * 3600)  # the last ones lie ahead, and are of age 0
    model = engine._services.embedder_named("hashing")
    assert model is not None
    for query in ("green tea", "kettle water sugar", "pot"):
        with engine._services.store.read() as view:
            near = [found.id for found in Search(view, Filter()).by_meaning(model.query(query), 100)]
            held = [found.id for found in Search(view, Filter()).by_words(query, 100)]
            memories = memories_by_id(view, sorted({*near, *held}))
        expected: dict[int, float] = {}
        for id_, memory in memories.items():
            fused = 0.0
            for ranking in (near, held):
                if id_ in ranking:
                    fused += 1 / (30 + ranking.index(id_) + 1)
            age = max(0, microseconds(clock()) - microseconds(memory.updated_at)) / DAY_US
            expected[id_] = fused * (1 + 0.3 * float(np.exp(np.array([-age / 30]))[0]))
        order = sorted(expected.items(), key=lambda pair: (-pair[1], pair[0]))[:10]
        hits = engine.recall(query, profile="reverie").hits  # recording, too, changes nothing for the next
        assert [(hit.memory.id, hit.score) for hit in hits] == order


def test_recalling_leaves_reverie_as_it_is(engine: Engine) -> None:
    garden(engine)
    before = engine.search("green tea", profile="reverie", explain=True)
    for query in ("green tea", "kettle", "green tea"):
        engine.recall(query)
        search_semantic(engine, query)
    assert engine.search("green tea", profile="reverie", explain=True) == before


# How much is asked of the store


def statements(store: Repository, ask: Callable[[], object]) -> int:
    """How many statements a call runs on the connection that reads."""
    run: list[str] = []

    def traced(cursor: apsw.Cursor, sql: str, bindings: object) -> bool:
        run.append(sql)
        return True

    with store.read() as view:
        assert isinstance(view, SqliteSnapshot)
        connection = view.connection
    connection.exec_trace = traced
    try:
        ask()
    finally:
        connection.exec_trace = None
    assert run
    return len(run)


@pytest.mark.sqlite
@every_profile
@pytest.mark.parametrize("explain", [False, True])
def test_candidates_are_loaded_in_as_many_statements_for_5_hits_as_for_200(
    make_engine: MakeEngine, store: Repository, profile: str, explain: bool
) -> None:
    engine = make_engine()
    garden(engine, 220)
    engine.recall("tea", limit=200, profile=profile)  # so that there are signals, and vectors in memory
    found: dict[int, int] = {}
    for limit in (5, 200):

        def ask(limit: int = limit) -> None:
            hits = engine.search("tea leaf", limit=limit, profile=profile, explain=explain).hits
            assert len(hits) == limit

        found[limit] = statements(store, ask)
    # Our own profile also reads the positions of the query's words.
    assert found[5] == found[200] <= (60 if profile == "recollect" else 40)


@pytest.mark.sqlite
def test_search_semantic_too_asks_a_constant_number(engine: Engine, store: Repository) -> None:
    garden(engine, 220)
    search_semantic(engine, "tea", 200)
    engine._services.usage.settle(None)
    few = statements(store, lambda: search_semantic(engine, "tea leaf", 5, record=False))
    many = statements(store, lambda: search_semantic(engine, "tea leaf", 200, record=False))
    assert few == many


# The law of habit, in the real pipeline


@pytest.mark.ranking
@pytest.mark.parametrize("opened", [1, 2, 17])
def test_opening_a_memory_never_lowers_its_own_limbic_score(
    engine: Engine, clock: FixedClock, opened: int
) -> None:
    """All else equal: the same query at the same time, nothing else opened, the same candidates."""
    garden(engine)
    for name in ("tea 0", "leaf 1", "tea 0", "green 3"):
        engine.graph.open_nodes([name])
        clock.tick(50_000)
    everything = engine.search("tea leaf", profile=LIMBIC, limit=12).hits

    def limbic() -> dict[str, float]:
        hits = engine.search("tea leaf", profile=LIMBIC, limit=12).hits
        assert {hit.memory.id for hit in hits} == {hit.memory.id for hit in everything}
        return {hit.memory.name: hit.scores["limbic_score"] for hit in hits}

    for hit in everything:
        name, before = hit.memory.name, limbic()
        for _ in range(opened):
            engine.graph.open_nodes([name])
        after = limbic()
        slack = 1 - 1e-12  # for rounding
        assert after[name] >= before[name] * slack
        assert all(after[other] * slack <= before[other] for other in before if other != name)


@every_profile
def test_a_recall_reads_the_store_once(
    engine: Engine, store: Repository, monkeypatch: pytest.MonkeyPatch, profile: str
) -> None:
    garden(engine)
    engine.search("kettle")  # from then on it is known which model is in use
    reads = []
    read = store.read

    def counting_read(within: Scope | None = None) -> AbstractContextManager[Snapshot]:
        reads.append(profile)
        return read(within)

    monkeypatch.setattr(store, "read", counting_read)
    assert engine.search("tea leaf", profile=profile, explain=True).hits
    assert len(reads) == 1


def test_a_long_query_is_cut_and_says_so_and_a_longer_one_is_refused(make_engine: MakeEngine) -> None:
    engine = make_engine()
    wanted = engine.remember("The zeppelin is in the shed")
    noise = " ".join(f"word{number}" for number in range(300))
    answer = engine.recall(f"{noise} zeppelin", limit=1)
    assert [hit.memory.id for hit in answer.hits] == [wanted.id]
    assert "only its 256 rarest words were searched for" in (answer.note or "")
    assert "of its first 2,000 characters" in (answer.note or "")
    assert engine.recall("Where is the zeppelin?", limit=1).note is None
    with pytest.raises(InvalidInput, match="has 20,001 characters, and at most 20,000 are allowed"):
        engine.recall("x" * 20_001)
    # A message of a conversation may be longer: its beginning is asked for.
    assert engine.context([{"role": "user", "content": "zeppelin " * 5_000}]).query.startswith("zeppelin")


def test_a_query_is_asked_at_one_moment_though_the_clock_runs_on(engine: Engine, clock: FixedClock) -> None:
    later = iter(clock() + timedelta(minutes=minute) for minute in range(9))
    asked = query_of(replace(engine._services, clock=lambda: next(later)), "tea", LIMBIC)
    assert asked.where.expired_by == asked.now == microseconds(clock())
