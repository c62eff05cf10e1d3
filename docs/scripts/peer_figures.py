"""The table of peers of docs/internals/performance.md, and where one of them is ahead."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from figure_runs import Plain, has_run, markdown_table, read_run
from speed_figures import ABSENT, figure

OURS = "Recollect"
_WHY = {
    "sqlite-vec + FTS5 by hand": "It adds two ranks: no recording, confidence, scopes, times or duplicates. "
    "It reads every vector from SQLite's pages, so it falls behind as the store grows.",
    "txtai": "A faiss index and word arrays in memory, on the disk only after `save()`.",
    "Chroma": "An approximate graph (HNSW), by meaning alone: no words, names or numbers.",
    "LanceDB": "A columnar engine in Rust; a write appends a file and is not synced.",
    "mcp-memory-service": "By meaning alone, through sqlite-vec.",
}


def peers() -> str:
    if not has_run("peers"):
        return "\nNot measured yet.\n"
    run = read_run("peers")
    known = _sizes(run)
    rows = []
    for row in run["results"]:
        version = f" {row['version']}" if row["version"] and "skipped" not in row else ""
        figures = [_search(row, size) for size in known]
        rows.append(
            [
                f"{row['name']}{version}",
                *(ABSENT if value is None else figure(value) for value in figures),
                figure(_at_middle(row, known, _write)),
                figure(_at_middle(row, known, _bytes)),
                _syncs(row),
                f"{row['locomo']:.3f}" if isinstance(row.get("locomo"), float) else ABSENT,
                row["searches"],
            ]
        )
    heads = (*(f"{size:,}" for size in known), "a write", "bytes each", "syncs a write", "R@10")
    return markdown_table(("CPU ms of a search among", *heads, "asked by"), rows)


def skipped() -> str:
    """Peers and sizes that could not be measured, and why."""
    lines = []
    for row in read_run("peers")["results"] if has_run("peers") else ():
        if "skipped" in row:
            lines.append(f"- {row['name']}: {row['skipped']}")
        lines += [
            f"- {row['name']}, {int(size):,} texts: {told}"
            for size, told in row["sizes"].items()
            if isinstance(told, str)
        ]
    return "\n" + "\n".join(lines) + "\n" if lines else ""


def ahead() -> str:
    """Peers that need less CPU time than Recollect, at which sizes, and why."""
    if not has_run("peers"):
        return ""
    run = read_run("peers")
    ours = next(row for row in run["results"] if row["name"] == OURS)
    lines = []
    for row in run["results"]:
        if row is ours:
            continue
        faster = [
            (size, mine / theirs)
            for size in _sizes(run)
            if (mine := _search(ours, size)) and (theirs := _search(row, size)) and theirs < mine
        ]
        if faster:
            times = ", ".join(f"{ratio:.1f} times at {size:,}" for size, ratio in faster)
            lines.append(f"- **{row['name']} uses less CPU** ({times}). {_WHY.get(row['name'], '')}")
        else:
            lines.append(f"- {row['name']} needs more CPU time than we do at every size that was measured.")
    known = _sizes(run)
    for what, of in (("use less CPU for a write", _write), ("take less disk", _bytes)):
        mine = _at_middle(ours, known, of)
        less = [
            f"{row['name']} ({figure(theirs)})"
            for row in run["results"]
            if mine and (theirs := _at_middle(row, known, of)) and theirs < mine
        ]
        if less:
            lines.append(f"- These {what} than Recollect ({figure(mine)}): {', '.join(less)}.")
    return "\n" + "\n".join(lines) + "\n"


def _sizes(run: Plain) -> list[int]:
    return sorted({int(size) for row in run["results"] for size in row["sizes"]})


def _search(row: Plain, size: int) -> float | None:
    found = row["sizes"].get(str(size))
    return float(found["search"]["cpu_ms"]) if isinstance(found, dict) else None


def _at_middle(row: Plain, known: Sequence[int], of: Callable[[Plain], float]) -> float | None:
    """On the largest store of 10,000 at most."""
    size = max((size for size in known if size <= 10_000), default=min(known))
    found = row["sizes"].get(str(size))
    return of(found) if isinstance(found, dict) else None


def _write(found: Plain) -> float:
    return float(found["write"]["cpu_ms"])


def _bytes(found: Plain) -> float:
    return float(found["bytes_each"])


def _syncs(row: Plain) -> str:
    syncs = row.get("syncs_each_write")
    return ABSENT if syncs is None else f"{syncs:g}"
