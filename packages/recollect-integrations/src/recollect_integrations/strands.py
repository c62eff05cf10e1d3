"""Strands: a memory store that keeps notes and messages, and sessions with the state of each agent."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from recollect import Engine, Hit, InvalidInput, Memory
from recollect.aio import AsyncEngine
from recollect.domain.limits import QUERY_LIMIT, TYPE_LIMIT, name_as_kept
from recollect.domain.records import RecallOptions
from recollect.plugin import Internals, memory_text, needs_extra
from recollect_integrations.adapter import (
    all_pages,
    ensure_async,
    ensure_open,
    in_utc,
    own_scope_of,
    searchable_text,
    visible_text,
)

with needs_extra("The adapter for Strands", "strands"):
    from strands.memory import AddMessagesContext, ExtractionConfig, MemoryEntry, MemoryStore, SearchOptions
    from strands.multiagent import MultiAgentBase
    from strands.session import RepositorySessionManager, SessionRepository
    from strands.types.content import Message
    from strands.types.exceptions import SessionException
    from strands.types.session import Session, SessionAgent, SessionMessage

FOUND = "recollect"
"""The key in an entry's metadata for how it was found."""


class RecollectMemoryStore(MemoryStore):
    """A store for a `MemoryManager`, on an open memory or on the store at a path.

    With `extraction`, the manager passes the conversation. It becomes messages of the `session`, and facts
    in it become notes, without calling a model. With `abstain`, a search returns nothing if no memory
    seems to answer, so nothing is added to such prompts.
    """

    def __init__(
        self,
        memory: AsyncEngine | Engine | str | Path,
        *,
        name: str = "recollect",
        description: str | None = None,
        max_search_results: int | None = None,
        writable: bool = True,
        extraction: ExtractionConfig | bool | None = None,
        session: str = "strands",
        abstain: bool = True,
    ) -> None:
        if max_search_results is not None and max_search_results < 1:
            raise InvalidInput("`max_search_results` must be at least 1.")
        self.memory = ensure_async(memory)
        self.name = name
        self.description = description
        self.max_search_results = max_search_results
        self.writable = writable
        self.extraction = extraction
        self._session = session
        self._abstain = abstain
        self._run_id = secrets.token_hex(8)

    async def initialize(self) -> None:
        """Start a new run: the manager numbers the messages of each agent from the beginning."""
        self._run_id = secrets.token_hex(8)

    async def search(self, query: str, options: SearchOptions | None = None) -> list[MemoryEntry]:
        """Return entries, best first: `max_search_results`, or by default the relevant ones, one to ten."""
        limit = (options or {}).get("max_search_results", self.max_search_results)
        if limit is not None and limit < 1:
            raise InvalidInput("`max_search_results` must be at least 1.")
        if not query.strip():
            return []
        answer = await self.memory.recall(
            query[:QUERY_LIMIT], limit=limit, options=RecallOptions(abstain=self._abstain)
        )
        return [_entry(hit) for hit in answer.hits]

    async def add(self, content: str, metadata: dict[str, Any] | None = None) -> int:
        """Store a note and return its id. The same text and metadata is the same note."""
        self._check_writable()
        if not metadata:
            return (await self.memory.remember(content)).id
        ref = f"strands:{_digest(content, metadata)}"
        return (await self.memory.remember(content, ref=ref, metadata={"strands": metadata})).id

    async def add_messages(self, messages: list[Message], context: AddMessagesContext | None = None) -> None:
        """Store messages. A batch that is passed again, with the same numbers, is stored once."""
        self._check_writable()
        given = None if context is None else context.sequence_numbers
        numbers: Sequence[int | None] = given or [None] * len(messages)
        now = await self.memory.run(lambda memory: Internals(memory).now())
        turns = [
            {
                "content": text,
                "role": message["role"],
                "at": now,
                "source": None if number is None else f"{self._run_id} {number} {_digest(text)}",
            }
            for message, number in zip(messages, numbers, strict=True)
            if (text := _text(message))
        ]
        if turns:
            await self.memory.add_messages(self._session, turns)

    async def close(self) -> None:
        await self.memory.close()

    def _check_writable(self) -> None:
        if not self.writable:
            raise InvalidInput(f"The store {self.name!r} is not writable; create it with writable=True.")


def _text(message: Message) -> str:
    said = "\n".join(block["text"] for block in message["content"] if block.get("text"))
    return visible_text(said.strip())


