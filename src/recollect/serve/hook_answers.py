"""A server answers the hooks of its store, too: it has the store open already."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recollect.engine.engine import Engine
    from recollect.hooks.listener import HookListener
    from recollect.settings import Settings

_AFTER_SECONDS = 1.0
"""A client waits for its list of tools first."""


@contextmanager
def answering_hooks(settings: Settings, engine: Callable[[], Engine]) -> Iterator[None]:
    """Within it, hooks are answered from here: where there are hooks, and no other process answers them."""
    listeners: list[HookListener] = []
    ended = threading.Event()

    def begin() -> None:
        if ended.wait(_AFTER_SECONDS):
            return
        from recollect.hooks.known import hooks_folder  # noqa: PLC0415  # after the start

        if not os.path.isdir(hooks_folder()):  # noqa: PTH112  # as hooks have it
            return
        from recollect.hooks.listener import HookListener  # noqa: PLC0415  # only where there are hooks

        listener = HookListener(settings, engine, stops_when_asked=False)
        with suppress(OSError):
            if listener.claim():
                listener.listen()
                listeners.append(listener)

    thread = threading.Thread(target=begin, name="recollect-hooks-start", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        for listener in listeners:
            listener.close()
