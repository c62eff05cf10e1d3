"""The official memory server from npm, called over stdio: its JSONL file."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from world import CHANGED, FACTS, FORGOTTEN, QUESTIONS

PACKAGES = ()
_SERVER = "@modelcontextprotocol/server-memory"
_NAMES = ("Marisol Vega", "Jun Watanabe", "Tidebook", "Harbour")


def make(folder: Path) -> list[dict[str, Any]]:
    place, file = folder.parent / "npm", folder / "memory.json"
    place.mkdir()
    subprocess.run(["npm", "install", "--silent", "--prefix", str(place), _SERVER], check=True, timeout=200)
    package = place / "node_modules" / _SERVER
    version = json.loads((package / "package.json").read_text("utf-8"))["version"]
    with subprocess.Popen(
        ["node", str(package / "dist" / "index.js")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "MEMORY_FILE_PATH": str(file)},
    ) as server:
        answers = _fill(server)
        server.terminate()
    made = {"entities": len(_NAMES), "observations": len(FACTS) + 1, "relations": 1}
    row = {"path": file.name, "format": "official", "made": made, "answers": answers}
    return [{**row, "versions": {_SERVER: version}}]


def _fill(server: subprocess.Popen[bytes]) -> list[list[str]]:
    number = 0

    def ask(method: str, **params: Any) -> Any:
        nonlocal number
        number += 1
        _send(server, {"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        assert server.stdout is not None
        return json.loads(server.stdout.readline())["result"]

    def call(tool: str, **arguments: Any) -> Any:
        return json.loads(ask("tools/call", name=tool, arguments=arguments)["content"][0]["text"])

    client = {"name": "moving-in", "version": "1"}
    ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client)
    _send(server, {"jsonrpc": "2.0", "method": "notifications/initialized"})
    call("create_entities", entities=[_entity(name) for name in _NAMES])
    call("create_relations", relations=[{"from": "Marisol Vega", "to": "Harbour", "relationType": "leads"}])
    told = {"entityName": "Harbour", "contents": [*CHANGED, FORGOTTEN]}
    call("add_observations", observations=[told])
    gone = {"entityName": "Harbour", "observations": [CHANGED[0], FORGOTTEN]}
    ask("tools/call", name="delete_observations", arguments={"deletions": [gone]})
    found = (call("search_nodes", query=text)["entities"] for text, _ in QUESTIONS)
    return [[" ".join(entity["observations"]) for entity in entities] for entities in found]


def _entity(name: str) -> dict[str, Any]:
    whose = [next((each for each in _NAMES if each.split()[0] in fact), "Harbour") for fact in FACTS]
    facts = [fact for fact, owner in zip(FACTS, whose, strict=True) if owner == name]
    return {"name": name, "entityType": "thing", "observations": facts}


def _send(server: subprocess.Popen[bytes], message: dict[str, Any]) -> None:
    assert server.stdin is not None
    server.stdin.write(json.dumps(message).encode() + b"\n")
    server.stdin.flush()
