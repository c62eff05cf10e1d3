"""A memory that is opened when it is first needed, so that a server can answer before."""

from __future__ import annotations

import gc
import logging
import threading
from typing import TYPE_CHECKING, Self

from recollect.errors import RecollectError
from recollect.serve.operations.catalogue import operations

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from recollect.engine.engine import Engine

_log = logging.getLogger(__name__)
_LONGEST_WAIT_SECONDS = 2.0


class LazyEngine:
    """Opens once, whoever asks first; what cannot be opened is tried again by the next who asks.

    A store may take its time: one of an older version is brought up to date, a locked one is waited for. A
    client gives up on a server that does not speak, and learns more from a call that says what is wrong.
    """

    def __init__(self, open_: Callable[[], Engine]) -> None:
        self._open = open_
        self._lock = threading.Lock()
        self._engine: Engine | None = None
        self._error: RecollectError | None = None
        self._stopped = threading.Event()

    def engine(self) -> Engine:
        with self._lock:
            if self._engine is None:
                try:
                    self._engine = self._open()
                except RecollectError as error:
                    self._error = error
                    raise
                if self._stopped.is_set():
                    self._engine.upkeep.begin_shutdown()
            return self._engine

    def stop(self) -> None:
        """Begin nothing more, for nobody waits: what lacks a vector gets it after the next start."""
        self._stopped.set()
        if self._engine is not None:
            self._engine.upkeep.begin_shutdown()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._engine is not None:
            self._engine.close()
        elif self._error is not None and error is None:
            # Nobody was ever served: whoever started us should see it in the exit status.
            raise self._error

    def warm(self, *after: threading.Event) -> threading.Thread:
        """Open, and load model, operations and caches in the background: the first call need not wait.

        Not before these: a client waits for its list of tools, or for a call that came sooner, and both want
        the processor. No garbage is collected until all is loaded: what is loaded stays.
        """
        gc.disable()
        thread = threading.Thread(target=self._warm, args=after, name="recollect-warm", daemon=True)
        thread.start()
        return thread

    def _warm(self, *after: threading.Event) -> None:
        for event in after:
            event.wait(_LONGEST_WAIT_SECONDS)
        note = None
        try:
            engine = None if self._stopped.is_set() else self.engine()
            # To open may have taken long.
            if engine is not None and not self._stopped.is_set():
                # Beside the search, which waits for the model to load.
                loading = threading.Thread(target=operations, name="recollect-operations", daemon=True)
                loading.start()
                note = engine.search("warm", limit=1).note
                loading.join()
        except RecollectError as error:
            note = str(error)
        finally:
            gc.enable()
        if note:
            _log.warning("recollect: %s", note)
