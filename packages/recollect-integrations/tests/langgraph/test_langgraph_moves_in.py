"""Our store finds items imported from LangGraph's own store as if they had been put there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from langgraph.store.sqlite import SqliteStore

import recollect
from recollect.transfer import import_path
from recollect_integrations.langgraph import RecollectStore

VALUES: dict[tuple[tuple[str, ...], str], dict[str, Any]] = {
    (("memories", "ana"), "tea"): {"text": "Ana drinks tea"},
    (("memories", "ana"), "trip"): {"city": "Porto", "days": [1, 2], "é": None},
    (("notices",), "tea"): {"text": "The kettle is broken"},
    (("notices",), "empty"): {},
}


def test_imported_items_are_those_that_would_have_been_put(tmp_path: Path) -> None:
    with SqliteStore.from_conn_string(str(tmp_path / "theirs.db")) as theirs:
        theirs.setup()
        for (namespace, key), value in VALUES.items():
            theirs.put(namespace, key, value, ttl=60 if key == "trip" else None)
    with (
        recollect.open(tmp_path / "one.db", model="none") as imported,
        recollect.open(tmp_path / "two.db", model="none") as written,
    ):
        import_path(imported, tmp_path / "theirs.db")
        one, two = RecollectStore(imported), RecollectStore(written)
        for (namespace, key), value in VALUES.items():
            two.put(namespace, key, value, ttl=60 if key == "trip" else None)
            item = one.get(namespace, key)
            assert item is not None
            assert item.value == value
        assert one.list_namespaces() == two.list_namespaces() == [("memories", "ana"), ("notices",)]
        kept = [
            {(note.text, note.ref, note.category, note.expires_at is None) for note in memory.list().memories}
            for memory in (imported, written)
        ]
        assert kept[0] == kept[1]  # the searchable texts, and the keys
        one.put(("memories", "ana"), "tea", {"text": "Ana drinks mate"})
        assert len(one.search((), limit=10)) == len(VALUES)
