"""Stores what was said as messages of a session: without what we recalled ourselves, and without secrets."""

from __future__ import annotations

import json
import re
import threading
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recollect.engine.memory_text import memory_text
from recollect.errors import Conflict, InvalidInput, RecollectError, StoreUnavailable
from recollect.hooks.block import without_blocks
from recollect.hooks.log import note_event
from recollect.hooks.places import all_waiting
from recollect.hooks.transcript import last_answer
from recollect.records import Kind
from recollect.text.limits import QUERY_LIMIT
from recollect.text.near_duplicates import adds_nothing, contains_statement, same_statement
from recollect.text.secrets import without_secrets
from recollect.text.sentences import sentences

if TYPE_CHECKING:
    from recollect.engine.engine import Engine
    from recollect.hooks.shown import Shown

_TWICE_SECONDS = 10.0
"""Hooks for the user and for the project both tell of one message: within so long, it is one."""
_FINISH_SECONDS = 30.0
_MOST_PARTS, _MOST_FACTS = 8, 10
"""Paragraphs of an answer that facts are looked up for, and how many for each."""
_LINE = re.compile(r"[^\n]+")
# As our own lines have it before a memory: `[2026-11-17 22:50, note]`.
_DATE = re.compile(r"[\[(]\d{4}-\d\d-\d\d[^\])\n]{0,200}[\])]")


def without_recalled(text: str, recalled: Sequence[str]) -> str:
    """The text without sentences that only repeat what was recalled, in its words or in their own."""
    known = [(each, [each[start:stop] for start, stop in _statements(each)]) for each in recalled]
    kept, end = [], 0
    for start, stop in _statements(text):
        if _repeats(_DATE.sub(" ", text[start:stop]), known):
            line = max(end, text.rfind("\n", 0, start) + 1)
            # A bullet before it goes with it.
            kept.append(text[end:start] if any(map(str.isalnum, text[line:start])) else text[end:line])
            end = stop
    rest = "".join((*kept, text[end:])).strip()
    return rest if any(map(str.isalnum, rest)) else ""


def _statements(text: str) -> list[tuple[int, int]]:
    """The sentences, and each line that holds none: a quotation, a row of a table, code."""
    spans = list(sentences(text))
    starts = [start for start, _ in spans]
    for line in _LINE.finditer(text):
        before = bisect_left(starts, line.end())
        if not before or spans[before - 1][1] <= line.start():
            spans.append(line.span())
    return sorted(spans)


def _repeats(said: str, known: Sequence[tuple[str, Sequence[str]]]) -> bool:
    return any(
        same_statement(said, whole)
        or contains_statement(whole, said)
        or any(adds_nothing(said, statement) for statement in statements)
        for whole, statements in known
    )


class Capture:
    """Stores what waits, in a thread of its own, whenever it is woken."""

    def __init__(
        self,
        folder: str,
        key: str,
        engine: Callable[[], Engine],
        shown: Shown,
        store_is_gone: Callable[[], None],
    ) -> None:
        """`store_is_gone` is called when what was said cannot be stored now."""
        self._store_is_gone = store_is_gone
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
            client, outcome, more = "", "error", dict[str, Any]()
            try:
                row = json.loads(Path(path).read_text(encoding="utf-8"))
                client = str(row["client"])
                outcome, more = self._stored(self._engine(), row, key=Path(path).stem)
            except FileNotFoundError:
                continue  # there were too many, and a hook dropped it
            except Conflict:
                outcome = "twice"  # stored just before a process was killed, with other sentences left out
            except InvalidInput as error:
                more = _loss(error)
            except (RecollectError, OSError) as error:
                note_event(self._folder, client, "capture", outcome, detail=f"What was said waits: {error}")
                if isinstance(error, StoreUnavailable):
                    self._store_is_gone()
                return
            except Exception as error:  # noqa: BLE001  # one message must not hold up all others
                more = _loss(error)
            Path(path).unlink(missing_ok=True)
            note_event(self._folder, client, "capture", outcome, **more)

    def _known_texts(self, own: Engine, session: str, answer: str) -> list[str]:
        """What an answer may repeat: what hooks showed, and facts that the agent may have recalled itself."""
        shown = own.get_many(self._shown.ever(session)).values()
        parts = [part.strip()[:QUERY_LIMIT] for part in answer.split("\n\n")]
        facts = [
            hit.memory
            for part in [part for part in parts if part][:_MOST_PARTS]
            for hit in own.recall(part, limit=_MOST_FACTS, kinds=(Kind.NOTE, Kind.ENTITY), record=False).hits
        ]
        return list(dict.fromkeys(memory_text(memory) for memory in (*shown, *facts)))

    def _stored(self, engine: Engine, row: dict[str, Any], key: str) -> tuple[str, dict[str, Any]]:
        session, role, at = str(row["session"]), str(row["role"]), float(row["at"])
        text = str(row["text"]) or last_answer(str(row["transcript"]))
        text = without_blocks(text)
        if not text:
            return "empty", {}
        same = (session, role, text)
        if any(known == same and abs(at - when) < _TWICE_SECONDS for known, when in self._recent):
            return "twice", {}
        own = engine.scoped(str(row["owner"]), str(row["agent"]) or None)
        if role == "assistant":
            text = without_recalled(text, self._known_texts(own, session, text))
            if not text:
                self._recent.append((same, at))
                return "repeated", {}
        secrets = 0
        if not row["allows_secrets"]:
            text, secrets = without_secrets(text)
        said = {"role": role, "content": text, "at": datetime.fromtimestamp(at, UTC)}
        done = own.add_messages(session, [said], key=f"hook {key}")
        self._recent.append((same, at))
        more: dict[str, Any] = {"secrets": secrets} if secrets else {}
        return "captured", {**more, "notes": len(done.notes)}


def _loss(error: Exception) -> dict[str, Any]:
    """It would fail again: it is left out, and the log says so, but not what was said."""
    return {"detail": f"A message could not be stored and is left out: {type(error).__name__}"}
