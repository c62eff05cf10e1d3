"""What bears on a prompt, as a block for the model, and what each session has been shown already."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from recollect.hooks.block import memory_block, without_blocks
from recollect.text.limits import QUERY_LIMIT
from recollect.text.near_duplicates import same_statement

if TYPE_CHECKING:
    from recollect.engine.engine import Engine

_MOST_SESSIONS = 500
_MOST_TEXTS = 200


@dataclass
class _SessionShown:
    ids: set[int] = field(default_factory=set)
    texts: list[str] = field(default_factory=list)


class Shown:
    """By session, the memories that were put before its prompts: the model has them before its eyes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sessions: OrderedDict[str, _SessionShown] = OrderedDict()

    def ids(self, session: str) -> set[int]:
        with self._lock:
            return set(self._of(session).ids)

    def texts(self, session: str) -> list[str]:
        """What an answer may repeat; it stays when the model has lost the rest."""
        with self._lock:
            return list(self._of(session).texts)

    def add(self, session: str, id_: int, text: str) -> None:
        with self._lock:
            found = self._of(session)
            found.ids.add(id_)
            found.texts = [*found.texts, text][-_MOST_TEXTS:]

    def forget(self, session: str) -> None:
        """The model has lost what it was shown: it may be shown again."""
        with self._lock:
            self._of(session).ids.clear()

    def _of(self, session: str) -> _SessionShown:
        found = self._sessions.setdefault(session, _SessionShown())
        self._sessions.move_to_end(session)
        while len(self._sessions) > _MOST_SESSIONS:
            self._sessions.popitem(last=False)
        return found


def prompt_answer(engine: Engine, request: dict[str, Any], shown: Shown, mark: str) -> dict[str, Any]:
    """The block to put before a prompt, and how many memories are in it; an empty one where none bears on it.

    What was said in this session, and what it was shown before, the model has already.
    """
    session = str(request["session"])
    asked = without_blocks(str(request["text"]))[:QUERY_LIMIT]
    if not asked:
        return {"answer": "", "memories": 0}
    own = engine.scoped(str(request["owner"]), str(request["agent"]) or None)
    found = own.context(asked, budget_tokens=int(request["budget_tokens"]))
    before = shown.ids(session)
    new = [
        (item.id, item)
        for item in found.memories
        if item.id is not None
        and item.id not in before
        and not item.source.endswith(f"session {session}")
        and not same_statement(item.text, asked)  # the same question in another session answers nothing
    ]
    for id_, item in new:
        shown.add(session, id_, item.text)
    if not new:
        return {"answer": "", "memories": 0}
    return {"answer": memory_block([item.line for _, item in new], mark), "memories": len(new)}
