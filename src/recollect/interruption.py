"""Lets work end early that nobody waits for any more: whoever began it says how to tell."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_check: ContextVar[Callable[[], None] | None] = ContextVar("recollect_interruption", default=None)


@contextmanager
def interruptible(check: Callable[[], None]) -> Iterator[None]:
    """Within it, `check` is called before every question to a store; it raises to end the work.

    Only around what reads: a write that was begun is done to its end.
    """
    before = _check.set(check)
    try:
        yield
    finally:
        _check.reset(before)


def end_if_interrupted() -> None:
    """Called by stores and by whatever takes long."""
    check = _check.get()
    if check is not None:
        check()
