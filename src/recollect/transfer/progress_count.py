"""Counting what goes out, for whoever waits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from recollect.ports import Progress

_PROGRESS_EVERY = 500


def counted(items: Iterable[Any], total: int | None, progress: Progress | None) -> Iterator[Any]:
    """The same items, with a word to whoever waits after some hundreds of them."""
    done = 0
    for done, item in enumerate(items, start=1):
        yield item
        if progress and done % _PROGRESS_EVERY == 0:
            progress(done, None if total is None else max(done, total))
    if progress:
        progress(done, None if total is None else done)
