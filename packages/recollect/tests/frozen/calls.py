"""Every call that the frozen tests make into the program: when a name moves, only this file changes.

The files of expected values beside it never change.
"""

from __future__ import annotations

import io
import os
import sqlite3
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from contextlib import asynccontextmanager, chdir, closing
from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import click
import numpy as np
from click.testing import CliRunner
from mcp import Client
from mcp.shared.exceptions import MCPError
from semantic import search_semantic as semantic_search
from steady_model import STEADY, SteadyEmbedder

from recollect.admin import Internals
from recollect.cli.command import ExtraCommand
from recollect.cli.main import cli
from recollect.domain.changes import DREAMING, NoteImport, TakeLease
from recollect.domain.errors import Conflict, ModelUnavailable
from recollect.domain.records import Kind, Scope, recall_arguments
from recollect.dreams.knobs import Knobs
from recollect.engine import Engine
from recollect.mcp.server import MemoryServer
from recollect.memories.browse import BrowseFilter
from recollect.models.embedders import embedder_named
from recollect.models.extractors import extractor_named
from recollect.operations.catalogue import tools_named
from recollect.ranking.candidates import run
from recollect.ranking.profiles import PROFILES
from recollect.search.recording import UsageRecorder
from recollect.services import Services
from recollect.stores.sqlite.store import SqliteStore
from recollect.transfer import export_file, import_file
from recollect.tuning.tuning import events_of
from recollect.write.repository import Repository

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
    from pathlib import Path

    from pydantic import BaseModel

    from recollect.stores.port import Embedder

Memory = Engine
"""An open memory, as the tests pass it around."""
PROFILE_NAMES = tuple(PROFILES)
_PATIENCE_SECONDS = 600.0


@dataclass
class Clock:
    """A clock that only moves when a test moves it."""

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
    installed: bool = True,
) -> Memory:
    """A memory that does not dream by itself.

    Without `installed`, its model cannot be loaded, so that texts wait for their vectors.
    """
    store = Repository(SqliteStore(path))
    return Engine(
        Services(
            store=store,
            clock=clock,
            embedder_named=_embedder if installed else _missing,
            preferred_model=model,
            scope=Scope(owner, agent),
            usage=UsageRecorder(store, session, patience_seconds=_PATIENCE_SECONDS),
            process_id="frozen",
            extractor=lambda: extractor_named("rules"),
        )
    )


@lru_cache
def _embedder(name: str) -> Embedder | None:
    return SteadyEmbedder() if name == STEADY else embedder_named(name)


def _missing(name: str) -> Embedder | None:
    raise ModelUnavailable(f"{name} is not installed: pip install {name}")


def scoped(memory: Memory, owner: str = "", agent: str = "") -> Memory:
    return memory.scoped(owner, agent)


def settle(memory: Memory) -> None:
    """Wait until all usage is written."""
    memory._services.usage.settle(None)


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


def note_import(memory: Memory, file: str) -> None:
    """As an import of a conversation does."""
    memory._services.store.apply([NoteImport(memory.scope, file)], at=memory._services.clock())


def leave_lease(memory: Memory, holder: str) -> None:
    """Leave a lease behind, as a process does that died during a dream."""
    memory._services.store.apply([TakeLease(DREAMING, holder, 120.0)], at=memory._services.clock())


# Reading


def recall(memory: Memory, query: str, **given: Any) -> Any:
    return memory.recall(query, **recall_arguments(given))


def context(memory: Memory, asked: Any, **given: Any) -> Any:
    return memory.context(asked, **given)


def why_not(memory: Memory, query: str, id_: int | str, **given: Any) -> Any:
    return memory.why_not(query, id_, **given)


def search_semantic(memory: Memory, query: str, limit: int | None = None, **given: Any) -> Any:
    return semantic_search(memory, query, limit, **given)


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
    wanted = BrowseFilter(
        kinds=frozenset({Kind.NOTE, Kind.MESSAGE}), entity=Internals(memory).entity_id(name)
    )
    return memory.browse.page(wanted, limit=50).memories


def links(memory: Memory, id_: int) -> Any:
    return Internals(memory).links(id_)


def counts(memory: Memory) -> Any:
    return memory.counts()


def how_many(memory: Memory) -> Any:
    return Internals(memory).count_memories()


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


# Dreams, tuning


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


