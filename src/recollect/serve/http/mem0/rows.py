"""Notes and their histories in the form that mem0's clients read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recollect.serve.http.mem0.metadata import metadata_of

if TYPE_CHECKING:
    from datetime import datetime

    from recollect.engine.results import History
    from recollect.records import Memory

Mem0Row = dict[str, Any]
NO_RUN = "mem0 (no run_id)"
"""The session of messages that came without a `run_id`."""
_EVENTS = {
    "noted": "ADD",
    "updated": "UPDATE",
    "restored": "ADD",
    "forgotten": "DELETE",
    "superseded": "DELETE",
    "merged": "DELETE",
}


def note_row(note: Memory, **more: Any) -> Mem0Row:
    metadata, tags = metadata_of(note.tags)
    category = () if note.category is None else (note.category,)
    return {
        "id": str(note.id),
        "memory": note.text,
        "user_id": note.scope.owner or None,
        "agent_id": note.scope.agent or None,
        "app_id": metadata.get("app_id"),
        "run_id": None if note.session == NO_RUN else note.session,
        "metadata": metadata,
        "categories": [*category, *tags],
        "created_at": _iso(note.created_at),
        "updated_at": _iso(note.updated_at),
        "timestamp": _iso(note.happened_at),
        "expiration_date": _iso(note.expires_at),
        **more,
    }


def history_rows(history: History) -> list[Mem0Row]:
    """What happened to a note, oldest first. It was deleted where it was forgotten or corrected."""
    rows: list[Mem0Row] = []
    text: str | None = None
    note = history.memory
    said = iter([*(former.text for former in note.former), note.text])
    for event in history.events:
        name = _EVENTS.get(event.what)
        if name is None:
            continue
        former = text
        if event.what in {"noted", "updated"}:
            text = next(said)
        rows.append(
            {
                "id": f"{note.id}-{len(rows) + 1}",
                "memory_id": str(note.id),
                "old_memory": None if name == "ADD" else former,
                "new_memory": None if name == "DELETE" else text,
                "event": name,
                "is_deleted": name == "DELETE",
                "user_id": note.scope.owner or None,
                "created_at": _iso(note.created_at),
                "updated_at": _iso(event.at),
            }
        )
    return rows


def _iso(when: datetime | None) -> str | None:
    return None if when is None else when.isoformat()
