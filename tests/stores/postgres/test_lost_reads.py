"""The server ends the connection of a reader: it goes on where it would see the same, and else is told so."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import psycopg
import pytest

from conftest import FixedClock, engine_of
from recollect.engine.repository import Repository
from recollect.engine.services import asked_again
from recollect.errors import StoreUnavailable
from recollect.records import Scope
from recollect.store_url import parse_store_url
from recollect.stores.postgres.store import PostgresStore

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postgres_stores import PostgresStores
    from recollect.ports import Snapshot


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


def test_a_reader_goes_on_where_nobody_has_written_since(url: str, store: Repository) -> None:
    with store.read(Scope()) as view:
        assert _texts(view) == ["Here before"]
        _end_connections(url)
        assert _texts(view) == ["Here before"]


def test_readers_that_use_every_connection_of_the_pool_do_not_wait_for_each_others_dead_ones(
    url: str, store: Repository
) -> None:
    with (
        closing(Repository(PostgresStore(parse_store_url(f"{url}?pool=2")))) as small,
        small.read(Scope()) as one,
        small.read(Scope()) as other,
    ):
        assert _texts(one) == _texts(other) == ["Here before"]
        _end_connections(url)
        assert _texts(one) == _texts(other) == ["Here before"]


def test_a_reader_that_would_see_something_else_is_told_to_ask_again(
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

    with pytest.raises(StoreUnavailable, match="Ask again") as raised:
        question()
    assert raised.value.ask_again
    answers.clear()
    assert asked_again(question) == ["Here before", "Here since"]
    assert len(answers) == 2


def test_a_connection_that_ended_while_nobody_used_it_is_replaced_unseen(url: str, store: Repository) -> None:
    _end_connections(url)
    _write(store, "Written on a new one")
    _end_connections(url)
    with store.read(Scope()) as view:
        assert _texts(view) == ["Here before", "Written on a new one"]
