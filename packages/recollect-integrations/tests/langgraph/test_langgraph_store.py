"""LangGraph's store on Recollect: as LangGraph's own store behaves, and what that one has not."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from http import HTTPStatus
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from langgraph.store.base import GetOp, InvalidNamespaceError, Item, ListNamespacesOp, Op, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import SqliteStore

import recollect
from recollect.domain.errors import InvalidInput
from recollect_integrations.langgraph import LONGEST_NAMESPACE, RecollectStore

LABELS = ("users", "Users", "ana", "bo", "*", "é 1")
KEYS = ("a", "A", "b:1", " c ", "", "ключ", "a.b/c")
TEXTS = ("rides a horse", "likes tea", "", "\0", "rides a horse")


class StepClock:
    """A clock that a test moves on."""

    def __init__(self) -> None:
        self.at = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.at

    def tick(self, minutes: float) -> None:
        self.at += timedelta(minutes=minutes)


@pytest.fixture
def clock() -> StepClock:
    return StepClock()


@pytest.fixture
def store(tmp_path: Path, clock: StepClock) -> Iterator[RecollectStore]:
    with recollect.open(tmp_path / "memory.db", model="hashing", clock=clock) as memory:
        yield RecollectStore(memory, clock=clock)


def random_value(chance: random.Random) -> dict[str, Any]:
    value: dict[str, Any] = {
        "text": chance.choice(TEXTS),
        "n": chance.choice((0, 1, 2.5, -3)),
        "tag": chance.choice(("x", "y", None, True)),
        "more": chance.choice(({"a": [1, {"b": None}]}, {"a": [1, 2]}, [], "z")),
    }
    return {name: value[name] for name in chance.sample(list(value), chance.randint(1, 4))} | {
        "n": value["n"]
    }


def random_filter(chance: random.Random) -> dict[str, Any] | None:
    return chance.choice(
        (
            None,
            {},
            {"tag": "x"},
            {"tag": {"$ne": "x"}, "n": {"$gte": 0}},
            {"n": {"$gt": 0, "$lt": 2.5}},
            {"n": {"$lte": 1}},
            {"tag": {"$eq": None}},
            {"more": {"a": [1, {"b": None}]}},
            {"text": "rides a horse", "absent": None},
        )
    )


def random_ops(chance: random.Random) -> list[Op]:
    def namespace() -> tuple[str, ...]:
        return tuple(chance.choices(LABELS[:4], k=chance.randint(1, 3)))

    def one() -> Op:
        match chance.randint(0, 9):
            case 0 | 1 | 2 | 3:
                index: Any = chance.choice((None, None, False, ["text"], ["more.a[*]"]))
                return PutOp(namespace(), chance.choice(KEYS), random_value(chance), index=index)
            case 4:
                return PutOp(namespace(), chance.choice(KEYS), None)
            case 5 | 6:
                return GetOp(namespace(), chance.choice(KEYS))
            case 7 | 8:
                query = chance.choice((None, None, "", "who rides?"))
                return SearchOp(namespace()[: chance.randint(0, 3)], random_filter(chance), 1000, 0, query)
            case _:
                return ListNamespacesOp()

    return [one() for _ in range(chance.randint(1, 4))]


def plain(result: Any) -> Any:
    """Without times, and without the order of what was found: those are a store's own."""
    if isinstance(result, Item):
        return (result.namespace, result.key, result.value)
    if isinstance(result, list):
        return sorted((plain(each) for each in result), key=repr)
    return result


def with_items(store: InMemoryStore) -> InMemoryStore:
    """The same, without empty namespaces, which LangGraph's store lists once they were asked for."""
    kept = InMemoryStore()
    for item in store.search((), limit=10_000):
        kept.put(item.namespace, item.key, item.value)
    return kept


