"""Opening a store, the first answer from it, and the command line from its start to its end."""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from children import told
from timing import Figures, Sample, tell

from stores import Filled

_TIMES = 3
_COMMANDS = 5


def opening(store: Filled, times: int = _TIMES) -> Iterator[Figures]:
    made = store.world
    for way in ("as it was left", "without its file of vectors"):
        tell(f"opening: {made.size:,}, {way}")
        seen = []
        for _ in range(times):
            with store.copy() as path:
                if way != "as it was left":
                    for file in path.parent.glob("*-vectors*"):
                        file.unlink()
                seen.append(told("first", path))
        yield {"part": "open", "way": way, "kind": made.kind, "size": made.size} | {
            name: round(statistics.median(each[name] for each in seen), 2) for name in seen[0]
        }


def command_line(store: Filled, times: int = _COMMANDS) -> Iterator[Figures]:
    """In a process of its own each time, with the default model, which it loads."""
    made = store.world
    tell(f"command line: {made.size:,}")
    with store.copy() as path:
        commands = {
            "recollect --help": ["--help"],
            "recollect recall": ["recall", made.queries[0], "--store", str(path)],
            "recollect remember": ["remember", "{text}", "--store", str(path)],
        }
        for way, words in commands.items():
            sample = Sample()
            for turn in range(times + 1):
                text = made.spare[turn]
                cpu, wall = _run([word.replace("{text}", text) for word in words], path.parent)
                if turn:  # the first one reads the files into memory
                    sample.add(cpu, wall)
            yield {"part": "command", "way": way, "kind": made.kind, "size": made.size} | sample.figures()
        sample = Sample()
        for _ in range(times):
            sample.add(*_python("import numpy, apsw", path.parent))
        figures = sample.figures()
        yield {
            "part": "command",
            "way": "python -c 'import numpy, apsw'",
            "kind": made.kind,
            "size": made.size,
        } | figures


def _run(words: list[str], folder: Path) -> tuple[float, float]:
    return _python("from recollect.cli.main import main; main()", folder, *words)


def _python(code: str, folder: Path, *words: str) -> tuple[float, float]:
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, "-c", code, *words], cwd=folder, capture_output=True, check=True)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall
