"""Make the table of peers in docs/internals/performance.md, and the list of peers that are ahead."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from figure_runs import Plain, has_run, markdown_table, read_run
from speed_figures import ABSENT, figure

OURS = "Recollect"
_WHY = {
    "sqlite-vec + FTS5 by hand": "It only adds two ranks, without recording, confidence, scopes, times or "
    "duplicates. It reads every vector from SQLite's pages, so it falls behind as the store grows.",
    "txtai": "It keeps a faiss index and word arrays in memory, and writes them to disk only on `save()`.",
    "Chroma": "It uses an approximate graph (HNSW) and searches by meaning only.",
    "LanceDB": "It is a columnar engine in Rust; a write appends a file and is not synced.",
    "mcp-memory-service": "It searches by meaning only, through sqlite-vec.",
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
    return markdown_table(("CPU ms of a search among", *heads, "search method"), rows)


def skipped() -> str:
    """Return a list of the peers and sizes that could not be measured, with the reasons."""
    lines = []
    for row in read_run("peers")["results"] if has_run("peers") else ():
        if "skipped" in row:
            lines.append(f"- {row['name']}: {row['skipped']}")
        lines += [
            f"- {row['name']}, {int(size):,} texts: {reason}"
            for size, reason in row["sizes"].items()
            if isinstance(reason, str)
        ]
    return "\n" + "\n".join(lines) + "\n" if lines else ""


def ahead() -> str:
    """Return a list of the peers that use less CPU or disk than Recollect, with reasons."""
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
            lines.append(f"- {row['name']} uses more CPU than Recollect at every measured size.")
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
    """Return a figure of the largest store with 10,000 texts or fewer."""
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
