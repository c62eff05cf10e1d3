"""SQLite keeps the contract of every store, and what it adds of its own."""

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
from recollect.stores.sqlite.store import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class TestSqliteStore(StoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Repository]:
        store = Repository(SqliteStore(tmp_path / "memory.db"))
        yield store
        store.close()

    def opened(self, path: Path) -> Repository:
        return Repository(SqliteStore(path))


class TestSqliteTexts(TextContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Repository]:
        store = Repository(SqliteStore(tmp_path / "memory.db"))
        yield store
        store.close()


class TestSqliteDreams(DreamContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Repository]:
        store = Repository(SqliteStore(tmp_path / "memory.db"))
        yield store
        store.close()


class TestSqliteGraphMark(GraphMarkContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Repository]:
        store = Repository(SqliteStore(tmp_path / "memory.db"))
        yield store
        store.close()


class TestSqliteLog(LogContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Repository]:
        store = Repository(SqliteStore(tmp_path / "memory.db"))
        yield store
        store.close()


class TestSqliteAround(AroundContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Repository]:
        store = Repository(SqliteStore(tmp_path / "memory.db"))
        yield store
        store.close()
