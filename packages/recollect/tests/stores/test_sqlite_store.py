"""The contract of all stores, on SQLite."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from around_contract import AroundContract
from dream_contract import DreamContract
from graph_mark_contract import GraphMarkContract
from log_contract import LogContract
from store_contract import StoreContract
from text_contract import TextContract

from recollect.stores.sqlite.store import SqliteStore
from recollect.write.repository import Repository

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from store_contract import Opened


@pytest.fixture
def opened() -> Opened:
    return lambda path: Repository(SqliteStore(path))


@pytest.fixture
def store(opened: Opened, tmp_path: Path) -> Iterator[Repository]:
    store = opened(tmp_path / "memory.db")
    yield store
    store.close()


class TestSqliteStore(StoreContract): ...


class TestSqliteTexts(TextContract): ...


class TestSqliteDreams(DreamContract): ...


class TestSqliteGraphMark(GraphMarkContract): ...


class TestSqliteLog(LogContract): ...


class TestSqliteAround(AroundContract): ...
