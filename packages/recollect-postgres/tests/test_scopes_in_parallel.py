"""Writes to one scope do not wait for other scopes, and no update of a shared row is lost."""

from __future__ import annotations

import threading
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from conftest import FixedClock, engine_of
from postgres_stores import wait_for_a_lock

from recollect.admin import Internals
from recollect.domain.changes import PutVectors, RecordUsage
from recollect.domain.errors import Conflict, StoreDamaged
from recollect.domain.numbers import pack_vector
from recollect.domain.records import Model, Scope
from recollect.search.rows import scope_id
from recollect.search.texts import model_in_use, pending_passages, store_counts
from recollect.stores.url import parse_store_url
from recollect.write import apply as writes
from recollect.write.repository import Repository
from recollect.write.work import Work
from recollect_postgres.store import BUSY_SECONDS, PostgresStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from postgres_stores import PostgresStores

    from recollect.domain.changes import Change
    from recollect.stores.port import Transaction

ADA, BOB = Scope("Ada"), Scope("Bob")
# A short limit for locks: a writer that waited for another scope would wait until the test ends.
_LOCK_SECONDS = 5.0


@pytest.fixture
def url(postgres: PostgresStores) -> str:
    return postgres.database()


@contextmanager
def opened(url: str, busy_seconds: float = BUSY_SECONDS) -> Iterator[Repository]:
    with closing(Repository(PostgresStore(parse_store_url(url), busy_seconds=busy_seconds))) as store:
        yield store


@contextmanager
def open_write(url: str, scope: Scope) -> Iterator[None]:
    """Keep a store-wide transaction open that has written to this scope."""
    go_on, is_writing = threading.Event(), threading.Event()

    def work(rows: Transaction) -> None:
        Work(rows, FixedClock()()).scope_id(scope)
        is_writing.set()
        go_on.wait()

    with opened(url) as store:
        thread = threading.Thread(target=store.store.transact, args=(work,))
        thread.start()
        is_writing.wait()
        try:
            yield
        finally:
            go_on.set()
            thread.join()


def test_embedding_one_scope_does_not_wait_for_another(url: str) -> None:
    with opened(url, _LOCK_SECONDS) as store:
        without_model = engine_of(store, FixedClock(), model="none")
        for scope in (ADA, BOB):
            without_model.scoped(scope.owner).remember(f"green tea of {scope.owner}")
        engine = engine_of(store, FixedClock()).scoped(ADA.owner)
        with open_write(url, Scope("Eve")):
            assert Internals(engine).embed_pending().embedded == 2
        with store.read() as view:
            assert view.count("pending_vector") == {None: 0}
            assert sorted(view.count("vector", by="scope_id").values()) == [1, 1]


def test_near_copies_are_flagged_while_another_scope_is_written(url: str) -> None:
    with opened(url, _LOCK_SECONDS) as store:
        engine = engine_of(store, FixedClock()).scoped(ADA.owner)
        said = "drinks green tea in the morning, with honey and a little milk"
        first = engine.remember(f"Ada {said}")
        engine.create_entities([{"name": "Ada", "observations": [said]}])
        with open_write(url, BOB):
            (twin,) = engine.remember_many([f"Ada {said}, always"]).notes
            assert twin.similar is not None
            kept = engine.get(twin.id)
            again = engine.graph.add_observations({"Ada": [f"{said}, always"]})
        assert kept is not None
        assert kept.similar_to == first.id
        assert again.entities[0].similar


def _while_waiting(url: str, first: Change, then: Callable[[Repository], None]) -> None:
    """Commit the first change when `then`, on another connection, waits for it."""
    errors: list[BaseException] = []

    def other() -> None:
        with opened(url) as store:
            try:
                then(store)
            except BaseException as error:  # noqa: BLE001  # raised again below
                errors.append(error)

    thread = threading.Thread(target=other)

    def work(rows: Transaction) -> None:
        shared = Work(rows, FixedClock()())
        writes._apply_one(shared, 0, first)
        shared.finish()
        rows.rows("setting", ("name",))  # sends pending rows
        thread.start()
        wait_for_a_lock(url)

    with opened(url) as store:
        store.store.transact(work, [first.scope])  # type: ignore[union-attr, list-item]
    thread.join()
    if errors:
        raise errors[0]


def test_when_two_scopes_add_a_first_model_at_once_one_is_used(url: str) -> None:
    with opened(url) as store:
        engine = engine_of(store, FixedClock(), model="none")
        for scope in (ADA, BOB):
            engine.scoped(scope.owner).remember("green tea")
        with store.read() as view:
            ada, bob = pending_passages(view, Model("any", 2), 0, 10)
    vector = pack_vector([1.0, 0.0])  # type: ignore[arg-type]
    first = PutVectors(Model("one", 2), ((ada.id, vector),), searched=True, scope=ADA)
    second = replace(first, model=Model("other", 2), vectors=((bob.id, vector),), scope=BOB)
    with pytest.raises(Conflict, match="Searches now use one"):
        _while_waiting(url, first, lambda other: _put(other, second))
    with opened(url) as store, store.read() as view:
        assert model_in_use(view) == Model("one", 2)
        assert view.count("model") == {None: 1}


def _put(store: Repository, change: Change) -> None:
    store.apply([change], at=FixedClock()())


def test_concurrent_counts_of_unrecorded_answers_are_added_up(url: str) -> None:
    with opened(url) as store:
        engine = engine_of(store, FixedClock(), model="none")
        ids = [engine.scoped(scope.owner).remember("green tea").id for scope in (ADA, BOB)]
    ada, bob = (
        RecordUsage(scope, (id_,), "s", missed=missed)
        for scope, id_, missed in zip((ADA, BOB), ids, (3, 4), strict=True)
    )
    # First there is no row to update, then there is one: 3 + 4, and again 3 + 4.
    for expected in (7, 14):
        _while_waiting(url, ada, lambda other: _put(other, bob))
        with opened(url) as store, store.read() as view:
            assert store_counts(view).unnoted == expected


def test_a_scope_that_a_transaction_does_not_see_cannot_be_locked(url: str) -> None:
    with opened(url) as store:
        engine = engine_of(store, FixedClock(), model="none")
        for scope in (ADA, BOB):
            engine.scoped(scope.owner).remember("green tea")
        with store.read() as view:
            bob = scope_id(view, BOB)
        for hidden in (bob, 4711):
            with pytest.raises(StoreDamaged, match=f"Scope {hidden} does not exist, or is hidden"):
                store.store.transact(lambda rows, scope=hidden: rows.lock_scopes([scope]), [ADA])  # type: ignore[misc]
        # A visible scope can be locked.
        store.store.transact(lambda rows: rows.lock_scopes([bob]), [BOB])
