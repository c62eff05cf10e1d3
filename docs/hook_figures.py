"""The table of docs/hooks.md, from what benchmarks/speed/hooks.py wrote."""

from __future__ import annotations

import json
from pathlib import Path

_RESULTS = Path(__file__).parent.parent / "benchmarks" / "results" / "hooks.json"


def waiting_table() -> str:
    found = json.loads(_RESULTS.read_text(encoding="utf-8"))
    facts = found["facts"]
    rows = [
        f"| {store['memories']:,} | {store['wall_ms']['p50']:.0f} ms | {store['wall_ms']['p95']:.0f} ms | "
        f"{store['within_limit']:.1%} | {store['cpu_ms']['p50']:.0f} ms | {store['resident_mb']:.0f} MB | "
        f"{store['load_average']} |"
        for store in found["stores"]
    ]
    return "\n".join(
        (
            "| memories | p50 | p95 | within 300 ms | CPU of the hook | resident | load |",
            "|---|---|---|---|---|---|---|",
            *rows,
            "",
            f"{found['prompts']} prompts each, a process for each, from start to end, on {facts.get('machine', '')}"
            f" ({facts.get('commit', '')[:12]}). The load is the machine's average number of processes that want"
            " to run: above its number of cores, processes wait for each other.",
        )
    )