@pytest.mark.parametrize("seed", range(6))
def test_any_operations_give_what_they_give_in_langgraphs_own_store(
    store: RecollectStore, clock: StepClock, seed: int
) -> None:
    chance, model = random.Random(seed), InMemoryStore()  # noqa: S311  # the same ones each time
    for _ in range(30):
        clock.tick(1)
        ops = random_ops(chance)
        listed = with_items(model).list_namespaces(limit=1000)
        expected = model.batch(ops)
        found = store.batch(ops) if chance.random() < 0.5 else asyncio.run(store.abatch(ops))
        for op, ours, theirs in zip(ops, found, expected, strict=True):
            wanted = listed[:100] if isinstance(op, ListNamespacesOp) else theirs
            assert plain(ours) == plain(wanted), op
    reference = with_items(model)
    for prefix, suffix, depth in (
        (None, None, None),
        (("users",), None, 2),
        (("*", "ana"), None, None),
        (None, ("ana",), 1),
        (("users",), ("*", "bo"), None),
    ):
        asked: dict[str, Any] = {
            "prefix": prefix,
            "suffix": suffix,
            "max_depth": depth,
            "limit": 7,
            "offset": 1,
        }
        assert store.list_namespaces(**asked) == reference.list_namespaces(**asked)
    # Pages are parts of the whole, in its order.
    for query in (None, "who rides?"):
        whole = store.search((), query=query, limit=1000)
        pages = [
            store.search((), query=query, limit=3, offset=start) for start in range(0, len(whole) + 3, 3)
        ]
        assert [plain(item) for page in pages for item in page] == [plain(item) for item in whole]


def test_the_best_come_first_with_scores_and_what_is_not_indexed_last_without(store: RecollectStore) -> None:
    store.put(
        ("memories", "ana"), "1", {"text": "Ana takes the tram to work", "secret": "zebra"}, index=["text"]
    )
    store.put(("memories", "ana"), "2", {"text": "Ana is fond of horses"})
    store.put(("memories", "ana"), "3", {"text": "the tram, the tram"}, index=False)
    store.put(("memories", "bo"), "4", {"text": "Bo takes the tram, too"})
    found = store.search(("memories", "ana"), query="how does Ana take the tram to work?")
    assert [item.key for item in found] == ["1", "2", "3"]
    first, second, last = (item.score for item in found)
    assert first is not None
    assert second is not None
    assert first > second
    assert last is None
    assert {item.key for item in store.search(("memories",), query="the tram", limit=2)} == {"1", "4"}
    # Only the fields that are indexed are searched.
    assert [hit.memory.text for hit in store.memory.search("zebra").hits if hit.places.get("words")] == []
    # Outside LangGraph, a namespace is a scope of the memory.
    ana = store.memory.scoped(store.memory.scope.owner, "memories.ana")
    assert ana.search("tram").hits[0].memory.text == "Ana takes the tram to work"


@dataclass
class Trip:
    to: str
    on: date


def test_values_may_hold_what_langgraphs_stores_write_as_json(store: RecollectStore, tmp_path: Path) -> None:
    value = {
        "at": datetime(2026, 3, 1, 12, tzinfo=UTC),
        "id": UUID(int=7),
        "trip": Trip("Lisbon", date(2026, 3, 2)),
        "kind": HTTPStatus.OK,
        "times": [time(12, 30)],
    }
    with SqliteStore.from_conn_string(str(tmp_path / "theirs.db")) as theirs:
        theirs.setup()
        theirs.put(("a",), "k", value)
        expected = theirs.get(("a",), "k")
    store.put(("a",), "k", value)
    assert plain(store.get(("a",), "k")) == plain(expected)
    assert len(store.search(("a",), filter={"at": value["at"]})) == 1


def test_an_item_keeps_when_it_was_made(store: RecollectStore, clock: StepClock) -> None:
    made = clock.at
    store.put(("a",), "k", {"n": 1})
    clock.tick(5)
    store.put(("a",), "k", {"n": 2})
    item = store.get(("a",), "k")
    assert item is not None
    assert (item.created_at, item.updated_at) == (made, made + timedelta(minutes=5))
    store.delete(("a",), "k")
    store.put(("a",), "k", {"n": 3})
    assert store.get(("a",), "k").created_at == clock.at  # type: ignore[union-attr]


def test_items_expire_and_live_on_when_they_are_read(store: RecollectStore, clock: StepClock) -> None:
    made = clock.at
    store.put(("a",), "read", {"text": "rides"}, ttl=10)
    store.put(("a",), "seen", {"text": "rides"}, ttl=10)
    store.put(("a",), "left", {"text": "rides"}, ttl=10)
    store.put(("a",), "kept", {"text": "rides"})
    clock.tick(9)
    assert store.get(("a",), "left", refresh_ttl=False) is not None
    assert store.get(("a",), "read") is not None
    assert store.search(("a",), filter={"text": "rides"}, limit=2, offset=2)[0].key == "seen"
    clock.tick(2)
    assert [item.key for item in store.search(("a",), refresh_ttl=False)] == ["kept", "seen", "read"]
    assert store.get(("a",), "left") is None
    # To read is not to change.
    assert store.get(("a",), "read", refresh_ttl=False).updated_at == made  # type: ignore[union-attr]
    clock.tick(20)
    assert {item.key for item in store.search(("a",), query="who rides?")} == {"kept"}
    store.put(("a",), "seen", {"text": "again"}, ttl=None)
    assert store.sweep_ttl() == 2
    assert store.sweep_ttl() == 0
    assert {item.key for item in store.search(("a",))} == {"kept", "seen"}


