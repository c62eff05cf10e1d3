"""The server ends a reader's connection: the read continues if nothing has changed, or else fails."""

from __future__ import annotations

import inspect
from contextlib import closing
from typing import TYPE_CHECKING

import psycopg
import pytest
from conftest import FixedClock, engine_of

from recollect.admin import Internals, Upkeep
from recollect.domain.errors import StoreUnavailable
from recollect.domain.records import Scope
from recollect.dreams.dreaming import Dreams
from recollect.engine import Engine
from recollect.memories.browse import Browse
from recollect.memories.graph import KnowledgeGraph
from recollect.memories.sessions import Sessions
from recollect.services import retry_after_failover
from recollect.stores.url import parse_store_url
from recollect.tuning.tuning import Tuning
from recollect.write.repository import Repository
from recollect_postgres.snapshot import PostgresSnapshot
from recollect_postgres.store import PostgresStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from postgres_stores import PostgresStores

    from recollect.stores.port import Snapshot


@pytest.fixture
def url(postgres: PostgresStores) -> str:
    return postgres.database()


@pytest.fixture
def store(url: str) -> Iterator[Repository]:
    with closing(Repository(PostgresStore(parse_store_url(url)))) as store:
        _write(store, "Here before")
        yield store


def _write(store: Repository, text: str) -> None:
    engine_of(store, FixedClock(), model="none").remember(text)


def _texts(view: Snapshot) -> list[object]:
    return [text for (text,) in view.rows("memory", ("text",))]


def _end_connections(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        ended = connection.execute(
            "SELECT count(pg_terminate_backend(pid, 10000)) FROM pg_stat_activity "
            "WHERE datname = current_database() AND application_name = 'recollect'"
        ).fetchone()
    assert ended is not None
    assert ended[0] >= 1


def test_a_read_continues_if_nothing_was_written_since(url: str, store: Repository) -> None:
    with store.read(Scope()) as view:
        assert _texts(view) == ["Here before"]
        _end_connections(url)
        assert _texts(view) == ["Here before"]
    # Readers that use the whole pool do not wait for each other's broken connections.
    with (
        closing(Repository(PostgresStore(parse_store_url(f"{url}?pool=2")))) as small,
        small.read(Scope()) as one,
        small.read(Scope()) as other,
    ):
        assert _texts(one) == _texts(other) == ["Here before"]
        _end_connections(url)
        assert _texts(one) == _texts(other) == ["Here before"]
    # A connection that ended while it was idle is replaced.
    _write(store, "Written on a new one")
    _end_connections(url)
    with store.read(Scope()) as view:
        assert _texts(view) == ["Here before", "Written on a new one"]


def test_a_read_that_would_see_other_data_fails_and_can_be_repeated(
    url: str, store: Repository, postgres: PostgresStores
) -> None:
    answers: list[list[object]] = []

    def question() -> list[object]:
        with store.read(Scope()) as view:
            answers.append(_texts(view))
            if len(answers) == 1:
                with closing(Repository(PostgresStore(parse_store_url(url)))) as other:
                    _write(other, "Here since")
                _end_connections(url)
            return _texts(view)

    with pytest.raises(StoreUnavailable, match="Try again") as raised:
        question()
    assert raised.value.ask_again
    answers.clear()
    assert retry_after_failover(question)() == ["Here before", "Here since"]
    assert len(answers) == 2


FACADES = (Engine, KnowledgeGraph, Sessions, Dreams, Tuning, Upkeep, Browse, Internals)
WRITES: dict[type[object], str] = {
    Engine: "create_entities remember remember_many add_messages update supersede record_shown feedback "
    "forget restore purge dream reindex",
    KnowledgeGraph: "add_observations create_relations end_relation delete_entities delete_observations "
    "delete_relations set_status restore_observation",
    Sessions: "extract forget",
    Dreams: "undo",
    Tuning: "run set reset rollback empty_log",
    Upkeep: "repair execute_split undo_split add_reflection",
    Internals: "embed_pending embed_in_background forget_all",
}
# Methods without a retry: some call another method, some do not read the store, and some must not run twice.
# A part of an export may already be consumed, and a check of the store must report the failure.
OTHERS: dict[type[object], str] = {
    Engine: "search close scoped",
    Upkeep: "backup verify",
    Internals: "now expecting links dreams_undone_with",
}


@pytest.mark.parametrize("facade", FACADES)
def test_methods_that_only_read_are_retried(facade: type[object]) -> None:
    methods = {
        name: method
        for name, method in vars(facade).items()
        if inspect.isfunction(method) and not name.startswith("_")
    }
    without_retry = {name for name, method in methods.items() if not hasattr(method, "__wrapped__")}
    expected = {*WRITES.get(facade, "").split(), *OTHERS.get(facade, "").split()}
    assert without_retry == expected


@pytest.mark.parametrize(
    "question",
    [
        lambda engine: engine.graph.read_graph(),
        lambda engine: engine.graph.open_nodes(["tea"]),
        lambda engine: engine.browse.page(),
        lambda engine: Internals(engine).existing_names(name for name in ("tea", "coffee")),
        lambda engine: engine.counts().notes,
        lambda engine: engine.get_many(iter([1, 2])),
        lambda engine: engine.history(1),
        lambda engine: engine.search("tea").hits,
        lambda engine: engine.why_not("tea", 1),
        lambda engine: engine.context("tea").memories,
        lambda engine: engine.upkeep.consolidation_report(),
        lambda engine: Internals(engine).links(1),
        lambda engine: engine.tuning.analyze(),
    ],
)
def test_an_interrupted_read_is_repeated_on_the_newer_data(
    url: str, store: Repository, monkeypatch: pytest.MonkeyPatch, question: Callable[[Engine], object]
) -> None:
    engine = engine_of(store, FixedClock(), model="none")
    engine.create_entities([{"name": "tea", "observations": ["green"]}])
    run_query = PostgresSnapshot._run_query
    is_due = True

    def cut_before_second_query(snapshot: PostgresSnapshot, ask: Callable[[], object]) -> object:
        nonlocal is_due
        if is_due and snapshot.has_answered:
            is_due = False
            with closing(Repository(PostgresStore(parse_store_url(url)))) as other:
                _write(other, "More about tea")
            _end_connections(url)
        return run_query(snapshot, ask)

    monkeypatch.setattr(PostgresSnapshot, "_run_query", cut_before_second_query)
    found = question(engine)
    assert not is_due
    assert found == question(engine)
