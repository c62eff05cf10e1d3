"""The tables of docs/guides/postgres.md, read by `cog` from the saved runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from figure_runs import Plain, markdown_table, read_run
from speed_figures import ABSENT, figure, rows_of

_WAYS = ("SQLite", "PostgreSQL")


def recalls() -> str:
    """Wall time of both, the ratio, and where it goes."""
    run = read_run("postgres")
    rows = []
    for size in sorted({row["size"] for row in rows_of(run, "recall")}):
        for also, kind in (("", "as users call it"), (", not recorded", "not recorded")):
            file, server = (_one(run, "recall", size=size, way=way + also) for way in _WAYS)
            rows.append([
                f"{size:,}, {kind}",
                figure(file["wall_ms"]),
                figure(server["wall_ms"]),
                f"{server['wall_ms'] / file['wall_ms']:.2f}",
                figure(server["cpu_ms"]),
                _figure(run, "cpu_ms", "recall", size=size, way="PostgreSQL, the server's own"),
                _figure(run, "wall_ms", "recall", size=size, way="by hand"),
            ])  # fmt: skip
    heads = (
        "notes",
        "in a file, ms",
        "on PostgreSQL",
        "ratio",
        "its client's CPU",
        "its server's CPU",
        "by hand",
    )
    return markdown_table(heads, rows)


def writes() -> str:
    run = read_run("postgres")
    rows = [
        [
            f"one note among {size:,}, ms",
            *(_figure(run, "wall_ms", "remember", size=size, way=way) for way in _WAYS),
        ]
        for size in sorted({row["size"] for row in rows_of(run, "remember")})
    ]
    rows += [
        [f"{_one(run, 'bulk', way=_WAYS[0])['size']:,} notes at once, a second"]
        + [_figure(run, "per_second", "bulk", way=way) for way in _WAYS]
    ]
    rows += [
        [f"{row['clients']} clients on as many scopes, notes a second", ABSENT, figure(row["per_second"])]
        for row in rows_of(run, "clients")
    ]
    rows += [
        [f"copied from a file of {row['size']:,}, notes a second", ABSENT, figure(row["per_second"])]
        for row in rows_of(run, "copy")
    ]
    return markdown_table(("", "in a file", "on PostgreSQL"), rows)


def failovers() -> str:
    run = read_run("failover")
    account = run["account"]
    return (
        f"\n{len(run['rounds'])} primaries killed under {run['writers']} writers: "
        f"{account['acknowledged']:,} writes acknowledged, {account['lost']} lost, "
        f"{account['duplicates']} made twice; the longest time without one was "
        f"{run['longest_gap_s']:.2f} s; {run['read_errors']} of {run['reads']:,} reads failed.\n"
    )


def _one(run: Plain, part: str, **wanted: Any) -> Plain:
    found: Iterator[Plain] = rows_of(run, part, **wanted)
    return next(found, {})


def _figure(run: Plain, key: str, part: str, **wanted: Any) -> str:
    return figure(_one(run, part, **wanted).get(key))
