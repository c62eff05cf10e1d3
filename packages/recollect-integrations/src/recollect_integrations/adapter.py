"""Helpers of the adapters: open a memory, read all pages, await a method, prepare texts for search."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Iterator
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from recollect import Engine, InvalidInput, Memory
from recollect.aio import AsyncEngine
from recollect.bootstrap import open as open_memory
from recollect.domain.limits import MOST_PER_PAGE, TEXT_LIMIT, is_blank


class _Awaitable(Protocol):
    @property
    def _calls(self) -> AsyncEngine: ...


_Adapter = TypeVar("_Adapter", bound=_Awaitable)
_Asked = ParamSpec("_Asked")
_Result = TypeVar("_Result")


def opened_memory(memory: Engine | str | Path) -> Engine:
    """The given memory, or the one that `recollect.open` opens at a path or URL."""
    return memory if isinstance(memory, Engine) else open_memory(memory)


def caller_opened(memory: Engine) -> Engine:
    """The memory, for adapters that have no place to close one; refused if it is not open yet."""
    if not isinstance(memory, Engine):
        raise InvalidInput(
            f'Pass an open memory, such as recollect.open("memory.db"), not {type(memory).__name__}.'
        )
    return memory


def awaited_memory(memory: AsyncEngine | Engine | str | Path) -> AsyncEngine:
    """The same for adapters whose calls are awaited."""
    return memory if isinstance(memory, AsyncEngine) else AsyncEngine(opened_memory(memory))


def of_own_scope(memory: Engine) -> Engine:
    """The memory without what belongs to other agents: an adapter reads back only what it wrote."""
    return memory.scoped(memory.scope.owner, memory.scope.agent)


def in_thread(
    method: Callable[Concatenate[_Adapter, _Asked], _Result],
) -> Callable[Concatenate[_Adapter, _Asked], Coroutine[Any, Any, _Result]]:
    """The same method for `async` code: it runs in a thread, and if it is cancelled, to its end."""

    @wraps(method)
    async def call(self: _Adapter, /, *args: _Asked.args, **options: _Asked.kwargs) -> _Result:
        return await self._calls.run(lambda _: method(self, *args, **options))

    return call


def listed_notes(memory: Engine, *, page: int = MOST_PER_PAGE, **wanted: Any) -> Iterator[Memory]:
    """All that `memory.list` gives for these arguments, read in pages, newest first."""
    after: int | None = 0
    while after is not None:
        found = memory.list(limit=page, after=after, **wanted)
        yield from found.memories
        after = found.cursor


def notes_by_ref(memory: Engine, refs: Iterable[str]) -> Iterator[Memory]:
    """The notes with these refs, as far as they are there."""
    asked = list(dict.fromkeys(refs))
    for start in range(0, len(asked), MOST_PER_PAGE):
        yield from memory.list(refs=asked[start : start + MOST_PER_PAGE], limit=MOST_PER_PAGE).memories


def in_utc(at: datetime) -> datetime:
    """A time with a zone; one without is taken for UTC, as these frameworks mean it."""
    return at if at.tzinfo is not None else at.replace(tzinfo=UTC)


def shown_text(text: str) -> str:
    """The text with U+FFFD for each NUL and each half of a surrogate pair; empty if it shows nothing."""
    shown = text.replace("\0", "\N{REPLACEMENT CHARACTER}")
    shown = shown.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return "" if is_blank(text.replace("\0", "")) else shown


def searched_text(text: str, otherwise: str) -> str:
    """As much of a text as a memory keeps in one piece; that of `otherwise` where it shows nothing."""
    return shown_text(text[:TEXT_LIMIT]) or shown_text(otherwise[:TEXT_LIMIT])


def text_as_written(kept: str, note_text: str) -> str:
    """Return the exact text that the metadata keeps, or the note's text if the note was edited since."""
    searched = searched_text(kept, "")
    return note_text if searched and searched != note_text else kept
