"""The contract of all stores for vectors, with pgvector."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from store_contract import StoreContract

from recollect.stores.url import parse_store_url
from recollect.write.repository import Repository
from recollect_postgres.store import PostgresStore

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postgres_stores import PostgresStores

_BY_VECTOR = ("nearest", "is_near", "meaning", "cosines", "model", "passage", "vectors")


class TestServerVectors:
    @pytest.fixture
    def store(self, postgres: PostgresStores) -> Iterator[Repository]:
        postgres.need_pgvector()
        store = Repository(PostgresStore(parse_store_url(f"{postgres.database()}?vectors=server")))
        yield store
        store.close()


for _name, _test in vars(StoreContract).items():
    if _name.startswith("test_") and any(word in _name for word in _BY_VECTOR):
        setattr(TestServerVectors, _name, _test)
