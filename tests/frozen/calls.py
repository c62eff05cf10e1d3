"""Every call that the frozen tests make into the program: when a name moves, only this file changes.

The files of expected values beside it never change.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from steady_model import STEADY, SteadyEmbedder

from recollect.dream.knobs import Knobs
from recollect.embedders.choose import embedder_named
from recollect.engine.engine import Engine
from recollect.engine.parts import Parts
from recollect.engine.signals import Signals
from recollect.extractors.choose import extractor_named
from recollect.rank.profiles import PROFILES
from recollect.records import Scope
from recollect.stores.sqlite.store import SqliteStore
from recollect.transfer import export_file, import_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from recollect.ports import Embedder

Memory = Engine
"""An open memory, as the tests pass it around."""
PROFILE_NAMES = tuple(PROFILES)
_PATIENCE_SECONDS = 600.0


@dataclass
class Clock:
    """It stands still until it is moved."""

    now: datetime

    def __call__(self) -> datetime:
        return self.now

    def pass_days(self, days: float) -> datetime:
        self.now += timedelta(days=days)
        return self.now


def at(text: str) -> datetime:
    """A moment of ISO 8601; in UTC where it names no zone."""
    moment = datetime.fromisoformat(text)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment


# Opening


def open_memory(
    path: Path,
    clock: Clock,
    *,
    owner: str = "",
    agent: str = "",
    session: str = "frozen",
    model: str = STEADY,
) -> Memory:
    """A memory that neither dreams nor calibrates by itself, and in which nothing depends on the machine."""
    store = SqliteStore(path)
    return Engine(
        Parts(
            store=store,
            clock=clock,
            embedder_named=_embedder,
            preferred_model=model,
            scope=Scope(owner, agent),
            signals=Signals(store, session, patience_seconds=_PATIENCE_SECONDS),
            holder="frozen",
            extractor=lambda: extractor_named("rules"),
        )
    )


@lru_cache
def _embedder(name: str) -> Embedder | None:
    return SteadyEmbedder() if name == STEADY else embedder_named(name)


def scoped(memory: Memory, owner: str = "", agent: str = "") -> Memory:
    return memory.scoped(owner, agent)


def settle(memory: Memory) -> None:
    """Wait until all usage is written."""
    memory.parts.signals.settle(None)


# Writing


def create_entities(memory: Memory, entities: Iterable[Any], **given: Any) -> Any:
    return memory.create_entities(entities, **given)


def add_observations(memory: Memory, additions: Mapping[str, Sequence[Any]], **given: Any) -> Any:
    return memory.graph.add_observations(additions, **given)


def create_relations(memory: Memory, relations: Iterable[Any], **given: Any) -> Any:
    return memory.graph.create_relations(relations, **given)


def end_relation(memory: Memory, source: str, type_: str, target: str, **given: Any) -> Any:
    return memory.graph.end_relation(source, type_, target, **given)


def delete_relations(memory: Memory, relations: Iterable[Any]) -> Any:
    return memory.graph.delete_relations(relations)


def delete_entities(memory: Memory, names: Iterable[str]) -> Any:
    return memory.graph.delete_entities(names)


def delete_observations(memory: Memory, removals: Mapping[str, Sequence[str]]) -> Any:
    return memory.graph.delete_observations(removals)


def set_status(memory: Memory, name: str, status: str) -> Any:
    return memory.graph.set_status(name, status)


def remember(memory: Memory, text: str, **given: Any) -> Any:
    return memory.remember(text, **given)


def remember_many(memory: Memory, notes: Iterable[Any], **given: Any) -> Any:
    return memory.remember_many(notes, **given)


def add_messages(memory: Memory, session: str, messages: Iterable[Any], **given: Any) -> Any:
    return memory.add_messages(session, messages, **given)


def add_reflection(memory: Memory, content: str, **given: Any) -> Any:
    return memory.upkeep.add_reflection(content, **given)


def update(memory: Memory, id_: int, **given: Any) -> Any:
    return memory.update(id_, **given)


def supersede(memory: Memory, old: int, new: Any, **given: Any) -> Any:
    return memory.supersede(old, new, **given)


def forget(memory: Memory, ids: Iterable[int]) -> Any:
    return memory.forget(ids)


def restore(memory: Memory, id_: int) -> Any:
    return memory.restore(id_)


def execute_split(memory: Memory, name: str, parts: Iterable[Any]) -> Any:
    return memory.upkeep.execute_split(name, parts)


def undo_split(memory: Memory, undo: Any) -> Any:
    return memory.upkeep.undo_split(undo)


def reindex(memory: Memory) -> Any:
    return memory.reindex()


def feedback(memory: Memory, ids: Any, grade: float, answer: Any = None, **given: Any) -> Any:
    return memory.feedback(ids, grade, answer, **given)


# Reading


def recall(memory: Memory, query: str, **given: Any) -> Any:
    return memory.recall(query, **given)


def context(memory: Memory, asked: Any, **given: Any) -> Any:
    return memory.context(asked, **given)


def why_not(memory: Memory, query: str, id_: int | str, **given: Any) -> Any:
    return memory.why_not(query, id_, **given)


def search_semantic(memory: Memory, query: str, limit: int | None = None, **given: Any) -> Any:
    return memory.graph.search_semantic(query, limit, **given)


def search_reflections(memory: Memory, query: str, **given: Any) -> Any:
    return memory.upkeep.search_reflections(query, **given)


def get(memory: Memory, id_: int, **given: Any) -> Any:
    return memory.get(id_, **given)


def open_nodes(memory: Memory, names: Sequence[str], **given: Any) -> Any:
    return memory.graph.open_nodes(names, **given)


def read_graph(memory: Memory, **given: Any) -> Any:
    return memory.graph.read_graph(**given)


def search_nodes(memory: Memory, query: str, **given: Any) -> Any:
    return memory.graph.search_nodes(query, **given)


def history(memory: Memory, id_: int) -> Any:
    return memory.history(id_)


def sessions(memory: Memory) -> Any:
    return memory.sessions.list()


def turns(memory: Memory, session: str, **given: Any) -> Any:
    return memory.sessions.turns(session, **given)


def neighbours(memory: Memory, id_: int, **given: Any) -> Any:
    return memory.sessions.neighbours(id_, **given)


def texts_about(memory: Memory, name: str) -> Any:
    return memory.graph.texts_about(name)


def links(memory: Memory, id_: int) -> Any:
    return memory.dreams.links(id_)


def counts(memory: Memory) -> Any:
    return memory.counts()


def how_many(memory: Memory) -> Any:
    return memory.upkeep.how_many()


def find_duplicate_observations(memory: Memory, **given: Any) -> Any:
    return memory.upkeep.find_duplicate_observations(**given)


def consolidation_report(memory: Memory, **given: Any) -> Any:
    return memory.upkeep.consolidation_report(**given)


def propose_split(memory: Memory, name: str) -> Any:
    return memory.upkeep.propose_split(name)


def self_test(memory: Memory, **given: Any) -> Any:
    return memory.self_test(**given)


def verify(memory: Memory) -> list[Any]:
    return list(memory.upkeep.verify())


# Dreams, tuning, calibration


def dream(memory: Memory, **given: Any) -> Any:
    return memory.dream(**given)


def dream_knobs(**numbers: Any) -> Knobs:
    return Knobs(**numbers)


def dreams(memory: Memory) -> Any:
    return memory.dreams.history()


def dream_journal(memory: Memory, id_: int) -> Any:
    return memory.dreams.journal(id_)


def undo_dream(memory: Memory, id_: int, **given: Any) -> Any:
    return memory.dreams.undo(id_, **given)


def forecast(memory: Memory, days: int) -> Any:
    return memory.dreams.forecast(days)


def calibrate(memory: Memory) -> Any:
    return memory.upkeep.calibrate()


def tune_analyze(memory: Memory, profile: str | None = None) -> Any:
    return memory.tuning.analyze(profile)


def tune_run(memory: Memory, profile: str | None = None, **given: Any) -> Any:
    return memory.tuning.run(profile, **given)


def tune_set(memory: Memory, values: Mapping[str, float], profile: str, **given: Any) -> Any:
    return memory.tuning.set(values, profile, **given)


def tune_history(memory: Memory) -> Any:
    return memory.tuning.history()


def tune_numbers(memory: Memory, profile: str) -> Any:
    return memory.tuning.numbers(profile)


# In and out


def exported(memory: Memory, format_: Any, *, scope_only: bool = False) -> str:
    out = io.StringIO()
    export_file(memory, out, format=format_, scope_only=scope_only)
    return out.getvalue()


def imported(memory: Memory, text: str, format_: Any = "auto") -> Any:
    return import_file(memory, io.BytesIO(text.encode()), format=format_)


# Results as JSON


def plain(value: Any) -> Any:
    """As JSON has it: records by their fields, without the names of classes."""
    match value:
        case Mapping():
            read: Any = {str(key): plain(each) for key, each in value.items()}
        case AbstractSet():
            read = sorted(plain(each) for each in value)
        case list() | tuple():
            read = [plain(each) for each in value]
        case Enum():
            read = value.value
        case datetime():
            read = value.isoformat()
        case bytes():
            read = value.hex()
        case np.ndarray() | np.generic():
            read = value.tolist()
        case _ if is_dataclass(value):
            # What the log is to keep of an answer is no part of the answer.
            known = [each.name for each in fields(value) if each.name != "trace"]
            read = {name: plain(getattr(value, name)) for name in known}
        case _:
            read = value
    return read
