"""Soak test: call one server many times, and watch its memory, file descriptors and file sizes.

The first half of the calls write and read, the second half only read. So growth in the second half comes from
the number of calls, not from a larger store.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from programs import ServerGone, Talk, called, talking, text_of
from torture_run import Part

SAMPLES = 200
MAX_GROWTH_MB = 32.0
MAX_NEW_DESCRIPTORS = 10
_PLACES = ("harbour", "lighthouse", "market", "station", "library", "bakery", "garden", "bridge")
_DOINGS = (
    "waited at",
    "walked past",
    "met Ana near",
    "painted",
    "photographed",
    "forgot a coat at",
    "wrote about",
)


def soak(folder: Path, part: Part) -> Iterator[None]:
    """Make the remaining calls, and yield after each sample.

    A resumed run starts another server. Each sample has the number of its server.
    """
    if part.is_over:
        return
    folder.mkdir(parents=True, exist_ok=True)
    store = folder / "memory.db"
    every = max(10, part.planned // SAMPLES)
    server = part.figures["servers"] = part.figures.get("servers", 0) + 1
    samples: list[dict[str, Any]] = part.figures.setdefault("over_time", [])
    try:
        with talking("stdio", store) as talk:
            while not part.is_over:
                for _ in range(min(every, part.left)):
                    _call(talk, part)
                    part.done += 1
                reads = part.done > part.planned // 2
                samples.append(
                    {"calls": part.done, "server": server, "reads_only": reads} | _sample(talk, store)
                )
                if part.left <= 0:
                    _judge(samples, part)
                yield
    except (ServerGone, TimeoutError) as error:
        part.report_finding(
            "the server ended" if isinstance(error, ServerGone) else "no answer", calls=part.done
        )
        part.planned = part.done
        yield


def _call(talk: Talk, part: Part) -> None:
    number = part.done
    chance = np.random.default_rng([number, 5])
    tool, given = _reading(chance) if number >= part.planned // 2 else _mixed(number, chance)
    result = called(talk, tool, given)
    part.count_in("calls_by_tool", tool)
    if result.get("isError"):
        part.report_finding("a call returned an error", tool=tool, given=given, answer=text_of(result)[:500])


def _mixed(number: int, chance: np.random.Generator) -> tuple[str, dict[str, Any]]:
    match number % 10:
        case 0 | 1:
            return "remember", {"text": f"{_sentence(chance)} on day {number}"}
        case 2:
            row = {"name": f"Visitor {number}", "entityType": "person", "observations": [_sentence(chance)]}
            return "create_entities", {"entities": [row]}
        case 3:
            turn = {"role": "user", "content": f"{_sentence(chance)} and it was day {number}"}
            return "add_messages", {"session": f"talk {number // 1000}", "messages": [turn]}
        case _:
            return _reading(chance)


def _reading(chance: np.random.Generator) -> tuple[str, dict[str, Any]]:
    asked = _sentence(chance)
    match int(chance.integers(6)):
        case 0:
            return "context", {"query": asked, "budget_tokens": 300}
        case 1:
            return "search_nodes", {"query": asked.rpartition(" ")[2], "limit": 10}
        case 2:
            return "explain", {"query": asked, "limit": 3}
        case 3:
            return "stats", {}
        case _:
            return "recall", {"query": asked, "limit": 10}


def _sentence(chance: np.random.Generator) -> str:
    doing, place = _DOINGS[chance.integers(len(_DOINGS))], _PLACES[chance.integers(len(_PLACES))]
    return f"Somebody {doing} the {place}"


def _sample(talk: Talk, store: Path) -> dict[str, Any]:
    """Measure memory, descriptors and threads from /proc, and file sizes. Without /proc, only file sizes."""
    sizes = {
        name: round(path.stat().st_size / 2**20, 3)
        for name, path in (("store_mb", store), ("wal_mb", store.with_name(f"{store.name}-wal")))
        if path.exists()
    }
    process = Path(f"/proc/{talk.process.pid}")
    if not process.exists():
        return sizes
    lines = (process / "status").read_text(encoding="ascii").splitlines()
    resident = next(line for line in lines if line.startswith("VmRSS:"))
    return {
        "rss_mb": round(int(resident.split()[1]) / 1024, 1),
        "descriptors": len(list((process / "fd").iterdir())),
        "threads": len(list((process / "task").iterdir())),
        **sizes,
    }


def _judge(samples: list[dict[str, Any]], part: Part) -> None:
    """Compare the last fifth of the last server's read-only samples with the first; report growth."""
    last = samples[-1]["server"]
    reading = [each for each in samples if each["reads_only"] and each["server"] == last and "rss_mb" in each]
    fifth = len(reading) // 5
    if not fifth:
        return
    first, end = reading[:fifth], reading[-fifth:]
    growth = median(each["rss_mb"] for each in end) - median(each["rss_mb"] for each in first)
    opened = max(each["descriptors"] for each in end) - max(each["descriptors"] for each in first)
    part.figures["growth_while_reading_mb"] = round(growth, 1)
    part.figures["new_descriptors_while_reading"] = opened
    part.figures["calls_while_reading"] = reading[-1]["calls"] - reading[0]["calls"]
    if growth > MAX_GROWTH_MB:
        part.report_finding("memory grows with the number of calls", megabytes=round(growth, 1))
    if opened > MAX_NEW_DESCRIPTORS:
        part.report_finding("descriptors grow with the number of calls", new=opened)