def logged(memory: Memory, profile: str) -> list[Any]:
    """Answers of the log, the oldest first, each with the order that the profile gives its candidates again.

    Orders are kept only for answers with feedback: the tuner does not read the others.
    """
    with memory._services.store.read() as view:
        events, unreadable = events_of(memory._services, view, profile)
    assert unreadable == 0
    return [
        {
            "id": event.id,
            "query": event.query,
            "version": event.version,
            "arm": event.arm,
            "against": event.against,
            "shown": list(event.shown),
            "ranked": list(event.ranked),
            "baseline": list(event.baseline),
            "feedback": {str(id_): grade for id_, grade in event.feedback.items()},
            "said": {str(id_): grade for id_, grade in event.said.items()},
            "limit": event.context.limit,
            "ranked_again": _ranked_again(event, profile) if event.feedback else [],
        }
        for event in events
    ]


def _ranked_again(event: Any, profile: str) -> list[Any]:
    ranked = run(PROFILES[profile], event.candidates, event.context)
    return list(zip(ranked.ids.tolist(), ranked.score.tolist(), strict=True))


def is_conflict(error: BaseException) -> bool:
    return isinstance(error, Conflict)


# In and out


def exported(memory: Memory, format_: Any, *, scope_only: bool = False) -> str:
    out = io.StringIO()
    export_file(memory, out, format=format_, scope_only=scope_only, learning=False)
    return out.getvalue()


def imported(memory: Memory, text: str, format_: Any = "auto") -> Any:
    return import_file(memory, io.BytesIO(text.encode()), format=format_)


def table_rows(memory: Memory, table: Any, columns: Sequence[str]) -> list[Any]:
    with memory._services.store.read() as view:
        return [list(row) for row in view.rows(table, columns)]


# The command line


def run_command(
    typed: Sequence[str], folder: Path, clock: Clock, given: str | None = None
) -> tuple[int, str, str]:
    """`recollect`, as it is typed in a folder that is home and all; its exit status and what it wrote."""
    settings = {
        "HOME": str(folder),
        "USERPROFILE": str(folder),
        "COLUMNS": "100",
        "RECOLLECT_STORE": str(folder / "memory.db"),
        "RECOLLECT_CONFIG": str(folder / "config.toml"),
        "RECOLLECT_MODEL": "hashing",
        "RECOLLECT_TIME_ZONE": "UTC",
    }
    foreign = ("XDG_", "CLAUDE_", "CODEX_", "APPDATA", "LOCALAPPDATA", "NO_COLOR", "RECOLLECT_")
    unset = dict.fromkeys(name for name in os.environ if name.startswith(foreign))
    with chdir(folder), patch("recollect.bootstrap.datetime", _Now(clock)):
        result = CliRunner().invoke(cli, typed, input=given, env={**unset, **settings})
    return result.exit_code, result.stdout, result.stderr


@dataclass
class _Now:
    """In the place of the class `datetime`, as far as the clock on the wall is concerned."""

    clock: Clock

    def now(self, zone: tzinfo | None = None) -> datetime:
        return self.clock().astimezone(zone)


def command_names() -> list[str]:
    """Every command that does something, with the groups before it."""

    def below(group: click.Group, *path: str) -> Iterator[str]:
        for name, found in group.commands.items():
            command = found.load() if isinstance(found, ExtraCommand) else found
            if isinstance(command, click.Group):
                yield from below(command, *path, name)
            else:
                yield " ".join((*path, name))

    return list(below(cli))


# The MCP server, in this process


@asynccontextmanager
async def mcp_client(memory: Memory, tools: str) -> AsyncIterator[Client]:
    server = MemoryServer(lambda: memory, tools_named(tools)).server()
    async with Client(server, read_timeout_seconds=_PATIENCE_SECONDS) as client:
        yield client


async def definitions(client: Client) -> dict[str, Any]:
    """Tools, resources, templates and prompts, as they go over the wire."""
    tools = await client.list_tools()
    resources = await client.list_resources()
    templates = await client.list_resource_templates()
    prompts = await client.list_prompts()
    return {
        "tools": [_wire(each) for each in tools.tools],
        "resources": [_wire(each) for each in resources.resources],
        "templates": [_wire(each) for each in templates.resource_templates],
        "prompts": [_wire(each) for each in prompts.prompts],
    }


def _wire(value: BaseModel) -> dict[str, Any]:
    return value.model_dump(mode="json", by_alias=True, exclude_none=True)


async def call_tool(client: Client, tool: str, given: dict[str, Any]) -> dict[str, Any]:
    """The result of a call. Texts are reduced to whether there are any."""
    result = await client.call_tool(tool, given)
    return {
        "refused": bool(result.is_error),
        "structured": result.structured_content,
        "content": [each.type for each in result.content],
    }


