"""Recording what a caller was shown: exactly that, after the answer, without delaying it."""

from __future__ import annotations

import logging
import threading
import time
from datetime import UTC, datetime, timedelta, timezone
from heapq import heappush
from typing import TYPE_CHECKING, Any

import apsw
import pytest
from conftest import PATIENCE_SECONDS
from semantic import search_semantic

from recollect.domain.changes import RecordUsage
from recollect.domain.errors import StoreUnavailable
from recollect.domain.records import Scope
from recollect.domain.tables import TABLES
from recollect.engine import Engine
from recollect.models.embedders import embedder_named
from recollect.ranking.candidates import NEVER
from recollect.ranking.factors import microseconds
from recollect.ranking.profiles import PROFILES
from recollect.search.entities import entities_named
from recollect.search.facts import ranking_facts
from recollect.search.recording import UsageRecorder
from recollect.search.rows import MemoryRows, scope_id
from recollect.search.texts import store_counts
from recollect.services import Services
from recollect.stores.sqlite.store import SqliteStore
from recollect.write import repository as worker
from recollect.write.repository import Repository

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from conftest import FixedClock

    from recollect.domain.changes import Change, Receipt

Rows = list[tuple[Any, ...]]


def teas(engine: Engine, count: int = 6) -> list[int]:
    """Entities that all hold the word tea; their ids."""
    made = engine.create_entities(
        [{"name": f"tea {number}", "observations": [f"tea {'leaf ' * number}"]} for number in range(count)]
    )
    return [entity.id for entity in made.entities]


def rows(engine: Engine, question: str) -> Rows:
    """Rows of the store, after all pending writes."""
    engine._services.usage.settle(None)
    with engine._services.store.read() as view:
        return list(view.connection.execute(question))  # type: ignore[attr-defined]  # its own SQL


def counts(engine: Engine) -> dict[int, int]:
    return dict(rows(engine, "SELECT memory_id, count FROM usage ORDER BY memory_id"))


def pairs(engine: Engine) -> dict[tuple[int, int], int]:
    found = rows(engine, "SELECT first_id, second_id, count FROM cooccurrence")
    return {(first, second): count for first, second, count in found}


def dump(engine: Engine) -> dict[str, Rows]:
    """Every row of every table."""
    return {name: sorted(rows(engine, f"SELECT * FROM {name}"), key=repr) for name in TABLES}


def asked_by_recall(engine: Engine, record: bool) -> list[int]:
    return [hit.memory.id for hit in engine.recall("tea leaf", limit=3, record=record).hits]


def asked_by_search_semantic(engine: Engine, record: bool) -> list[int]:
    answer = search_semantic(engine, "tea leaf", 3, record=record)
    found = engine.graph.open_nodes([result["name"] for result in answer["results"]], record=False)
    return [entity.id for entity in found.entities]


def asked_by_open_nodes(engine: Engine, record: bool) -> list[int]:
    found = engine.graph.open_nodes(["tea 2", "tea 0", "no such", "tea 4"], record=record)
    return [entity.id for entity in found.entities]


every_way = pytest.mark.parametrize(
    "ask", [asked_by_recall, asked_by_search_semantic, asked_by_open_nodes], ids=lambda ask: ask.__name__
)


# Recorded hits


@every_way
def test_what_the_caller_saw_is_counted_paired_and_kept_in_order_and_nothing_else(
    engine: Engine, clock: FixedClock, ask: Callable[[Engine, bool], list[int]]
) -> None:
    ids = teas(engine)
    for times in (1, 2):
        shown = ask(engine, True)
        assert len(shown) == 3 < len(ids)
        assert counts(engine) == dict.fromkeys(sorted(shown), times)
        assert rows(engine, "SELECT DISTINCT last_at FROM usage") == [(microseconds(clock()),)]
        # The lower id comes first in a pair.
        first, second, third = sorted(shown)
        assert pairs(engine) == dict.fromkeys([(first, second), (first, third), (second, third)], times)
        kept = (
            "SELECT at, session, memory_id FROM recall JOIN recall_hit ON recall_id = id ORDER BY id, place"
        )
        assert rows(engine, kept)[-3:] == [(microseconds(clock()), "test", id_) for id_ in shown]
        clock.tick(3600)


