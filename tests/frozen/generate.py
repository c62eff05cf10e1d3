"""Writes the frozen files. It was run once, with the program of commit e6f1f72, and is kept to show how.

    git worktree add ../e6f1f72 e6f1f72
    PYTHONPATH=../e6f1f72/src python tests/frozen/generate.py rankings

It refuses to run with the program of any other commit: the files say how things were, not how they are.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import calls
import frozen_world
import rankings
from compare import HERE, as_lines

import recollect

if TYPE_CHECKING:
    from collections.abc import Callable

COMMIT = "e6f1f7226a7f482c891c75c74cd71d510dd1c077"


def write_rankings() -> None:
    with TemporaryDirectory() as folder, _world(Path(folder) / "world.db") as memory:
        answers = [
            {"asked": question, "answer": rankings.answered(memory, question)}
            for question in rankings.asked()
        ]
        contexts = [
            {
                "asked": asked,
                "options": options,
                "context": rankings.packed(memory, asked, options),
            }
            for asked, options in rankings.CONTEXTS
        ]
        why_not = [
            {
                "query": query,
                "memory": id_,
                "options": options,
                "answer": rankings.missed(memory, query, id_, options),
            }
            for query, id_, options in rankings.WHY_NOT
        ]
    _write("rankings.jsonl", as_lines(answers))
    _write("contexts.jsonl", as_lines(contexts))
    _write("why_not.jsonl", as_lines(why_not))


def _world(path: Path) -> calls.Memory:
    clock = calls.Clock(calls.at(frozen_world.BEGINS))
    with calls.open_memory(path, clock) as memory:
        frozen_world.build(memory, clock)
    return frozen_world.open_world(path)


def _write(name: str, text: str) -> None:
    (HERE / name).write_text(text, encoding="utf-8")


def _refuse_other_commits() -> None:
    source = Path(recollect.__file__).parents[1]
    head = _git(source, "rev-parse", "HEAD")
    changed = _git(source, "status", "--porcelain", ".")
    if not head.startswith(COMMIT) or changed:
        sys.exit(f"{source} is of commit {head}{' and was changed' if changed else ''}, not of {COMMIT}.")


def _git(folder: Path, *words: str) -> str:
    run = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, check=True, text=True)
    return run.stdout.strip()


WRITERS: dict[str, Callable[[], None]] = {"rankings": write_rankings}

if __name__ == "__main__":
    _refuse_other_commits()
    for wanted in sys.argv[1:]:
        WRITERS[wanted]()
