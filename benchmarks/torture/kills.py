"""Kill writers with kill -9 at random moments, through each interface; then check acknowledged writes."""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from ledger import Entry, acknowledged, missing, note_ids, write_of
from programs import RECOLLECT, ServerGone, environment, talking
from torture_run import Part
from writer import entries_of

from recollect.domain.errors import RecollectError

WAYS = ("python", "cli", "stdio", "http")
KILLS_OF_A_STORE = 50
"""Kills before a new store is begun, so that the check after each kill stays fast."""
MAX_WRITES = 12
"""Maximum number of writes before a kill."""
MAX_DELAY_SECONDS = 0.02
"""Maximum seconds from the start of the last write to the kill."""

COMPLETED_COMMANDS = 2

Random = np.random.Generator


def kill(folder: Path, part: Part) -> Iterator[None]:
    """Kill writers, each time through the next interface. Each store is used for many kills."""
    while not part.is_over:
        way, number = WAYS[part.done % len(WAYS)], part.done // len(WAYS)
        place = folder / way / str(number // KILLS_OF_A_STORE)
        place.mkdir(parents=True, exist_ok=True)
        store, ledger = place / "memory.db", place / "ledger.json"
        entries: list[Entry] = json.loads(ledger.read_text(encoding="utf-8")) if ledger.exists() else []
        random = np.random.default_rng([part.done, 17])
        new = _WRITERS[way](store, entries, random, part)
        entries += new
        try:
            problems = missing(store, entries) if store.exists() else []
        except RecollectError as error:
            problems = [f"the store does not open: {error}"]
        for problem in problems:
            part.report_finding(problem, way=way, kill=number, store=str(place))
        if problems:  # keep this store for inspection, and begin a new one
            place.rename(place.with_name(f"{place.name}-after-kill-{number}"))
        else:
            ledger.write_text(json.dumps(entries), encoding="utf-8")
        part.count_in("kills", way)
        part.count_in("acknowledged_writes", way, acknowledged(new))
        part.count_in("killed_in_a_write", way, len(new) - acknowledged(new))
        part.count_in("checks_of_writes", way, acknowledged(entries))
        part.done += 1
        if not problems and number % KILLS_OF_A_STORE == KILLS_OF_A_STORE - 1:
            shutil.rmtree(place, ignore_errors=True)
        yield


def _python(store: Path, entries: list[Entry], random: Random, part: Part) -> list[Entry]:
    del part
    process = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("writer.py")), str(store), "p", str(len(entries))],
        env=environment(store),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    lines: list[str] = []
    target = int(random.integers(1, 2 * MAX_WRITES))  # each write has two lines
    try:
        while len(lines) < target and (line := process.stdout.readline()):
            lines.append(line)
        time.sleep(float(random.uniform(0, MAX_DELAY_SECONDS)))
    finally:
        process.kill()
    rest = process.stdout.read()
    process.wait()
    process.stdout.close()
    # An incomplete last line does not count as acknowledged.
    lines += rest[: rest.rfind("\n") + 1].splitlines()
    return entries_of(lines)


def _server(way: str) -> Callable[[Path, list[Entry], Random, Part], list[Entry]]:
    def write(store: Path, entries: list[Entry], random: Random, part: Part) -> list[Entry]:
        new: list[Entry] = []
        count = int(random.integers(1, MAX_WRITES))
        with talking(way, store) as talk:
            for number in range(count):
                entry = write_of(way[0], len(entries) + number, note_ids(entries + new))
                new.append(entry)
                talk.begin(entry["tool"], entry["given"])
                if number == count - 1:
                    time.sleep(float(random.uniform(0, MAX_DELAY_SECONDS)))
                    talk.process.kill()
                try:
                    result = talk.end()
                except ServerGone:
                    if number < count - 1:
                        part.report_finding("the server ended before it was killed", way=way)
                    break
                if result.get("isError"):
                    part.report_finding("a write was refused", way=way, entry=entry, answer=str(result)[:500])
                else:
                    entry["done"] = result["structuredContent"]
        return new

    return write


def _command(store: Path, entries: list[Entry], random: Random, part: Part) -> list[Entry]:
    """Run some commands to measure how long one takes, and then others until one is killed.

    A write is acknowledged once its whole answer has arrived.
    """
    new: list[Entry] = []
    times: list[float] = part.figures.setdefault("seconds_of_a_command", [])
    while True:
        entry = write_of("c", len(entries) + len(new), note_ids(entries + new))
        if entry["tool"] == "create_entities":  # a command adds one
            entry["given"]["entities"] = entry["given"]["entities"][:1]
        new.append(entry)
        usual = statistics.median(times) if times else None
        limit = float(random.uniform(0.5, 1.1)) * usual if usual and len(new) > COMPLETED_COMMANDS else None
        begun = time.perf_counter()
        process = subprocess.Popen(
            [*RECOLLECT, *_command_line(entry), "--json"],
            env=environment(store),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        try:
            out, err = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
        answer = _parse_answer(out)
        if answer is not None:
            entry["done"] = answer
        if process.returncode < 0:
            return new
        times.append(round(time.perf_counter() - begun, 3))
        del times[:-20]
        if limit is not None:
            part.count("commands_that_ended_before_their_kill")
        if process.returncode:
            part.report_finding("a command failed", entry=entry, said=err.decode(errors="replace")[:1_000])


def _command_line(entry: Entry) -> list[str]:
    given = entry["given"]
    match entry["tool"]:
        case "remember":
            return ["remember", given["text"]]
        case "forget":
            return ["forget", *map(str, given["ids"])]
        case _:
            (row,) = given["entities"]
            said = [word for text in row["observations"] for word in ("-o", text)]
            return ["add", row["name"], "-t", row["entityType"], *said]


def _parse_answer(out: bytes) -> dict[str, Any] | None:
    try:
        answer: dict[str, Any] = json.loads(out)
    except ValueError:
        return None
    return answer


_WRITERS: dict[str, Callable[[Path, list[Entry], Random, Part], list[Entry]]] = {
    "python": _python,
    "cli": _command,
    "stdio": _server("stdio"),
    "http": _server("http"),
}
