"""Checks and repairs of a store on PostgreSQL."""

from __future__ import annotations

import os
import re
import subprocess
from contextlib import closing
from typing import TYPE_CHECKING

import psycopg
import pytest
from conftest import FixedClock, engine_of
from nodes import programs
from postgres_stores import as_superuser

from recollect.domain.changes import NewEntity, NewObservation, NewText, PutText
from recollect.domain.errors import StoreUnavailable
from recollect.domain.records import Filter, Kind, Scope
from recollect.models.embedders import embedder_named
from recollect.search.candidates import Search
from recollect.search.rows import memories_by_id
from recollect.stores.url import parse_store_url
from recollect.stores.vectors import cache as vector_cache
from recollect.write import word_index
from recollect.write.repository import Repository
from recollect_postgres.connection import migrations
from recollect_postgres.store import PostgresStore

if TYPE_CHECKING:
    from pathlib import Path

    from postgres_stores import PostgresStores

    from recollect.engine import Engine
    from recollect.stores.port import Store

OF_A_WORD = "term_id = (SELECT id FROM recollect.term WHERE term = 'kettle')"
A_MEMORY = "(SELECT id FROM recollect.memory WHERE name = 'Ada')"
A_PASSAGE = f"(SELECT min(id) FROM recollect.passage WHERE memory_id = {A_MEMORY})"
A_VECTOR = f"(SELECT id FROM recollect.vector WHERE passage_id = {A_PASSAGE})"

ZEROS = "decode(repeat('00', ((dims + 7) / 8 - 1)::int), 'hex')"
A_TWIN = """INSERT INTO recollect.passage(scope_id, id, memory_id, start, stop)
SELECT 2, 9001, id, 0, 0 FROM recollect.memory WHERE scope_id = 2;
INSERT INTO recollect.vector(scope_id, id, model_id, passage_id, embedding)
SELECT 2, id, model_id, 9001, embedding FROM recollect.vector ORDER BY id LIMIT 1;
SELECT setval('recollect.passage_id_seq', 9001)"""

# Tests the SQL of this store. Tests with SQLite cover the shared checks.
OUT_OF_STEP: dict[str, list[str]] = {
    "the word index lacks 1": [f"DELETE FROM recollect.document WHERE memory_id = {A_MEMORY}"],
    "the word index differs from its documents": [f"DELETE FROM recollect.posting WHERE {OF_A_WORD}"],
    "1 rows of posting point to a term": [
        "INSERT INTO recollect.posting VALUES (1, 9999, 1, 1, '\\x01010101000101')"
    ],
    "1 passages that are live": [f"UPDATE recollect.passage SET live = 0 WHERE id = {A_PASSAGE}"],
    # A missing memory, and one of another scope.
    "1 rows of passage point to a memory": [
        "INSERT INTO recollect.passage(scope_id, memory_id, start, stop) VALUES (1, 9999, 0, 0)",
        f"INSERT INTO recollect.passage(scope_id, memory_id, start, stop) VALUES (2, {A_MEMORY}, 0, 0)",
    ],
    "1 rows of vector point to a passage": [
        f"UPDATE recollect.vector SET passage_id = 9999 WHERE id = {A_VECTOR}"
    ],
    "1 vectors of the wrong length": [
        f"UPDATE recollect.vector SET embedding = '\\x0000' WHERE id = {A_VECTOR}"
    ],
    "1 token vectors of the wrong length": [
        f"INSERT INTO recollect.passage_tokens SELECT 1, {A_PASSAGE}, id, {ZEROS} FROM recollect.model"
    ],
    "neither a vector nor a place in the queue": [f"DELETE FROM recollect.vector WHERE id = {A_VECTOR}"],
    "1 memories without a passage": [
        f"DELETE FROM recollect.passage WHERE memory_id = {A_MEMORY} AND observation_id IS NULL"
    ],
    "has no id": ["DELETE FROM recollect.setting WHERE name = 'store_id'"],
    "1 scopes with a vector version that is too low": [
        "UPDATE recollect.scope SET last_vector = 1 WHERE id = 1"
    ],
    "1 sequences that would assign an id twice": ["SELECT setval('recollect.memory_id_seq', 1)"],
    "is in 2 scopes: ": [A_TWIN],
    "term 1 is in 2 scopes: ": [
        "INSERT INTO recollect.term SELECT 2, min(id), 0, 'twin', 'twin' FROM recollect.term"
    ],
    "the index recollect.memory_by_kind is not valid": [
        "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'recollect.memory_by_kind'::regclass"
    ],
}