def _entry(hit: Hit) -> MemoryEntry:
    memory = hit.memory
    at = memory.happened_at or (None if memory.undated else memory.created_at)
    known = {
        "id": memory.id,
        "kind": str(memory.kind),
        "at": None if at is None else at.isoformat(),
        "said_by": memory.speaker or memory.role,
        "confidence": hit.confidence,
    }
    found = {name: value for name, value in known.items() if value is not None}
    given: Mapping[str, Any] = (memory.metadata or {}).get("strands", {})
    return MemoryEntry(memory_text(memory, hit.piece), metadata={**given, FOUND: found})


def _digest(*parts: object) -> str:
    try:
        written = json.dumps(parts, sort_keys=True)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"The metadata is not JSON: {error}; simplify it.") from error
    return hashlib.sha256(written.encode()).hexdigest()


CATEGORY = "strands session"
# How many characters of other content than text are searchable; all of it is stored.
_MAX_SEARCHABLE = 10_000


class RecollectSessionRepository(SessionRepository):
    """Sessions in an open memory, or in the store at a path.

    With `extract`, facts in the messages also become notes.
    """

    def __init__(self, memory: Engine | str | Path, *, extract: bool = True) -> None:
        self.memory = own_scope_of(ensure_open(memory))
        self._extract = extract

    def create_session(self, session: Session, **kwargs: Any) -> Session:
        if self.read_session(session.session_id) is not None:
            raise SessionException(f"Session {session.session_id} already exists")
        self._store_state(session.to_dict(), session.session_id)
        return session

    def read_session(self, session_id: str, **kwargs: Any) -> Session | None:
        kept = self._stored_state(session_id)
        return None if kept is None else Session.from_dict(kept)

    def delete_session(self, session_id: str, **kwargs: Any) -> None:
        """Forget a session with all its messages; `memory.restore` restores each message."""
        notes = list(self._states(session_id))
        if not notes:
            raise SessionException(f"Session {session_id} does not exist")
        for session in self.memory.sessions.list():
            if session.name.startswith(name_as_kept(f"{session_id}/")):
                self.memory.sessions.forget(session.name)
        self.memory.forget([note.id for note in notes])

    def create_agent(self, session_id: str, session_agent: SessionAgent, **kwargs: Any) -> None:
        self._store_state(session_agent.to_dict(), session_id, "agent", session_agent.agent_id)

    def read_agent(self, session_id: str, agent_id: str, **kwargs: Any) -> SessionAgent | None:
        kept = self._stored_state(session_id, "agent", agent_id)
        return None if kept is None else SessionAgent.from_dict(kept)

    def update_agent(self, session_id: str, session_agent: SessionAgent, **kwargs: Any) -> None:
        former = self.read_agent(session_id, session_agent.agent_id)
        if former is None:
            raise SessionException(f"Agent {session_agent.agent_id} in session {session_id} does not exist")
        session_agent.created_at = former.created_at
        self.create_agent(session_id, session_agent)

    def create_message(
        self, session_id: str, agent_id: str, session_message: SessionMessage, **kwargs: Any
    ) -> None:
        turn = {
            "content": _session_text(session_message),
            "role": session_message.message["role"],
            "at": in_utc(datetime.fromisoformat(session_message.created_at)),
            "source": f"{self._source_prefix(session_id)}{session_message.message_id}",
            "metadata": {"message": session_message.to_dict()},
        }
        self.memory.add_messages(_conversation(session_id, agent_id), [turn], extract=self._extract)

    def read_message(
        self, session_id: str, agent_id: str, message_id: int, **kwargs: Any
    ) -> SessionMessage | None:
        found = self._turn(session_id, agent_id, message_id)
        return None if found is None else _message(found)

    def update_message(
        self, session_id: str, agent_id: str, session_message: SessionMessage, **kwargs: Any
    ) -> None:
        """Update a message; the former text is kept as a revision, as Strands keeps redacted messages."""
        former = self._turn(session_id, agent_id, session_message.message_id)
        if former is None:
            raise SessionException(f"Message {session_message.message_id} does not exist")
        session_message.created_at = _message(former).created_at
        self.memory.update(
            former.id, text=_session_text(session_message), metadata={"message": session_message.to_dict()}
        )

    def list_messages(
        self, session_id: str, agent_id: str, limit: int | None = None, offset: int = 0, **kwargs: Any
    ) -> list[SessionMessage]:
        """List the messages by id, without forgotten ones."""
        if self._stored_state(session_id, "agent", agent_id) is None:
            raise SessionException(f"Agent {agent_id} in session {session_id} does not exist")
        messages = sorted(
            map(_message, self._turns(session_id, agent_id).values()), key=lambda one: one.message_id
        )
        return messages[offset : None if limit is None else offset + limit]

    def create_multi_agent(self, session_id: str, multi_agent: MultiAgentBase, **kwargs: Any) -> None:
        self._store_state(multi_agent.serialize_state(), session_id, "multi-agent", multi_agent.id)

    def read_multi_agent(self, session_id: str, multi_agent_id: str, **kwargs: Any) -> dict[str, Any] | None:
        return self._stored_state(session_id, "multi-agent", multi_agent_id)

    def update_multi_agent(self, session_id: str, multi_agent: MultiAgentBase, **kwargs: Any) -> None:
        if self.read_multi_agent(session_id, multi_agent.id) is None:
            raise SessionException(f"MultiAgent {multi_agent.id} in session {session_id} does not exist")
        self.create_multi_agent(session_id, multi_agent)

    def _store_state(self, state: Mapping[str, Any], session_id: str, *names: str) -> None:
        _conversation(session_id, *names[1:])  # refuses invalid ids
        self.memory.remember(
            " ".join(["State of the Strands session", session_id, *names]),
            category=CATEGORY,
            tags=[_tag(session_id)],
            ref=_ref(session_id, *names),
            metadata={"state": state},
        )

    def _stored_state(self, session_id: str, *names: str) -> dict[str, Any] | None:
        notes = self.memory.list(refs=[_ref(session_id, *names)]).memories
        return dict((notes[0].metadata or {})["state"]) if notes else None

    def _states(self, session_id: str) -> Iterator[Memory]:
        """Yield the notes with the state of the session and its agents."""
        notes = all_pages(self.memory, category=CATEGORY, tags=[_tag(session_id)])
        # Several sessions may share a tag: tags are shortened, and ignore case.
        # A note that superseded a state has no ref.
        return (note for note in notes if note.ref and _names(note)[0] == session_id)

    def _source_prefix(self, session_id: str) -> str:
        """Return the prefix of the `source` of the session's messages; a recreated session has another."""
        notes = self.memory.list(refs=[_ref(session_id)]).memories
        if not notes:
            raise SessionException(f"Session {session_id} does not exist")
        return f"{notes[0].id}:"

    def _turns(self, session_id: str, agent_id: str) -> dict[str, Memory]:
        """Return the stored messages of an agent by id."""
        prefix = self._source_prefix(session_id)
        return {
            turn.source.removeprefix(prefix): turn
            for turn in self.memory.sessions.turns(_conversation(session_id, agent_id))
            if turn.source is not None and turn.source.startswith(prefix)
        }

    def _turn(self, session_id: str, agent_id: str, message_id: int) -> Memory | None:
        return self._turns(session_id, agent_id).get(str(message_id))


