"""Search by vector with conditions on the tables: every strategy gives the same answer."""

from __future__ import annotations

from contextlib import closing
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest

from recollect.domain.numbers import normalised, pack_vector
from recollect.domain.records import Found, Kind
from recollect.domain.tables import AnyOf, Compares, Condition, Equals, HasRow, Not, OneOf
from recollect.stores import sql as searches
from recollect.stores.sql import VectorFilter
from recollect.stores.sqlite.store import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from recollect.stores.port import Transaction

VECTORS = normalised(np.random.default_rng(2).normal(size=(300, 8)))
QUERY = normalised(np.random.default_rng(3).normal(size=8))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqliteStore]:
    """Notes 1 to 300, in ten sessions; every third is tagged; the time of each is its number."""
    path: Path = tmp_path_factory.mktemp("filters") / "store.db"
    with closing(SqliteStore(path)) as store:
        store.transact(fill)
        yield store


def fill(rows: Transaction) -> None:
    rows.put("scope", [{"owner": "me", "agent": ""}])
    rows.put("model", [{"name": "m", "dims": 8, "in_use": 1}])
    for number, vector in enumerate(VECTORS, 1):
        session = f"s{number % 10}"
        memory = {"kind": "note", "scope_id": 1, "created_at": number, "updated_at": 0, "session": session}
        rows.put("memory", [memory])
        rows.put("passage", [{"memory_id": number, "start": 0, "stop": 1}])
        rows.put("vector", [{"model_id": 1, "passage_id": number, "embedding": pack_vector(vector)}])
    rows.put("tag", [{"memory_id": id_, "tag": "t", "folded": "t"} for id_ in range(3, 301, 3)])


def expected(k: int, numbers: list[int]) -> list[Found]:
    scores = np.vecdot(VECTORS, QUERY).tolist()
    hits = [Found(number, scores[number - 1], number) for number in numbers]
    return sorted(hits, key=lambda hit: (-hit.score, hit.id))[:k]


TAGGED = HasRow("tag", "memory_id", (Equals("folded", "t"),))
CASES: dict[str, tuple[tuple[Condition, ...], list[int]]] = {
    "most": ((Compares("created_at", ">", 20),), list(range(21, 301))),
    "few": ((Compares("created_at", "<=", 4),), [1, 2, 3, 4]),
    "none": ((Compares("created_at", ">", 900),), []),
    "a session": ((Equals("session", "s7"),), list(range(7, 301, 10))),
    "tagged": ((TAGGED,), list(range(3, 301, 3))),
    "not tagged": ((Not(TAGGED),), [number for number in range(1, 301) if number % 3]),
    "without": ((Not(OneOf("id", range(1, 291))),), list(range(291, 301))),
    "only some": ((OneOf("id", [5, 9, 400]), OneOf("id", [9, 11])), [9]),
    "of another kind": ((OneOf("kind", ["entity"]), TAGGED), []),
    "all at once": (
        (TAGGED, OneOf("kind", ["note"]), Not(OneOf("id", [3])), Compares("created_at", "<", 12)),
        [6, 9],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_every_way_gives_the_nearest_that_meet_the_conditions(
    store: SqliteStore, case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    where, numbers = CASES[case]
    for listed, per_question, k in product((0, 50, 1000), (1, 8, 1000), (1, 10, 500)):
        monkeypatch.setattr(searches, "MOST_LISTED", listed)
        monkeypatch.setattr(searches, "_ROWS_PER_HIT", per_question)
        with store.read() as view:
            assert view.nearest(QUERY, k, [1], where) == expected(k, numbers), (listed, per_question, k)


def test_a_filter_knows_who_can_tell() -> None:
    other = AnyOf(((Equals("session", "s"),), (TAGGED,)))
    where = (OneOf("kind", ["note"]), OneOf("id", [1, 2]), Not(OneOf("id", [2, 3])), other)
    assert VectorFilter.of(where) == VectorFilter(
        frozenset({Kind.NOTE}), frozenset({1, 2}), frozenset({2, 3}), (other,)
    )
