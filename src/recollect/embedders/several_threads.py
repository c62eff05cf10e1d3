"""Reads several texts at once, a text to a thread: the same numbers as one after the other, on all cores."""

from __future__ import annotations

import os
from collections import deque
from contextlib import contextmanager
from threading import Lock, Thread
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_Result = TypeVar("_Result")


def usable_cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class TextThreads:
    """Who asks does the work, and starts helpers for the time of the call where there are several texts.

    Nothing stays behind between calls, so that a process can be forked and ended at any time. A helper takes
    no further text once somebody has a question: who writes much must not make others wait for a core.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        """Threads at work in one call, the caller's own among them."""
        self._lock = Lock()
        self._questions = 0

    @contextmanager
    def given_way(self) -> Iterator[None]:
        """Until the end of the block, helpers take no further text."""
        with self._lock:
            self._questions += 1
        try:
            yield
        finally:
            with self._lock:
                self._questions -= 1

    def map(self, read: Callable[[str], _Result], texts: Sequence[str]) -> list[_Result]:
        """What `read` makes of each text, in their order. The first error ends it."""
        if self.most == 1 or len(texts) < 2:
            return [read(text) for text in texts]
        # The longest first, so that at the end nobody waits for a long one that was begun last.
        left = deque(sorted(range(len(texts)), key=lambda place: -len(texts[place])))
        results: dict[int, _Result] = {}
        errors: list[BaseException] = []

        def work() -> None:
            while (place := _next(left)) is not None:
                results[place] = read(texts[place])

        def help_out() -> None:
            try:
                while not self._questions and (place := _next(left)) is not None:
                    results[place] = read(texts[place])
            except BaseException as error:  # noqa: BLE001  # raised by the caller's thread
                errors.append(error)
                left.clear()

        helpers = _started(help_out, min(self.most, len(texts)) - 1)
        try:
            work()
        finally:
            left.clear()
            for helper in helpers:
                helper.join()
        if errors:
            raise errors[0]
        return [results[place] for place in range(len(texts))]


def _next(left: deque[int]) -> int | None:
    try:
        return left.popleft()
    except IndexError:
        return None


def _started(work: Callable[[], None], count: int) -> list[Thread]:
    """So many threads at work; fewer where the system gives no more, or the process is about to end."""
    threads = []
    for _ in range(count):
        thread = Thread(target=work, name="recollect-embedding", daemon=True)
        try:
            thread.start()
        except RuntimeError:
            break
        threads.append(thread)
    return threads
