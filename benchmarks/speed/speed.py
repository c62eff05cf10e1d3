"""How fast Recollect is, in one run: every operation by size, and many callers at once, beside the floor.

    python benchmarks/speed/speed.py --json benchmarks/results/speed.json
    python benchmarks/speed/speed.py --sizes 1k,10k,100k,1M --parts recall
    python benchmarks/speed/speed.py --quick

CPU time is what to compare: a shared machine's waiting times are its own. Stores are filled with vectors of a
stand-in for the default model (`stand_in.py`), whose time is left out; the command line and servers ask with
the real one. What is measured is told in the files of this folder, one part each.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import anyio
from by_hand import has_by_hand
from concurrency import AT_ONCE, CLIENTS, clients, concurrency
from dreaming import dreaming
from facts import facts, write_json
from filling import world as server_world
from loading import (
    disk,
    disk_by_hand,
    importing,
    importing_by_hand,
    loaded_by_hand,
    loading,
    official_lines,
)
from opening import command_line, opening
from past import past
from recalling import recalling, recalling_by_hand
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from servers import bare, ours
from serving import memory, start_up
from stand_in import MODEL
from timing import Figures, number, tell
from writing import writing, writing_by_hand

from stores import KINDS, Filled, Kind, filled, world

PARTS = ("recall", "write", "bulk", "import", "disk", "open", "past", "dream", "command", "serve", "at once")
_OF_EVERY_KIND = {"recall", "write", "bulk", "disk"}
_MEASURED_ON: dict[Kind, set[str]] = {
    "notes": set(PARTS) - {"import"},
    "conversations": _OF_EVERY_KIND,
    "graph": _OF_EVERY_KIND | {"import"},
}
MILLION = 1_000_000
MOST_BY_HAND = 100_000
"""Beyond it, a hand-made search takes seconds."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How much of everything."""

    sizes: tuple[int, ...]
    parts: tuple[str, ...]
    quick: bool

    @property
    def middle(self) -> int:
        """The size that is measured where one is enough."""
        return max((size for size in self.sizes if size <= 10_000), default=min(self.sizes))

    @property
    def large(self) -> int:
        return max((size for size in self.sizes if size <= 100_000), default=min(self.sizes))

    def queries(self, size: int) -> int:
        if self.quick:
            return 8
        return 100 if size <= 10_000 else 48 if size < MILLION else 20

    @property
    def seconds(self) -> float:
        """Of each stretch of many callers at once."""
        return 0.5 if self.quick else 3.0

    @property
    def times(self) -> int:
        return 1 if self.quick else 3


def measured(plan: Plan, folder: Path, bars: Progress) -> Iterator[Figures]:
    for size in plan.sizes:
        for kind in KINDS:
            wanted = set(plan.parts) & _MEASURED_ON[kind]
            if not wanted or (size >= MILLION and kind != "notes"):
                continue
            place = folder / f"{kind}-{size}"
            store = _filled(kind, size, plan, place, bars)
            yield from _of_store(store, plan)
            shutil.rmtree(place)


def _filled(kind: Kind, size: int, plan: Plan, place: Path, bars: Progress) -> Filled:
    task = bars.add_task(f"filling {size:,} {kind}", total=size)
    tell(f"filling: {size:,} of {kind}")
    made = world(kind, size, plan.queries(size))
    store = filled(made, place / "store", lambda done, of: bars.update(task, completed=done, total=of))
    bars.remove_task(task)
    return store


def _of_store(store: Filled, plan: Plan) -> Iterator[Figures]:
    """Everything that is measured on one store, which then may go."""
    kind, size = store.world.kind, store.world.size
    wanted = plan.parts
    if "bulk" in wanted:
        yield loading(store)
    if "disk" in wanted:
        yield disk(store)
    if "recall" in wanted:
        yield from recalling(store)
    if "write" in wanted and size < MILLION:
        yield from writing(store)
    if kind == "notes":
        yield from _of_notes(store, plan)
    if kind == "graph" and "import" in wanted and size < MILLION:
        lines = official_lines(store)
        yield importing(store, lines)
        if has_by_hand():
            yield importing_by_hand(store, lines)


