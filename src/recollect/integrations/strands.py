"""A memory store for Strands agents: what they add becomes notes, and what was said becomes messages."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from recollect.aio import AsyncEngine
from recollect.engine.engine import Engine
from recollect.engine.memory_text import memory_text
from recollect.engine.results import Hit
from recollect.errors import InvalidInput
from recollect.extras import needs_extra
from recollect.integrations.opening import awaited_memory
from recollect.integrations.searched_text import shown_text
from recollect.text.limits import QUERY_LIMIT

with needs_extra("The adapter for Strands", "strands"):
    from strands.memory import AddMessagesContext, ExtractionConfig, MemoryEntry, MemoryStore, SearchOptions
    from strands.types.content import Message

FOUND = "recollect"
"""The key of an entry's metadata that tells how it was found."""


class RecollectMemoryStore(MemoryStore):
    """A store for a `MemoryManager`, on an open memory or on the store at a path.

    With `extraction`, the manager hands over what was said, which is kept as messages of the `session`, and
    what is worth keeping in it as notes, without a call of a model. With `abstain`, a search gives nothing
    where nothing seems to answer, so that nothing is injected into such prompts.
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
        self.memory = awaited_memory(memory)
        self.name = name
        self.description = description
        self.max_search_results = max_search_results
        self.writable = writable
        self.extraction = extraction
        self._session = session
        self._abstain = abstain
        self._run = secrets.token_hex(8)

    async def initialize(self) -> None:
        """The manager numbers the messages of each agent anew."""
        self._run = secrets.token_hex(8)

    async def search(self, query: str, options: SearchOptions | None = None) -> list[MemoryEntry]:
        """The best entries, best first; where no number is given, those worth reading, one to ten."""
        limit = (options or {}).get("max_search_results", self.max_search_results)
        if limit is not None and limit < 1:
            raise InvalidInput("`max_search_results` must be at least 1.")
        if not query.strip():
            return []
        answer = await self.memory.recall(query[:QUERY_LIMIT], limit=limit, abstain=self._abstain)
        return [_entry(hit) for hit in answer.hits]

    async def add(self, content: str, metadata: dict[str, Any] | None = None) -> int:
        """The id of the note. The same again, with the same metadata, is the same note."""
        self._check_writable()
        if not metadata:
            return (await self.memory.remember(content)).id
        ref = f"strands:{_digest(content, metadata)}"
        return (await self.memory.remember(content, ref=ref, metadata={"strands": metadata})).id

    async def add_messages(self, messages: list[Message], context: AddMessagesContext | None = None) -> None:
        """A batch that is handed over again, with the same numbers, is stored once."""
        self._check_writable()
        given = None if context is None else context.sequence_numbers
        numbers: Sequence[int | None] = given or [None] * len(messages)
        now = await self.memory.upkeep.now()
        turns = [
            {
                "content": text,
                "role": message["role"],
                "at": now,
                "source": None if number is None else f"{self._run} {number} {_digest(text)}",
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
            raise InvalidInput(f"The store {self.name!r} is not writable; make it with writable=True.")


def _text(message: Message) -> str:
    said = "\n".join(block["text"] for block in message["content"] if block.get("text"))
    return shown_text(said.strip())


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
