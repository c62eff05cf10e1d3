"""Connecting to a server: each failure has a message with the next step, and nothing hangs."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

import psycopg
import pytest
from nodes import Node, free_port
from postgres_stores import as_superuser

from recollect.domain.errors import InvalidInput, NotAStore, RecollectError, StoreUnavailable
from recollect.stores.url import parse_store_url
from recollect_postgres import connection
from recollect_postgres.connection import migrations, prepare
from recollect_postgres.store import PostgresStore

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postgres_stores import PostgresStores

_DOORS = """\
host all postgres,unknown 127.0.0.1/32 trust
host all unwanted 127.0.0.1/32 reject
host all all 127.0.0.1/32 scram-sha-256
"""
_ROLES = """
CREATE ROLE app LOGIN PASSWORD 'right';
CREATE ROLE sleeper PASSWORD 'right';
CREATE ROLE crowd LOGIN PASSWORD 'right' CONNECTION LIMIT 0;
REVOKE CREATE ON SCHEMA public FROM public;
"""


@pytest.fixture(scope="module")
def guarded() -> Iterator[Node]:
    """A server that needs passwords."""
    node = Node(Path(mkdtemp(prefix="recollect-guarded-"))).create()
    (node.data / "pg_hba.conf").write_text(_DOORS)
    try:
        node.start()
        with psycopg.connect(node.url(), autocommit=True) as hand:
            hand.execute(_ROLES)
            hand.execute("CREATE DATABASE closed")
            hand.execute("REVOKE CONNECT ON DATABASE closed FROM public")
        yield node
    finally:
        node.kill()
        shutil.rmtree(node.folder, ignore_errors=True)


def _refusal(url: str) -> str:
    """Return the error of a store that cannot be opened. It never contains the password."""
    with pytest.raises(RecollectError) as refused:
        PostgresStore(parse_store_url(url)).close()
    said = str(refused.value)
    assert "\n" not in said
    assert "wr0ng" not in said
    return said


def _at(node: Node, user: str, database: str = "postgres", options: str = "") -> str:
    return f"postgresql://{user}@127.0.0.1:{node.port}/{database}{options}"


@pytest.mark.parametrize(
    ("user", "database", "options", "telling", "next_step"),
    [
        ("app:wr0ng", "postgres", "", "does not accept the user or the password", "PGPASSWORD"),
        ("app", "postgres", "", "asks for a password", "PGPASSWORD"),
        # Without a password, the server does not say whether it exists.
        ("stranger:wr0ng", "postgres", "", "does not accept the user or the password", "Check both"),
        ("unknown", "postgres", "", "There is no user unknown", "createuser unknown"),
        ("sleeper:right", "postgres", "", "sleeper may not log in", "ALTER ROLE sleeper LOGIN"),
        ("postgres", "elsewhere", "", "There is no database elsewhere", "createdb elsewhere"),
        ("app:right", "closed", "", "does not let this user in", "GRANT CONNECT ON DATABASE closed"),
        ("unwanted:right", "postgres", "", "does not let this user in from here", "pg_hba.conf"),
        ("crowd:right", "postgres", "", "accepts no more connections", "?pool=NUMBER"),
        ("postgres", "postgres", "?sslmode=require", "does not support encryption", "sslmode"),
        ("postgres", "postgres", "?target_session_attrs=standby", "is not a replica", "target_session_attrs"),
        (
            "app:right",
            "postgres",
            "",
            "permission denied for database",
            "GRANT CREATE ON DATABASE postgres TO app",
        ),
    ],
)
def test_what_a_server_refuses_is_told_with_the_next_step(
    guarded: Node, user: str, database: str, options: str, telling: str, next_step: str
) -> None:
    said = _refusal(_at(guarded, user, database, options))
    assert telling in said
    assert next_step in said


def test_a_server_that_is_not_there_is_told(tmp_path: Path) -> None:
    here = f"127.0.0.1:{free_port()}"
    for url, telling, next_step in (
        (f"app:wr0ng@{here}/db", "No server listens at postgresql://app@127.0.0.1", "Check host and port"),
        (f"app@{here},127.0.0.1:{free_port()}/db", "No server listens", "Check host and port"),
        (f"/db?host={tmp_path}", "No server listens", "Check host and port"),
        ("app@nowhere.invalid/db", "host of postgresql://app@nowhere.invalid/db is not known", "spelling"),
    ):
        said = _refusal(f"postgresql://{url}")
        assert telling in said
        assert next_step in said


@pytest.fixture
def following(guarded: Node, monkeypatch: pytest.MonkeyPatch) -> Iterator[Node]:
    """A server that takes no writes, as a standby does, without waiting for another."""
    monkeypatch.setattr(connection, "_FAILOVER_SECONDS", 0)
    with psycopg.connect(guarded.url(), autocommit=True) as hand:
        hand.execute("ALTER DATABASE postgres SET default_transaction_read_only = on")
        try:
            yield guarded
        finally:
            hand.execute("ALTER DATABASE postgres RESET default_transaction_read_only")


def test_a_lone_replica_is_told_to_name_the_primary_and_several_to_wait(following: Node) -> None:
    said = _refusal(f"{following.url()}?target_session_attrs=read-write")
    assert "is a replica and accepts no writes. Name the primary" in said
    said = _refusal(f"postgresql://postgres@127.0.0.1:{free_port()},127.0.0.1:{following.port}/postgres")
    assert "None of the servers of" in said
    assert "RECOLLECT_BUSY_SECONDS" in said


def test_a_server_that_never_answers_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        said = _refusal(f"postgresql://app@127.0.0.1:{port}/postgres?connect_timeout=2")
    assert "does not answer" in said
    assert "firewall" in said


@pytest.mark.parametrize("options", ["?sslmode=disable&gssencmode=disable", ""])
def test_another_kind_of_server_is_told(options: str) -> None:
    script = (
        "import socket\n"
        "with socket.create_server(('127.0.0.1', 0)) as server:\n"
        "    print(server.getsockname()[1], flush=True)\n"
        "    while True:\n"
        "        caller, _ = server.accept()\n"
        "        caller.recv(8)\n"
        "        caller.sendall(b'HTTP/1.1 400 Bad Request\\r\\n\\r\\n')\n"
        "        caller.recv(8)\n"
        "        caller.close()\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as other:
        try:
            assert other.stdout is not None
            port = other.stdout.readline().strip()
            said = _refusal(f"postgresql://app@127.0.0.1:{port}/postgres{options}")
        finally:
            other.kill()
    assert "is not PostgreSQL" in said


@pytest.mark.parametrize(
    "url", ["postgresql://app:wr0ng%zz@127.0.0.1/postgres", "postgresql://app@127.0.0.1/postgres?colour=red"]
)
def test_a_url_that_cannot_be_read_is_told_without_its_password(url: str) -> None:
    with pytest.raises(InvalidInput, match=r"cannot be read.*postgresql://USER:PASSWORD@HOST") as refused:
        PostgresStore(parse_store_url(url)).close()
    assert "wr0ng" not in str(refused.value)


def test_options_of_the_url_come_to_the_server_as_they_were_written() -> None:
    location = parse_store_url(
        "postgresql://app@/db?host=/run&schema=mine&options=-c%20a.b=1&application_name=a%2Bb+c"
    )
    assert psycopg.conninfo.conninfo_to_dict(location.server) == {
        "user": "app", "dbname": "db", "host": "/run", "options": "-c a.b=1", "application_name": "a+b+c",
    }  # fmt: skip
    assert str(parse_store_url("postgresql:///db?password=wr0ng")) == "postgresql:///db?password=***"


def test_a_server_that_is_too_old_is_told(guarded: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "OLDEST_SERVER", 99)
    said = _refusal(_at(guarded, "postgres"))
    assert "99 or later is needed" in said
    assert "Upgrade the server" in said


def test_a_database_of_other_letters_is_told(postgres: PostgresStores) -> None:
    with psycopg.connect(postgres.node.url(), autocommit=True) as hand:
        hand.execute("CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'")
    assert "ENCODING 'UTF8'" in _refusal(postgres.url("latin"))


def test_a_schema_of_ones_own_is_right_enough(guarded: Node) -> None:
    with psycopg.connect(guarded.url(), autocommit=True) as hand:
        hand.execute("CREATE SCHEMA mine AUTHORIZATION app")
    url = _at(guarded, "app:right", options="?schema=mine")
    with closing(PostgresStore(parse_store_url(url))) as store:
        assert store.verify() == []


def test_who_may_not_read_the_tables_is_told_what_to_grant(postgres: PostgresStores) -> None:
    url = postgres.scratch()
    database = url.rpartition("/")[2]
    with psycopg.connect(as_superuser(url), autocommit=True) as hand:
        hand.execute(f"CREATE ROLE reader_of_{database} LOGIN")
        theirs = postgres.node.url(database, f"reader_of_{database}")
        said = _refusal(theirs)
        assert "permission denied for schema recollect" in said
        assert f"GRANT USAGE ON SCHEMA recollect TO reader_of_{database}" in said
        hand.execute(f"GRANT USAGE ON SCHEMA recollect TO reader_of_{database}")
        assert "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES" in _refusal(theirs)


# Schemas


def _everything(url: str, schema: str = "recollect") -> list[tuple[object, ...]]:
    """Return every column of the schema with its properties."""
    with psycopg.connect(url, autocommit=True) as hand:
        columns = hand.execute(
            "SELECT table_name, column_name, data_type FROM information_schema.columns "
            "WHERE table_schema = %s ORDER BY 1, 2",
            (schema,),
        ).fetchall()
        return [*columns, *hand.execute(f"SELECT * FROM {schema}.setting ORDER BY 1").fetchall()]


def test_an_upgrade_is_made_whole_or_not_at_all_and_a_newer_schema_is_refused(
    postgres: PostgresStores,
) -> None:
    url = postgres.scratch()
    before = _everything(url)
    steps = [*migrations(), "ALTER TABLE {schema}.setting ADD COLUMN note text"]
    with pytest.raises(RecollectError, match="division by zero"):
        prepare(parse_store_url(url), [*steps, "SELECT 1 / 0"])
    assert _everything(url) == before
    PostgresStore(parse_store_url(url)).close()
    prepare(parse_store_url(url), steps)
    newer = _everything(url)
    assert {("setting", "note"), ("schema_version", str(len(steps)))} <= {row[:2] for row in newer}
    with pytest.raises(NotAStore, match=r"newer Recollect .* pip install --upgrade"):
        PostgresStore(parse_store_url(url)).close()
    assert _everything(url) == newer


def test_only_the_owner_upgrades_and_another_is_told_so(postgres: PostgresStores) -> None:
    url = postgres.scratch()
    database = url.rpartition("/")[2]
    with psycopg.connect(as_superuser(url), autocommit=True) as hand:
        hand.execute(f"CREATE ROLE user_of_{database} LOGIN")
        hand.execute(f"GRANT USAGE ON SCHEMA recollect TO user_of_{database}")
        hand.execute(f"GRANT ALL ON ALL TABLES IN SCHEMA recollect TO user_of_{database}")
    before = _everything(url)
    steps = [*migrations(), "ALTER TABLE {schema}.setting ADD COLUMN note text"]
    with pytest.raises(StoreUnavailable, match="only the owner can change the tables"):
        prepare(parse_store_url(postgres.node.url(database, f"user_of_{database}")), steps)
    assert _everything(url) == before


@pytest.mark.parametrize(
    "theirs",
    [
        "CREATE TABLE {schema}.customer (id int)",
        "CREATE TABLE {schema}.setting (colour text)",
        """CREATE TABLE {schema}.setting (name text, value text);
        INSERT INTO {schema}.setting VALUES ('schema_version', 'blue')""",
    ],
)
def test_tables_of_another_program_are_refused_and_left_as_they_are(
    postgres: PostgresStores, theirs: str
) -> None:
    url = postgres.scratch()
    with psycopg.connect(url, autocommit=True) as hand:
        hand.execute("CREATE SCHEMA theirs")
        hand.execute(theirs.format(schema="theirs"))
        listed = "SELECT relname FROM pg_class WHERE relnamespace = 'theirs'::regnamespace ORDER BY 1"
        before = hand.execute(listed).fetchall()
        with pytest.raises(NotAStore, match=r"another program.*\?schema=NAME"):
            PostgresStore(parse_store_url(f"{url}?schema=theirs")).close()
        assert hand.execute(listed).fetchall() == before


# The extra


def test_without_the_extra_the_command_that_installs_it_is_named() -> None:
    # A process that cannot import it, as if it were not installed.
    script = (
        "import sys; sys.modules['psycopg'] = None\n"
        "import recollect\n"
        "try:\n"
        "    recollect.open('postgresql://app:wr0ng@127.0.0.1/postgres')\n"
        "except recollect.RecollectError as error:\n"
        "    print(type(error).__name__, error)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("StoreUnavailable The store postgresql://app@127.0.0.1/postgres needs pack")
    assert "pip install 'recollect-memory[postgres]'" in done.stdout
