"""A memory service for Google's Agent Development Kit: sessions become messages and notes.

Each user of an app has a separate memory: its owner is `user_id`, its agent is `app_name`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from recollect import Engine, Hit, InvalidInput
from recollect.aio import AsyncEngine
from recollect.domain.limits import QUERY_LIMIT
from recollect.domain.records import RecallOptions, is_assistant
from recollect.plugin import memory_text, needs_extra
from recollect_integrations.adapter import ensure_async, in_utc, searchable_text

with needs_extra("The adapter for Google ADK", "adk"):
    from google.adk.events.event import Event
    from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
    from google.adk.memory.memory_entry import MemoryEntry
    from google.adk.sessions.session import Session
    from google.genai.types import Content, Part

NO_SESSION = "adk"
"""The session of events that have none."""


class RecollectMemoryService(BaseMemoryService):
    """A memory service on an open memory, or on the store at a path.

    `limit` is the number of hits; by default the relevant ones, one to ten. With `abstain`, a search
    returns nothing if no memory seems to answer. With `extract`, facts in a session also become notes.
    """

    def __init__(
        self,
        memory: AsyncEngine | Engine | str | Path,
        *,
        limit: int | None = None,
        abstain: bool = True,
        extract: bool = True,
    ) -> None:
        self.memory = ensure_async(memory)
        self._limit, self._abstain, self._extract = limit, abstain, extract

    async def add_session_to_memory(self, session: Session) -> None:
        """Add the events of a session. Events that were added before are skipped, even if deleted since."""
        await self.add_events_to_memory(
            app_name=session.app_name, user_id=session.user_id, events=session.events, session_id=session.id
        )

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Add events; `custom_metadata` is stored and returned with each message."""
        turns = [turn for event in events for turn in _turns(event, custom_metadata)]
        if turns:
            await self._memory_of(app_name, user_id).add_messages(
                session_id or NO_SESSION, turns, extract=self._extract
            )

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Add notes; one with an `id` replaces the earlier note with that id."""
        notes = [_note(entry, custom_metadata) for entry in memories]
        if notes:
            await self._memory_of(app_name, user_id).remember_many(notes)

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        if not query.strip():
            return SearchMemoryResponse()
        memory = self._memory_of(app_name, user_id)
        answer = await memory.recall(
            query[:QUERY_LIMIT], limit=self._limit, options=RecallOptions(abstain=self._abstain)
        )
        return SearchMemoryResponse(memories=[_entry(hit) for hit in answer.hits])

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Forget the memory with this id; `memory.restore(int(memory_id))` restores it."""
        if not memory_id:
            return
        if not memory_id.isdecimal():
            raise InvalidInput(f"There is no memory {memory_id!r}; pass the `id` that a search returned.")
        await self._memory_of(app_name, user_id).forget([int(memory_id)])

    async def close(self) -> None:
        await self.memory.close()

    def _memory_of(self, app_name: str, user_id: str) -> AsyncEngine:
        return self.memory.scoped(user_id, app_name)


def _turns(event: Event, custom: Mapping[str, object] | None) -> Iterator[dict[str, Any]]:
    """Yield the message of an event; nothing for an event without text, such as a function call."""
    text = _text(event.content)
    if event.content is None or not text:
        return
    is_user = event.author == "user"
    yield {
        "content": text,
        "role": "user" if is_user else "assistant",
        "speaker": None if is_user else event.author,
        "at": datetime.fromtimestamp(event.timestamp, UTC),
        "source": event.id or _digest(f"{event.timestamp} {event.author} {text}"),
        "metadata": _metadata(event.content, _plain(text, is_user=is_user), custom),
    }


def _note(entry: MemoryEntry, custom: Mapping[str, object] | None) -> dict[str, Any]:
    text = _text(entry.content)
    if not text:
        raise InvalidInput("A memory needs text to be found; give its content a part with text.")
    metadata = _metadata(entry.content, _plain(text), {**entry.custom_metadata, **(custom or {})})
    stable_id = entry.id
    if stable_id is None and metadata is not None:  # so that adding it again makes no second note
        stable_id = _digest(json.dumps([text, metadata], sort_keys=True, default=str))
    return {
        "text": text,
        "speaker": None if entry.author == "user" else entry.author,
        "happened_at": None if entry.timestamp is None else _moment(entry.timestamp),
        "ref": None if stable_id is None else f"adk:{stable_id}",
        "metadata": metadata,
    }


def _metadata(
    content: Content, plain: Content, custom: Mapping[str, object] | None
) -> dict[str, object] | None:
    """Return the custom metadata, and the content unless it equals `plain`."""
    kept: dict[str, object] = {}
    if content != plain:
        kept["content"] = content.model_dump(mode="json", exclude_none=True)
    if custom:
        kept["custom"] = dict(custom)
    return kept or None


def _plain(text: str, *, is_user: bool = True) -> Content:
    return Content(role="user" if is_user else "model", parts=[Part(text=text)])


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _moment(text: str) -> datetime:
    try:
        at = datetime.fromisoformat(text)
    except ValueError as error:
        raise InvalidInput(
            f"{text!r} is not a valid timestamp for a memory; write it as 2026-05-01T12:00:00Z."
        ) from error
    return in_utc(at)


def _text(content: Content | None) -> str:
    """Join the texts of the parts, without the model's thoughts."""
    parts = content.parts if content is not None and content.parts else []
    text = "\n".join(part.text for part in parts if part.text and not part.thought)
    return searchable_text(text.strip(), "")


def _entry(hit: Hit) -> MemoryEntry:
    memory, kept = hit.memory, hit.memory.metadata or {}
    at = memory.happened_at or (None if memory.undated else memory.created_at)
    plain = _plain(memory_text(memory), is_user=not is_assistant(memory.role))
    content = Content.model_validate(kept["content"]) if "content" in kept else plain
    if _text(content) != memory.text:  # the note was edited since
        content = plain
    known = {"kind": str(memory.kind), "session": memory.session, "confidence": hit.confidence}
    return MemoryEntry(
        id=str(memory.id),
        content=content,
        author=memory.speaker or memory.role or "memory",
        timestamp=None if at is None else at.isoformat(),
        custom_metadata={
            **{name: value for name, value in known.items() if value is not None},
            **kept.get("custom", {}),
        },
    )
