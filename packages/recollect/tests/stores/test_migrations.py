"""A store of the first release becomes a current one with all its rows, or stays exactly as it was.

../frozen/test_frozen_store.py compares its answers afterwards.
"""

from __future__ import annotations

import gzip
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import pytest
from durable_world import apply, entity
from store_worker import team

from recollect.domain.errors import StoreUnavailable
from recollect.search.texts import store_setting
from recollect.stores.sqlite.connection import migrations, prepare
from recollect.stores.sqlite.store import SqliteStore
from recollect.write.repository import Repository

if TYPE_CHECKING:
    from recollect.domain.tables import Row

pytestmark = pytest.mark.usefixtures("real_stores")

FROZEN = Path(__file__).parents[1] / "frozen/store-v5.db.gz"
FIRST = 5
"""The schema of the first release."""
NOW = len(migrations())


def store_of(version: int, path: Path) -> Path:
    """Return the store of the first release, migrated to this version."""
    path.write_bytes(gzip.decompress(FROZEN.read_bytes()))
    prepare(path, 1_000, migrations()[:version], keep_older=False)
    return path


@pytest.mark.parametrize("version", range(FIRST, NOW + 1))
def test_a_store_of_every_version_becomes_current_and_can_be_written_to(tmp_path: Path, version: int) -> None:
    path = store_of(version, tmp_path / "store.db")
    with closing(Repository(SqliteStore(path))) as store:
        assert store.verify() == []
        apply(store, entity("Ada", "was a countess"))
        assert store.verify() == []
    assert _version(path) == NOW
    with closing(apsw.Connection(str(path))) as hand:
        names = {name for (name,) in hand.execute("SELECT name FROM sqlite_schema")}
    # The tables of the word index before version 8.
    assert not [name for name in names if name.startswith(("words_", "stems_", "pairs_", "word_count_"))]
    assert {"term", "posting", "document"} <= names


def test_every_store_has_a_seed_for_trials_of_its_own(tmp_path: Path) -> None:
    seeds = set()
    for number in range(2):
        with closing(Repository(SqliteStore(tmp_path / f"{number}.db"))) as store, store.read() as view:
            seeds.add(store_setting(view, "trial_seed") or "")
    assert len(seeds) == 2


def test_kept_answers_are_numbered_scope_by_scope(tmp_path: Path) -> None:
    path = store_of(9, tmp_path / "store.db")
    with closing(apsw.Connection(str(path))) as hand:
        hand.execute(
            "DELETE FROM recalled; DELETE FROM recall; DELETE FROM shadow; "
            "INSERT OR IGNORE INTO scope(id, owner, agent) VALUES (2, 'o', '')"
        )
        for id_, scope, before in ((11, 1, 0), (12, 2, 10), (13, 2, 20), (14, 1, 30)):
            hand.execute("INSERT INTO recall(id, scope_id, at, session) VALUES (?, ?, 0, 's')", (id_, scope))
            hand.execute(
                "INSERT INTO shadow(id, scope_id, at, bytes, before, handle, session, query, profile, arm, "
                "against, shown, ranked, baseline, candidates) VALUES (?, ?, 0, 10, ?, 'h', 's', 'q', 'p', "
                "'ours', 'a', '[]', '[]', '[]', x'')",
                (id_, scope, before),
            )
        # Two answers of the first versions: one shows a memory of the first scope, the other nothing.
        hand.execute("INSERT INTO recall(id, at, session) VALUES (9, 0, 's'), (10, 0, 's')")
        hand.execute("INSERT INTO recalled SELECT min(id), 9, 1 FROM memory WHERE scope_id = 1")
    with closing(Repository(SqliteStore(path))) as store, store.read() as view:
        assert view.rows("recall", ("id", "scope_id", "ordinal")) == [
            (9, 1, 1), (11, 1, 2), (12, 2, 1), (13, 2, 2), (14, 1, 3),
        ]  # fmt: skip
        assert view.rows("answer_log", ("id", "ordinal", "bytes_before")) == [
            (11, 1, 0), (12, 1, 0), (13, 2, 10), (14, 2, 10),
        ]  # fmt: skip


RENAMED = {
    "applied": "receipt", "due": "pending_vector", "past": "history_stamp", "recalled": "recall_hit",
    "shadow": "answer_log", "together": "cooccurrence", "tuned": "tuning", "use": "usage",
    "use_day": "usage_day", "vector_life": "vector_change",
}  # fmt: skip
"""Tables that version 14 renamed."""


def _rows(path: Path) -> dict[str, list[Row]]:
    with closing(apsw.Connection(str(path))) as hand:
        tables = hand.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
        return {str(table): sorted(hand.execute(f"SELECT * FROM {table}"), key=repr) for (table,) in tables}


def test_renamed_tables_keep_their_rows_and_leave_no_old_name(tmp_path: Path) -> None:
    path = store_of(13, tmp_path / "store.db")
    before = _rows(path)
    assert all(before[table] for table in ("due", "past", "recalled", "together", "use", "use_day"))
    prepare(path, 1_000, migrations()[:14])
    numbers = [(RENAMED.get(str(name), name), last) for name, last in before.pop("sqlite_sequence")]
    after = _rows(path)
    assert after.pop("sqlite_sequence") == sorted(numbers, key=repr)
    assert after == {RENAMED.get(table, table): rows for table, rows in before.items()}
    with closing(apsw.Connection(str(path))) as hand:
        names = [name for (name,) in hand.execute("SELECT name FROM sqlite_schema WHERE sql IS NOT NULL")]
    assert not [name for name in names if name.startswith(("past_", *(f"{old}_by" for old in RENAMED)))]