@pytest.mark.sqlite
@every_way
def test_without_recording_the_store_stays_as_it_is_to_the_last_bit(
    engine: Engine, store: Repository, ask: Callable[[Engine, bool], list[int]]
) -> None:
    teas(engine)
    ask(engine, True)

    def files() -> dict[str, bytes]:
        names = (file_of(store).name, f"{file_of(store).name}-wal")
        return {name: file_of(store).with_name(name).read_bytes() for name in names}

    before, on_disk = dump(engine), files()
    assert before["usage"]
    ask(engine, False)
    for profile in PROFILES:
        engine.search("tea leaf", profile=profile, explain=True)
        engine.why_not("tea leaf", "tea 1", limit=1, profile=profile)
    assert dump(engine) == before
    assert files() == on_disk


def test_one_entity_named_twice_was_seen_once_and_no_hits_note_nothing(engine: Engine) -> None:
    engine.recall("tea", limit=10)
    first, *_ = teas(engine, 1)
    engine.recall("tea", limit=0)
    engine.recall(" ")
    engine.graph.open_nodes(["no such"])
    assert rows(engine, "SELECT * FROM recall") == []
    engine.graph.open_nodes(["tea 0", "tea 0"])
    engine.graph.open_nodes(["TEA 0", "tea 0"])
    assert counts(engine) == {first: 2}
    assert pairs(engine) == {}


def test_days_are_counted_once_each_and_turn_at_midnight_utc(engine: Engine, clock: FixedClock) -> None:
    (tea,) = teas(engine, 1)

    def use() -> tuple[list[int], ...]:
        engine._services.usage.settle(None)
        with engine._services.store.read() as view:
            facts = ranking_facts(MemoryRows(view), [tea], "", None, 0)
        return facts.access_count.tolist(), facts.access_days.tolist(), facts.last_access.tolist()

    assert use() == ([0], [0], [NEVER])
    # two on the first of March, one after midnight, and a late report of the first
    for hour, minute, day in ((22, 59, 1), (23, 59, 1), (0, 1, 2), (15, 30, 1)):
        clock.now = datetime(2026, 3, day, hour, minute, tzinfo=UTC)
        engine.graph.open_nodes(["tea 0"])
    # Just after midnight in Madrid it is still the second of March in UTC.
    clock.now = datetime(2026, 3, 3, 0, 45, tzinfo=timezone(timedelta(hours=1)))
    engine.graph.open_nodes(["tea 0"])
    # the last access is the latest time, not the latest call
    assert use() == ([5], [2], [microseconds(datetime(2026, 3, 2, 23, 45, tzinfo=UTC))])


@pytest.mark.sqlite
def test_memories_of_another_scope_are_never_counted(engine: Engine) -> None:
    ids = teas(engine)
    other = engine.scoped("someone else")
    teas(other, 3)
    before = dump(engine)
    engine._services.store.apply(
        [RecordUsage(Scope("someone else"), tuple(ids), "test")], at=engine._services.clock()
    )
    assert dump(engine) == before
    other.recall("tea", limit=10)
    assert not set(counts(engine)) & set(ids)


# Effect on later recalls


def test_the_next_answer_reads_what_the_former_left(engine: Engine, clock: FixedClock) -> None:
    teas(engine)
    for turn in range(1, 4):
        clock.tick(60)
        engine.graph.open_nodes(["tea 3"])
        hit = next(hit for hit in engine.search("tea", profile="limbic").hits if hit.memory.name == "tea 3")
        # alone accessed, so its count is the highest: importance 1 with no degree and one day
        assert hit.scores["importance"] == 1.0
        assert hit.scores["temporal_factor"] == 1.0  # accessed just now
        assert counts(engine) == {hit.memory.id: turn}


