"""Starts `child.py` processes, lets them begin at once, and gathers what they tell."""

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
    """What a child tells that does not wait for anybody."""
    process = started(*words)
    said, _ = process.communicate()
    return json.loads(said.splitlines()[-1])


def all_at_once(tasks: Sequence[Sequence[object]]) -> list[Any]:
    """Children that begin when the last of them is ready."""
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
    """A child that watches until the block ends; then what it saw is in the dictionary."""
    process = started(*words)
    assert process.stdout is not None
    process.stdout.readline()
    seen: dict[str, Any] = {}
    try:
        yield seen
    finally:
        seen.update(json.loads(process.communicate()[0].splitlines()[-1]))
