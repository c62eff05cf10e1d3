"""A process that writes through Python: `writer.py STORE PREFIX START [SECONDS]`.

Without SECONDS, it writes until it is killed. It prints a line of JSON before and after each write.
"""

from __future__ import annotations

import json
import sys
from itertools import count
from pathlib import Path
from time import perf_counter
from typing import Any

from ledger import Entry, write_of

import recollect
from recollect.domain.errors import RecollectError

RECALL_EVERY = 7


def print_json(**what: Any) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def write(memory: recollect.Engine, entry: Entry) -> dict[str, Any]:
    given = entry["given"]
    match entry["tool"]:
        case "remember":
            return {"id": memory.remember(given["text"]).id}
        case "forget":
            return {"forgotten": list(memory.forget(given["ids"]))}
        case _:
            made = memory.create_entities(given["entities"])
            return {"entities": [each.name for each in made.entities]}


def main(store: str, prefix: str, start: str, seconds: str = "inf") -> None:
    notes: list[int] = []
    with recollect.open(Path(store), model="hashing") as memory:
        until = perf_counter() + float(
            seconds
        )  # without the time for opening, which takes long for ten processes at once
        for number in count(int(start)):
            if perf_counter() >= until:
                break
            entry = write_of(prefix, number, notes)
            print_json(begun=entry)
            begun = perf_counter()
            try:
                done = write(memory, entry)
            except RecollectError as error:
                print_json(refused=f"{type(error).__name__}: {error}", waited=perf_counter() - begun)
                continue
            print_json(done=done, waited=round(perf_counter() - begun, 4))
            if "id" in done:
                notes.append(done["id"])
            elif "forgotten" in done:
                notes = [note for note in notes if note not in entry["given"]["ids"]]
            if number % RECALL_EVERY == 0 and notes:
                kept = memory.get(notes[-1])
                found = () if kept is None else memory.recall(kept.text, limit=5).hits
                if notes[-1] not in {hit.memory.id for hit in found}:
                    print_json(lost=f"note {notes[-1]} is not found by its own writer")


def entries_of(lines: list[str]) -> list[Entry]:
    """Parse the output of such a process up to its last whole line: each write, with its answer if any."""
    entries: list[Entry] = []
    for line in lines:
        told = json.loads(line)
        if "begun" in told:
            entries.append(told["begun"])
        elif "done" in told:
            entries[-1]["done"] = told["done"]
    return entries


if __name__ == "__main__":
    main(*sys.argv[1:])
