"""`recollect doctor` on a store that a server keeps: what it sees and advises, and that it makes nothing."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

import psycopg
import pytest
from nodes import Node, free_port
from postgres_stores import ORDINARY, as_superuser

from recollect.stores.url import parse_store_url
from recollect_postgres.connection import migrations, prepare

if TYPE_CHECKING:
    from collections.abc import Iterator

    from command_line import CommandLine
    from postgres_stores import PostgresStores

pytest_plugins = ["command_line"]
Checks = dict[str, tuple[str, str]]


LITTLE_LAG = re.compile(r"ok replica, \d{1,2}\.\d s behind its primary ")


def _checks(recollect: CommandLine, url: str, *, status: int = 0) -> Checks:
    """By what was looked at: the mark, and what was said with its remedy."""
    found = recollect.json("doctor", "--store", url, status=status)["checks"]
    return {each["what"]: (each["mark"], f"{each['said']} {each['remedy']}") for each in found}


def _assert_row(recollect: CommandLine, url: str, what: str, mark: str, *texts: str) -> None:
    """One check has this mark, and says these texts."""
    found, said = _checks(recollect, url, status=1 if mark == "problem" else 0)[what]
    assert found == mark
    for text in texts:
        assert text in said


def _execute(url: str, *statements: str) -> None:
    with psycopg.connect(url, autocommit=True) as hand:
        for statement in statements:
            hand.execute(statement)


def _user(url: str, *grants: str) -> str:
    """The URL of a new, ordinary user of the database, with these rights."""
    database = url.rpartition("/")[2]
    user = f"user_of_{database}"
    _execute(as_superuser(url), f"CREATE ROLE {user} LOGIN", *(f"GRANT {each} TO {user}" for each in grants))
    return url.replace(f"//{_name(url)}@", f"//{user}@")


def _name(url: str) -> str:
    return url.removeprefix("postgresql://").partition("@")[0]


_READ_AND_WRITE = (
    "USAGE ON SCHEMA recollect",
    "SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA recollect",
    "ALL ON ALL SEQUENCES IN SCHEMA recollect",
)


def test_a_healthy_store_on_a_server_has_no_problem(recollect: CommandLine, postgres: PostgresStores) -> None:
    url = _user(postgres.scratch(), *_READ_AND_WRITE)
    recollect("remember", "The kettle is in the garden.", "--store", url)
    checks = _checks(recollect, url)
    assert "problem" not in {mark for mark, _ in checks.values()}
    marks = {what: mark for what, (mark, _) in checks.items()}
    fine = (
        "server",
        "latency",
        "replication",
        "store",
        "rights",
        "indexes",
        "row security",
        "holds",
        "vectors",
    )
    for what in fine:
        assert marks[what] == "ok", checks[what]
    assert f"PostgreSQL {_version(url)} at {url}, as user" in checks["server"][1]
    assert "ms for a round trip" in checks["latency"][1]
    assert "primary; no standby follows it" in checks["replication"][1]
    assert f"schema {len(migrations())}" in checks["store"][1]
    assert "does not own the tables" in checks["rights"][1]
    assert "1 note" in checks["holds"][1]
    # The tests' server runs without fsync.
    assert marks["durability"] == "note"


def test_a_store_without_a_cache_says_who_searches(recollect: CommandLine, postgres: PostgresStores) -> None:
    postgres.need_pgvector()
    url = f"{postgres.scratch()}?vectors=server"
    recollect("remember", "The kettle is in the garden.", "--store", url)
    checks = _checks(recollect, url)
    assert checks["vector search"] == ("ok", "by pgvector on the server ")
    assert "vector cache" not in checks


def _version(url: str) -> str:
    with psycopg.connect(url) as connection:
        row = connection.execute("SHOW server_version").fetchone()
        assert row is not None
        return str(row[0])


def test_verify_speaks_of_a_store_and_names_the_servers_tool(
    recollect: CommandLine, postgres: PostgresStores
) -> None:
    url = postgres.scratch()
    recollect("remember", "The kettle is in the garden.", "--store", url)
    assert "The store is intact" in recollect("verify", "--store", url).stdout
    _execute(as_superuser(url), "UPDATE recollect.memory SET superseded_by = 9999")
    assert "pg_restore BACKUP" in recollect("verify", "--store", url, status=1).output


def test_passwords_are_not_shown(recollect: CommandLine, postgres: PostgresStores) -> None:
    url = postgres.scratch().replace(f"{ORDINARY}@", f"{ORDINARY}:s3cret@")
    assert "s3cret" not in recollect("doctor", "--store", url).output


def test_a_database_without_a_store_is_told_and_stays_so(
    recollect: CommandLine, postgres: PostgresStores
) -> None:
    _execute(postgres.node.url(), "CREATE DATABASE empty")
    url = postgres.node.url("empty")
    _assert_row(recollect, url, "store", "note", "has no store yet", "recollect remember")
    with psycopg.connect(url) as hand:
        assert hand.execute("SELECT to_regnamespace('recollect')").fetchone() == (None,)
    _assert_row(recollect, _user(url), "store", "problem", "GRANT CREATE ON DATABASE empty TO user_of_empty")


def test_tables_of_another_program_are_a_problem(recollect: CommandLine, postgres: PostgresStores) -> None:
    url = postgres.scratch()
    _execute(url, "CREATE SCHEMA theirs", "CREATE TABLE theirs.customer (id int)")
    _assert_row(recollect, f"{url}?schema=theirs", "store", "problem", "another program")


def test_a_newer_schema_is_a_problem_and_an_older_one_a_note(
    recollect: CommandLine, postgres: PostgresStores, monkeypatch: pytest.MonkeyPatch
) -> None:
    newer, url, steps = postgres.scratch(), postgres.scratch(), (*migrations(), "SELECT 1")
    prepare(parse_store_url(newer), steps)
    _assert_row(recollect, newer, "store", "problem", "pip install --upgrade")
    monkeypatch.setattr("recollect_postgres.doctor.migrations", lambda: steps)
    older = f"older schema {len(steps) - 1}; the next command upgrades it to {len(steps)}"
    _assert_row(recollect, url, "store", "note", older)
    with psycopg.connect(url) as hand:
        kept = hand.execute("SELECT value FROM recollect.setting WHERE name = 'schema_version'").fetchone()
    assert kept == (str(len(migrations())),)


def test_missing_rights_are_named_with_what_grants_them(
    recollect: CommandLine, postgres: PostgresStores
) -> None:
    url = postgres.scratch()
    theirs = _user(url, "USAGE ON SCHEMA recollect", "SELECT ON ALL TABLES IN SCHEMA recollect")
    _assert_row(
        recollect, theirs, "rights", "problem", f"GRANT DELETE ON recollect.absence TO {_name(theirs)}"
    )
    hidden = _user(postgres.scratch())
    _assert_row(recollect, hidden, "store", "problem", "GRANT USAGE ON SCHEMA recollect")


def test_an_index_that_is_not_valid_is_a_problem(recollect: CommandLine, postgres: PostgresStores) -> None:
    url = postgres.scratch()
    recollect("remember", "One.", "--store", url)
    recollect("remember", "Two.", "--store", url)
    with pytest.raises(psycopg.errors.UniqueViolation):
        _execute(url, "CREATE UNIQUE INDEX CONCURRENTLY one_of_each ON recollect.memory(kind)")
    _assert_row(recollect, url, "indexes", "problem", "REINDEX INDEX CONCURRENTLY recollect.one_of_each")


def test_row_security_that_is_off_or_passed_by_is_told(
    recollect: CommandLine, postgres: PostgresStores
) -> None:
    url = postgres.scratch()
    _assert_row(recollect, as_superuser(url), "row security", "note", "user postgres bypasses it")
    _execute(url, "ALTER TABLE recollect.memory NO FORCE ROW LEVEL SECURITY")
    _assert_row(recollect, url, "row security", "problem", "not active on memory")


def test_a_server_that_is_not_there_is_a_problem(recollect: CommandLine) -> None:
    url = f"postgresql://app:s3cret@127.0.0.1:{free_port()}/x"
    _assert_row(recollect, url, "store", "problem", "No server listens at postgresql://app@127.0.0.1")


def test_without_the_extra_the_command_that_installs_it_is_named(recollect: CommandLine) -> None:
    script = "import sys; sys.modules['psycopg'] = None; from recollect.cli.main import cli; cli()"
    done = subprocess.run(
        [sys.executable, "-c", script, "doctor", "--store", "postgresql://app@127.0.0.1/x"],
        env=recollect.variables(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert "pip install 'recollect-memory[postgres]'" in done.stdout


# Several servers


@pytest.fixture(scope="module")
def pair() -> Iterator[tuple[Node, Node]]:
    """A primary, and a standby that follows it."""
    folder = Path(mkdtemp(prefix="recollect-pair-"))
    folder.chmod(0o755)
    primary, standby = Node(folder / "primary"), Node(folder / "standby")
    try:
        primary.create().start()
        standby.following(primary, "second").start()
        prepare(parse_store_url(primary.url()))
        yield primary, standby
    finally:
        for node in (standby, primary):
            node.kill()
        shutil.rmtree(folder, ignore_errors=True)


def test_a_primary_tells_of_its_standbys(recollect: CommandLine, pair: tuple[Node, Node]) -> None:
    primary, _ = pair
    _assert_row(
        recollect, primary.url(), "replication", "ok", "primary; second streaming (async), 0.", "behind"
    )
    unseen = "1 standby, whose lag user user_of_postgres may not see"
    user = _user(primary.url(), *_READ_AND_WRITE)
    _assert_row(recollect, user, "replication", "ok", unseen, "GRANT pg_monitor TO user_of_postgres")


def test_a_replica_tells_its_lag_and_that_it_takes_no_writes(
    recollect: CommandLine, pair: tuple[Node, Node]
) -> None:
    primary, standby = pair
    _caught_up(primary, standby)
    checks = _checks(recollect, standby.url(), status=1)
    assert LITTLE_LAG.fullmatch(" ".join(checks["replication"]))
    assert checks["writes"][0] == "problem"
    # All the rest can be read there.
    assert checks["holds"][0] == "ok"


def test_a_replica_that_began_again_is_not_late(recollect: CommandLine, pair: tuple[Node, Node]) -> None:
    """It says that it received its log up to the start of a segment, until more of it comes."""
    primary, standby = pair
    _caught_up(primary, standby)
    streams = "SELECT EXISTS (SELECT 1 FROM pg_stat_wal_receiver WHERE status = 'streaming')"
    is_so = False
    # The primary writes something of its own now and then, which puts it right.
    while not is_so:
        standby.stop()
        standby.start()
        _until(standby.url(), streams)
        with psycopg.connect(standby.url()) as hand:
            row = hand.execute("SELECT pg_last_wal_receive_lsn() < pg_last_wal_replay_lsn()").fetchone()
            is_so = row == (True,)
    checks = _checks(recollect, standby.url(), status=1)
    assert LITTLE_LAG.fullmatch(" ".join(checks["replication"]))


def test_a_replica_for_reading_is_told_beside_the_primary(
    recollect: CommandLine, pair: tuple[Node, Node]
) -> None:
    primary, standby = pair
    _caught_up(primary, standby)
    checks = _checks(recollect, f"{primary.url()}?read={standby.url()}")
    assert LITTLE_LAG.fullmatch(" ".join(checks["reads"]))
    checks = _checks(recollect, f"{primary.url()}?read={primary.url()}")
    assert checks["reads"][0] == "note"
    assert "no replica answers" in checks["reads"][1]


def test_a_replica_that_leaves_questions_to_the_primary_says_why(
    recollect: CommandLine, pair: tuple[Node, Node]
) -> None:
    primary, standby = pair
    setting = "UPDATE recollect.setting SET value = '{}' WHERE name = 'schema_version'"
    _execute(primary.url(), setting.format(1))
    _caught_up(primary, standby)
    _execute(standby.url(), "SELECT pg_wal_replay_pause()")
    _until(standby.url(), "SELECT pg_get_wal_replay_pause_state() = 'paused'")
    try:
        _execute(primary.url(), setting.format(len(migrations())))
        checks = _checks(recollect, f"{primary.url()}?read={standby.url()}")
    finally:
        _execute(standby.url(), "SELECT pg_wal_replay_resume()")
    assert checks["replica"][0] == "note"
    assert "it has schema 1 of the store" in checks["replica"][1]
    _caught_up(primary, standby)
    assert "replica" not in _checks(recollect, f"{primary.url()}?read={standby.url()}")


def test_a_quorum_that_nobody_can_give_is_a_problem(recollect: CommandLine, postgres: PostgresStores) -> None:
    url = as_superuser(postgres.scratch())
    _execute(url, "ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (nobody)'", "SELECT pg_reload_conf()")
    try:
        _until(url, "SELECT current_setting('synchronous_standby_names') <> ''")
        waits = "every commit waits for one of: ANY 1 (nobody)"
        _assert_row(recollect, url, "replication", "problem", waits)
    finally:
        _execute(url, "ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()")
        _until(url, "SELECT current_setting('synchronous_standby_names') = ''")


def _caught_up(primary: Node, standby: Node) -> None:
    with psycopg.connect(primary.url(), autocommit=True) as hand:
        row = hand.execute("SELECT pg_current_wal_flush_lsn()").fetchone()
        assert row is not None
    _until(standby.url(), f"SELECT pg_last_wal_replay_lsn() >= '{row[0]}'::pg_lsn")


def _until(url: str, question: str) -> None:
    """Ask until the answer is yes."""
    while True:
        with psycopg.connect(url, autocommit=True) as hand:
            if hand.execute(question).fetchone() == (True,):
                return
        time.sleep(0.05)
