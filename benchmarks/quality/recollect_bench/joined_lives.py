"""Join several lives into one store, their memories in the order of time.

    python -m recollect_bench.joined_lives LIVES judging OUT

writes folders of eight lives each in the format of a life, so that whatever measures lives measures these,
too. Ids get the name of their life before them.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

JOINED = 8
"""The number of lives in one store."""
_IDS = ("id", "old", "new", "session")
_LISTS_OF_IDS = ("gold", "must_not", "helpful")

Rows = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class JoinedLives:
    """Rows of memories, questions, prompts and pairs."""

    memories: Rows = field(default_factory=list)
    questions: Rows = field(default_factory=list)
    prompts: Rows = field(default_factory=list)
    pairs: Rows = field(default_factory=list)


def read_rows(path: Path) -> Rows:
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def join_lives(folder: Path, half: str, count: int = JOINED) -> Iterator[JoinedLives]:
    """Yield the lives of a half, joined by this number."""
    names = json.loads((folder / "halves.json").read_text(encoding="utf-8"))[half]
    for start in range(0, len(names), count):
        joined = JoinedLives()
        for name in names[start : start + count]:
            for topic in JoinedLives.__slots__:
                rows = read_rows(folder / name / f"{topic}.jsonl")
                getattr(joined, topic).extend(_with_life(row, name) for row in rows)
        joined.memories.sort(key=lambda row: str(row["at"]))
        yield joined


def _with_life(row: Mapping[str, Any], life: str) -> dict[str, Any]:
    ids = {name: f"{life}:{row[name]}" for name in _IDS if row.get(name)}
    lists = {name: [f"{life}:{id_}" for id_ in row[name]] for name in _LISTS_OF_IDS if name in row}
    return {**row, **ids, **lists}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="joined_lives", description="Join lives into larger stores.")
    parser.add_argument("lives", type=Path)
    parser.add_argument("half", choices=("choosing", "judging"))
    parser.add_argument("out", type=Path)
    given = parser.parse_args(arguments)
    for number, joined in enumerate(join_lives(given.lives, given.half)):
        folder = given.out / f"{given.half}{number}"
        folder.mkdir(parents=True, exist_ok=True)
        for topic in JoinedLives.__slots__:
            lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in getattr(joined, topic))
            (folder / f"{topic}.jsonl").write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
