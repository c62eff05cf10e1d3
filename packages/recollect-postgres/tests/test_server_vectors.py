"""Search by pgvector: the same order as with a cache, for vectors of any writer, without local files."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np
import psycopg
import pytest
from postgres_stores import as_superuser

from recollect.domain.changes import (
    Forget,
    NewEntity,
    NewObservation,
    NewText,
    PutEntity,
    PutText,
    PutVectors,
)
from recollect.domain.errors import InvalidInput, StoreUnavailable
from recollect.domain.numbers import normalised, pack_vector
from recollect.domain.records import Kind, Model, Scope
from recollect.domain.tables import Equals, Not, OneOf
from recollect.engine import Engine
from recollect.models.hashing import HashingEmbedder
from recollect.ranking.profiles import PROFILES
from recollect.search.recording import UsageRecorder
from recollect.search.texts import pending_passages
from recollect.services import Services
from recollect.stores.url import parse_store_url
from recollect.write.repository import Repository
from recollect_postgres import vectors as server_vectors
from recollect_postgres.store import PostgresStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from postgres_stores import PostgresStores

    from recollect.domain.numbers import Rows
    from recollect.domain.records import Found
    from recollect.domain.tables import Where
    from recollect.stores.port import Vector

ME, YOU = Scope("me"), Scope("you")
NOW = datetime(2026, 3, 1, tzinfo=UTC)
WIDTH = 48
NOISE = Model("noise", WIDTH)
WORDS = ["amber", "birch", "cedar", "dune", "ember", "fjord", "grove", "heath", "iris", "jade", "kelp"]


class World:
    """One store, opened with a cache and with pgvector."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.cached = Repository(PostgresStore(parse_store_url(url)))
        self.server = Repository(PostgresStore(parse_store_url(f"{url}?vectors=server")))

    def close(self) -> None:
        self.cached.close()
        self.server.close()

    def filled(self) -> int:
        """Return the number of vectors in pgvector."""
        with psycopg.connect(as_superuser(self.url)) as connection:
            ((count,),) = connection.execute("SELECT count(*) FROM recollect.server_vector").fetchall()
            return int(count)


@pytest.fixture(autouse=True)
def _pgvector(postgres: PostgresStores) -> None:
    postgres.need_pgvector()


@pytest.fixture
def world(postgres: PostgresStores) -> Iterator[World]:
    world = World(postgres.database())
    yield world
    world.close()


def sentence(random: np.random.Generator) -> str:
    return " ".join(random.choice(WORDS, random.integers(3, 9)))


def fill(store: Repository, random: np.random.Generator, count: int, scope: Scope = ME) -> list[int]:
    """Notes, messages and entities with several observations."""
    changes = [
        PutEntity(scope, NewEntity(f"thing {random.integers(1 << 40)}", "thing", tuple(
            NewObservation(sentence(random)) for _ in range(random.integers(1, 6))
        )))
        if place % 3 == 0
        else PutText(scope, NewText(Kind.NOTE if place % 3 == 1 else Kind.MESSAGE, sentence(random),
                                    session=None if place % 3 == 1 else f"session {place % 4}"))
        for place in range(count)
    ]  # fmt: skip
    return [id_ for outcome in store.apply(changes, at=NOW).outcomes for id_ in outcome.ids]


def embed(
    store: Repository, random: np.random.Generator, rows_of: Callable[[int], Rows] | None = None
) -> None:
    with store.read() as view:
        waiting = pending_passages(view, NOISE, 0, 10_000)
    rows = rows_of(len(waiting)) if rows_of else normalised(random.normal(size=(len(waiting), WIDTH)))
    vectors = tuple((passage.id, pack_vector(row)) for passage, row in zip(waiting, rows, strict=True))
    store.apply([PutVectors(NOISE, vectors)], at=NOW)


def nearest(
    store: Repository, query: Vector, k: int, where: Where = (), scope: Scope | None = ME
) -> list[Found]:
    with store.read(scope) as view:
        scopes = [id_ for (id_,) in view.rows("scope", ("id",))]
        if scope is not None:
            scopes = [id_ for (id_,) in view.rows("scope", ("id",), (Equals("owner", scope.owner),))]
        return list(view.nearest(query, k, scopes, where))