@pytest.fixture(scope="module")
def filled(postgres_server: PostgresStores) -> str:
    """A small database: entities, a note, a forgotten one, another scope, pending passages."""
    url = postgres_server.template()
    with pytest.MonkeyPatch.context() as patch, _opened(url) as memory:
        patch.setattr(word_index, "_MOST_UNMERGED", 3)
        for name in ("Ada", "Boris", "Clara", "Dora"):
            memory.create_entities([_person(name, f"{name} has a kettle", "likes tea")])
        memory.remember("The kettle is in the garden.")
        memory.create_entities([_person("gone", "an old thing")])
        memory.graph.delete_entities(["gone"])
        store = memory._services.store
        store.apply([PutText(Scope("other"), NewText(Kind.NOTE, "Theirs."))], at=FixedClock().now)
        assert list(store.verify()) == []
    return url.rpartition("/")[2]


@pytest.fixture
def url(postgres: PostgresStores, filled: str) -> str:
    return postgres.scratch(filled)


def _person(name: str, *observations: str) -> NewEntity:
    return NewEntity(name, "person", tuple(map(NewObservation, observations)))


def _opened(url: str, cache_folder: Path | None = None) -> Engine:
    return engine_of(Repository(_store(url, cache_folder)), FixedClock())


def _store(url: str, cache_folder: Path | None = None) -> PostgresStore:
    return PostgresStore(parse_store_url(url), cache_folder=cache_folder)


def _behind_its_back(url: str, statements: str) -> None:
    """As a superuser, with foreign keys switched off."""
    with psycopg.connect(as_superuser(url), autocommit=True) as hand:
        hand.execute("SET session_replication_role = replica")
        hand.execute(statements)


def _truth(url: str) -> dict[str, list[tuple[object, ...]]]:
    columns = dict.fromkeys(("memory", "observation", "relation", "model", "receipt"), "*")
    columns["scope"] = "id, owner, agent, temper"
    with psycopg.connect(as_superuser(url), autocommit=True) as hand:
        return {
            table: hand.execute(f"SELECT {listed} FROM recollect.{table} ORDER BY 1, 2").fetchall()
            for table, listed in columns.items()
        }


@pytest.mark.parametrize(
    ("telling", "damage"), [(telling, each) for telling, all_ in OUT_OF_STEP.items() for each in all_]
)
def test_what_is_derived_and_out_of_step_is_named_and_mended_and_the_truth_untouched(
    url: str, telling: str, damage: str
) -> None:
    truth = _truth(url)
    _behind_its_back(url, damage)
    with _opened(url) as memory:
        store = memory._services.store
        problems = store.verify()
        assert any(telling in problem.what for problem in problems), problems
        assert all(problem.repairable for problem in problems), problems
        assert store.repair() == []
        assert memory.recall("Clara has a kettle", record=False).hits[0].memory.name == "Clara"
    assert _truth(url) == truth


@pytest.mark.parametrize(
    ("damage", "telling"),
    [
        (f"DELETE FROM recollect.memory WHERE id = {A_MEMORY}", "2 rows of observation point to a memory"),
        (
            f"UPDATE recollect.memory SET superseded_by = 9999 WHERE id = {A_MEMORY}",
            "superseded by a memory that does not exist",
        ),
    ],
)
def test_truth_that_is_missing_is_told_and_not_invented(url: str, damage: str, telling: str) -> None:
    _behind_its_back(url, damage)
    truth = _truth(url)
    with closing(_store(url)) as store:
        for problems in (store.verify(), store.repair()):
            assert any(telling in problem.what and not problem.repairable for problem in problems), problems
    assert _truth(url) == truth


