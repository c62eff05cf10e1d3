"""Laws of going out and in, for any memory."""

from __future__ import annotations

import io
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis_profiles import tries
from transfer_world import engines, exported

from recollect.domain.changes import (
    AddObservations,
    Amend,
    EndRelation,
    Forget,
    NewEntity,
    NewObservation,
    NewRelation,
    NewText,
    PutEntity,
    PutText,
    Relate,
    RemoveObservations,
    Restore,
    Unrelate,
)
from recollect.domain.records import Kind, Scope, Status
from recollect.search.texts import memory_page
from recollect.transfer import import_file

if TYPE_CHECKING:
    from recollect.domain.changes import Change
    from recollect.domain.records import Memory
    from recollect.engine import Engine

pytest_plugins = ["transfer_stores"]

# Few names and words, so that they meet; a few of them strange.
NAMES = st.sampled_from(["Ada", "ada", "ÁDA", "東京", "🐞", 'quo"te\\', "a b"])
WORDS = st.sampled_from(["tea", "rain", "東京にある", "line\nline\u2028", "🦋", "x" * 1_300])
TYPES = st.sampled_from(["knows", "contains", "part_of", "likes"])
SCOPES = st.sampled_from([Scope(), Scope("bob"), Scope("bob", "helper")])
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
TIMES = st.none() | st.integers(1, 4 * 10**15).map(lambda at: EPOCH + timedelta(microseconds=at))
IDS = st.integers(1, 8)


def observations() -> st.SearchStrategy[tuple[NewObservation, ...]]:
    one = st.builds(
        NewObservation,
        content=WORDS,
        kind=st.sampled_from(["generic", "fact"]),
        happened_at=TIMES,
        supersedes=st.none() | WORDS,
    )
    return st.lists(one, max_size=3).map(tuple)


def changes() -> st.SearchStrategy[Change]:
    ends = {"scope": SCOPES, "source": NAMES, "target": NAMES, "type": TYPES}
    relation = st.builds(NewRelation, source=NAMES, target=NAMES, type=TYPES, context=WORDS, since=TIMES)
    entity = st.builds(
        NewEntity,
        name=NAMES,
        type=st.sampled_from(["person", "place", "unknown"]),
        observations=observations(),
        status=st.none() | st.sampled_from(Status),
        importance=st.none() | st.floats(0, 1),
    )
    text = st.builds(
        NewText,
        kind=st.sampled_from([Kind.NOTE, Kind.MESSAGE]),
        text=WORDS,
        category=st.none() | WORDS,
        source=st.none() | st.just(""),
        session=st.none() | st.sampled_from(["s", "t"]),
        role=st.none() | st.just("user"),
        speaker=st.none() | NAMES,
        importance=st.floats(0, 1),
        happened_at=TIMES,
        created_at=TIMES,
    )
    return st.one_of(
        st.builds(PutEntity, SCOPES, entity),
        st.builds(PutEntity, SCOPES, entity),
        st.builds(PutText, SCOPES, text),
        st.builds(AddObservations, SCOPES, NAMES, observations()),
        st.builds(RemoveObservations, SCOPES, NAMES, st.lists(WORDS, max_size=2).map(tuple)),
        st.builds(Relate, SCOPES, relation, create_missing=st.booleans()),
        st.builds(EndRelation, at=TIMES, **ends),
        st.builds(Unrelate, **ends),
        st.builds(Forget, SCOPES, ids=st.lists(IDS, max_size=2).map(tuple)),
        st.builds(Restore, SCOPES, IDS),
        st.builds(Amend, SCOPES, IDS, importance=st.floats(0, 1), pinned=st.booleans()),
    )


LIVES = st.lists(changes(), max_size=25)
# A stopped clock makes as many equal rows as possible.
TICKS = st.sampled_from([timedelta(0), timedelta(seconds=1)])


def apply_life(mine: Engine, life: list[Change]) -> None:
    for change in life:
        mine._services.store.apply([change], at=mine._services.clock(), keep_going=True)


def load(mine: Engine, text: str) -> None:
    report = import_file(mine, io.StringIO(text), embed=False)
    assert (report.bad_lines, report.dangling) == ((), ())


@given(LIVES, TICKS)
@settings(max_examples=tries(20))
def test_a_full_export_gives_the_same_store_again(life: list[Change], tick: timedelta) -> None:
    with engines(2, tick) as (one, other):
        apply_life(one, life)
        before = exported(one)
        load(other, before)
        assert exported(other) == before
        assert list(other.upkeep.verify()) == []
        load(other, before)
        load(one, before)
        assert exported(one) == exported(other) == before


@given(LIVES, LIVES, TICKS)
@settings(max_examples=tries(20))
def test_bringing_a_full_export_twice_is_bringing_it_once(
    life: list[Change], another: list[Change], tick: timedelta
) -> None:
    with engines(3, tick) as (one, other, third):
        apply_life(one, life)
        apply_life(other, another)
        brought = exported(one)
        load(other, brought)
        before = exported(other)
        load(other, brought)
        assert exported(other) == before
        assert list(other.upkeep.verify()) == []
        # The same memories are in force in both stores.
        names = {(m.scope, m.name) for m in live(one)}
        assert names <= {(m.scope, m.name) for m in live(other)}
        # And the mixture goes out and in as well as what was never mixed.
        load(third, before)
        assert exported(third) == before


def live(mine: Engine) -> list[Memory]:
    with mine._services.store.read() as view:
        return [memory for memory in memory_page(view, None, 0, 1_000) if memory.deleted_at is None]


LETTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
# With a letter at its end that one can see.
TEXTS = st.builds(lambda text, end: text + end, st.text(LETTERS, max_size=12), st.sampled_from("aÉ京🐞!"))
GRAPHS = st.lists(st.tuples(TEXTS, st.lists(TEXTS, max_size=4)), min_size=1, max_size=8).flatmap(
    lambda entities: st.tuples(
        st.just(entities),
        st.lists(
            st.tuples(
                st.sampled_from([name for name, _ in entities]),
                TYPES | TEXTS,
                st.sampled_from([name for name, _ in entities]),
            ),
            max_size=8,
        ),
    )
)


@given(GRAPHS)
@settings(max_examples=tries(20))
def test_an_official_export_gives_the_same_graph_again(
    graph: tuple[list[tuple[str, list[str]]], list[tuple[str, str, str]]],
) -> None:
    entities, relations = graph
    with engines(2, model="none") as (one, other):
        one.create_entities([{"name": name, "observations": seen} for name, seen in entities])
        one.graph.create_relations(relations)
        before = exported(one, "official")
        load(other, before)
        once = exported(other)
        load(other, before)
        assert exported(other, "official") == before
        assert exported(other) == once