def test_ended_relations_and_those_to_the_forgotten_are_no_degree(engine: Engine, clock: FixedClock) -> None:
    engine.create_entities([{"name": name} for name in ("hub", "a", "b", "c", "d")])
    engine.graph.create_relations(
        [{"from": "hub", "relationType": "knows", "to": name} for name in ("a", "b", "c")]
        + [{"from": "d", "relationType": "knows", "to": "hub"}]
    )

    def degree() -> int:
        with engine._services.store.read() as view:
            hub = entities_named(view, scope_id(view, Scope()), ["hub"])["hub"]
            return int(ranking_facts(MemoryRows(view), [hub], "", None, microseconds(clock())).degree[0])

    assert degree() == 4
    clock.tick()
    engine.graph.end_relation("hub", "knows", "a")
    assert degree() == 3
    (forgotten,) = engine.graph.delete_entities(["b"])
    assert degree() == 2
    engine.graph.delete_relations([{"from": "d", "relationType": "knows", "to": "hub"}])
    assert degree() == 1
    engine.restore(forgotten)
    assert degree() == 2


# When it cannot be written


def file_of(repository: Repository) -> Path:
    assert isinstance(repository.store, SqliteStore)
    return repository.store.path


class Troubled(Repository):
    """A store whose notes of use fail, or wait at a gate; all else goes through."""

    def __init__(self, repository: Repository) -> None:
        super().__init__(repository.store)
        self.error: Exception | None = None
        self.gate: threading.Event | None = None
        self.was_tried = threading.Event()

    def apply(self, changes: Sequence[Change], **options: Any) -> Receipt:
        if any(isinstance(change, RecordUsage) for change in changes):
            self.was_tried.set()
            if self.gate is not None:
                assert self.gate.wait(PATIENCE_SECONDS)
            if self.error is not None:
                raise self.error
        return super().apply(changes, **options)


@pytest.fixture
def troubled(store: Repository) -> Troubled:
    return Troubled(store)


@pytest.fixture
def engine_in_trouble(troubled: Troubled, clock: FixedClock) -> Engine:
    return Engine(
        Services(troubled, clock, embedder_named, "hashing", Scope(), UsageRecorder(troubled, "test"))
    )