def test_a_program_that_has_the_store_open_is_told_to_restart_after_an_upgrade(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with closing(Repository(SqliteStore(path))) as store, closing(apsw.Connection(str(path))) as upgrade:
        upgrade.execute("ALTER TABLE pending_vector RENAME TO waiting_vector")
        with pytest.raises(StoreUnavailable, match=r"another version .* upgraded it\. Restart this program"):
            apply(store, entity("late", "a note"))
        upgrade.execute("ALTER TABLE waiting_vector RENAME TO pending_vector")
        assert store.verify() == []


_KILLED = """
import os, sys
from pathlib import Path
import apsw
from recollect.stores.sqlite.connection import prepare

def watch(connection):
    connection.exec_trace = lambda cursor, sql, bindings: os._exit(9) if sys.argv[2] in sql else True

apsw.connection_hooks.append(watch)
prepare(Path(sys.argv[1]), 1_000)
"""


@pytest.mark.parametrize("last", ["RENAME TO cooccurrence", "history_vector_delete", "COMMIT"])
def test_a_store_whose_migration_was_killed_opens_with_all_rows(tmp_path: Path, last: str) -> None:
    path = store_of(13, tmp_path / "store.db")
    before = _rows(path)
    killed = subprocess.run([sys.executable, "-c", _KILLED, str(path), last], check=False)
    assert killed.returncode == 9
    with closing(Repository(SqliteStore(path))) as store:
        assert store.verify() == []
    assert _version(path) == NOW
    after = _rows(path)
    assert all(after[RENAMED[table]] == before[table] for table in RENAMED)


def test_steps_run_in_order_and_once(tmp_path: Path) -> None:
    path = store_of(NOW, tmp_path / "store.db")
    steps = [*migrations(), "CREATE TABLE trail(step)", "INSERT INTO trail VALUES ('second')"]
    for _ in range(3):
        prepare(path, 1_000, steps)
    with closing(apsw.Connection(str(path))) as hand:
        assert hand.execute("SELECT step FROM trail").fetchall() == [("second",)]
    assert _version(path) == NOW + 2


@pytest.mark.parametrize(
    "broken",
    [
        "CREATE TABLE extra(id); INSERT INTO extra VALUES (1, 2)",
        "UPDATE memory SET name = ''",  # against the table's own check
        "CREATE TABLE extra(id); DROP TABLE observation; SELECT nonsense(",
    ],
)
def test_a_migration_that_fails_leaves_the_file_as_it_was(tmp_path: Path, broken: str) -> None:
    path = store_of(NOW, tmp_path / "store.db")
    before = path.read_bytes()
    with pytest.raises(apsw.Error):
        prepare(path, 1_000, [*migrations(), "CREATE TABLE trail(step)", broken])
    assert path.read_bytes() == before
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "store.db",
        f"store.db-before-schema-{NOW + 2}",
    ]
    with closing(Repository(SqliteStore(path))) as store:
        assert store.verify() == []


def test_a_new_store_whose_making_fails_stays_an_empty_file(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with pytest.raises(apsw.Error):
        prepare(path, 1_000, [*migrations(), "CREATE TABLE extra(id); INSERT INTO extra VALUES (1, 2)"])
    assert path.read_bytes() == b""
    with closing(Repository(SqliteStore(path))) as store:
        assert store.verify() == []


def test_processes_that_migrate_at_the_same_moment_do_it_once(tmp_path: Path) -> None:
    steps = ["CREATE TABLE trail(step)", "INSERT INTO trail VALUES ('second')"]
    for number in range(2):
        path = store_of(NOW, tmp_path / f"store{number}.db")
        with team("migrate", [(path, *migrations(), *steps)] * 3) as together:
            together.meet()
            assert together.hear() == ["done"] * 3
            assert together.end() == [0] * 3
        with closing(apsw.Connection(str(path))) as hand:
            assert hand.execute("SELECT step FROM trail").fetchall() == [("second",)]
            assert hand.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert _version(path) == NOW + 2


def test_a_migration_of_a_locked_file_says_so_and_can_be_done_later(tmp_path: Path) -> None:
    path = store_of(NOW, tmp_path / "store.db")
    steps = [*migrations(), "CREATE TABLE trail(step)"]
    with closing(apsw.Connection(str(path))) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable, match="locked by another program"):
            prepare(path, 10, steps)
    prepare(path, 10, steps)
    assert _version(path) == NOW + 1


def test_an_old_sqlite_is_refused_before_anything_is_touched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(apsw, "sqlite_lib_version", lambda: "3.51.2")
    with pytest.raises(StoreUnavailable, match="pip install --upgrade apsw"):
        prepare(tmp_path / "store.db", 1_000)
    assert list(tmp_path.iterdir()) == []


def _version(path: Path) -> int:
    with closing(apsw.Connection(str(path))) as hand:
        version = hand.pragma("user_version")
        assert isinstance(version, int)
        return version


def test_who_opens_an_older_store_is_told_how_far_its_checksums_have_come(tmp_path: Path) -> None:
    path = store_of(9, tmp_path / "store.db")
    told: list[tuple[int, int | None]] = []
    SqliteStore(path, progress=lambda done, of: told.append((done, of))).close()
    total = told[0][1]
    counted = [done for done, of in told if of == total]
    assert counted == sorted(counted)
    assert counted[-1] == total
    with closing(apsw.Connection(str(path))) as hand:
        for table in ("scope", "memory", "observation", "relation", "revision"):
            assert hand.execute(f"SELECT count(*) FROM {table} WHERE checksum IS NULL").get == 0