def test_a_default_ttl_and_refreshing_are_configured(clock: StepClock) -> None:
    with recollect.open(":memory:", model="none", clock=clock) as memory:
        ttl = {"default_ttl": 10, "refresh_on_read": False, "sweep_interval_minutes": 0}
        store = RecollectStore(memory, ttl=ttl, clock=clock)  # type: ignore[arg-type]
        store.put(("a",), "k", {"n": 1})
        clock.tick(9)
        assert store.get(("a",), "k") is not None
        clock.tick(2)
        assert store.get(("a",), "k") is None
        assert store.list_namespaces() == []
        store.put(("b",), "other", {"n": 1})  # it sweeps
        assert store.sweep_ttl() == 0


def test_what_cannot_be_kept_is_refused(store: RecollectStore) -> None:
    with pytest.raises(InvalidNamespaceError):
        store.batch([PutOp(("a.b",), "k", {"n": 1})])
    with pytest.raises(InvalidInput, match="The namespace has"):
        store.put(("x" * (LONGEST_NAMESPACE + 1),), "k", {"n": 1})
    with pytest.raises(InvalidInput, match="cannot be written as JSON"):
        store.put(("a",), "k", {"n": object()})
    with pytest.raises(InvalidInput, match="cannot be written as JSON"):
        store.batch([PutOp(("b",), "k", {"n": 1}), PutOp(("a",), "k", {"n": object()})])
    with pytest.raises(InvalidInput, match=r"Unknown filter operator '\$in'"):
        store.search(("a",), filter={"n": {"$in": [1]}})
    with pytest.raises(InvalidInput, match="more than 0"):
        store.put(("a",), "k", {"n": 1}, ttl=0)
    with pytest.raises(InvalidInput, match="0 or more"):
        store.search(("a",), limit=-1)
    with pytest.raises(InvalidInput, match="at most 1,000"):
        store.put(("a",), "k" * 1000, {"n": 1})
    assert store.list_namespaces() == []


def test_a_note_that_superseded_an_item_is_no_item(store: RecollectStore) -> None:
    store.put(("users",), "a", {"fact": "Ana rides a horse"})
    store.put(("users",), "b", {"fact": "Bo likes tea"})
    (note,) = store.memory.scoped("", "users").list(refs=["langgraph:a"]).memories
    store.memory.supersede(note.id, "Ana rides a bicycle")
    for query in ("Ana rides a bicycle", None):
        assert [item.key for item in store.search(("users",), query=query)] == ["b"]
    assert store.get(("users",), "a") is None


def test_an_edit_of_the_note_reaches_the_only_text_of_a_value(store: RecollectStore) -> None:
    def edited(value: dict[str, Any], index: Any = None) -> dict[str, Any]:
        store.put(("users",), "a", value, index=index)
        (note,) = store.memory.scoped("", "users").list(refs=["langgraph:a"]).memories
        assert store.get(("users",), "a").value == value  # type: ignore[union-attr]
        store.memory.update(note.id, text="Ana rides a bicycle")
        (item,) = store.search(("users",), query="bicycle")
        assert store.get(("users",), "a").value == item.value  # type: ignore[union-attr]
        return item.value

    assert edited({"fact": " Ana\0 rides a horse "}) == {"fact": "Ana rides a bicycle"}
    assert store.search(("users",), filter={"fact": "Ana rides a bicycle"})
    assert edited({"fact": "Ana rides", "n": 1}, ["fact"]) == {"fact": "Ana rides a bicycle", "n": 1}
    for value, index in (
        ({"fact": "Ana rides", "n": 1}, None),
        ({"fact": "Ana rides", "by": "Bo"}, ["fact"]),
        ({"fact": "Ana rides"}, False),
        ({"fact": {"text": "Ana rides"}}, ["fact.text"]),
        ({"fact": " "}, None),
    ):
        assert edited(value, index) == value
