"""Make the tables of docs/internals/performance.md about Recollect from the saved runs, for `cog`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from figure_runs import Plain, markdown_table, read_run

RUN = "speed"
KINDS = ("notes", "conversations", "graph")
ABSENT = "–"


def rows_of(run: Plain, part: str, **wanted: Any) -> Iterator[Plain]:
    for row in run["results"]:
        if row["part"] == part and all(row.get(key) == value for key, value in wanted.items()):
            yield row


def sizes(part: str, **wanted: Any) -> list[int]:
    return sorted({row["size"] for row in rows_of(read_run(RUN), part, **wanted)})


def figure(value: float | None) -> str:
    """Format a figure with about three significant digits."""
    if value is None:
        return ABSENT
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 1 else f"{value:.2f}"


def value_of(key: str, part: str, **wanted: Any) -> float | None:
    row = next(rows_of(read_run(RUN), part, **wanted), None)
    return None if row is None or key not in row else float(row[key])


def of(key: str, part: str, **wanted: Any) -> str:
    return figure(value_of(key, part, **wanted))


def recall_and_floor() -> str:
    rows = []
    for size in sizes("recall", way="recall"):
        for kind in KINDS:
            known = {"kind": kind, "size": size}
            statements = next(rows_of(read_run(RUN), "recall", way="statements", **known), None)
            if statements is None:
                continue
            rows.append(
                [
                    f"{size:,} {kind}",
                    *(
                        of(key, "recall", way="recall", **known)
                        for key in ("cpu_ms", "cpu_ms_p99", "wall_ms")
                    ),
                    of("cpu_ms", "recall", way="floor", **known),
                    figure(statements["statements"]["recall, not recorded"]),
                ]
            )
    heads = ("CPU ms", "CPU p99, ms", "wall ms", "floor, CPU ms", "SQL statements")
    return markdown_table(("`recall` on", *heads), rows)


def shares() -> str:
    """Return the cost of recording, confidence and explanations in a recall, as differences of two runs."""
    pairs = {
        "recording": ("recall", "recall, not recorded"),
        "confidence": ("recall, not recorded", "recall, without confidence"),
        "`explain`": ("recall, explained", "recall, not recorded"),
    }
    rows = []
    for size in sizes("recall", way="recall"):
        known = {"kind": "notes", "size": size}
        parts = [figure(_difference(more, less, known)) for more, less in pairs.values()]
        whole, context = (of("cpu_ms", "recall", way=way, **known) for way in ("recall", "context"))
        rows.append([f"{size:,}", whole, *parts, context])
    heads = ("`recall`", "recording", "confidence", "`explain` adds", "`context` of 1,000 tokens")
    return markdown_table(("notes; CPU ms", *heads), rows)


def _difference(more: str, less: str, known: dict[str, Any]) -> float | None:
    with_it, without = (value_of("cpu_ms", "recall", way=way, **known) for way in (more, less))
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
        "… without extraction": ("conversations", "add_messages, two, no notes drawn"),
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
    for part, kind in (("bulk", "notes"), ("import", "graph")):
        for size in sizes(part, kind=kind):
            known = {"kind": kind, "size": size}
            name = f"{size:,} {kind}" if part == "bulk" else f"the official server's JSONL, {size:,} texts"
            speeds = [of("per_cpu_second", part, way=way, **known) for way in ("recollect", "by hand")]
            disk = [
                of("bytes_each", "disk", way="recollect", **known),
                of("bytes_each_without_cache", "disk", way="recollect", **known),
                of("bytes_each", "disk", way="by hand", **known),
            ]
            rows.append([name, *speeds, *(disk if part == "bulk" else ["", "", ""])])
    heads = ("rows per CPU second", "rows by hand", "bytes each", "bytes without cache", "bytes by hand")
    return markdown_table(("loading", *heads), rows)


def opening() -> str:
    ways = {"as it was left": "with its vector cache", "without its file of vectors": "without it"}
    rows = _by_size_and_way("open", "{:,}, {}", ways, ("open_cpu_ms", "answer_cpu_ms", "second_cpu_ms"))
    return markdown_table(("notes; CPU ms", "open", "first answer", "second answer"), rows)


def _by_size_and_way(part: str, name: str, labels: Mapping[str, str], keys: Sequence[str]) -> list[list[str]]:
    """Return a row for each size and each way of the saved run, which `labels` maps to its text."""
    return [
        [name.format(size, label), *(of(key, part, size=size, way=way) for key in keys)]
        for size in sizes(part)
        for way, label in labels.items()
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
    ways = {"the first": "the first", "after 40 days away": "40 days later"}
    rows = _by_size_and_way("dream", "{:,} notes, {}", ways, ("cpu_ms", "longest_hold_ms"))
    return markdown_table(("a dream over", "CPU ms", "longest hold of the write lock, ms"), rows)


def at_once() -> str:
    """Return the rates of readers and writers, with the fewest and the most callers measured."""
    found: dict[tuple[str, str], list[int]] = {}
    for row in rows_of(read_run(RUN), "at once"):
        if row["operation"] == "by hand" or " ask and " in row["way"]:
            continue
        found.setdefault((row["operation"], row["way"]), []).append(row["at_once"])
    rows = [
        [
            f"`{operation}`, {way}",
            str(count),
            *(
                of(key, "at once", operation=operation, way=way, at_once=count)
                for key in ("per_second", "p50_ms", "p99_ms")
            ),
        ]
        for (operation, way), counts in sorted(found.items())
        for count in sorted({min(counts), max(counts)})
    ]
    return markdown_table(("", "callers", "per second", "p50 ms", "p99 ms"), rows)


def load() -> str:
    """Return a line with the load average at the start of the run."""
    load_before = read_run(RUN)["facts"]["load_before"]
    return f"\nLoad average before the run (1, 5 and 15 minutes): `{load_before}`.\n"
