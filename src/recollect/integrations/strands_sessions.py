"""Sessions of Strands agents: their messages, and notes with the state of each agent."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from recollect.engine.engine import Engine
from recollect.engine.limits import MOST_PER_PAGE
from recollect.extras import needs_extra
from recollect.integrations.opening import of_own_scope, opened_memory
from recollect.integrations.searched_text import searched_text
from recollect.records import Memory
from recollect.text.limits import TYPE_LIMIT, name_as_kept

with needs_extra("The adapter for Strands", "strands"):
    from strands.multiagent import MultiAgentBase
    from strands.session import RepositorySessionManager, SessionRepository
    from strands.types.exceptions import SessionException
    from strands.types.session import Session, SessionAgent, SessionMessage

CATEGORY = "strands session"
# Of what a message holds beside text, so much is searched; all of it is kept.
_SEARCHED = 10_000


class RecollectSessionRepository(SessionRepository):
    """Sessions in an open memory, or in the store at a path.

    With `extract`, what is worth keeping in the messages also becomes notes.
    """

    def __init__(self, memory: Engine | str | Path, *, extract: bool = True) -> None:
        self.memory = of_own_scope(opened_memory(memory))
        self._extract = extract

    def create_session(self, session: Session, **kwargs: Any) -> Session:
        if self.read_session(session.session_id) is not None:
            raise SessionException(f"Session {session.session_id} already exists")
        self._keep(session.to_dict(), session.session_id)
        return session

    def read_session(self, session_id: str, **kwargs: Any) -> Session | None:
        kept = self._kept(session_id)
        return None if kept is None else Session.from_dict(kept)

    def delete_session(self, session_id: str, **kwargs: Any) -> None:
        """Forget it with all its messages; `memory.restore` brings each back."""
        notes = list(self._states(session_id))
        if not notes:
            raise SessionException(f"Session {session_id} does not exist")
        for session in self.memory.sessions.list():
            if session.name.startswith(name_as_kept(f"{session_id}/")):
                self.memory.sessions.forget(session.name)
        self.memory.forget([note.id for note in notes])

    def create_agent(self, session_id: str, session_agent: SessionAgent, **kwargs: Any) -> None:
        self._keep(session_agent.to_dict(), session_id, "agent", session_agent.agent_id)

    def read_agent(self, session_id: str, agent_id: str, **kwargs: Any) -> SessionAgent | None:
        kept = self._kept(session_id, "agent", agent_id)
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
            "content": _text(session_message),
            "role": session_message.message["role"],
            "at": _moment(session_message.created_at),
            "source": f"{self._begun(session_id)}{session_message.message_id}",
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
        """The former text is kept as a revision, as Strands keeps a redacted message with the one it was."""
        former = self._turn(session_id, agent_id, session_message.message_id)
        if former is None:
            raise SessionException(f"Message {session_message.message_id} does not exist")
        session_message.created_at = _message(former).created_at
        self.memory.update(
            former.id, text=_text(session_message), metadata={"message": session_message.to_dict()}
        )

    def list_messages(
        self, session_id: str, agent_id: str, limit: int | None = None, offset: int = 0, **kwargs: Any
    ) -> list[SessionMessage]:
        """In order of their ids, without those that were forgotten."""
        if self._kept(session_id, "agent", agent_id) is None:
            raise SessionException(f"Agent {agent_id} in session {session_id} does not exist")
        messages = sorted(
            map(_message, self._turns(session_id, agent_id).values()), key=lambda one: one.message_id
        )
        return messages[offset : None if limit is None else offset + limit]

    def create_multi_agent(self, session_id: str, multi_agent: MultiAgentBase, **kwargs: Any) -> None:
        self._keep(multi_agent.serialize_state(), session_id, "multi-agent", multi_agent.id)

    def read_multi_agent(self, session_id: str, multi_agent_id: str, **kwargs: Any) -> dict[str, Any] | None:
        return self._kept(session_id, "multi-agent", multi_agent_id)

    def update_multi_agent(self, session_id: str, multi_agent: MultiAgentBase, **kwargs: Any) -> None:
        if self.read_multi_agent(session_id, multi_agent.id) is None:
            raise SessionException(f"MultiAgent {multi_agent.id} in session {session_id} does not exist")
        self.create_multi_agent(session_id, multi_agent)

    def _keep(self, state: Mapping[str, Any], session_id: str, *of: str) -> None:
        _conversation(session_id, *of[1:])
        self.memory.remember(
            " ".join(["State of the Strands session", session_id, *of]),
            category=CATEGORY,
            tags=[_tag(session_id)],
            ref=_ref(session_id, *of),
            metadata={"state": state},
        )

    def _kept(self, session_id: str, *of: str) -> dict[str, Any] | None:
        notes = self.memory.list(refs=[_ref(session_id, *of)]).memories
        return dict((notes[0].metadata or {})["state"]) if notes else None

    def _states(self, session_id: str) -> Iterator[Memory]:
        """The notes that hold the session's state and that of its agents."""
        after: int | None = 0
        while after is not None:
            page = self.memory.list(
                category=CATEGORY, tags=[_tag(session_id)], limit=MOST_PER_PAGE, after=after
            )
            # A tag is cut short, and does not tell `Monday` from `monday`.
            # A note that superseded one has no ref.
            yield from (note for note in page.memories if note.ref and _names(note)[0] == session_id)
            after = page.cursor

    def _begun(self, session_id: str) -> str:
        """What the sources of its messages begin with: others, if a session of this id was deleted before."""
        notes = self.memory.list(refs=[_ref(session_id)]).memories
        if not notes:
            raise SessionException(f"Session {session_id} does not exist")
        return f"{notes[0].id}:"

    def _turns(self, session_id: str, agent_id: str) -> dict[str, Memory]:
        """By the ids of the messages."""
        begun = self._begun(session_id)
        return {
            turn.source.removeprefix(begun): turn
            for turn in self.memory.sessions.turns(_conversation(session_id, agent_id))
            if turn.source is not None and turn.source.startswith(begun)
        }

    def _turn(self, session_id: str, agent_id: str, message_id: int) -> Memory | None:
        return self._turns(session_id, agent_id).get(str(message_id))


class RecollectSessionManager(RepositorySessionManager):
    """Pass it to an agent as `session_manager`; the agent then continues the session."""

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


def _moment(written: str) -> datetime:
    at = datetime.fromisoformat(written)
    return at if at.tzinfo is not None else at.replace(tzinfo=UTC)


def _text(kept: SessionMessage) -> str:
    """What it says; what it was before it was redacted is not searched."""
    content = kept.to_message()["content"]
    said = "\n".join(block["text"] for block in content if block.get("text"))
    written = kept.to_dict()["redact_message" if kept.redact_message is not None else "message"]
    return searched_text(said, json.dumps(written["content"], ensure_ascii=False)[:_SEARCHED])


def _message(turn: Memory) -> SessionMessage:
    return SessionMessage.from_dict((turn.metadata or {})["message"])
