"""The contract of all stores, on PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from around_contract import AroundContract
from dream_contract import DreamContract
from graph_mark_contract import GraphMarkContract
from log_contract import LogContract
from store_contract import StoreContract
from text_contract import TextContract

from recollect.write.repository import Repository

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from postgres_stores import PostgresStores
    from store_contract import Opened


@pytest.fixture
def opened(postgres: PostgresStores) -> Opened:
    return lambda path: Repository(postgres.store_at(path))


@pytest.fixture
def store(postgres: PostgresStores) -> Iterator[Repository]:
    store = Repository(postgres.new())
    yield store
    store.close()


class TestPostgresStore(StoreContract):
    def test_a_backup_of_a_live_store_opens_equal(
        self, store: Repository, opened: Opened, tmp_path: Path
    ) -> None:
        pytest.skip("a server's own tool makes its backups: test_upkeep.py runs it")


class TestPostgresTexts(TextContract): ...


class TestPostgresDreams(DreamContract): ...


class TestPostgresGraphMark(GraphMarkContract): ...


class TestPostgresLog(LogContract): ...


class TestPostgresAround(AroundContract): ...