def test_an_id_of_two_scopes_is_named_with_both(url: str) -> None:
    # As after an import of an id that another writer had drawn.
    with psycopg.connect(as_superuser(url)) as hand:
        ((id_,),) = hand.execute(f"SELECT {A_MEMORY}").fetchall()
    _behind_its_back(
        url,
        "INSERT INTO recollect.memory(scope_id, id, kind, created_at, updated_at, text) "
        f"VALUES (2, {id_}, 'note', 1, 1, 'Theirs as well')",
    )
    with closing(_store(url)) as store:
        for problems in (store.verify(), store.repair()):
            named = [problem for problem in problems if " is in 2 scopes: " in problem.what]
            assert [problem.what for problem in named] == [
                f"memory {id_} is in 2 scopes: owner '', agent '' and owner 'other', agent ''"
            ]
            assert not named[0].repairable


def test_an_index_that_rows_contradict_is_told_and_does_not_keep_the_rest_from_repair(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as hand, pytest.raises(psycopg.errors.UniqueViolation):
        hand.execute("CREATE UNIQUE INDEX CONCURRENTLY one_of_each ON recollect.memory(kind)")
    _behind_its_back(url, "DELETE FROM recollect.document")
    with closing(_store(url)) as store:
        assert [problem.what for problem in store.repair()] == [
            "the index recollect.one_of_each is not valid"
        ]


def test_a_repair_is_all_or_nothing(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _behind_its_back(url, "DELETE FROM recollect.document; UPDATE recollect.passage SET live = 0")

    def fails(*_: object) -> None:
        raise StoreUnavailable("in the middle")

    with closing(_store(url)) as store:
        before = store.verify()
        with monkeypatch.context() as patch:
            patch.setattr("recollect_postgres.upkeep.invalidate_caches", fails)
            with pytest.raises(StoreUnavailable, match="in the middle"):
                store.repair()
        assert store.verify() == before
        assert store.repair() == []


def test_a_cache_that_differs_is_told_and_made_anew(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_cache, "WORTH_SHARING", 4)
    with closing(_store(url, tmp_path)) as store:
        assert store.verify() == []
        # Not in `vector_change`.
        _behind_its_back(
            url, "UPDATE recollect.vector SET embedding = decode(repeat('00', length(embedding)::int), 'hex')"
        )
        problems = store.verify()
        assert {problem.where for problem in problems} == {"vectors"}
        assert store.repair() == []
    files = list(tmp_path.rglob("*.vectors"))
    assert files
    for file in files:
        file.write_bytes(b"nonsense")
    with closing(_store(url, tmp_path)) as store:
        store.repair()
        assert store.verify() == []


def test_a_restored_database_shares_no_cache_with_the_one_that_it_was_restored_from(
    postgres: PostgresStores, filled: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_cache, "WORTH_SHARING", 4)
    # Both have the same store id. Then they diverge, with the same ids.
    for name in ("Emil", "Frida"):
        url = postgres.scratch(filled)
        with _opened(url, tmp_path) as memory:
            for each in (name, "Gerda"):
                memory.create_entities([_person(each, f"{each} has a kettle")])
            assert _nearest(memory._services.store.store, f"{name} has a kettle") == name
            assert memory._services.store.verify() == []
    assert len({file.read_bytes() for file in tmp_path.rglob("*.vectors")}) > 1


def test_a_repair_is_seen_by_a_process_that_was_open_all_along(url: str) -> None:
    with closing(_store(url)) as reader, closing(_store(url)) as mender:
        assert _nearest(reader, "Boris has a kettle") == "Boris"
        _behind_its_back(
            url,
            "UPDATE recollect.passage SET live = 0 WHERE memory_id = "
            "(SELECT id FROM recollect.memory WHERE name = 'Boris')",
        )
        with closing(_store(url)) as third:
            assert _nearest(third, "Boris has a kettle") != "Boris"
            assert mender.repair() == []
            assert _nearest(third, "Boris has a kettle") == "Boris"
        assert _nearest(reader, "Boris has a kettle") == "Boris"


def _nearest(store: Store, text: str) -> str:
    embedder = embedder_named("hashing")
    assert embedder is not None
    with store.read() as view:
        (hit,) = Search(view, Filter()).by_meaning(embedder.query(text), 1)
        return memories_by_id(view, [hit.id])[hit.id].name


def test_the_size_is_that_of_the_schema_and_grows_with_it(postgres: PostgresStores, url: str) -> None:
    with closing(_store(postgres.scratch())) as empty, closing(_store(url)) as store:
        (small, version), (large, _) = empty.size(), store.size()
        assert 0 < small < large
        assert version == len(migrations())


def test_compacting_frees_what_was_destroyed(url: str) -> None:
    _behind_its_back(
        url,
        "CREATE EXTENSION IF NOT EXISTS pgstattuple; INSERT INTO recollect.setting "
        "SELECT 'many ' || n, 'x' FROM generate_series(1, 1000) AS n; "
        "DELETE FROM recollect.setting WHERE name LIKE 'many %'",
    )
    dead = "SELECT dead_tuple_count FROM pgstattuple('recollect.setting')"
    with closing(_store(url)) as store, psycopg.connect(as_superuser(url), autocommit=True) as hand:
        assert hand.execute(dead).fetchone() != (0,)
        store.compact()
        assert hand.execute(dead).fetchone() == (0,)


def test_who_does_not_own_the_tables_is_told_that_nothing_was_compacted(
    postgres: PostgresStores, url: str
) -> None:
    database = url.rpartition("/")[2]
    with psycopg.connect(as_superuser(url), autocommit=True) as owner:
        owner.execute(f"CREATE ROLE guest_of_{database} LOGIN")
        owner.execute(f"GRANT USAGE ON SCHEMA recollect TO guest_of_{database}")
        owner.execute(f"GRANT ALL ON ALL TABLES IN SCHEMA recollect TO guest_of_{database}")
        # From 17 on, ALL includes MAINTAIN, the right to vacuum.
        if owner.info.server_version >= 170_000:
            owner.execute(f"REVOKE MAINTAIN ON ALL TABLES IN SCHEMA recollect FROM guest_of_{database}")
        owner.execute(f"GRANT ALL ON ALL SEQUENCES IN SCHEMA recollect TO guest_of_{database}")
    with closing(_store(postgres.node.url(database, f"guest_of_{database}"))) as store:
        with pytest.raises(StoreUnavailable, match="does not own them"):
            store.compact()
        # It may do everything else, even with row-level security.
        assert store.verify() == []
        assert store.repair() == []


def test_the_command_that_a_refused_backup_names_makes_one_even_for_an_ordinary_owner(
    postgres: PostgresStores, url: str, tmp_path: Path
) -> None:
    dump = tmp_path / "memory.dump"
    with closing(_store(url)) as store, pytest.raises(StoreUnavailable) as refused:
        store.backup(str(dump))
    assert f"recollect copy '{url}' {dump}" in str(refused.value)
    named = re.search(r"with PostgreSQL's tool: (.*)\. For a file", str(refused.value))
    assert named is not None
    path = f"{programs()}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(named[1], shell=True, check=True, env={**os.environ, "PATH": path})  # noqa: S602  # as typed
    copy = postgres.scratch("template0")
    subprocess.run([programs() / "pg_restore", "--no-owner", "--dbname", copy, dump], check=True)
    assert _truth(copy) == _truth(url)
    with closing(_store(copy)) as store:
        assert store.verify() == []


@pytest.mark.parametrize(
    ("damage", "named"),
    [
        ("UPDATE recollect.memory SET text = 'The kettle is in the gardon.' WHERE kind = 'note'", "memory"),
        ("UPDATE recollect.observation SET content = 'likes toa' WHERE content = 'likes tea'", "observation"),
        ("UPDATE recollect.scope SET owner = 'othur' WHERE owner = 'other'", "scope"),
    ],
)
def test_a_letter_that_changes_on_the_disk_is_noticed_and_named(url: str, damage: str, named: str) -> None:
    _behind_its_back(url, damage)
    with closing(_store(url)) as store:
        found = [each.what for each in store.verify(quick=True) if not each.repairable]
        assert found
        assert all(each.startswith(named) and "its checksum differs" in each for each in found)
        # A repair does not accept damaged texts.
        assert [each.what for each in store.repair() if not each.repairable] == found
