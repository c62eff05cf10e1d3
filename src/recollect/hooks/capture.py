"""Stores what was said as messages of a session: without what we recalled ourselves, and without secrets."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recollect.errors import InvalidInput, RecollectError
from recollect.hooks.block import without_blocks
from recollect.hooks.log import note_event
from recollect.hooks.places import all_waiting
from recollect.hooks.transcript import last_answer
from recollect.text.near_duplicates import contains_statement, same_statement
from recollect.text.secrets import without_secrets
from recollect.text.sentences import sentences

if TYPE_CHECKING:
    from recollect.engine.engine import Engine
    from recollect.hooks.shown import Shown

_TWICE_SECONDS = 10.0
"""Hooks for the user and for the project both tell of one message: within so long, it is one."""
_FINISH_SECONDS = 30.0


def without_recalled(text: str, recalled: Sequence[str]) -> str:
    """The text without sentences that only repeat what was recalled."""
    kept, end = [], 0
    for start, stop in sentences(text):
        said = text[start:stop]
        if any(same_statement(said, each) or contains_statement(each, said) for each in recalled):
            kept.append(text[end:start])
            end = stop
    rest = "".join((*kept, text[end:])).strip()
    return rest if any(map(str.isalnum, rest)) else ""


class Capture:
    """Stores what waits, in a thread of its own, whenever it is woken."""

    def __init__(self, folder: str, key: str, engine: Callable[[], Engine], shown: Shown) -> None:
        self._folder, self._key = folder, key
        self._engine = engine
        self._shown = shown
        self._woken = threading.Event()
        self._ended = threading.Event()
        self._recent: deque[tuple[tuple[str, str, str], float]] = deque(maxlen=50)
        self._thread = threading.Thread(target=self._run, name="recollect-capture", daemon=True)

    def start(self) -> None:
        self._thread.start()
        self.wake()

    def wake(self) -> None:
        self._woken.set()

    def finish(self) -> None:
        """Store what waits, and end."""
        self._ended.set()
        self.wake()
        self._thread.join(_FINISH_SECONDS)

    def _run(self) -> None:
        while True:
            self._woken.wait()
            self._woken.clear()
            ended = self._ended.is_set()
            self._store_all()
            if ended:
                return

    def _store_all(self) -> None:
        """What the store cannot take now waits on."""
        for path in all_waiting(self._folder, self._key):
            try:
                engine = self._engine()
                row = json.loads(Path(path).read_text(encoding="utf-8"))
                outcome, more = self._stored(engine, row, key=Path(path).stem)
                note_event(self._folder, str(row["client"]), "capture", outcome, **more)
            except InvalidInput as error:
                self._note_loss(error)
            except RecollectError as error:
                note_event(self._folder, "", "capture", "error", detail=f"What was said waits: {error}")
                return
            except Exception as error:  # noqa: BLE001  # one message must not hold up all others
                self._note_loss(error)
            Path(path).unlink(missing_ok=True)

    def _note_loss(self, error: Exception) -> None:
        """It would fail again: it is left out, and the log says so."""
        note_event(self._folder, "", "capture", "error", detail=f"{type(error).__name__}: {error}")

    def _stored(self, engine: Engine, row: dict[str, Any], key: str) -> tuple[str, dict[str, Any]]:
        session, role, at = str(row["session"]), str(row["role"]), float(row["at"])
        text = str(row["text"]) or last_answer(str(row["transcript"]))
        text = without_blocks(text)
        if not text:
            return "empty", {}
        same = (session, role, text)
        if any(known == same and abs(at - when) < _TWICE_SECONDS for known, when in self._recent):
            return "twice", {}
        if role == "assistant":
            text = without_recalled(text, self._shown.texts(session))
            if not text:
                self._recent.append((same, at))
                return "repeated", {}
        secrets = 0
        if not row["allows_secrets"]:
            text, secrets = without_secrets(text)
        own = engine.scoped(str(row["owner"]), str(row["agent"]) or None)
        said = {"role": role, "content": text, "at": datetime.fromtimestamp(at, UTC)}
        done = own.add_messages(session, [said], key=f"hook {key}")
        self._recent.append((same, at))
        more: dict[str, Any] = {"secrets": secrets} if secrets else {}
        return "captured", {**more, "notes": len(done.notes)}
