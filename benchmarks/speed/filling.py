"""A graph of made-up entities, and the stores of MCP servers filled with it."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sentences import Sentences
from servers import Server, answer_of, connected

QUESTIONS = 65
NEW = 1_500


@dataclass(frozen=True, slots=True)
class World:
    entities: list[dict[str, Any]]
    relations: list[dict[str, str]]
    people: list[str]
    questions: list[str]
    spare: list[str]  # texts for entities that are made later

    def new(self, part: str, count: int) -> list[dict[str, Any]]:
        return [entity(f"{part} {place}", self.spare[3 * place : 3 * place + 3]) for place in range(count)]


def world(size: int) -> World:
    made = Sentences(people=max(300, size // 10))  # a person is spoken of in some ten to thirty entities
    names, texts = made.names(size), made.notes(3 * size)
    entities = [entity(name, texts[3 * place : 3 * place + 3]) for place, name in enumerate(names)]
    relations = [
        {"from": names[place], "to": names[place * 7919 % size], "relationType": "leads_to"}
        for place in range(1, size // 2)
    ]
    step = max(1, len(made.people) // QUESTIONS)
    return World(entities, relations, made.people[::step], made.queries(QUESTIONS), made.notes(3 * NEW))


def entity(name: str, observations: Sequence[str]) -> dict[str, Any]:
    return {"name": name, "entityType": "thing", "observations": list(observations)}


# Filling


async def fill(server: Server, made: World) -> dict[str, Any]:
    """Fill a server's store by the means that this server offers, and return the figures."""
    start = time.perf_counter()
    if server.name.startswith("recollect"):
        lines = server.store.with_suffix(".jsonl")
        _write_lines(lines, made)
        start = time.perf_counter()
        model = server.command[server.command.index("--model") :] if "--model" in server.command else ()
        subprocess.run(
            [server.command[0], "import", str(lines), "--store", str(server.store), *model],
            check=True,
            capture_output=True,
            env=server.started().env,
        )
        lines.unlink()
        how = "recollect import, with vectors"
    elif server.name == "official":
        _write_lines(server.store, made)
        how = "its file was written"
    else:
        how = "create_entities and create_relations, 1,000 at a time"
        async with connected(server) as client:
            for tool, what, items in (
                ("create_entities", "entities", made.entities),
                ("create_relations", "relations", made.relations),
            ):
                for place in range(0, len(items), 1_000):
                    result = await client.call_tool(tool, {what: items[place : place + 1_000]})
                    answer_of(result)
    return {"seconds": round(time.perf_counter() - start, 1), "how": how, "store_mb": _size_mb(server.store)}


def _write_lines(path: Path, made: World) -> None:
    """Write the graph in the format of the official server."""
    with path.open("w", encoding="utf-8") as file:
        for one in made.entities:
            file.write(json.dumps({"type": "entity", **one}) + "\n")
        for relation in made.relations:
            file.write(json.dumps({"type": "relation", **relation}) + "\n")


def _size_mb(store: Path) -> float:
    files = [path for path in store.parent.rglob("*") if path.is_file()]
    return round(sum(path.stat().st_size for path in files) / 1e6, 1)


@contextmanager
def copies(servers: Sequence[Server]) -> Iterator[list[Server]]:
    """Yield the same servers on copies of their stores, and delete the copies afterwards."""
    with tempfile.TemporaryDirectory(dir=servers[0].store.parent.parent, prefix="copy-") as folder:
        made = []
        for place, server in enumerate(servers):
            to = Path(folder) / str(place)
            shutil.copytree(server.store.parent, to)
            made.append(server.at(to))
        yield made
