"""Microsoft's Agent Framework: a provider that adds memories before a run, and one that keeps histories."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from recollect import Engine, Memory
from recollect.aio import AsyncEngine
from recollect.domain.limits import DEFAULT_BUDGET, MOST_TURNS, QUERY_LIMIT
from recollect.plugin import Internals, needs_extra
from recollect_integrations.adapter import ensure_async, own_scope_of, searchable_text

with needs_extra("The adapter for Microsoft's Agent Framework", "agent-framework"):
    from agent_framework import (
        AgentSession,
        ContextProvider,
        HistoryProvider,
        Message,
        SessionContext,
        SupportsAgentRun,
    )

NO_SESSION = "agent-framework"
"""The session of messages that have none."""
HEAD = "Memories that may be relevant:"
# How many characters of other content than text are searchable; all of it is stored.
_MAX_SEARCHABLE = 10_000


class RecollectContextProvider(ContextProvider):
    """A provider that adds relevant memories to a prompt, and stores the messages after the answer.

    If no memory is relevant, it adds nothing. `budget_tokens` limits the added memories. Without `keep`,
    nothing is stored; without `extract`, facts do not become notes.
    """

    def __init__(
        self,
        memory: AsyncEngine | Engine | str | Path,
        source_id: str = "recollect",
        *,
        budget_tokens: int = DEFAULT_BUDGET,
        keep: bool = True,
        extract: bool = True,
        head: str = HEAD,
    ) -> None:
        super().__init__(source_id)
        self.memory = ensure_async(memory)
        self._budget_tokens, self._keep, self._extract, self._head = budget_tokens, keep, extract, head

    async def before_run(
        self,
        *,
        agent: SupportsAgentRun,
        session: AgentSession,
        context: SessionContext,
        state: dict[str, Any],
    ) -> None:
        query = "\n".join(message.text for message in context.input_messages if message.text)[-QUERY_LIMIT:]
        if not query.strip():
            return
        known = await self.memory.context(
            query=query, session=context.session_id, budget_tokens=self._budget_tokens
        )
        ids = [item.id for item in known.memories if item.id is not None]
        if not ids:
            return
        text = "\n".join([self._head, *(item.line for item in known.memories)])
        found = (await self.memory.get_many(ids)).values()
        sessions = sorted({memory.session for memory in found if memory.session} - {context.session_id})
        context.extend_messages(self, [Message("user", [text])], origin_session_ids=sessions)
        await self.memory.record_shown(ids)

    async def after_run(
        self,
        *,
        agent: SupportsAgentRun,
        session: AgentSession,
        context: SessionContext,
        state: dict[str, Any],
    ) -> None:
        if self._keep:
            messages = [*context.input_messages, *(context.response.messages if context.response else ())]
            await self.memory.run(_save, context.session_id, messages, extract=self._extract)

    async def close(self) -> None:
        await self.memory.close()


class RecollectHistoryProvider(HistoryProvider):
    """A provider that stores the messages of each session unchanged, with tool calls and properties."""

    def __init__(
        self,
        memory: AsyncEngine | Engine | str | Path,
        source_id: str = "recollect_history",
        *,
        load_messages: bool = True,
        store_inputs: bool = True,
        store_context_messages: bool = False,
        store_context_from: set[str] | None = None,
        store_outputs: bool = True,
        extract: bool = True,
    ) -> None:
        super().__init__(
            source_id,
            load_messages=load_messages,
            store_inputs=store_inputs,
            store_context_messages=store_context_messages,
            store_context_from=store_context_from,
            store_outputs=store_outputs,
        )
        self.memory = ensure_async(memory)
        self._extract = extract

    async def get_messages(
        self, session_id: str | None, *, state: dict[str, Any] | None = None, **kwargs: Any
    ) -> list[Message]:
        return await self.memory.run(_load, session_id)

    async def save_messages(
        self,
        session_id: str | None,
        messages: Sequence[Message],
        *,
        state: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        await self.memory.run(_save, session_id, messages, extract=self._extract)

    async def close(self) -> None:
        await self.memory.close()


def _load(memory: Engine, session_id: str | None) -> list[Message]:
    return [_message(turn) for turn in own_scope_of(memory).sessions.turns(session_id or NO_SESSION)]


def _save(memory: Engine, session_id: str | None, messages: Sequence[Message], *, extract: bool) -> None:
    if not messages:
        return
    memory, session = own_scope_of(memory), session_id or NO_SESSION
    last = memory.sessions.turns(session, last=min(len(messages), MOST_TURNS))
    new = messages[_overlap([_message(turn) for turn in last], messages) :]
    turns = [turn for message in new for turn in _turn(message, memory)]
    if turns:
        memory.add_messages(session, turns, extract=extract)


def _overlap(stored: Sequence[Message], given: Sequence[Message]) -> int:
    """Count how many given messages are already stored: some callers pass the whole conversation."""
    stored_ids, given_ids = list(map(_identity, stored)), list(map(_identity, given))
    for count in range(min(len(stored_ids), len(given_ids)), 0, -1):
        if stored_ids[-count:] == given_ids[:count]:
            # Users may repeat a message, so a single one without an id is new.
            return 0 if count == 1 and given[0].role == "user" and given[0].message_id is None else count
    return 0


def _identity(message: Message) -> str:
    if message.message_id is not None:
        return f"id {message.message_id}"
    contents = [content.to_dict() for content in message.contents]
    return f"{message.role} {json.dumps(contents, sort_keys=True, default=str)}"


def _turn(message: Message, memory: Engine) -> Iterator[dict[str, Any]]:
    as_dict = message.to_dict()
    parts = [content.to_dict() for content in message.contents]
    if not parts:
        return
    text = searchable_text(message.text, json.dumps(parts, ensure_ascii=False, default=str)[:_MAX_SEARCHABLE])
    turn = {
        "content": text,
        "role": message.role,
        "speaker": message.author_name,
        "source": message.message_id,
        "at": Internals(memory).now(),
    }
    plain = Message(message.role, [text], author_name=message.author_name, message_id=message.message_id)
    yield turn if plain.to_dict() == as_dict else {**turn, "metadata": {"message": as_dict}}


def _message(turn: Memory) -> Message:
    if turn.metadata is not None and "message" in turn.metadata:
        return Message.from_dict(dict(turn.metadata["message"]))
    return Message(
        turn.role or "user", [turn.text], author_name=turn.speaker or None, message_id=turn.source or None
    )
