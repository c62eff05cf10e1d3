"""Writes the frozen files. It was run once, with the program of commit e6f1f72, and is kept to show how.

    git worktree add ../e6f1f72 e6f1f72
    PYTHONPATH=../e6f1f72/src python tests/frozen/generate.py rankings

It refuses to run with the program of any other commit: the files say how things were, not how they are. Where
`calls.py` no longer fits that program, take this folder as it was when the files were added.
"""

from __future__ import annotations

import gzip
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import anyio
import calls
import commands
import frozen_corners
import frozen_store
import frozen_world
import rankings
import reads
import tools
from compare import HERE, as_lines, as_text, as_text_by_row

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


def write_corners() -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "corners.db"
        frozen_corners.build(path)
        with frozen_corners.open_corners(path) as memory:
            answers = [
                {"asked": question, "answer": rankings.answered(memory, question)}
                for question in frozen_corners.asked()
            ]
    _write("rankings-corners.jsonl", as_lines(answers))


def write_reads() -> None:
    with TemporaryDirectory() as folder, _world(Path(folder) / "world.db") as memory:
        _write("reads.json", as_text({name: reads.read(memory, name) for name in reads.READS}))


def write_exports() -> None:
    with TemporaryDirectory() as folder, _world(Path(folder) / "world.db") as memory:
        texts = {format_: calls.exported(memory, format_) for format_ in ("official", "full")}
        reports = {}
        for format_, text in texts.items():
            path = Path(folder) / f"{format_}.db"
            with calls.open_memory(path, calls.Clock(calls.at(frozen_world.NOW))) as other:
                reports[format_] = [calls.plain(calls.imported(other, text)) for _ in range(2)]
    _write("export-official.jsonl", texts["official"])
    _write("export-full.jsonl", texts["full"])
    _write("imports.json", as_text(reports))


def write_store() -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "store.db"
        frozen_store.build(path)
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA journal_mode = delete")
            connection.execute("VACUUM")
            connection.execute("PRAGMA journal_mode = wal")
        packed = gzip.compress(path.read_bytes(), 9, mtime=0)
        facts = _facts(packed, Path(folder))
    (HERE / f"store-v{facts['schema']}.db.gz").write_bytes(packed)
    _write("store.json", as_text_by_row(facts))


def write_commands() -> None:
    with TemporaryDirectory() as folder, TemporaryDirectory() as other:
        lived = commands.live(Path(folder), map(list, commands.SCRIPT))
        bench = commands.live(Path(other), map(list, commands.BENCH))
    _write("commands.jsonl", as_lines(lived))
    _write("bench.jsonl", as_lines(bench))


def write_tools() -> None:
    with TemporaryDirectory() as folder, TemporaryDirectory() as other:
        lived = anyio.run(tools.live, Path(folder), tools.CALLS)
        offered = anyio.run(tools.offered, Path(other))
    _write("tools.json", as_text_by_row(lived))
    _write("tool-definitions.json", as_text_by_row(offered))


def _facts(packed: bytes, folder: Path) -> dict[str, Any]:
    def copy(name: str) -> Path:
        path = folder / name
        path.write_bytes(gzip.decompress(packed))
        return path

    read, undone, retried, woken = map(copy, ("read.db", "undone.db", "retried.db", "woken.db"))
    with frozen_store.opened(read) as memory:
        facts = {name: frozen_store.fact(memory, name) for name in frozen_store.FACTS}
    before = calls.rows(read)
    with frozen_store.opened(undone) as memory:
        undo = frozen_store.undo(memory)
    with frozen_store.opened(retried) as memory:
        receipts = frozen_store.receipts(memory)
    with frozen_store.opened(woken) as memory:
        waked = frozen_store.waked(memory)
    return {
        "schema": calls.schema_of(read),
        "facts": facts,
        "rows": before,
        "undo": undo,
        "rows changed by undo": frozen_store.changed_rows(before, calls.rows(undone)),
        "receipts": receipts,
        "waked": waked,
    }


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


WRITERS: dict[str, Callable[[], None]] = {
    "rankings": write_rankings,
    "corners": write_corners,
    "reads": write_reads,
    "exports": write_exports,
    "store": write_store,
    "commands": write_commands,
    "tools": write_tools,
}

if __name__ == "__main__":
    _refuse_other_commits()
    for wanted in sys.argv[1:]:
        WRITERS[wanted]()
