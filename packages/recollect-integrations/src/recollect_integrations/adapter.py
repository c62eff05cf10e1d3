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
_Params = ParamSpec("_Params")
_Result = TypeVar("_Result")


def ensure_open(memory: Engine | str | Path) -> Engine:
    """Return the given memory, or open the one at a path or URL."""
    return memory if isinstance(memory, Engine) else open_memory(memory)


def require_open(memory: Engine) -> Engine:
    """Return an open memory, for adapters that cannot close one; refuse a path."""
    if not isinstance(memory, Engine):
        raise InvalidInput(
            f'Pass an open memory, such as recollect.open("memory.db"), not {type(memory).__name__}.'
        )
    return memory


def ensure_async(memory: AsyncEngine | Engine | str | Path) -> AsyncEngine:
    """Return an open async memory, for adapters with async calls."""
    return memory if isinstance(memory, AsyncEngine) else AsyncEngine(ensure_open(memory))


def own_scope_of(memory: Engine) -> Engine:
    """Return the memory restricted to its own agent, so that an adapter reads only its own notes."""
    return memory.scoped(memory.scope.owner, memory.scope.agent)


def in_thread(
    method: Callable[Concatenate[_Adapter, _Params], _Result],
) -> Callable[Concatenate[_Adapter, _Params], Coroutine[Any, Any, _Result]]:
    """Return an async version of a method. It runs in a thread, and ends even if the call is cancelled."""

    @wraps(method)
    async def call(self: _Adapter, /, *args: _Params.args, **options: _Params.kwargs) -> _Result:
        return await self._calls.run(lambda _: method(self, *args, **options))

    return call


def all_pages(memory: Engine, *, page: int = MOST_PER_PAGE, **wanted: Any) -> Iterator[Memory]:
    """Yield everything that `memory.list` returns for these arguments, newest first."""
    after: int | None = 0
    while after is not None:
        found = memory.list(limit=page, after=after, **wanted)
        yield from found.memories
        after = found.cursor


def notes_by_ref(memory: Engine, refs: Iterable[str]) -> Iterator[Memory]:
    """Return the existing notes with these refs."""
    asked = list(dict.fromkeys(refs))
    for start in range(0, len(asked), MOST_PER_PAGE):
        yield from memory.list(refs=asked[start : start + MOST_PER_PAGE], limit=MOST_PER_PAGE).memories


def in_utc(at: datetime) -> datetime:
    """Return a time with a zone; without one it is UTC, as in these frameworks."""
    return at if at.tzinfo is not None else at.replace(tzinfo=UTC)


def visible_text(text: str) -> str:
    """Replace NULs and lone surrogates by U+FFFD. Return an empty text if nothing is visible."""
    shown = text.replace("\0", "\N{REPLACEMENT CHARACTER}")
    shown = shown.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return "" if is_blank(text.replace("\0", "")) else shown


def searchable_text(text: str, otherwise: str) -> str:
    """Cut a text to the maximum length of a memory; return `otherwise` if nothing is visible."""
    return visible_text(text[:TEXT_LIMIT]) or visible_text(otherwise[:TEXT_LIMIT])


def text_as_written(kept: str, note_text: str) -> str:
    """Return the exact text that the metadata keeps, or the note's text if the note was edited since."""
    searched = searchable_text(kept, "")
    return note_text if searched and searched != note_text else kept