async def read_resource(client: Client, uri: str) -> str | None:
    """Return the text of a resource, or None if it does not exist."""
    try:
        (content,) = (await client.read_resource(uri)).contents
    except MCPError:
        return None
    return str(_wire(content)["text"])


async def get_prompt(client: Client, name: str, given: dict[str, str]) -> Any:
    """The messages of a prompt: role and text."""
    messages = (await client.get_prompt(name, given)).messages
    return [{"role": each.role, "message": _wire(each.content)["text"]} for each in messages]


# Rows of the store's file, as far as they say what it keeps: no caches, and nothing that is derived

ROWS = {
    "scope": "SELECT id, owner, agent, temper FROM scope ORDER BY id",
    "memory": "SELECT id, kind, scope_id, created_at, updated_at, happened_at, name, type, text, category, "
    "source, session, position, role, speaker, status, consolidation, strength, depth, spread, stability, "
    "importance, importance_tag, pinned, revisions, duplicates, superseded_by, superseded_at, deleted_at, "
    "undated, drawn_from, similar_to, similarity FROM memory ORDER BY id",
    "observation": "SELECT id, memory_id, content, kind, created_at, happened_at, superseded_by, "
    "superseded_at, similar_to, similarity, deleted_at, corrected_by FROM observation ORDER BY id",
    "relation": "SELECT id, source_id, target_id, type, context, created_at, since, until, inverse_of, "
    "deleted_at FROM relation ORDER BY id",
    "revision": "SELECT id, memory_id, text, since, until FROM revision ORDER BY id",
    "absence": "SELECT memory_id, since, why, until FROM absence ORDER BY memory_id, since, why",
    "tag": "SELECT memory_id, tag FROM tag ORDER BY memory_id, tag",
    "mention": "SELECT memory_id, entity_id, explicit FROM mention ORDER BY memory_id, entity_id",
    "use": "SELECT memory_id, count, last_at FROM usage ORDER BY memory_id",
    "use_day": "SELECT memory_id, day FROM usage_day ORDER BY memory_id, day",
    "together": "SELECT first_id, second_id, count, last_at FROM cooccurrence ORDER BY first_id, second_id",
    "recall": "SELECT id, at, session, scope_id, query, profile FROM recall ORDER BY id",
    "recalled": "SELECT recall_id, place, memory_id FROM recall_hit ORDER BY recall_id, place",
    "link": "SELECT first_id, second_id, weight FROM link ORDER BY first_id, second_id",
    "dream": "SELECT id, scope_id, at, through, phases, undone_at FROM dream ORDER BY id",
    "log": "SELECT id, scope_id, at, handle, session, query, profile, version, arm, against, shown, ranked, "
    "baseline FROM answer_log ORDER BY id",
    "feedback": "SELECT answer_id, memory_id, at, kind, grade FROM feedback "
    "ORDER BY answer_id, memory_id, kind",
    "tuned": "SELECT id, scope_id, profile, at, knobs, why FROM tuning ORDER BY id",
    "calibration": "SELECT scope_id, model, at, memories FROM calibration ORDER BY scope_id, model",
    "key": "SELECT key, at FROM receipt ORDER BY key",
    "lease": "SELECT name, holder, until FROM lease ORDER BY name",
    "import": "SELECT name, value FROM setting WHERE name LIKE '[\"imported\"%' ORDER BY name",
    "passage": "SELECT id, memory_id, observation_id, revision_id, start, stop, live FROM passage "
    "ORDER BY id",
    "waiting": "SELECT passage_id FROM pending_vector ORDER BY passage_id",
    "vector": "SELECT passage_id FROM vector ORDER BY passage_id",
}
"""The name of each frozen table, and the query that reads it from a file of today."""


def rows(path: Path) -> dict[str, list[list[Any]]]:
    """The rows of a closed store, by table."""
    with closing(sqlite3.connect(path)) as connection:
        return {name: [list(row) for row in connection.execute(sql)] for name, sql in ROWS.items()}


def schema_of(path: Path) -> int | None:
    """The version of a store's form, from the file's header; None for what is no SQLite file."""
    header = path.read_bytes()[:100]
    return int.from_bytes(header[60:64], "big") if header.startswith(b"SQLite format 3\0") else None


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
            # The trace is for the log, and not part of the answer.
            known = [each.name for each in fields(value) if each.name != "trace"]
            # Nor is a field that came later, where it says nothing.
            later = {"expires_at", "ref", "metadata"}
            known = [name for name in known if name not in later or getattr(value, name) is not None]
            read = {name: plain(getattr(value, name)) for name in known}
        case _:
            read = value
    return read
