"""LangGraph's store in a SQLite file and in PostgreSQL, with hashed word vectors."""

from __future__ import annotations

import os
import sqlite3
from importlib import import_module
from pathlib import Path
from typing import Any

from world import CHANGED, FACTS, FORGOTTEN, QUESTIONS, WANTED, vector

PEERS = ("langgraph-checkpoint-sqlite", "langgraph-checkpoint-postgres")
PACKAGES = (*PEERS, "psycopg[binary]")
NEEDS_POSTGRES = True
_DIMS = 256
_INDEX = {"dims": _DIMS, "embed": lambda texts: [vector(text, _DIMS) for text in texts], "fields": ["text"]}
_NAMESPACE = ("memories", "marisol")


# Some builds of Python cannot load SQLite's vector extension.
_SQLITE_INDEX = _INDEX if hasattr(sqlite3.Connection, "enable_load_extension") else None


def make(folder: Path) -> list[dict[str, Any]]:
    sqlite: Any = import_module("langgraph.store.sqlite")
    postgres: Any = import_module("langgraph.store.postgres")
    url = os.environ["POSTGRES_URL"]
    made = {"notes": len(FACTS) + 2}
    row = {"format": "langgraph", "made": made, "owner": ""}
    with sqlite.SqliteStore.from_conn_string(str(folder / "store.db"), index=_SQLITE_INDEX) as store:
        answers = _fill(store)
    stores = [{"path": "store.db", "answers": answers if _SQLITE_INDEX else [], **row}]
    with postgres.PostgresStore.from_conn_string(url, index=_INDEX) as store:
        stores.append({"path": "PostgreSQL", "url": url, "answers": _fill(store), **row})
    return stores


def _fill(store: Any) -> list[list[str]]:
    store.setup()
    for place, fact in enumerate(FACTS):
        store.put(_NAMESPACE, f"fact-{place}", {"text": fact, "importance": place / len(FACTS)})
    for text in CHANGED:
        store.put(_NAMESPACE, "ferry", {"text": text})
    store.put(_NAMESPACE, "key", {"text": FORGOTTEN})
    store.delete(_NAMESPACE, "key")
    store.put(("notices",), "wet paint", {"text": "The rail of pier four is freshly painted"}, ttl=60)
    found = (store.search(_NAMESPACE, query=text, limit=WANTED) for text, _ in QUESTIONS)
    return [[item.value["text"] for item in items] for items in found]
