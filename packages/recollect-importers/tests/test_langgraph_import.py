"""LangGraph's stores, with the tables that its packages make in SQLite and PostgreSQL."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from transfer_world import import_foreign

from recollect.domain.errors import InvalidInput
from recollect.engine import Engine
from recollect.transfer import preview_path, recognise

if TYPE_CHECKING:
    from postgres_stores import PostgresStores

pytest_plugins = ["transfer_stores"]

TABLE = (
    "CREATE TABLE store (prefix text NOT NULL, key text NOT NULL, value {json} NOT NULL, created_at {time}, "
    "updated_at {time}, expires_at {time}, ttl_minutes real, PRIMARY KEY (prefix, key))"
)
ROWS: list[tuple[object, ...]] = [
    ("memories.ana", "tea", json.dumps({"text": "Ana drinks tea"}), "2024-05-01 10:00:00+00:00",
     "2024-06-01 10:00:00+00:00", None, None),
    ("memories.ana", "trip", json.dumps({"city": "Porto", "days": 3, "tags": ["travel"], "importance": 0.9}),
     "2024-05-01 10:00:00+00:00", "2024-05-01 10:00:00+00:00", "2024-07-01 10:00:00+00:00", 60),
    ("notices", "tea", json.dumps({"text": "The kettle is broken"}), "2024-05-02 10:00:00+00:00",
     "2024-05-02 10:00:00+00:00", None, None),
    ("notices", "odd", "7", "2024-05-02 10:00:00+00:00", "2024-05-02 10:00:00+00:00", None, None),
]  # fmt: skip


@pytest.fixture(params=["SQLite", "PostgreSQL"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    insert = "INSERT INTO store VALUES (?, ?, ?, ?, ?, ?, ?)"
    if request.param == "SQLite":
        path = tmp_path / "agents.db"
        with closing(sqlite3.connect(path)) as rows, rows:
            rows.execute(TABLE.format(json="text", time="TIMESTAMP"))
            rows.execute("CREATE TABLE checkpoints (thread_id, checkpoint)")
            rows.execute("INSERT INTO checkpoints VALUES ('1', x'00')")
            # The package writes bytes into a column of texts.
            rows.executemany(insert, [(*row[:2], str(row[2]).encode(), *row[3:]) for row in ROWS])
        return str(path)
    stores: PostgresStores = request.getfixturevalue("postgres")
    url = stores.empty_database()
    with psycopg.connect(url) as connection:
        connection.execute(TABLE.format(json="jsonb", time="timestamptz"))
        connection.execute("CREATE TABLE checkpoints (thread_id text)")
        connection.execute("INSERT INTO checkpoints VALUES ('1')")
        connection.cursor().executemany(insert.replace("?", "%s"), ROWS)
    return url


def test_items_are_notes_of_their_namespace_as_our_own_store_keeps_them(mine: Engine, store: str) -> None:
    assert recognise(store) == "langgraph"
    report = import_foreign(mine, store)
    assert (report.notes_new, report.owners) == (3, (("/memories.ana", 2), ("/notices", 1)))
    assert [(each.what, each.count) for each in report.no_place] == [("checkpoints of threads", 1)]
    assert report.bad == ("item odd of notices: Its value is not a JSON object.",)

    trip, tea = mine.scoped("", "memories.ana").list(include_superseded=True).memories
    assert (tea.text, tea.ref, tea.category) == ("Ana drinks tea", "langgraph:tea", "langgraph")
    assert (tea.metadata, tea.expires_at) == ({"value": {"text": "Ana drinks tea"}}, None)
    assert tea.created_at.isoformat() == "2024-05-01T10:00:00+00:00"
    assert tea.updated_at.isoformat() == "2024-06-01T10:00:00+00:00"
    assert "city: Porto\ndays: 3" in (trip.text or "")
    assert (trip.tags, trip.importance, (trip.metadata or {})["ttl"]) == (("travel",), 0.9, 60)
    assert str(trip.expires_at) == "2024-07-01 10:00:00+00:00"
    (notice,) = mine.scoped("", "notices").list().memories
    assert (notice.text, notice.ref) == ("The kettle is broken", "langgraph:tea")


def test_a_later_state_brings_new_values_and_longer_lives(mine: Engine, store: str) -> None:
    import_foreign(mine, store)
    assert not import_foreign(mine, store).changed
    changes = [
        "UPDATE store SET value = '{\"text\": \"Ana drinks coffee\"}' WHERE key = 'tea' AND prefix LIKE 'm%'",
        "UPDATE store SET expires_at = '2099-07-01 10:00:00+00:00' WHERE key = 'trip'",
    ]
    connect: Any = psycopg.connect if store.startswith("postgresql") else sqlite3.connect
    with closing(connect(store)) as rows, rows:
        for change in changes:
            rows.execute(change)
    later = import_foreign(mine, store)
    assert (later.notes_new, later.notes_changed) == (0, 2)
    trip, tea = mine.scoped("", "memories.ana").list().memories
    assert tea.metadata == {"value": {"text": "Ana drinks coffee"}}
    assert [former.text for former in tea.former] == ["Ana drinks tea"]
    assert trip.expires_at is not None
    assert trip.expires_at.year == 2099


def test_namespaces_belong_to_the_importing_owner_and_merged_ones_keep_equal_keys_apart(
    mine: Engine, store: str
) -> None:
    import_foreign(mine.scoped("ana"), store)
    assert len(mine.scoped("ana", "memories.ana").list(include_superseded=True).memories) == 2
    assert mine.scoped("", None).list(include_superseded=True).memories == ()
    import_foreign(mine, store, merge_owners=True)
    assert {"Ana drinks tea", "The kettle is broken"} <= {note.text for note in mine.list().memories}
    assert not import_foreign(mine, store, merge_owners=True).changed


def test_what_our_own_store_has_under_the_same_key_stays(mine: Engine, store: str) -> None:
    mine.scoped("", "notices").remember("The kettle is new", ref="langgraph:tea")
    report = import_foreign(mine, store)
    assert report.left_count == 1
    assert [note.text for note in mine.scoped("", "notices").list().memories] == ["The kettle is new"]


def test_a_database_without_such_tables_is_refused_and_no_password_shown(postgres: PostgresStores) -> None:
    url = postgres.empty_database().replace("//app@", "//app:secret@")
    with pytest.raises(InvalidInput, match="recollect copy") as refused:
        recognise(url)
    with pytest.raises(InvalidInput, match="is not LangGraph's store") as unfit:
        preview_path(url, format="langgraph")
    with pytest.raises(InvalidInput, match="could not be read") as unreachable:
        recognise("postgresql://app:secret@127.0.0.1:1/none")
    assert "secret" not in f"{refused.value} {unfit.value} {unreachable.value}"