@pytest.mark.parametrize("error", [StoreUnavailable("The disk is full."), RuntimeError("a bug of ours")])
def test_a_failure_to_note_is_logged_and_counted_and_reaches_no_caller(
    engine_in_trouble: Engine, troubled: Troubled, error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    engine = engine_in_trouble
    teas(engine)
    troubled.error = error
    with caplog.at_level(logging.WARNING):
        shown = [hit.memory.id for hit in engine.recall("tea", limit=10).hits]
        assert search_semantic(engine, "tea")["results"]
        assert engine.graph.open_nodes(["tea 0"]).entities
        assert counts(engine) == {}
    usage = engine._services.usage
    assert (usage.failures, usage.last_failure) == (3, str(error))
    assert len([record for record in caplog.records if str(error) in record.getMessage()]) == 3
    troubled.error = None
    engine.recall("tea", limit=10)
    assert set(counts(engine)) == set(shown)
    assert usage.failures == 3


def test_a_locked_file_costs_the_note_and_not_the_answer(
    tmp_path: Path, clock: FixedClock, caplog: pytest.LogCaptureFixture
) -> None:
    store = Repository(SqliteStore(tmp_path / "memory.db", busy_ms=50))
    engine = Engine(Services(store, clock, embedder_named, "hashing", Scope(), UsageRecorder(store, "test")))
    with engine:
        teas(engine)
        other = apsw.Connection(str(file_of(store)))
        other.execute("BEGIN IMMEDIATE")
        with caplog.at_level(logging.WARNING):
            assert len(engine.recall("tea", limit=10).hits) == 6
            assert counts(engine) == {}
        assert engine._services.usage.failures == 1
        assert "locked" in (engine._services.usage.last_failure or "")
        assert "could not be recorded" in caplog.text
        other.execute("ROLLBACK")
        other.close()
        engine.recall("tea", limit=10)
        assert len(counts(engine)) == 6


def test_no_answer_waits_for_its_own_note_and_none_waits_long_for_anothers(
    engine_in_trouble: Engine, troubled: Troubled, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = engine_in_trouble
    teas(engine)
    troubled.gate = threading.Event()
    waited: list[float | None] = []
    settle = engine._services.usage.settle

    def recording_settle(at_most_seconds: float | None) -> None:
        waited.append(at_most_seconds)
        settle(at_most_seconds)

    monkeypatch.setattr(engine._services.usage, "settle", recording_settle)
    monkeypatch.setattr(engine._services.usage, "patience_seconds", 0.01)
    # The gate is shut: were any of them to wait for the writing, it would never return.
    assert len(engine.recall("tea", limit=10).hits) == 6
    assert len(engine.recall("tea", limit=10).hits) == 6
    assert waited == []  # how often something was seen does not rank it
    assert len(engine.recall("tea", limit=10, profile="limbic").hits) == 6
    assert search_semantic(engine, "tea")["results"]
    assert waited == [0.01] * 2
    troubled.gate.set()
    settle(None)
    assert set(counts(engine).values()) == {4}


def test_settling_gives_up_after_a_while(engine_in_trouble: Engine, troubled: Troubled) -> None:
    teas(engine_in_trouble)
    troubled.gate = threading.Event()
    engine_in_trouble.recall("tea", limit=10)
    engine_in_trouble._services.usage.settle(at_most_seconds=0.01)  # returns
    troubled.gate.set()
    engine_in_trouble._services.usage.settle(None)
    assert len(counts(engine_in_trouble)) == 6


@pytest.mark.sqlite
def test_closing_writes_what_is_left(
    engine_in_trouble: Engine, troubled: Troubled, clock: FixedClock
) -> None:
    ids = teas(engine_in_trouble)
    troubled.gate = threading.Event()
    for _ in range(5):
        engine_in_trouble.graph.open_nodes([f"tea {number}" for number in range(6)])
    opening = threading.Timer(0.05, troubled.gate.set)
    opening.start()
    engine_in_trouble.close()
    opening.join()
    store = Repository(SqliteStore(file_of(troubled)))
    with store.read() as view:
        assert ranking_facts(MemoryRows(view), ids, "", None, 0).access_count.tolist() == [5] * 6
    store.close()


def test_closing_leaves_notes_behind_that_would_take_too_long_and_says_how_many(
    troubled: Troubled, clock: FixedClock, caplog: pytest.LogCaptureFixture
) -> None:
    usage = UsageRecorder(troubled, "test", closing_seconds=0.0)
    engine = Engine(Services(troubled, clock, embedder_named, "hashing", Scope(), usage))
    (tea,) = teas(engine, 1)
    troubled.gate = threading.Event()
    for _ in range(3):
        usage.record(Scope(), [tea], clock())
    assert troubled.was_tried.wait(PATIENCE_SECONDS)
    closing = threading.Thread(target=usage.close, daemon=True)
    with caplog.at_level(logging.WARNING):
        closing.start()
        # The first is on its way to the store, which may take as long as it does.
        while usage.failures == 0 and closing.is_alive():
            time.sleep(0.01)
        troubled.gate.set()
        closing.join(PATIENCE_SECONDS)
    assert not closing.is_alive()
    assert "2 records were still queued" in caplog.text
    assert counts(engine) == {tea: 1}
    assert rows(engine, "SELECT value FROM setting WHERE name = 'unnoted'") == [("2",)]


def test_closing_twice_and_closing_what_never_noted_anything_are_fine(store: Repository) -> None:
    usage = UsageRecorder(store, "test")
    usage.close()
    usage.close()
    usage.record(Scope(), [1], datetime(2026, 3, 1, tzinfo=UTC))
    usage.settle(None)  # must not wait forever
    assert usage.failures == 1


def test_answers_of_many_threads_are_all_noted(engine: Engine, clock: FixedClock) -> None:
    ids = teas(engine)
    threads, turns = 8, 10

    def ask() -> None:
        for turn in range(turns):
            if turn % 2:
                engine.recall("tea", limit=10)
            else:
                engine.graph.open_nodes([f"tea {number}" for number in range(6)])

    asking = [threading.Thread(target=ask) for _ in range(threads)]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join()
    assert counts(engine) == dict.fromkeys(ids, threads * turns)
    assert set(pairs(engine).values()) == {threads * turns}
    assert engine._services.usage.failures == 0
    assert rows(engine, "SELECT count(*) FROM recall") == [(threads * turns,)]


def test_noting_while_another_closes_never_hangs_and_loses_nothing_unsaid(
    store: Repository, clock: FixedClock
) -> None:
    at = clock()
    made = Engine(Services(store, clock, embedder_named, "hashing", Scope(), UsageRecorder(store, "test")))
    (tea,) = teas(made, 1)
    noted = refused = 0
    for _ in range(30):
        usage = UsageRecorder(store, "test")
        start = threading.Barrier(3)

        def note(usage: UsageRecorder = usage, start: threading.Barrier = start) -> None:
            start.wait()
            for _ in range(5):
                usage.record(Scope(), [tea], at)

        def close(usage: UsageRecorder = usage, start: threading.Barrier = start) -> None:
            start.wait()
            usage.close()

        threads = [threading.Thread(target=work, daemon=True) for work in (note, close)]
        for thread in threads:
            thread.start()
        start.wait()
        for thread in threads:
            thread.join(PATIENCE_SECONDS)
            assert not thread.is_alive()
        usage.settle(None)
        noted += 5 - usage.failures
        refused += usage.failures
    assert noted + refused == 150
    assert counts(made).get(tea, 0) == noted


def test_what_is_noted_at_the_moment_of_closing_is_written(
    store: Repository, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Closing begins just as a note is on its way into the queue, and must not end the queue before it."""
    made = Engine(Services(store, clock, embedder_named, "hashing", Scope(), UsageRecorder(store, "test")))
    (tea,) = teas(made, 1)
    usage = UsageRecorder(store, "test")
    closing = threading.Thread(target=usage.close, daemon=True)

    def interrupted(queue: list[Any], job: Any) -> None:
        closing.start()
        closing.join(0.2)  # times out if recording and closing share a lock
        heappush(queue, job)

    monkeypatch.setattr(worker, "heappush", interrupted)
    usage.record(Scope(), [tea], clock())
    closing.join(PATIENCE_SECONDS)
    assert not closing.is_alive()
    monkeypatch.undo()
    assert (counts(made), usage.failures) == ({tea: 1}, 0)


def test_the_store_learns_how_many_answers_it_does_not_know_of(tmp_path: Path, clock: FixedClock) -> None:
    store = Repository(SqliteStore(tmp_path / "memory.db", busy_ms=50))
    engine = Engine(Services(store, clock, embedder_named, "hashing", Scope(), UsageRecorder(store, "test")))
    with engine:
        teas(engine)
        other = apsw.Connection(str(file_of(store)))
        other.execute("BEGIN IMMEDIATE")
        engine.recall("tea", limit=10)
        engine._services.usage.settle(None)
        assert engine.counts().unnoted == 0
        other.execute("ROLLBACK")
        other.close()
    # Closing wrote it, so another process can read it.
    again = Repository(SqliteStore(tmp_path / "memory.db"))
    with again.read() as view:
        assert store_counts(view).unnoted == 1
    again.close()


@pytest.mark.sqlite
def test_what_is_missed_while_another_answer_is_noted_is_told_with_the_next(
    store: Repository, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = UsageRecorder(store, "test", PATIENCE_SECONDS)
    engine = Engine(Services(store, clock, embedder_named, "hashing", Scope(), usage))
    id_ = engine.remember("green tea").id
    apply = Repository.apply
    meanwhile = iter(["one was missed meanwhile"])

    def interrupted(store: Repository, changes: Sequence[Change], **options: Any) -> Receipt:
        for why in meanwhile:
            usage._fail(why)
        return apply(store, changes, **options)

    monkeypatch.setattr(Repository, "apply", interrupted)
    for _ in range(2):
        engine.get(id_, record=True)
        usage.settle(None)
    assert engine.counts().unnoted == 1
    engine.close()