@pytest.mark.parametrize("writer", ["cached", "server", "both"])
def test_the_order_is_that_of_a_cache_under_every_filter(world: World, writer: str) -> None:
    random = np.random.default_rng(7)
    writers = {"cached": [world.cached], "server": [world.server], "both": [world.cached, world.server]}[
        writer
    ]
    ids = []
    for store in writers:
        ids += fill(store, random, 60)
        fill(store, random, 20, YOU)
        embed(store, random)
    writers[0].apply([Forget(ME, ids=tuple(ids[::7]))], at=NOW)
    filters: list[Where] = [
        (),
        (OneOf("kind", ["note", "entity"]),),
        (OneOf("id", ids[:40]),),
        (Not(OneOf("id", ids[:40])), OneOf("kind", ["message"])),
        (Equals("session", "session 2"),),
        (Equals("category", "none has it"),),
    ]
    for where in filters:
        query = normalised(random.normal(size=WIDTH))
        for k in (1, 10, 500):
            assert nearest(world.server, query, k, where) == nearest(world.cached, query, k, where)
    query = normalised(random.normal(size=WIDTH))
    everybody = nearest(world.server, query, 500, scope=None)
    assert everybody == nearest(world.cached, query, 500, scope=None)
    assert len(everybody) > len(nearest(world.server, query, 500))
    with world.server.read(ME) as ours, world.cached.read(ME) as theirs:
        assert ours.embedded_passages(ids) == theirs.embedded_passages(ids)
        assert ours.cosines(query, ids) == theirs.cosines(query, ids)


def test_scores_that_differ_in_their_last_bits_alone_have_the_order_of_a_cache(world: World) -> None:
    random = np.random.default_rng(13)
    fill(world.server, random, 90)
    # The same numbers in another order have the same sum, up to rounding.
    numbers = normalised(np.arange(1.0, WIDTH + 1))
    embed(world.server, random, lambda count: np.stack([random.permutation(numbers) for _ in range(count)]))
    query = normalised(np.ones(WIDTH))
    for k in (1, 10, 40):
        found = nearest(world.server, query, k)
        assert found == nearest(world.cached, query, k)
        assert len({round(hit.score, 5) for hit in found}) == 1
    assert len({hit.score for hit in nearest(world.server, query, 500)}) > 1


# Estimates are off by 0.1 at most. One distance is in truth -0.40 and seems to be -0.50; another one is -0.42
# and so nearer, and seems to be -0.32. That is 0.18 further, and up to 2 * 0.1 it may be; 0.21 it may not.
FIRST, NEARER_IN_TRUTH, TOO_FAR = -0.50, -0.32, -0.29


def test_the_better_of_two_may_seem_worse_by_twice_the_doubt() -> None:
    estimates = [(FIRST, 1, 11), (NEARER_IN_TRUTH, 2, 12), (TOO_FAR, 3, 13)]
    assert server_vectors._likely_best(estimates, 1, 0.1) == [11, 12]
    assert not server_vectors._has_all(estimates[:2], 1, 0.1)
    assert server_vectors._has_all(estimates, 1, 0.1)
    estimates = [(FIRST, 1, 11), (NEARER_IN_TRUTH, 1, 12), (TOO_FAR, 1, 13)]
    assert server_vectors._likely_best(estimates, 1, 0.1) == [11, 12]
    assert server_vectors._likely_best([(FIRST, 1, 11), (None, 1, 12), (TOO_FAR, 2, 13)], 1, 0.1) == [11, 12]


def test_every_profile_ranks_as_it_does_over_a_cache(world: World) -> None:
    random = np.random.default_rng(11)
    model = HashingEmbedder(WIDTH)

    def engine(store: Repository) -> Engine:
        return Engine(
            Services(store, lambda: NOW, lambda _: model, "hashing", ME, UsageRecorder(store, "today"))
        )

    ours, theirs = engine(world.server), engine(world.cached)
    for place in range(40):
        (ours if place % 2 else theirs).remember(sentence(random))
    for _ in range(6):
        query = sentence(random)
        for profile in PROFILES:
            expected = theirs.search(query, profile=profile, limit=20, explain=True)
            assert len(expected.hits) == 20
            assert ours.search(query, profile=profile, limit=20, explain=True) == expected
    for one in (ours, theirs):
        one._services.usage.close()


