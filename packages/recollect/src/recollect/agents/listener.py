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
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, Self

from recollect.agents.capture import Capture, ShownMemories, prompt_answer
from recollect.agents.hook_files import (
    address_path,
    hooks_folder,
    lock_path,
    note_event,
    options_of,
    remove_old_logs,
    settings_from,
    store_key,
    take_lock,
    write_privately,
)
from recollect.agents.wire import LOOPBACK, Address, accept_request, read_address, send
from recollect.domain.errors import RecollectError, StoreUnavailable

if TYPE_CHECKING:
    from recollect.engine import Engine
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
        self._shown = ShownMemories(self._folder, key)
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
        write_privately(str(self._path), Address(port, self._secret, os.getpid()).to_text())
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
            return  # the hook has gone
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


# The process that answers hooks where no server does: started by a hook, gone when nothing happens

_LOOK_SECONDS = 5.0


def answer_hooks(options: Sequence[str]) -> None:
    given = options_of(options)
    settings, folder = settings_from(given), given.get("--folder") or hooks_folder()

    @cache
    def opened() -> Engine:
        from recollect.bootstrap import engine  # noqa: PLC0415  # loads SQLite and NumPy

        return engine(settings)

    listener = HookListener(settings, opened, folder)
    if not listener.claim():
        return  # another was quicker
    with suppress(OSError):
        os.truncate(os.path.join(folder, "resident-errors.txt"), 0)  # of those that could not start before us
    os.chdir(os.path.expanduser("~"))  # the folder where a hook ran may go
    try:
        # Before it listens: a prompt must not wait for the model.
        opened().search("warm", limit=1)
        listener.listen()
        while not listener.stopped.wait(_LOOK_SECONDS):
            if not listener.is_reachable or listener.idle_seconds() > 60 * settings.hook_idle_minutes:
                break
    except RecollectError as error:
        note_event(folder, "", "resident", "error", detail=f"{type(error).__name__}: {error}")
    finally:
        listener.close()
        with suppress(RecollectError):
            opened().close()


if __name__ == "__main__":
    answer_hooks(sys.argv[1:])