def _of_notes(store: Filled, plan: Plan) -> Iterator[Figures]:
    """What one kind of store is enough for."""
    size, wanted = store.world.size, plan.parts
    is_middle, is_large = size == plan.middle, size == plan.large
    if size <= MOST_BY_HAND:
        yield from _beside_by_hand(store, wanted)
    if "open" in wanted:
        yield from opening(store, plan.times)
    if "past" in wanted and is_large:
        yield from past(store, plan.queries(size) // 2)
    if "dream" in wanted and is_large:
        yield from dreaming(store)
    if "command" in wanted and is_middle:
        yield from command_line(store, plan.times)
    if "serve" in wanted and is_middle:
        yield from serving(store, plan)
    if "at once" in wanted and is_middle:
        yield from concurrency(store, plan.seconds, (2,) if plan.quick else AT_ONCE)
        yield from clients(store, plan.seconds, (2,) if plan.quick else CLIENTS)


def _beside_by_hand(store: Filled, wanted: tuple[str, ...]) -> Iterator[Figures]:
    path = store.folder.parent / "by-hand.db"
    if not has_by_hand():
        tell("by hand: skipped, since sqlite-vec is not installed")
        return
    hand, row = loaded_by_hand(store, path)
    if "bulk" in wanted:
        yield row
    if "recall" in wanted:
        yield recalling_by_hand(store, hand)
    if "write" in wanted:
        yield writing_by_hand(store, hand)
    hand.close()
    if "disk" in wanted:
        yield disk_by_hand(store, path)


def serving(store: Filled, plan: Plan) -> Iterator[Figures]:
    """A server on standard input and output, from its start; and how much memory it and a second one take."""
    known = {"kind": store.world.kind, "size": store.world.size}
    questions = server_world(100)
    with store.copy() as path:
        servers = [ours(None).at(path.parent), bare().at(path.parent)]
        tell("serve: start")
        tools, first = anyio.run(start_up, servers, questions, 1 if plan.quick else 5)
        for way, seen in (("start to tools/list", tools), ("start to the first answer", first)):
            for name, figures in seen.items():
                yield {"part": "serve", "way": way, "server": name} | known | figures
        tell("serve: memory")
        for server in servers:
            figures = anyio.run(memory, server, questions)
            yield {"part": "serve", "way": "memory", "server": server.name} | known | figures


def main() -> None:
    options = _options()
    sizes = "200" if options.quick else options.sizes
    parts = tuple(part.strip() for part in options.parts.split(","))
    plan = Plan(tuple(map(number, sizes.split(","))), parts, options.quick)
    known = facts("recollect-memory", "mcp", "onnxruntime", "sqlite-vec")
    known["load_before"] = " ".join(f"{load:.2f}" for load in os.getloadavg())
    results: list[Figures] = []
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed:,.0f}"))
    with (
        tempfile.TemporaryDirectory(prefix="recollect-bench-", dir=options.folder) as folder,
        Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True) as bars,
    ):
        # Settings of whoever runs this are not measured, and no dream begins in the middle.
        os.environ |= {"RECOLLECT_DREAM": "off", "XDG_CONFIG_HOME": folder}
        rows = bars.add_task("rows", total=None)
        for row in measured(plan, Path(folder), bars):
            results.append(row)
            bars.update(rows, completed=len(results), description=f"{row['part']}, {row['way']}")
            if options.json:  # after each row: a long run may be stopped
                whole = {"facts": known, "model": MODEL, "quick": plan.quick, "results": results}
                write_json(Path(options.json), whole)
    for row in results:
        print(json.dumps(row))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sizes", default="1k,10k,100k", help="how many texts; 1M takes half an hour more")
    parser.add_argument("--parts", default=",".join(PARTS), help=f"some of: {', '.join(PARTS)}")
    parser.add_argument("--quick", action="store_true", help="a minute, to see that all of it runs")
    parser.add_argument("--json", help="where to write the results")
    parser.add_argument("--folder", help="where to put the stores; the disk that is measured")
    return parser.parse_args()


if __name__ == "__main__":
    main()
