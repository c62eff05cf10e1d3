"""PostgreSQL keeps the contract of every store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from around_contract import AroundContract
from dream_contract import DreamContract
from graph_mark_contract import GraphMarkContract
from log_contract import LogContract
from store_contract import StoreContract
from text_contract import TextContract

from recollect.engine.repository import Repository

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from postgres_stores import PostgresStores


class OnPostgres:
    @pytest.fixture
    def store(self, postgres: PostgresStores) -> Iterator[Repository]:
        store = Repository(postgres.new())
        yield store
        store.close()


class TestPostgresStore(OnPostgres, StoreContract):
    @pytest.fixture(autouse=True)
    def _stores(self, postgres: PostgresStores) -> None:
        self._postgres = postgres

    def test_a_backup_of_a_live_store_opens_equal(self, store: Repository, tmp_path: Path) -> None:
        pytest.skip("a server's own tool makes its backups: tests/stores/postgres/test_upkeep.py runs it")

    def opened(self, path: Path) -> Repository:
        return Repository(self._postgres.named(path))


class TestPostgresTexts(OnPostgres, TextContract):
    pass


class TestPostgresDreams(OnPostgres, DreamContract):
    pass


class TestPostgresGraphMark(OnPostgres, GraphMarkContract):
    pass


class TestPostgresLog(OnPostgres, LogContract):
    pass


class TestPostgresAround(OnPostgres, AroundContract):
    pass
