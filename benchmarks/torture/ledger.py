"""Writes that can be checked one by one, and the check that a store has every acknowledged write."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import recollect

Entry = dict[str, Any]
"""A write: its tool, its arguments, and once acknowledged, the answer (`done`)."""

ROWS = 8
AT_ONCE = 200


def write_of(prefix: str, number: int, notes: list[int]) -> Entry:
    """Return the write of this number: usually a note, sometimes a batch of entities or a `forget`."""
    match number % 5:
        case 2:
            rows = [
                {
                    "name": f"Buoy {prefix}-{number}-{row}",
                    "entityType": "buoy",
                    "observations": _facts(number, row),
                }
                for row in range(ROWS)
            ]
            return {"tool": "create_entities", "given": {"entities": rows}}
        case 4 if notes:
            return {"tool": "forget", "given": {"ids": [notes[len(notes) // 2]]}}
        case _:
            # Unique words, so that a search finds the note and it is no near-duplicate.
            text = f"The log of {prefix}{number} says that {prefix}x{number * 7919} passed the light"
            return {"tool": "remember", "given": {"text": text}}


def _facts(number: int, row: int) -> list[str]:
    return [f"rings {number} times", f"lies {row} miles off"]


def note_ids(entries: Iterable[Entry]) -> list[int]:
    """Return the ids of acknowledged notes without a `forget`."""
    entries = list(entries)
    tried = {id_ for entry in entries if entry["tool"] == "forget" for id_ in entry["given"]["ids"]}
    return [
        entry["done"]["id"]
        for entry in entries
        if entry["tool"] == "remember" and "done" in entry and entry["done"]["id"] not in tried
    ]


def acknowledged(entries: Iterable[Entry]) -> int:
    return sum("done" in entry for entry in entries)


def missing(store: Path, entries: list[Entry]) -> list[str]:
    """Return lost or partial writes that were acknowledged, and the problems that `verify` finds."""
    with recollect.open(store, model="hashing") as memory:
        problems = [f"verify: {problem}" for problem in memory.upkeep.verify()]
        problems += _missing_notes(memory, entries)
        problems += _missing_entities(memory, entries)
        notes = note_ids(entries)
        if notes:
            last = memory.get(notes[-1])
            assert last is not None or problems
            text = "" if last is None else last.text
            if text and notes[-1] not in {hit.memory.id for hit in memory.recall(text, record=False).hits}:
                problems.append(f"note {notes[-1]} exists, but a search for its words does not find it")
        return problems


def _missing_notes(memory: recollect.Engine, entries: list[Entry]) -> list[str]:
    tried: set[int] = set()
    forgotten: set[int] = set()
    for entry in entries:
        if entry["tool"] == "forget":
            tried.update(entry["given"]["ids"])
            forgotten.update(entry.get("done", {}).get("forgotten", ()))
    problems = []
    for entry in entries:
        if entry["tool"] != "remember" or "done" not in entry:
            continue
        id_, text = entry["done"]["id"], entry["given"]["text"]
        kept = memory.get(id_)
        if kept is None or kept.text != text:
            problems.append(f"note {id_} is lost: {text}")
        elif kept.deleted_at is None and id_ in forgotten:
            problems.append(f"note {id_} was forgotten, but exists again")
        elif kept.deleted_at is not None and id_ not in tried:
            problems.append(f"note {id_} is forgotten without a `forget`")
    return problems


def _missing_entities(memory: recollect.Engine, entries: list[Entry]) -> list[str]:
    batches = [entry for entry in entries if entry["tool"] == "create_entities"]
    rows = [row for entry in batches for row in entry["given"]["entities"]]
    there: dict[str, set[str]] = {}
    for first in range(0, len(rows), AT_ONCE):
        names = [row["name"] for row in rows[first : first + AT_ONCE]]
        for found in memory.graph.open_nodes(names).entities:
            there[found.name] = {seen.content for seen in found.in_force}
    problems = []
    for entry in batches:
        given = entry["given"]["entities"]
        whole = sum(there.get(row["name"]) == set(row["observations"]) for row in given)
        some = sum(row["name"] in there for row in given)
        if whole != len(given) and ("done" in entry or some):
            what = "is lost" if "done" in entry else "is partly stored"
            problems.append(f"a batch {what}: {whole} of {len(given)} from {given[0]['name']}")
    return problems
