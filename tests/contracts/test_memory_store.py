"""The store in memory keeps the contract of every store; it is the plainest reading of the port."""

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
from recollect.stores.memory import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class InMemory:
    @pytest.fixture
    def store(self) -> Iterator[Repository]:
        store = Repository(MemoryStore())
        yield store
        store.close()


class TestMemoryStore(InMemory, StoreContract):
    def opened(self, path: Path) -> Repository:  # it has no file
        return Repository(MemoryStore())


class TestMemoryTexts(InMemory, TextContract):
    pass


class TestMemoryDreams(InMemory, DreamContract):
    pass


class TestMemoryGraphMark(InMemory, GraphMarkContract):
    pass


class TestMemoryLog(InMemory, LogContract):
    pass


class TestMemoryAround(InMemory, AroundContract):
    pass
