"""Chat histories: each a session of the memory, whose messages come back exactly as they were added."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from recollect.aio import AsyncEngine
from recollect.engine.engine import Engine
from recollect.extras import needs_extra
from recollect.integrations.opening import of_own_scope, opened_memory
from recollect.integrations.searched_text import searched_text
from recollect.records import Memory, is_assistant

with needs_extra("The adapter for LangChain", "langchain"):
    from langchain_core.chat_history import BaseChatMessageHistory
    from langchain_core.messages import (
        AIMessage,
        BaseMessage,
        ChatMessage,
        HumanMessage,
        SystemMessage,
        message_to_dict,
        messages_from_dict,
    )

PROGRAM = "langchain"
_ROLES = {"human": "user", "ai": "assistant", "AIMessageChunk": "assistant", "HumanMessageChunk": "user"}


class RecollectChatMessageHistory(BaseChatMessageHistory):
    """The messages of one conversation, in order, with those that other clients added to the session."""

    def __init__(self, memory: Engine | str | Path, session_id: str, *, extract: bool = True) -> None:
        """With `extract`, what is worth keeping in the messages also becomes notes of the memory."""
        self.memory = of_own_scope(opened_memory(memory))
        self.session_id = session_id
        self._extract = extract
        self._calls = AsyncEngine(self.memory)

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]  # LangChain's is an attribute
        return [_message(turn) for turn in self.memory.sessions.turns(self.session_id)]

    async def aget_messages(self) -> list[BaseMessage]:
        return await self._calls.run(lambda _: self.messages)

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """All of them or none."""
        if messages:
            turns = [_turn(message) for message in messages]
            self.memory.add_messages(self.session_id, turns, extract=self._extract)

    async def aadd_messages(self, messages: Sequence[BaseMessage]) -> None:
        await self._calls.run(lambda _: self.add_messages(messages))

    def clear(self) -> None:
        """Forget the messages, so that the memory can bring them back; notes made of them stay."""
        self.memory.forget([turn.id for turn in self.memory.sessions.turns(self.session_id)])

    async def aclear(self) -> None:
        await self._calls.run(lambda _: self.clear())


def _turn(message: BaseMessage) -> dict[str, Any]:
    return {
        "content": _text(message),
        "role": message.role if isinstance(message, ChatMessage) else _ROLES.get(message.type, message.type),
        "metadata": {PROGRAM: message_to_dict(message)},
    }


def _text(message: BaseMessage) -> str:
    """What searches find a message by: what it says, else what it calls for."""
    calls = [
        f"{call['name']}({json.dumps(call['args'], ensure_ascii=False, default=str)})"
        for call in getattr(message, "tool_calls", ())
    ]
    silent = f"(calls {', '.join(calls)})" if calls else f"({message.type} without text)"
    return searched_text(message.text, silent)


def _message(turn: Memory) -> BaseMessage:
    kept = (turn.metadata or {}).get(PROGRAM)
    if kept is not None:
        return messages_from_dict([kept])[0]
    # Somebody else added it.
    if is_assistant(turn.role):
        return AIMessage(turn.text, name=turn.speaker)
    if turn.role == "system":
        return SystemMessage(turn.text, name=turn.speaker)
    return HumanMessage(turn.text, name=turn.speaker)
