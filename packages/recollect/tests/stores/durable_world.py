"""Small writes that can be checked one by one: each acknowledged one must be complete and findable."""

from __future__ import annotations

from datetime import UTC, datetime
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from recollect.domain.changes import (
    AddObservations,
    NewEntity,
    NewObservation,
    NewRelation,
    PutEntity,
    PutVectors,
    Relate,
)
from recollect.domain.numbers import Rows, normalised, pack_vector
from recollect.domain.records import Filter, Model, Scope
from recollect.search.candidates import Search
from recollect.search.rows import memories_by_id, relations_of
from recollect.search.texts import memory_page, passages_of
from recollect.stores.sqlite.store import SqliteStore
from recollect.write.repository import Repository

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from recollect.domain.changes import Change, Receipt
    from recollect.domain.records import Memory

AT = datetime(2026, 11, 2, 12, tzinfo=UTC)
HERE = Scope()
ALL = Filter()
MODEL = Model("a model", 16)


class Ack(NamedTuple):
    """An acknowledged write: an entity with its parts, its vectors, or its deletion."""

    what: str
    name: str


def vector_of(text: str) -> Rows:
    """Return the same vector for the same text, and another one for any other."""
    seed = int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")
    return normalised(np.random.default_rng(seed).normal(size=MODEL.dims))


def facts(name: str) -> tuple[str, ...]:
    return f"{name} is red", f"{name} weighs a lot"


def entity(name: str, *contents: str, type: str = "plain") -> PutEntity:  # noqa: A002  # as the record has it
    return PutEntity(HERE, NewEntity(name, type, tuple(map(NewObservation, contents))))


def observe(name: str, *contents: str) -> AddObservations:
    return AddObservations(HERE, name, tuple(map(NewObservation, contents)))


def thing(name: str, after: str | None = None) -> list[Change]:
    """Return an entity with two observations and a relation to another."""
    changes: list[Change] = [entity(name, *facts(name), type="thing")]
    if after is not None:
        changes.append(Relate(HERE, NewRelation(name, after, "follows")))
    return changes


def apply(store: Repository, *changes: Change, key: str | None = None) -> Receipt:
    return store.apply(changes, at=AT, key=key)


def write_thing(
    store: Repository,
    name: str,
    after: str | None,
    acknowledge: Callable[[Ack], None],
    key: str | None = None,
) -> None:
    """Write in two transactions, as the engine does: the rows, and then their vectors."""
    receipt = apply(store, *thing(name, after), key=key)
    acknowledge(Ack("thing", name))
    embed(store, receipt.outcomes[0].ids)
    acknowledge(Ack("vectors", name))


def embed(store: Repository, memories: Sequence[int]) -> None:
    with store.read() as view:
        vectors = tuple(
            (passage.id, pack_vector(vector_of(passage.text))) for passage in passages_of(view, memories)
        )
    apply(store, PutVectors(MODEL, vectors))


def found_by_words(store: Repository, name: str) -> str | None:
    with store.read() as view:
        hits = Search(view, ALL).by_words(name, 1)
        return memories_by_id(view, [hits[0].id])[hits[0].id].name if hits else None


def found_by_meaning(store: Repository, name: str) -> str | None:
    with store.read() as view:
        hits = Search(view, ALL).by_meaning(vector_of(f"{name} (thing)"), 1)
        return memories_by_id(view, [hits[0].id])[hits[0].id].name if hits and hits[0].score > 0.999 else None


def entities(store: Repository) -> dict[str, Memory]:
    with store.read() as view:
        return {memory.name: memory for memory in memory_page(view, ALL, 0, 1_000_000)}


def read_acks(path: Path) -> list[Ack]:
    return [Ack(*line.split()) for line in path.read_text().splitlines()]


def lost_writes(store: Repository, acks: Iterable[Ack]) -> list[Ack]:
    """Return acknowledged writes that are missing or incomplete, and deleted ones that are found."""
    present = entities(store)

    def is_there(name: str) -> bool:
        return name in present and {seen.content for seen in present[name].in_force} >= set(facts(name))

    def holds(ack: Ack) -> bool:
        match ack.what:
            case "thing":
                return is_there(ack.name) and found_by_words(store, ack.name) == ack.name
            case "vectors":
                return is_there(ack.name) and found_by_meaning(store, ack.name) == ack.name
            case _:
                return ack.name not in present and found_by_meaning(store, ack.name) != ack.name

    return [ack for ack in acks if not holds(ack)]


def half_written(store: Repository) -> list[str]:
    """Return entities of which a part is missing: a torn transaction. Names are PREFIX-NUMBER."""
    with store.read() as view:
        memories = memory_page(view, ALL, 0, 1_000_000)
        relations = relations_of(view, [memory.id for memory in memories])
    followed = {relation.source_name: relation.target_name for relation in relations}
    return [
        memory.name
        for memory in memories
        if memory.type == "thing"
        and (
            not {seen.content for seen in memory.in_force} >= set(facts(memory.name))
            or (number_of(memory.name) > 0 and followed.get(memory.name) != before(memory.name))
        )
    ]


def thing_name(prefix: str, number: int) -> str:
    """Return a name that is one word for the index: `w3n17`."""
    return f"{prefix}n{number}"


def number_of(name: str) -> int:
    return int(name.rpartition("n")[2])


def before(name: str) -> str | None:
    prefix, _, number = name.rpartition("n")
    return thing_name(prefix, int(number) - 1) if int(number) else None


def write_things(store: Repository, prefix: str, start: int, stop: int) -> list[Ack]:
    acks: list[Ack] = []
    for number in range(start, stop):
        name = thing_name(prefix, number)
        write_thing(store, name, before(name), acks.append)
    return acks


def assert_whole(path: Path, acks: Iterable[Ack] = ()) -> dict[str, Memory]:
    """Check that the store opens and verifies, without torn transactions or lost writes."""
    store = Repository(SqliteStore(path))
    try:
        assert store.verify() == []
        assert lost_writes(store, acks) == []
        assert half_written(store) == []
        return entities(store)
    finally:
        store.close()
