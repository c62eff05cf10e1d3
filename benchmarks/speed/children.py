"""Start `child.py` processes, let them begin at the same time, and collect their output."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_CHILD = Path(__file__).parent / "child.py"


def started(*words: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(_CHILD), *map(str, words)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def told(*words: object) -> Any:
    """Return the output of a child that does not wait for others."""
    process = started(*words)
    said, _ = process.communicate()
    return json.loads(said.splitlines()[-1])


def all_at_once(tasks: Sequence[Sequence[object]]) -> list[Any]:
    """Run children that begin when all are ready, and return their output."""
    processes = [started(*words) for words in tasks]
    for process in processes:
        assert process.stdout is not None
        process.stdout.readline()
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    return [json.loads(process.communicate()[0].splitlines()[-1]) for process in processes]


@contextmanager
def meanwhile(*words: object) -> Iterator[dict[str, Any]]:
    """Run a child that measures until the block ends; then the dictionary has its results."""
    process = started(*words)
    assert process.stdout is not None
    process.stdout.readline()
    seen: dict[str, Any] = {}
    try:
        yield seen
    finally:
        seen.update(json.loads(process.communicate()[0].splitlines()[-1]))
