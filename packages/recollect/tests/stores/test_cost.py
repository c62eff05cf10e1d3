"""The cost of calls, counted instead of timed: SQL statements, and bytes that were read."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest
from token_model import WordTokens

from recollect.domain.changes import Turn
from recollect.stores.sqlite import store as sqlite_store

if TYPE_CHECKING:
    from collections.abc import Iterator

    import apsw
    from conftest import MakeEngine

    from recollect.engine import Engine

PEOPLE = ("Ada", "Bob", "Cyd", "Dan", "Eve", "Fay", "Gus", "Hal")
THINGS = ("kayak", "violin", "garden", "boiler", "bakery", "harbour", "lantern", "orchard")
NOTES = [
    f"{person} keeps the {one} of the {other} near place {number}"
    for number, (person, one, other) in enumerate(
        (person, one, other) for person in PEOPLE for one in THINGS for other in THINGS
    )
]
QUESTION = "where does Ada keep the kayak of the harbour?"


@dataclass
class Watch:
    """The statements and the bytes of a store's connections."""

    statements: list[str] = field(default_factory=list)
    read: int = 0

    def record_statement(self, _: apsw.Cursor, statement: str, __: Any) -> bool:
        self.statements.append(statement)
        return True

    def count_row(self, _: apsw.Cursor, row: tuple[Any, ...]) -> tuple[Any, ...]:
        self.read += sum(len(value) if isinstance(value, str | bytes) else 8 for value in row)
        return row

    def reset(self) -> None:
        self.statements.clear()
        self.read = 0


@contextmanager
def watching() -> Iterator[Watch]:
    # The current function: stores of tests do not sync.
    watch, connect = Watch(), vars(sqlite_store)["connect"]

    def connect_watched(*given: Any, **options: Any) -> apsw.Connection:
        connection: apsw.Connection = connect(*given, **options)
        connection.exec_trace, connection.row_trace = watch.record_statement, watch.count_row
        return connection

    with patch.object(sqlite_store, "connect", connect_watched):
        yield watch


@pytest.fixture
def watch() -> Iterator[Watch]:
    with watching() as watch:
        yield watch


@pytest.fixture
def memory(watch: Watch, make_engine: MakeEngine) -> Engine:
    """Open a store after the hook is set, so that every connection has it."""
    return make_engine(lambda _: WordTokens())


def settled(memory: Engine, watch: Watch) -> None:
    """Wait for background writes, and fill the caches."""
    memory.recall(QUESTION, limit=10, record=False)
    memory._services.usage.settle(None)
    watch.reset()


def test_a_recall_among_notes_is_twelve_statements_and_among_more_takes_hardly_more_bytes(
    memory: Engine, watch: Watch
) -> None:
    costs = []
    for part in (NOTES[:256], NOTES[256:]):
        memory.remember_many(part)
        settled(memory, watch)
        assert len(memory.recall(QUESTION, limit=10, record=False).hits) == 10
        # Two are for the model of replaced memories: one reads the vectors of the first candidates, which it
        # compares, and one that of the best hit, to find newer memories that the query missed.
        assert len(watch.statements) <= 12
        assert watch.statements[0] == "BEGIN"
        costs.append((len(watch.statements), watch.read))
    (few, fewer_bytes), (many, more_bytes) = costs
    assert many <= few
    # The number of candidates is the same; only the postings of the query's words grow.
    assert more_bytes < 1.3 * fewer_bytes
    assert fewer_bytes < 150_000


def test_a_recall_in_conversations_asks_for_what_stands_around(memory: Engine, watch: Watch) -> None:
    for session in range(8):
        turns = [
            Turn(text, role="user" if place % 2 else "assistant")
            for place, text in enumerate(NOTES[40 * session : 40 * session + 40])
        ]
        memory.add_messages(f"talk {session}", turns, extract=False)
    settled(memory, watch)
    memory.recall(QUESTION, limit=10, record=False)
    # One more than before reads the vector of the best hit, to find newer memories that the query missed.
    assert len(watch.statements) <= 16


def test_a_recall_in_a_graph_asks_for_names_and_relations(memory: Engine, watch: Watch) -> None:
    memory.create_entities(
        [
            {"name": person, "type": "person", "observations": NOTES[64 * place : 64 * place + 8]}
            for place, person in enumerate(PEOPLE)
        ]
    )
    memory.graph.create_relations([{"from": "Ada", "to": "Bob", "type": "works_with"}])
    settled(memory, watch)
    memory.recall(QUESTION, limit=10, record=False)
    # Two are for the model of replaced memories: the passage of each observation, and the vectors.
    assert len(watch.statements) <= 18


def test_a_note_is_one_transaction_and_costs_no_more_statements_among_many(
    memory: Engine, watch: Watch
) -> None:
    memory.remember_many(NOTES[:40])
    settled(memory, watch)
    assert memory.remember("Ivo paints the lighthouse at dusk").created
    begun = [statement for statement in watch.statements if statement.startswith("BEGIN IMMEDIATE")]
    assert len(begun) == 1
    assert len(watch.statements) <= 45  # a new word is one of them
    costs = []
    for part, new in ((NOTES[40:100], "Ivo paints a boat"), (NOTES[100:], "Ivo paints a barn")):
        memory.remember_many(part)
        settled(memory, watch)
        memory.remember(new)
        costs.append(len(watch.statements))
    assert costs[1] <= costs[0]


def test_many_notes_cost_a_few_statements_each(memory: Engine, watch: Watch) -> None:
    memory.remember_many(NOTES[:100])
    settled(memory, watch)
    memory.remember_many(NOTES[100:300])
    own = [statement for statement in watch.statements if "INTO posting" not in statement]
    assert len(own) / 200 < 9
