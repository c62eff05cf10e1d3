"""A user without special rights: row-level security applies, and everything works."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import psycopg
import pytest
from conftest import FixedClock

from recollect.domain.changes import Forget, NewText, PutText
from recollect.domain.records import Kind, Scope
from recollect.stores.url import parse_store_url
from recollect.write.repository import Repository
from recollect_postgres.connection import migrations, prepare
from recollect_postgres.store import PostgresStore

if TYPE_CHECKING:
    from postgres_stores import PostgresStores

AT = FixedClock().now


@pytest.fixture
def url(postgres: PostgresStores) -> str:
    """The URL of an empty database of an ordinary user."""
    database = postgres.scratch().rpartition("/")[2]
    with psycopg.connect(postgres.node.url(database), autocommit=True) as hand:
        hand.execute("DROP SCHEMA recollect CASCADE")
        hand.execute(f"CREATE ROLE owner_of_{database} LOGIN")
        hand.execute(f"GRANT CREATE ON DATABASE {database} TO owner_of_{database}")
    return postgres.node.url(database, f"owner_of_{database}")


def test_it_makes_a_store_and_scopes_and_keeps_them_apart(url: str) -> None:
    mine, theirs = Scope("mine"), Scope("theirs")
    with closing(Repository(PostgresStore(parse_store_url(url)))) as store:
        for scope in (mine, theirs):
            store.apply([PutText(scope, NewText(Kind.NOTE, f"Of {scope.owner}."))], at=AT)
        for scope in (mine, theirs):
            with store.read(scope) as view:
                assert view.rows("memory", ("text",)) == [(f"Of {scope.owner}.",)]
        with store.read() as view:
            ((id_,),) = view.rows("memory", ("id",), order=("id",), limit=1)
            assert view.count("memory") == {None: 2}
        store.apply([Forget(mine, ids=(id_,))], at=AT)
        assert list(store.verify()) == []
        assert list(store.repair()) == []
    with psycopg.connect(url) as hand:
        assert hand.execute("SELECT count(*) FROM recollect.memory").fetchone() == (0,)


def test_it_upgrades_a_store_whose_rows_it_sees_only_scope_by_scope(url: str) -> None:
    location = parse_store_url(url)
    prepare(location, migrations()[:1])
    with psycopg.connect(url) as hand:
        hand.execute("SELECT set_config('recollect.scopes', '*', true)")
        hand.execute(
            "INSERT INTO recollect.scope(id, owner, agent) VALUES (1, 'mine', ''), (2, 'theirs', '')"
        )
        for id_, scope, before in ((1, 1, 0), (2, 2, 10), (3, 2, 20), (4, 1, 30)):
            hand.execute(
                "INSERT INTO recollect.recall(scope_id, id, at, session) VALUES (%s, %s, 0, 's')",
                (scope, id_),
            )
            hand.execute(
                "INSERT INTO recollect.shadow(scope_id, id, at, bytes, before, handle, session, query, "
                "profile, arm, against, shown, ranked, baseline, candidates) "
                "VALUES (%s, %s, 0, 10, %s, 'h', 's', 'q', 'p', 'ours', 'a', '[]', '[]', '[]', '')",
                (scope, id_, before),
            )
    with closing(PostgresStore(location)) as store, store.read() as view:
        assert view.rows("recall", ("id", "ordinal"), order=("id",)) == [(1, 1), (2, 1), (3, 2), (4, 2)]
        assert view.rows("answer_log", ("id", "ordinal", "bytes_before"), order=("id",)) == [
            (1, 1, 0), (2, 1, 0), (3, 2, 10), (4, 2, 10),
        ]  # fmt: skip


_NAMES = """
    SELECT relname FROM pg_class WHERE relnamespace = 'recollect'::regnamespace
    UNION ALL SELECT conname FROM pg_constraint WHERE connamespace = 'recollect'::regnamespace
"""


def test_renamed_tables_keep_their_rows_and_numbers_and_leave_no_old_name(url: str) -> None:
    location = parse_store_url(url)
    prepare(location, migrations()[:6])
    with psycopg.connect(url) as hand:
        hand.execute("SELECT set_config('recollect.scopes', '*', true)")
        hand.execute("INSERT INTO recollect.scope(id, owner, agent) VALUES (1, 'mine', '')")
        hand.execute(
            "INSERT INTO recollect.tuned(scope_id, profile, at, knobs, why, report) "
            "VALUES (1, 'p', 0, '{}', 'set', '{}'), (1, 'p', 1, '{}', 'set', '{}')"
        )
        hand.execute("INSERT INTO recollect.applied VALUES ('key', 'digest', 5, '[]')")
    with closing(PostgresStore(location)) as store:
        with store.read() as view:
            assert view.rows("tuning", ("id", "at")) == [(1, 0), (2, 1)]
            assert view.rows("receipt", ("key", "digest", "at", "outcomes")) == [("key", "digest", 5, "[]")]
        third = {"scope_id": 1, "profile": "p", "at": 2, "knobs": "{}", "why": "set", "report": "{}"}
        assert store.transact(lambda rows: rows.put("tuning", [third])) == [3]
    old = ["applied", "due", "past", "recalled", "shadow", "together", "tuned", "use"]
    with psycopg.connect(url) as hand:
        assert hand.execute("SELECT count(*) FROM recollect.tuning").fetchone() == (0,)  # no scope is set
        names = [name for (name,) in hand.execute(_NAMES)]
    assert not [name for name in names if name.startswith(tuple(f"{each}_" for each in old))]
    assert not [name for name in names if "shadow" in name or "life" in name or "told" in name]
