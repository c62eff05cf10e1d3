"""Writes what the program answers now into the frozen files; `make bless` runs it.

The diff is reviewed like code: each row that changes is an answer that users get otherwise than before.
`store-v5.db.gz` is a store that an earlier version wrote. It stays as it is; only the
answers from it are written again.
"""

from __future__ import annotations

import gzip
import sys
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
from compare import HERE, as_lines, as_text, as_text_by_row, frozen

if TYPE_CHECKING:
    from collections.abc import Callable


def write_rankings() -> None:
    with TemporaryDirectory() as folder, _world(Path(folder) / "world.db") as memory:
        answers = [
            {"asked": question, "answer": rankings.answered(memory, question)}
            for question in rankings.all_questions()
        ]
        contexts = [
            {"asked": asked, "options": options, "context": rankings.packed(memory, asked, options)}
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
                for question in frozen_corners.questions()
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
    """Write the answers of the old store. Its rows stay as an earlier version wrote them."""
    packed = (HERE / frozen_store.FILE).read_bytes()
    with TemporaryDirectory() as folder:
        _write("store.json", as_text_by_row({**frozen("store.json"), **_facts(packed, Path(folder))}))


def write_commands() -> None:
    with TemporaryDirectory() as folder, TemporaryDirectory() as other:
        lived = commands.live(Path(folder), map(list, commands.SCRIPT))
        bench = commands.live(Path(other), map(list, commands.BENCH))
    _write("commands.jsonl", as_lines(lived))
    _write("bench.jsonl", as_lines(bench))


def write_tools() -> None:
    with TemporaryDirectory() as folder, TemporaryDirectory() as other:
        lived = anyio.run(tools.run, Path(folder), tools.CALLS)
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
    with frozen_store.opened(undone) as memory:
        undo = frozen_store.undo(memory)
    with frozen_store.opened(retried) as memory:
        receipts = frozen_store.receipts(memory)
    with frozen_store.opened(woken) as memory:
        waked = frozen_store.waked(memory)
    changed = frozen_store.changed_rows(frozen("store.json")["rows"], calls.rows(undone))
    return {
        "facts": facts,
        "undo": undo,
        "rows changed by undo": changed,
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
    for wanted in sys.argv[1:] or WRITERS:
        WRITERS[wanted]()