class RecollectSessionManager(RepositorySessionManager):
    """A session manager for `Agent(session_manager=…)`; the agent then continues the session."""

    def __init__(self, session_id: str, memory: Engine | str | Path, *, extract: bool = True) -> None:
        self.repository = RecollectSessionRepository(memory, extract=extract)
        super().__init__(session_id=session_id, session_repository=self.repository)


def _conversation(session_id: str, *agent_id: str) -> str:
    wrong = [name for name in (session_id, *agent_id) if "/" in name or not name.strip()]
    if wrong:
        raise SessionException(f"The id {wrong[0]!r} is empty or contains a slash; choose another one.")
    return "/".join([session_id, *agent_id])


def _ref(*names: str) -> str:
    return f"strands:{json.dumps(names)}"


def _names(note: Memory) -> list[str]:
    names: list[str] = json.loads((note.ref or "").removeprefix("strands:"))
    return names


def _tag(session_id: str) -> str:
    return f"session:{session_id}"[:TYPE_LIMIT]


def _session_text(kept: SessionMessage) -> str:
    """Return the text to search, without redacted parts."""
    content = kept.to_message()["content"]
    text = "\n".join(block["text"] for block in content if block.get("text"))
    message = kept.to_dict()["redact_message" if kept.redact_message is not None else "message"]
    return searchable_text(text, json.dumps(message["content"], ensure_ascii=False)[:_MAX_SEARCHABLE])


def _message(turn: Memory) -> SessionMessage:
    return SessionMessage.from_dict((turn.metadata or {})["message"])
