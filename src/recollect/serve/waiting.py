"""Texts that wait for a vector, embedded in the background while the server answers."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Self

from recollect.errors import RecollectError

if TYPE_CHECKING:
    from types import TracebackType

    from recollect.engine.engine import Engine

_log = logging.getLogger(__name__)
# Whoever asks first has the processor.
_GIVE_WAY_SECONDS = 1.0


class _Stopped(Exception):
    """The server ends; the store knows what still waits, and the next start goes on."""


class Waiting:
    """Embeds from when a memory is opened until nothing waits, or until this ends."""

    def __init__(self) -> None:
        self._ends = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ends.set()
        if self._thread is not None:
            self._thread.join()

    def begin(self, memory: Engine) -> None:
        self._thread = threading.Thread(
            target=self._embed, args=(memory,), name="recollect-waiting", daemon=True
        )
        self._thread.start()

    def _embed(self, memory: Engine) -> None:
        if self._ends.wait(_GIVE_WAY_SECONDS):
            return
        try:
            embedded, _ = memory.upkeep.embed_pending(self._go_on)
        except _Stopped:
            _log.info("The server ended before every text had its vector.")
        except RecollectError as error:
            _log.warning("recollect: %s", error)
        else:
            _log.info("%d texts got their vectors.", embedded)

    def _go_on(self, done: int, of: int | None) -> None:  # noqa: ARG002  # a Progress
        if self._ends.is_set():
            raise _Stopped
