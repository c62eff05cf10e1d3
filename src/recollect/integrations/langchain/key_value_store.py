"""A key-value store of bytes, for caches and parent documents; searches read only the key."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path

from recollect.aio import AsyncEngine
from recollect.engine.engine import Engine
from recollect.errors import InvalidInput
from recollect.extras import needs_extra
from recollect.integrations.keyed_notes import KeyedNote, KeyedNotes
from recollect.integrations.opening import opened_memory

with needs_extra("The adapter for LangChain", "langchain"):
    from langchain_core.stores import ByteStore

PROGRAM = "langchain value"


class RecollectByteStore(ByteStore):
    """Bytes by key, in a collection of a memory."""

    def __init__(self, memory: Engine | str | Path, collection: str = "values") -> None:
        """On an open memory, or on the one at a path. A collection is an agent of the memory's owner."""
        self.memory = opened_memory(memory)
        if not collection:
            raise InvalidInput("The name of a collection must not be empty.")
        self._notes = KeyedNotes(self.memory.scoped(self.memory.scope.owner, collection), PROGRAM)
        self._calls = AsyncEngine(self.memory)

    def mget(self, keys: Sequence[str]) -> list[bytes | None]:
        found = self._notes.get(keys)
        return [
            b64decode((note.metadata or {})["base64"]) if (note := found.get(key)) is not None else None
            for key in keys
        ]

    async def amget(self, keys: Sequence[str]) -> list[bytes | None]:
        return await self._calls.run(lambda _: self.mget(keys))

    def mset(self, key_value_pairs: Sequence[tuple[str, bytes]]) -> None:
        """All of them or none."""
        self._notes.put(_note(key, value) for key, value in key_value_pairs)

    async def amset(self, key_value_pairs: Sequence[tuple[str, bytes]]) -> None:
        await self._calls.run(lambda _: self.mset(key_value_pairs))

    def mdelete(self, keys: Sequence[str]) -> None:
        self._notes.delete(keys)

    async def amdelete(self, keys: Sequence[str]) -> None:
        await self._calls.run(lambda _: self.mdelete(keys))

    def yield_keys(self, *, prefix: str | None = None) -> Iterator[str]:
        """The newest first."""
        for note in self._notes.newest_first():
            key = self._notes.key(note)
            if key.startswith(prefix or ""):
                yield key

    async def ayield_keys(self, *, prefix: str | None = None) -> AsyncIterator[str]:
        for key in await self._calls.run(lambda _: list(self.yield_keys(prefix=prefix))):
            yield key


def _note(key: str, value: bytes) -> KeyedNote:
    if not isinstance(value, bytes | bytearray | memoryview):
        raise InvalidInput(f"The value of {key!r} must be bytes, not {type(value).__name__}.")
    return KeyedNote(key, f"{PROGRAM} {key}", {"base64": b64encode(value).decode("ascii")})
