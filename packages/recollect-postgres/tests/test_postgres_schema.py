"""The server's catalogue: every table of a scope has the scope in its key and row-level security."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

import psycopg
import pytest
from postgres_stores import ORDINARY, as_superuser

import recollect
from recollect.domain.tables import TABLES
from recollect.stores.url import parse_store_url
from recollect_postgres.connection import migrations, prepare
from recollect_postgres.snapshot import STORE_WIDE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postgres_stores import PostgresStores

_TABLES = """
    SELECT c.relname,
      (SELECT array_agg(a.attname ORDER BY k.place) FROM pg_index AS i,
        unnest(i.indkey) WITH ORDINALITY AS k(number, place), pg_attribute AS a
        WHERE i.indrelid = c.oid AND i.indisprimary AND a.attrelid = c.oid AND a.attnum = k.number)::text[],
      c.relrowsecurity, c.relforcerowsecurity
    FROM pg_class AS c WHERE c.relnamespace = 'recollect'::regnamespace AND c.relkind IN ('r', 'p')
"""
_FOREIGN_KEYS = """
    SELECT f.conrelid::regclass::text, f.confrelid::regclass::text,
      (SELECT array_agg(a.attname) FROM pg_attribute AS a
        WHERE a.attrelid = f.conrelid AND a.attnum = ANY (f.conkey))::text[],
      (SELECT array_agg(a.attname) FROM pg_attribute AS a
        WHERE a.attrelid = f.confrelid AND a.attnum = ANY (f.confkey))::text[]
    FROM pg_constraint AS f WHERE f.contype = 'f' AND f.connamespace = 'recollect'::regnamespace
"""


@pytest.fixture(scope="module")
def filled(postgres_server: PostgresStores) -> str:
    """The URL of a store with memories of two owners."""
    url = postgres_server.empty_database()
    for owner in ("ann", "bob"):
        with recollect.open(url, owner=owner, model="hashing") as memory:
            memory.remember(f"This is {owner}'s and nobody else's", tags=["own"])
            memory.recall(f"{owner}'s")
    return url


@pytest.fixture(scope="module", params=["ordinary", "owner"])
def role(request: pytest.FixtureRequest, filled: str) -> str:
    """The URL with a role without special rights: one that may use the tables, or their owner."""
    kind: str = request.param
    name = f"{kind}_{secrets.token_hex(4)}"
    with psycopg.connect(as_superuser(filled), autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {name} LOGIN")
        connection.execute(f"GRANT USAGE ON SCHEMA recollect TO {name}")
        if kind == "owner":
            for table, *_ in connection.execute(_TABLES).fetchall():
                connection.execute(f"ALTER TABLE recollect.{table} OWNER TO {name}")
        else:
            connection.execute(
                f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA recollect TO {name}"
            )
    return filled.replace(f"//{ORDINARY}@", f"//{name}@")


@pytest.fixture
def as_role(role: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(role) as connection:
        yield connection
        connection.rollback()


def _tables(url: str) -> dict[str, tuple[list[str], bool, bool]]:
    with psycopg.connect(url) as connection:
        return {name: (key, enabled, forced) for name, key, enabled, forced in connection.execute(_TABLES)}


def test_every_table_of_a_scope_has_it_first_in_its_keys_and_row_level_security(filled: str) -> None:
    tables = _tables(filled)
    assert set(TABLES) <= tables.keys()
    assert {name for name, (key, _, _) in tables.items() if key[0] != "scope_id"} == STORE_WIDE
    fenced = {name for name, (_, enabled, forced) in _tables(filled).items() if enabled and forced}
    assert fenced == _tables(filled).keys() - STORE_WIDE | {"scope"}
    with psycopg.connect(filled) as connection:
        keys = connection.execute(_FOREIGN_KEYS).fetchall()
    within = [key for key in keys if key[1].removeprefix("recollect.") not in STORE_WIDE]
    assert len(within) > 20
    assert [key for key in within if "scope_id" not in key[2] or "scope_id" not in key[3]] == []


def test_without_its_scopes_set_a_role_sees_nothing(as_role: psycopg.Connection) -> None:
    for table in sorted(set(TABLES) - STORE_WIDE | {"scope", "commit_mark"}):
        assert as_role.execute(f"SELECT count(*) FROM recollect.{table}").fetchone() == (0,), table


def test_with_its_scopes_set_a_role_sees_those_alone(as_role: psycopg.Connection) -> None:
    as_role.execute("SELECT set_config('recollect.scopes', '*', true)")
    ids = {owner: id_ for id_, owner in as_role.execute("SELECT id, owner FROM recollect.scope")}
    assert ids.keys() == {"ann", "bob"}
    as_role.execute("SELECT set_config('recollect.scopes', %s, true)", [f"{{{ids['ann']}}}"])
    texts = [text for (text,) in as_role.execute("SELECT text FROM recollect.memory")]
    assert texts == ["This is ann's and nobody else's"]
    for table in sorted(set(TABLES) - STORE_WIDE):
        scopes = {scope for (scope,) in as_role.execute(f"SELECT scope_id FROM recollect.{table}")}
        assert scopes <= {ids["ann"]}, table


def test_a_role_can_write_to_no_scope_that_is_not_set(as_role: psycopg.Connection) -> None:
    as_role.execute("SELECT set_config('recollect.scopes', '*', true)")
    ids = {owner: id_ for id_, owner in as_role.execute("SELECT id, owner FROM recollect.scope")}
    as_role.execute("SELECT set_config('recollect.scopes', %s, true)", [f"{{{ids['ann']}}}"])
    assert as_role.execute("DELETE FROM recollect.memory WHERE scope_id = %s", [ids["bob"]]).rowcount == 0
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"):
        as_role.execute("INSERT INTO recollect.commit_mark VALUES (%s, 0, gen_random_uuid())", [ids["bob"]])


def test_the_setting_does_not_outlive_its_transaction(role: str) -> None:
    with psycopg.connect(role, autocommit=True) as connection:
        with connection.transaction():
            connection.execute("SELECT set_config('recollect.scopes', '*', true)")
        assert connection.execute("SELECT count(*) FROM recollect.memory").fetchone() == (0,)


def test_indexes_that_mislead_the_planner_go_from_a_store_that_was_made_with_them(
    postgres: PostgresStores,
) -> None:
    url = postgres.empty_database()
    prepare(parse_store_url(url), migrations()[:4])
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE INDEX memory_by_scope ON recollect.memory(scope_id, kind)")
        connection.execute("DROP INDEX recollect.memory_by_kind")
        connection.execute("CREATE INDEX vector_by_model ON recollect.vector(scope_id, model_id, id)")
    with recollect.open(url, model="none") as memory:
        memory.remember("The keys are in the drawer.")
    with psycopg.connect(url, autocommit=True) as connection:
        rows = connection.execute(
            "SELECT indexname FROM pg_indexes WHERE schemaname = 'recollect'"
        ).fetchall()
    names = {name for (name,) in rows}
    assert "memory_by_kind" in names
    assert not names & {"memory_by_scope", "vector_by_model"}