def test_what_was_there_before_is_handed_over_when_a_store_is_first_opened_so(
    postgres: PostgresStores,
) -> None:
    url, random = postgres.scratch(), np.random.default_rng(3)
    before = Repository(PostgresStore(parse_store_url(url)))
    fill(before, random, 30)
    fill(before, random, 6, YOU)
    embed(before, random)
    before.close()
    world = World(url)
    with world.cached.read() as view:
        assert world.filled() == view.count("vector")[None] > 36
    world.close()


def test_vectors_of_a_writer_with_a_cache_are_found_and_handed_over_once_there_are_many(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(5)
    monkeypatch.setattr(server_vectors, "WORTH_FILLING", 20)
    monkeypatch.setattr(server_vectors, "FILLED_AT_ONCE", 15)
    query = normalised(random.normal(size=WIDTH))

    def searched() -> int:
        assert nearest(world.server, query, 100) == nearest(world.cached, query, 100)
        return world.filled()

    fill(world.cached, random, 3)
    embed(world.cached, random)
    assert searched() == 0
    fill(world.cached, random, 30)
    embed(world.cached, random)
    with world.cached.read() as view:
        there = view.count("vector")[None]
    assert there > 45
    # Some are added after each search that found twenty or more missing.
    assert [searched(), searched(), searched()] == [15, 30, 45]
    while there - world.filled() >= 20:
        searched()
    left = world.filled()
    assert searched() == left < there


def test_vectors_have_the_width_of_the_model_and_go_with_what_they_are_of(world: World) -> None:
    random = np.random.default_rng(9)
    fill(world.server, random, 6)
    embed(world.server, random)
    assert world.filled() > 0
    with pytest.raises(InvalidInput, match="embed the query with noise"):
        nearest(world.server, normalised(np.ones(WIDTH + 1)), 1)
    world.cached.store.transact(lambda rows: rows.remove("memory", ()))
    assert world.filled() == 0


def test_nothing_is_kept_on_this_machine(postgres: PostgresStores, tmp_path: Path) -> None:
    url, random = f"{postgres.database()}?vectors=server", np.random.default_rng(1)
    store = PostgresStore(parse_store_url(url), cache_folder=tmp_path / "cache")
    fill(Repository(store), random, 4)
    embed(Repository(store), random)
    assert len(nearest(Repository(store), normalised(random.normal(size=WIDTH)), 9)) == 4
    assert not (tmp_path / "cache").exists()
    assert store.cache_trouble is None
    store.close()


def test_a_query_without_its_scope_set_returns_no_vector(world: World) -> None:
    random = np.random.default_rng(4)
    fill(world.server, random, 3)
    embed(world.server, random)
    with psycopg.connect(as_superuser(world.url)) as connection:
        connection.execute("CREATE ROLE plain; GRANT USAGE ON SCHEMA recollect TO plain")
        connection.execute("GRANT SELECT ON ALL TABLES IN SCHEMA recollect TO plain")
        connection.execute("SET ROLE plain")
        assert connection.execute("SELECT count(*) FROM recollect.server_vector").fetchone() == (0,)
        connection.execute("SELECT set_config('recollect.scopes', '*', true)")
        assert connection.execute("SELECT count(*) > 0 FROM recollect.server_vector").fetchone() == (True,)
        connection.rollback()


def test_without_pgvector_it_is_said_what_to_do(postgres: PostgresStores) -> None:
    url = postgres.scratch()
    with psycopg.connect(as_superuser(url), autocommit=True) as connection:
        connection.execute("DROP EXTENSION vector")
    with pytest.raises(StoreUnavailable, match=r"run CREATE EXTENSION vector\. Or leave vectors=server out"):
        PostgresStore(parse_store_url(f"{url}?vectors=server"))
    # Without it, the same store opens.
    PostgresStore(parse_store_url(url)).close()
