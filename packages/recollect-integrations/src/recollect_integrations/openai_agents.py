"""OpenAI Agents SDK: a session whose items are messages of a memory, and tools to remember and recall.

The metadata of a message has the exact item. Its text is the item's text, so that searches from other
conversations find it, and facts in it also become notes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from recollect import Engine, Memory, NotFound, RecollectError
from recollect.aio import AsyncEngine
from recollect.domain.limits import MOST_PER_PAGE, QUERY_LIMIT, clean_name
from recollect.plugin import needs_extra
from recollect_integrations.adapter import ensure_open, own_scope_of, require_open, searchable_text

with needs_extra("The adapter for the OpenAI Agents SDK", "openai-agents"):
    from agents import (
        FunctionTool,
        RunContextWrapper,
        SessionSettings,
        TResponseInputItem,
        default_tool_error_function,
        function_tool,
    )
    from agents.memory.session import SessionABC
    from agents.memory.session_settings import resolve_session_limit

_ITEM = "openai_agents_item"
_RECALLED = "From memory:\n"


class RecollectSession(SessionABC):
    """The history of one conversation, for `Runner.run(…, session=…)`; several programs may share it."""

    def __init__(
        self,
        session_id: str,
        memory: Engine | str | Path,
        *,
        extract: bool = True,
        session_settings: SessionSettings | None = None,
    ) -> None:
        """Use an open memory, or open the one at a path, which `close` closes.

        Without `extract`, facts do not become notes.
        """
        self.session_id = session_id
        self.session_settings = session_settings
        self._name = clean_name(session_id, "session_id")
        self._extract = extract
        self._is_ours = not isinstance(memory, Engine)
        self.memory = own_scope_of(ensure_open(memory))
        self._calls = AsyncEngine(self.memory)

    def close(self) -> None:
        """Close the memory, if this session opened it."""
        if self._is_ours:
            self.memory.close()

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Return the last `limit` items, oldest first; the default is the settings' limit, or all."""
        most = resolve_session_limit(limit, self.session_settings)
        return await self._calls.run(self._items, None if most is None or most < 0 else most)

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        if items:
            turns = [_turn(item) for item in items]
            await self._calls.add_messages(self._name, turns, extract=self._extract)

    async def pop_item(self) -> TResponseInputItem | None:
        """Remove the last item and the notes extracted from it, and return the item."""
        return await self._calls.run(self._pop)

    async def clear_session(self) -> None:
        """Forget the conversation and the notes extracted from it; `restore` restores each."""
        try:
            await self._calls.sessions.forget(self._name)
        except NotFound:  # the conversation is empty
            return

    def _items(self, memory: Engine, most: int | None) -> list[TResponseInputItem]:
        return [_item(message) for message in reversed(list(self._newest(memory, most)))]

    def _newest(self, memory: Engine, most: int | None) -> Iterator[Memory]:
        """Yield the messages, newest first, including corrected ones."""
        after: int | None = 0
        while after is not None and most != 0:
            limit = MOST_PER_PAGE if most is None else min(most, MOST_PER_PAGE)
            page = memory.list(
                kinds=["message"], session=self._name, include_superseded=True, limit=limit, after=after
            )
            yield from page.memories
            most = None if most is None else most - len(page.memories)
            after = page.cursor

    def _pop(self, memory: Engine) -> TResponseInputItem | None:
        # If another program has just removed the last item, remove the one before it.
        while last := next(self._newest(memory, 1), None):
            extracted = memory.list(session=self._name, include_superseded=True, limit=MOST_PER_PAGE).memories
            notes = [note.id for note in extracted if note.drawn_from == last.id]
            if last.id in memory.forget([last.id, *notes]):
                return _item(last)
        return None


def memory_tools(memory: Engine) -> list[FunctionTool]:
    """Return the tools `remember` and `recall`, for `Agent(tools=…)`."""
    calls = AsyncEngine(require_open(memory))

    @function_tool(failure_error_function=_failure_text)
    async def remember(text: str) -> str:
        """Keep a fact for later conversations.

        Args:
            text: One fact that needs no context, with names instead of pronouns.
        """
        kept = await calls.remember(text)
        return "Kept." if kept.created else "I knew that already."

    @function_tool(failure_error_function=_failure_text)
    async def recall(run: RunContextWrapper[Any], query: str) -> str:
        """Look up what is known from earlier conversations.

        Args:
            query: What to look for, as a question or in keywords.
        """
        found = await calls.context(query[:QUERY_LIMIT], budget_tokens=1_000)
        # Leave out this conversation: the model reads it already.
        read = [_turn(item)["content"] for item in run.turn_input]
        lines = [
            item.line
            for item in found.memories
            if item.kind != "message" or not any(item.text in text for text in read)
        ]
        return _RECALLED + ("\n".join(lines) or "Nothing here seems to answer that.")

    return [remember, recall]


def _failure_text(run: RunContextWrapper[Any], error: Exception) -> str:
    """Return the text that the model reads after a failed tool call."""
    return str(error) if isinstance(error, RecollectError) else default_tool_error_function(run, error)


def _item(message: Memory) -> TResponseInputItem:
    kept = (message.metadata or {}).get(_ITEM)
    if kept is None:  # another program stored the message
        kept = {"role": message.role or "user", "content": message.text}
    return cast("TResponseInputItem", kept)


def _turn(item: TResponseInputItem) -> dict[str, Any]:
    plain = cast("Mapping[str, Any]", item)
    kind = str(plain.get("type", "message"))
    role = plain.get("role") or ("tool" if kind.endswith("_output") else "assistant")
    text = "\n".join(_words(plain))
    # Searches must not find recalled texts again, nor the calls for them.
    if kind == "function_call" and plain.get("name") == "recall":
        text = "(recall)"
    if kind == "function_call_output" and text.startswith(_RECALLED):
        text = "(recalled)"
    return {"role": role, "content": searchable_text(text, f"({kind})"), "metadata": {_ITEM: plain}}


def _words(item: Mapping[str, Any]) -> Iterator[str]:
    """Yield the texts of an item, for searches."""
    if "name" in item and "arguments" in item:
        yield f"{item['name']}({item['arguments']})"
    for field in ("content", "summary", "output"):
        yield from _texts(item.get(field))


def _texts(part: object) -> Iterator[str]:
    match part:
        case str():
            yield part
        case Mapping():
            for field in ("text", "refusal", "transcript"):
                yield from _texts(part.get(field))
        case Sequence():
            for each in part:
                yield from _texts(each)
        case _:
            return
