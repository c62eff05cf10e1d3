"""Make the tables of docs/guides/postgres.md from the saved runs, for `cog`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from figure_runs import Plain, markdown_table, read_run
from speed_figures import figure, rows_of

_WAYS = ("SQLite", "PostgreSQL")


def recalls() -> str:
    """The wall time of a recall on each store, and the ratio."""
    run = read_run("postgres")
    rows = []
    for size in sorted({row["size"] for row in rows_of(run, "recall")}):
        file, server = (_one(run, "recall", size=size, way=way)["wall_ms"] for way in _WAYS)
        rows.append([f"{size:,}", figure(file), figure(server), f"{server / file:.2f}"])
    return markdown_table(("notes", "in a file, ms", "on PostgreSQL, ms", "ratio"), rows)


def failovers() -> str:
    run = read_run("failover")
    account = run["account"]
    return (
        f"\n{len(run['rounds'])} primaries killed under {run['writers']} writers: "
        f"{account['acknowledged']:,} writes acknowledged, {account['lost']} lost, "
        f"{account['duplicates']} stored twice; the longest pause between acknowledged writes was "
        f"{run['longest_gap_s']:.2f} s; {run['read_errors']} of {run['reads']:,} reads failed.\n"
    )


def _one(run: Plain, part: str, **wanted: Any) -> Plain:
    found: Iterator[Plain] = rows_of(run, part, **wanted)
    return next(found, {})
