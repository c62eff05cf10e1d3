"""What bears on a prompt, as a block for the model, and what each session has been shown already."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Collection, Iterable
from contextlib import suppress
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from recollect.engine.context.context import cut_item
from recollect.hooks.block import memory_block, without_blocks
from recollect.hooks.places import write_privately
from recollect.text.limits import QUERY_LIMIT
from recollect.text.near_duplicates import same_statement
from recollect.text.token_counts import count_tokens

if TYPE_CHECKING:
    from recollect.engine.engine import Engine
    from recollect.engine.results import ContextItem

_MOST_SHOWN = 200
"""Memories of a session that are known to have been shown; the oldest are dropped."""
_KEEP_DAYS = 14
_ROOM = 5
"""So many times its budget is asked for: what the session knows already must not crowd out the rest."""


class Shown:
    """By session, the ids of the memories that were put before its prompts.

    In a file for each session, so that another process that answers its next prompt knows them too.
    """

    def __init__(self, folder: str, key: str) -> None:
        self._folder = os.path.join(folder, f"{key}.shown")
        self._lock = threading.Lock()

    def visible(self, session: str) -> set[int]:
        """What the model has before its eyes."""
        with self._lock:
            return set(self._read(session)["visible"])

    def ever(self, session: str) -> list[int]:
        """What an answer may repeat, also when the model has lost the rest."""
        with self._lock:
            return self._read(session)["ever"]

    def add(self, session: str, ids: Iterable[int]) -> set[int]:
        """Those of these ids that were not visible; now they are."""
        with self._lock:
            found = self._read(session)
            new = [each for each in ids if each not in found["visible"]]
            if new:
                self._write(session, {name: [*found[name], *new][-_MOST_SHOWN:] for name in found})
        return set(new)

    def forget(self, session: str) -> None:
        """The model has lost what it was shown: it may be shown again."""
        with self._lock:
            found = self._read(session)
            if found["visible"]:
                self._write(session, {**found, "visible": []})

    def remove_old(self) -> None:
        """Drop sessions that have been silent for two weeks."""
        with suppress(OSError), os.scandir(self._folder) as files:
            for file in files:
                if time.time() - file.stat().st_mtime > 86_400 * _KEEP_DAYS:
                    os.remove(file)

    def _read(self, session: str) -> dict[str, list[int]]:
        names: tuple[str, str] = ("visible", "ever")
        try:
            with open(self._path(session), encoding="utf-8") as file:
                found = json.load(file)
            return {name: [int(each) for each in found[name]] for name in names}
        except (OSError, ValueError, KeyError, TypeError):
            return {name: [] for name in names}

    def _write(self, session: str, found: dict[str, list[int]]) -> None:
        with suppress(OSError):  # a full disk must not cost an answer
            os.makedirs(self._folder, mode=0o700, exist_ok=True)
            write_privately(self._path(session), json.dumps(found))

    def _path(self, session: str) -> str:
        name = blake2b(session.encode("utf-8", "replace"), digest_size=12).hexdigest()
        return os.path.join(self._folder, f"{name}.json")


def prompt_answer(engine: Engine, request: dict[str, Any], shown: Shown, mark: str) -> dict[str, Any]:
    """The block to put before a prompt, and how many memories are in it; an empty one where none bears on it.

    What was said in this session, and what it was shown before, the model has already.
    """
    session, budget = str(request["session"]), int(request["budget_tokens"])
    asked = without_blocks(str(request["text"]))[:QUERY_LIMIT]
    if not asked:
        return {"answer": "", "memories": 0}
    own = engine.scoped(str(request["owner"]), str(request["agent"]) or None)
    found = own.context(asked, budget_tokens=_ROOM * budget).memories
    before = shown.visible(session)
    drawn_from = _origins(own, session, found)
    unknown = [
        item
        for item in found
        if item.id is not None
        and item.id not in before
        and item.id not in drawn_from
        and not same_statement(item.text, asked)  # the same question in another session answers nothing
    ]
    kept = _within(unknown, budget)
    new = shown.add(session, [item.id for item in kept if item.id is not None])
    lines = [item.line for item in kept if item.id in new]
    return {"answer": memory_block(lines, mark) if lines else "", "memories": len(lines)}


def _origins(own: Engine, session: str, found: Collection[ContextItem]) -> set[int]:
    """The ids of those that were said in this session, or drawn out of what was."""
    memories = own.get_many([item.id for item in found if item.id is not None])
    sources = own.get_many({each.drawn_from for each in memories.values() if each.drawn_from is not None})
    return {
        id_
        for id_, memory in memories.items()
        if session in {memory.session, getattr(sources.get(memory.drawn_from or 0), "session", None)}
    }


def _within(items: Iterable[ContextItem], budget: int) -> list[ContextItem]:
    """The first that fit the budget together; the best one comes at least in part."""
    kept: list[ContextItem] = []
    left = budget
    for item in items:
        cost = count_tokens(f"\n{item.line}")
        if cost <= left:
            kept.append(item)
            left -= cost
        elif not kept:
            return cut_item(item, "", budget)
    return kept
