"""LlamaIndex: a memory block for messages that leave the chat history, and a retriever.

Messages of a conversation become a session, and facts in them become notes. All conversations of the same
memory can recall both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from recollect import Engine, Hit
from recollect.aio import AsyncEngine
from recollect.domain.limits import DEFAULT_BUDGET, QUERY_LIMIT
from recollect.domain.records import recall_arguments
from recollect.plugin import memory_text, needs_extra
from recollect_integrations.adapter import require_open, visible_text

with needs_extra("The adapter for LlamaIndex", "llama-index"):
    from llama_index.core.base.llms.types import ChatMessage
    from llama_index.core.bridge.pydantic import Field, PrivateAttr
    from llama_index.core.memory import BaseMemoryBlock
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
    from llama_index.core.utils import get_tokenizer

_WITHOUT_SESSION = "llama-index"
# How many last messages to search with. Those before the question may name what it is about.
_QUERY_MESSAGES = 3


class RecollectMemoryBlock(BaseMemoryBlock[str]):
    """A memory block that adds memories about the last messages to the prompt, if some are relevant."""

    name: str = Field(default="long_term_memory", description="The name of the memory block.")
    memory: Engine = Field(description="The memory. The caller opens and closes it.", exclude=True)
    budget_tokens: int = Field(
        default=DEFAULT_BUDGET, description="Maximum number of tokens of the memories."
    )
    extract: bool = Field(default=True, description="Whether to extract facts worth keeping as notes.")
    _calls: AsyncEngine = PrivateAttr()

    def model_post_init(self, context: Any, /) -> None:
        super().model_post_init(context)
        self._calls = AsyncEngine(self.memory)

    async def _aget(
        self,
        messages: list[ChatMessage] | None = None,
        session_id: str | None = None,  # unused: a memory spans all conversations
        **block_kwargs: Any,  # arguments of other blocks
    ) -> str:
        turns = [turn for each in messages or () if (turn := _turn(each)) is not None]
        if not any(turn["role"] == "user" for turn in turns):
            return ""
        found = await self._calls.context(messages=turns[-_QUERY_MESSAGES:], budget_tokens=self.budget_tokens)
        return "\n".join(item.line for item in found.memories)

    async def _aput(self, messages: list[ChatMessage]) -> None:
        """Store messages with text, by session, in order. Tool calls without text are not stored."""
        by_session: dict[str, list[dict[str, Any]]] = {}
        for message in messages:
            session = str(message.additional_kwargs.get("session_id") or _WITHOUT_SESSION)
            if (turn := _turn(message)) is not None:
                by_session.setdefault(session, []).append(turn)
        for session, turns in by_session.items():
            await self._calls.add_messages(session, turns, extract=self.extract)

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """Drop the least useful memories, which come last."""
        count = get_tokenizer()
        lines, freed = content.split("\n"), 0
        while lines and freed < tokens_to_truncate:
            freed += len(count(lines.pop()))
        return "\n".join(lines) or None


class RecollectNodeRetriever(BaseRetriever):
    """A retriever of memories of any kind as nodes, best first, each with its score."""

    def __init__(self, memory: Engine, *, similarity_top_k: int = 10, **options: Any) -> None:
        """`options` are those of `memory.recall`: `kinds`, `tags`, `as_of`, `min_confidence` …

        Nothing is returned if nothing seems to answer; `abstain=False` returns the nearest memories anyway.
        """
        self._memory = require_open(memory)
        self._calls = AsyncEngine(memory)
        self._options = recall_arguments({"limit": similarity_top_k, "abstain": True, **options})
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return _nodes(self._memory.recall(query_bundle.query_str[:QUERY_LIMIT], **self._options).hits)

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        answer = await self._calls.recall(query_bundle.query_str[:QUERY_LIMIT], **self._options)
        return _nodes(answer.hits)


def _turn(message: ChatMessage) -> dict[str, Any] | None:
    """Convert a message for the memory; None if it has no text."""
    text = visible_text(message.content or "")
    return {"role": message.role.value, "content": text} if text else None


def _nodes(hits: Sequence[Hit]) -> list[NodeWithScore]:
    return [NodeWithScore(node=_node(hit), score=hit.score) for hit in hits]


def _node(hit: Hit) -> TextNode:
    memory = hit.memory
    when = memory.happened_at or memory.created_at
    about = {
        "kind": memory.kind.value,
        "at": when.isoformat(),
        "confidence": hit.confidence,
        "session": memory.session,
        "speaker": memory.speaker or memory.role,
        "tags": list(memory.tags) or None,
    }
    return TextNode(
        id_=f"recollect-{memory.id}",
        text=memory_text(memory),
        metadata={name: value for name, value in about.items() if value is not None},
    )
