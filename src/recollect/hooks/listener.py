"""Answers hooks in a process that has the store open: a server, or the resident that a hook started.

One listener serves a store: the lock beside its address says whether there is one.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, Self

from recollect.errors import RecollectError, StoreUnavailable
from recollect.hooks.capture import Capture
from recollect.hooks.known import hooks_folder, store_key
from recollect.hooks.log import remove_old_logs
from recollect.hooks.places import address_path, lock_path, take_lock, write_privately
from recollect.hooks.shown import Shown, prompt_answer
from recollect.hooks.wire import LOOPBACK, Address, accept_request, read_address, send

if TYPE_CHECKING:
    from recollect.engine.engine import Engine
    from recollect.settings import Settings

_MOST_AT_ONCE = 16
_CLAIM_TRIES, _BETWEEN_TRIES_SECONDS = 5, 0.02
"""A hook that looks whether the lock is free has it for a moment."""
_TALK_SECONDS = 10.0
"""How long one connection may take."""


class HookListener:
    """A context: within it, hooks of this store are answered, unless another process does that already."""

    def __init__(
        self,
        settings: Settings,
        engine: Callable[[], Engine],
        folder: str | None = None,
        *,
        stops_when_asked: bool = True,
    ) -> None:
        """`folder` is where hooks keep their files, if not in the usual place."""
        self._stops_when_asked = stops_when_asked
        self._engine = engine
        self._folder, key = folder or hooks_folder(), store_key(settings)
        self._path = Path(address_path(self._folder, key))
        self._lock_path = Path(lock_path(self._folder, key))
        self._secret = secrets.token_hex(32)
        self._lock_file: IO[bytes] | None = None
        self._socket: socket.socket | None = None
        self._room = threading.BoundedSemaphore(_MOST_AT_ONCE)
        self._shown = Shown(self._folder, key)
        self._capture = Capture(self._folder, key, engine, self._shown, self._store_is_gone)
        self._last = time.monotonic()
        self.stopped = threading.Event()

    def __enter__(self) -> Self:
        if self.claim():
            self.listen()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def claim(self) -> bool:
        """Become the one that answers; False where another process is, or the hooks' files were removed."""
        if not self._path.parent.is_dir():
            return False
        for _ in range(_CLAIM_TRIES):
            file = self._lock_path.open("ab")
            # The one before us may have removed it, after we had opened it.
            if take_lock(file.fileno()) and _is_file_at(self._lock_path, file):
                self._lock_file = file
                self._path.unlink(missing_ok=True)  # of one that was killed
                return True
            file.close()
            time.sleep(_BETWEEN_TRIES_SECONDS)
        return False

    def listen(self) -> None:
        """Begin to answer, and say where."""
        self._socket = socket.create_server((LOOPBACK, 0))
        port = self._socket.getsockname()[1]
        write_privately(str(self._path), Address(port, self._secret, os.getpid()).written())
        threading.Thread(
            target=self._accept, args=(self._socket,), name="recollect-hooks", daemon=True
        ).start()
        with suppress(OSError):
            remove_old_logs(self._folder)
        self._shown.remove_old()
        self._capture.start()

    def close(self) -> None:
        """Stop listening, and finish what is being captured."""
        self.stopped.set()
        if self._socket is not None:
            ours = read_address(str(self._path))
            if ours is not None and ours.secret == self._secret:
                self._path.unlink(missing_ok=True)
            self._socket.close()
            self._capture.finish()
            self._socket = None
        if self._lock_file is not None:
            if sys.platform != "win32":  # there, an open file cannot be removed
                self._lock_path.unlink(missing_ok=True)
            self._lock_file.close()
            self._lock_file = None

    @property
    def is_reachable(self) -> bool:
        """Whether a hook can still find it: not where the hooks' files were removed."""
        return self._lock_file is not None and _is_file_at(self._lock_path, self._lock_file)

    def idle_seconds(self) -> float:
        return time.monotonic() - self._last

    def _accept(self, listening: socket.socket) -> None:
        while not self.stopped.is_set():
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            if not self._room.acquire(blocking=False):
                connection.close()
                continue
            threading.Thread(
                target=self._serve, args=(connection,), name="recollect-hook", daemon=True
            ).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            with connection:
                connection.settimeout(_TALK_SECONDS)
                request = accept_request(connection, self._secret)
                if request is None:
                    return
                self._last = time.monotonic()
                self._answer(connection, request)
        except (OSError, ValueError):
            return  # whoever asked has gone
        finally:
            self._room.release()

    def _answer(self, connection: socket.socket, request: dict[str, Any]) -> None:
        try:
            reply = self._reply(request)
        except (RecollectError, ValueError, TypeError, KeyError) as error:
            if isinstance(error, StoreUnavailable):
                self._store_is_gone()
            reply = {"error": f"{type(error).__name__}: {error}"}
        send(connection, json.dumps(reply).encode())
        # Only then: what waits to be captured must not delay an answer.
        if request.get("do") == "stop" and self._stops_when_asked:
            self.stopped.set()
        else:
            self._capture.wake()

    def _store_is_gone(self) -> None:
        """It was moved or replaced, or its server is down: the next hook starts a resident that opens it."""
        if self._stops_when_asked:
            self.stopped.set()

    def _reply(self, request: dict[str, Any]) -> dict[str, Any]:
        if request.get("forget_shown"):
            self._shown.forget(str(request.get("session")))
        match request.get("do"):
            case "prompt":
                return prompt_answer(self._engine(), request, self._shown, secrets.token_hex(8))
            case "stop":
                return {"stops": self._stops_when_asked}
            case "capture" | "ping":
                return {}
            case other:
                return {"error": f"unknown request {other!r}"}


def _is_file_at(path: Path, file: IO[bytes]) -> bool:
    return path.exists() and path.stat().st_ino == os.fstat(file.fileno()).st_ino
