"""The tables of docs/internals/performance.md about our own operations, read by `cog` from the saved runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from figure_runs import Plain, has_run, markdown_table, read_run

BEFORE, AFTER = "speed-before", "speed"
KINDS = ("notes", "conversations", "graph")
ABSENT = "–"


def runs() -> list[Plain]:
    """Before, and after once that was measured."""
    return [read_run(name) for name in (BEFORE, AFTER) if has_run(name)]


def rows_of(run: Plain, part: str, **wanted: Any) -> Iterator[Plain]:
    for row in run["results"]:
        if row["part"] == part and all(row.get(key) == value for key, value in wanted.items()):
            yield row


def sizes(part: str, **wanted: Any) -> list[int]:
    return sorted({row["size"] for run in runs() for row in rows_of(run, part, **wanted)})


def figure(value: float | None) -> str:
    """Three digits that tell something."""
    if value is None:
        return ABSENT
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 1 else f"{value:.2f}"


def cell(of: Callable[[Plain], float | None]) -> str:
    """Before → after, of those runs that there are."""
    values = [of(run) for run in runs()]
    return " → ".join(map(figure, values)) if any(value is not None for value in values) else ABSENT


def value_of(run: Plain, key: str, part: str, **wanted: Any) -> float | None:
    row = next(rows_of(run, part, **wanted), None)
    return None if row is None or key not in row else float(row[key])


def of(key: str, part: str, **wanted: Any) -> str:
    return cell(lambda run: value_of(run, key, part, **wanted))


def recall_and_floor() -> str:
    rows = []
    for size in sizes("recall", way="recall"):
        for kind in KINDS:
            known = {"kind": kind, "size": size}
            if not any(list(rows_of(run, "recall", **known)) for run in runs()):
                continue
            rows.append(
                [
                    f"{size:,} {kind}",
                    of("cpu_ms", "recall", way="recall", **known),
                    of("cpu_ms_p99", "recall", way="recall", **known),
                    of("wall_ms", "recall", way="recall", **known),
                    of("cpu_ms", "recall", way="floor", **known),
                    cell(partial(_times_floor, known=known)),
                    cell(partial(_statements, way="recall, not recorded", known=known)),
                    cell(partial(_statements, way="recall", known=known)),
                ]
            )
    heads = (
        "CPU ms", "p99", "wall ms", "the floor, CPU ms", "times the floor", "SQL statements", "with recording"
    )  # fmt: skip
    return markdown_table(("`recall` on", *heads), rows)


def _times_floor(run: Plain, known: dict[str, Any]) -> float | None:
    recall, floor = (value_of(run, "cpu_ms", "recall", way=way, **known) for way in ("recall", "floor"))
    return None if recall is None or floor is None else recall / floor


def _statements(run: Plain, way: str, known: dict[str, Any]) -> float | None:
    row = next(rows_of(run, "recall", way="statements", **known), None)
    return None if row is None else float(row["statements"][way])


def shares() -> str:
    """What recording, confidence and explanations take of a recall of notes, by leaving them out."""
    pairs = {
        "recording": ("recall", "recall, not recorded"),
        "confidence": ("recall, not recorded", "recall, without confidence"),
        "`explain`": ("recall, explained", "recall, not recorded"),
    }
    rows = []
    for size in sizes("recall", way="recall"):
        known = {"kind": "notes", "size": size}
        parts = [
            cell(partial(_difference, more=more, less=less, known=known)) for more, less in pairs.values()
        ]
        context = of("cpu_ms", "recall", way="context", **known)
        rows.append([f"{size:,}", of("cpu_ms", "recall", way="recall", **known), *parts, context])
    heads = ("whole", *(f"of it {name}" if name != "`explain`" else "`explain` adds" for name in pairs))
    return markdown_table(("notes; CPU ms", *heads, "`context` of 1,000 tokens"), rows)


def _difference(run: Plain, more: str, less: str, known: dict[str, Any]) -> float | None:
    with_it, without = (value_of(run, "cpu_ms", "recall", way=way, **known) for way in (more, less))
    return None if with_it is None or without is None else max(0.0, with_it - without)


def past() -> str:
    rows = [
        [
            f"{size:,}, {share:.0%} changed since",
            *(
                of("cpu_ms", "past", way=way, size=size, changed=share)
                for way in ("recall now", "recall as of before")
            ),
        ]
        for size in sizes("past")
        for share in (0.01, 0.1)
    ]
    return markdown_table(("notes; CPU ms", "`recall`", "`recall(as_of=…)`"), rows)


def writes() -> str:
    ways = {
        "`remember`": ("notes", "remember"),
        "by hand": ("notes", "by hand"),
        "`supersede`": ("notes", "supersede"),
        "`add_messages`, two": ("conversations", "add_messages, two"),
        "… without drawing notes": ("conversations", "add_messages, two, no notes drawn"),
        "`create_entities`, one": ("graph", "create_entities, one"),
    }
    known = sizes("write")
    rows = [
        [
            name,
            *(of("cpu_ms", "write", kind=kind, way=way, size=size) for size in known),
            *(of("wall_ms", "write", kind=kind, way=way, size=size) for size in known[-1:]),
        ]
        for name, (kind, way) in ways.items()
    ]
    heads = [*(f"{size:,}" for size in known), f"{known[-1]:,}, wall ms"]
    return markdown_table(("CPU ms, on a store of", *heads), rows)


def loading() -> str:
    rows = []
    for part, kind in (("bulk", "notes"), ("bulk", "conversations"), ("bulk", "graph"), ("import", "graph")):
        for size in sizes(part, kind=kind):
            known = {"kind": kind, "size": size}
            name = f"{size:,} {kind}" if part == "bulk" else f"the official server's file of {size:,} texts"
            rows.append(
                [
                    name,
                    of("per_cpu_second", part, way="recollect", **known),
                    of("per_cpu_second", part, way="by hand", **known),
                    of("bytes_each", "disk", way="recollect", **known) if part == "bulk" else "",
                    of("bytes_each_without_cache", "disk", way="recollect", **known)
                    if part == "bulk"
                    else "",
                    of("bytes_each", "disk", way="by hand", **known) if part == "bulk" else "",
                ]
            )
    heads = ("rows a CPU second", "by hand", "bytes each", "without the vectors' cache", "by hand")
    return markdown_table(("loading", *heads), rows)


def opening() -> str:
    ways = ("as it was left", "without its file of vectors")
    rows = _by_size_and_way("open", "{:,}, {}", ways, ("open_cpu_ms", "answer_cpu_ms", "second_cpu_ms"))
    return markdown_table(("notes; CPU ms", "open", "to the first answer", "a second answer"), rows)


def _by_size_and_way(part: str, name: str, ways: Sequence[str], keys: Sequence[str]) -> list[list[str]]:
    """A line for each size and way that a part was measured in."""
    return [
        [name.format(size, way), *(of(key, part, size=size, way=way) for key in keys)]
        for size in sizes(part)
        for way in ways
    ]


def starting() -> str:
    rows = [
        [f"`{way}`", of("cpu_ms", "command", way=way), of("wall_ms", "command", way=way)]
        for way in (
            "recollect --help",
            "recollect recall",
            "recollect remember",
            "python -c 'import numpy, apsw'",
        )
    ]
    for server in ("recollect", "bare"):
        name = "`recollect serve`" if server == "recollect" else "a bare server on the same SDK"
        for way in ("start to tools/list", "start to the first answer"):
            known = {"way": way, "server": server}
            rows.append([f"{name}, {way}", of("cpu_ms", "serve", **known), of("median_ms", "serve", **known)])
    return markdown_table(("from a cold process", "CPU ms", "wall ms"), rows)


def memory() -> str:
    keys = ("rss_mb", "pss_mb", "second_rss_mb", "second_pss_mb", "second_adds_mb")
    rows = [
        [server, *(of(key, "serve", way="memory", server=server) for key in keys)]
        for server in ("recollect", "bare")
    ]
    heads = ("RSS", "PSS", "second: RSS", "PSS", "the second adds")
    return markdown_table(("a server, MB", *heads), rows)


def dreams() -> str:
    ways = ("the first", "after 40 days away")
    rows = _by_size_and_way("dream", "{:,} notes, {}", ways, ("cpu_ms", "longest_hold_ms"))
    return markdown_table(("a dream over", "CPU ms", "longest hold of the write lock, ms"), rows)


def at_once() -> str:
    rows = []
    for row in _distinct(["way", "operation", "at_once"]):
        known = dict(zip(("way", "operation", "at_once"), row, strict=True))
        rows.append(
            [
                f"`{known['operation']}`, {known['way']}",
                str(known["at_once"]),
                *(of(key, "at once", **known) for key in ("per_second", "p50_ms", "p99_ms", "cpu_ms")),
            ]
        )
    return markdown_table(("", "at once", "a second", "p50 ms", "p99 ms", "CPU ms a call"), rows)


def _distinct(keys: Sequence[str]) -> list[tuple[Any, ...]]:
    found = (tuple(row[key] for key in keys) for run in runs() for row in rows_of(run, "at once"))
    return sorted(dict.fromkeys(found), key=lambda row: (row[1], row[0], row[2]))


def growth() -> str:
    """How many times as much each operation takes on ten times as many texts, by the latest run."""
    run = runs()[-1]
    operations: dict[str, tuple[str, dict[str, Any]]] = {
        "`recall`, notes": ("recall", {"way": "recall", "kind": "notes"}),
        "`recall`, conversations": ("recall", {"way": "recall", "kind": "conversations"}),
        "`recall`, graph": ("recall", {"way": "recall", "kind": "graph"}),
        "`context`, notes": ("recall", {"way": "context", "kind": "notes"}),
        "the floor, notes": ("recall", {"way": "floor", "kind": "notes"}),
        "by hand, search": ("recall", {"way": "by hand", "kind": "notes"}),
        "`remember`": ("write", {"way": "remember"}),
        "`add_messages`, two": ("write", {"way": "add_messages, two"}),
        "`create_entities`, one": ("write", {"way": "create_entities, one"}),
        "bulk load, each": ("bulk", {"way": "recollect", "kind": "notes"}),
    }
    steps = [(1_000, 10_000), (10_000, 100_000), (100_000, 1_000_000)]
    rows = []
    for name, (part, known) in operations.items():
        line = [name]
        for small, large in steps:
            first, last = (value_of(run, "cpu_ms", part, size=size, **known) for size in (small, large))
            line.append(ABSENT if first is None or last is None else f"× {last / first:.1f}")
        rows.append(line)
    heads = [f"{small:,} to {large:,}" for small, large in steps]
    return markdown_table(("CPU time grows", *heads), rows)


def load() -> str:
    """How busy the machine was with other work when each run began."""
    told = [f"`{run['facts']['load_before']}`" for run in runs() if "load_before" in run["facts"]]
    return f"\nLoad of the machine before each run (1, 5 and 15 minutes): {', '.join(told)}.\n"
