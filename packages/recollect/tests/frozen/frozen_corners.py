"""A small second world for what the first one never reaches: floors, lists' ends, and the last minute."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import calls
from calls import PROFILE_NAMES, Clock, Memory, at
from compare import as_lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NOW = "2026-03-01T12:00:00+00:00"


def _entity(id_: int, name: str, created: str, *observations: tuple[str, str], **more: Any) -> dict[str, Any]:
    seen = [
        {"id": 10 * id_ + place, "content": content, "kind": kind, "created_at": created}
        for place, (kind, content) in enumerate(observations)
    ]
    row = {"record": "memory", "id": id_, "kind": "entity", "created_at": created, "name": name}
    return {**row, "type": "thing", "observations": seen, **more}


def _note(id_: int, text: str, created: str, **more: Any) -> dict[str, Any]:
    return {"record": "memory", "id": id_, "kind": "note", "created_at": created, "text": text, **more}


def _turn(id_: int, text: str, created: str, session: str, position: int, **more: Any) -> dict[str, Any]:
    row = {"record": "memory", "id": id_, "kind": "message", "created_at": created, "text": text}
    return {**row, "session": session, "position": position, "role": "user", **more}


_LONG_AGO = "2021-05-01T10:00:00.000000Z"
_LAST_YEAR = "2025-05-10T10:00:00.000000Z"
_YESTERDAY = "2026-02-28T10:00:00.000000Z"

EXPORT: tuple[dict[str, Any], ...] = (
    {"recollect": 1},
    _entity(
        1, "Harbour survey", _LONG_AGO, ("fact", "Measured the depth of the harbour"), status="completed"
    ),
    _entity(
        2,
        "survey.csv",
        _LAST_YEAR,
        ("metadata", "harbour depth, 900 rows"),
        ("metadata", "12 MB, checksum 7f3a"),
        ("fact", "Depths of the harbour"),
    ),
    _entity(3, "Pilot boat", _LONG_AGO, ("fact", "Leads ships into the harbour"), depth=3, spread=6),
    _entity(4, "Dredger", _LAST_YEAR, ("fact", "Deepens the harbour channel"), depth=1, strength=0.4),
    _note(5, "The harbour channel is nine metres deep.", _LONG_AGO, stability=0.02, importance=0.9),
    _note(6, "The harbour was dredged after the storm.", _LAST_YEAR, stability=400.0, duplicates=3),
    _note(7, "The harbour master retired.", _YESTERDAY, happened_at="2024-11-03T00:00:00.000000Z"),
    _note(8, "Ships wait outside the harbour at low tide.", _YESTERDAY, tags=["tide"]),
    _note(9, "Low water is at noon, and ships wait.", _YESTERDAY, depth=1, pinned=True),
    _turn(10, "How deep is the harbour?", "2026-03-01T11:59:20.000000Z", "now", 1, speaker="Ana"),
    _turn(11, "The harbour is nine metres deep at low tide.", "2026-03-01T11:59:40.000000Z", "now", 2),
    _turn(12, "We talked about the harbour depth.", "2020-01-01T00:00:00.000000Z", "old", 1, undated=True),
    _turn(13, "The pilot boat needs a new engine.", "2025-12-24T08:00:00.000000Z", "old", 2, speaker="Ana"),
    _turn(14, "Who repairs it?", "2025-12-24T08:01:00.000000Z", "old", 3),
    _note(15, "Un velero amarrado en el puerto viejo.", _LAST_YEAR),
    _note(16, "Un velero amarrado cerca del espigón del puerto.", _LAST_YEAR),
    _entity(17, "Tide gauge", _LAST_YEAR, ("metadata", "serial 4711"), ("fact", "Stands in the harbour")),
    {
        "record": "relation",
        "id": 1,
        "source": 3,
        "target": 1,
        "type": "uses",
        "created_at": _LONG_AGO,
        "until": _LAST_YEAR,
    },
    {"record": "relation", "id": 2, "source": 4, "target": 1, "type": "uses", "created_at": _LAST_YEAR},
)

QUESTIONS: tuple[dict[str, Any], ...] = (
    {"query": "How deep is the harbour?", "session": "now"},
    {"query": "harbour depth"},
    {"query": "what happened in the harbour before June 2025"},
    {"query": "the harbour since December 2025"},
    {"query": "what did Ana say about the pilot boat at Christmas"},
    {"query": "the harbour in May 2025"},
    {"query": "low tide"},
    {"query": "ships that wait at low water"},
    {"query": "deep water ships"},
    {"query": "port sailing rules"},
    {"query": "port fees for sailing visitors"},
    {"query": "dredging", "as_of": "2026-01-15T00:00:00+00:00"},
)


def build(path: Path) -> None:
    """Long ago some were seen together; the rest is imported as it is."""
    clock = Clock(at("2021-06-01T00:00:00"))
    with calls.open_memory(path, clock) as memory:
        calls.imported(memory, as_lines(EXPORT), "full")
        for day in (1, 2, 40):
            clock.pass_days(day)
            calls.open_nodes(memory, ["Harbour survey", "Pilot boat"])
            calls.settle(memory)
        clock.now = at("2026-02-20T00:00:00")
        calls.open_nodes(memory, ["Dredger", "survey.csv", "Pilot boat"])


def open_corners(path: Path) -> Memory:
    return calls.open_memory(path, Clock(at(NOW)))


def questions() -> Iterator[dict[str, Any]]:
    for question in QUESTIONS:
        for profile in PROFILE_NAMES:
            yield {**question, "profile": profile}
