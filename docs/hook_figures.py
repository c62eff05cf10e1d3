"""The table of docs/hooks.md, read by `cog` from the saved run."""

from __future__ import annotations

from figure_runs import markdown_table, read_run


def hook_waits() -> str:
    """How long prompts waited for hooks."""
    rows = [
        [
            f"{store['memories']:,}",
            f"{store['wall_ms']['p50']:.0f} ms",
            f"{store['wall_ms']['p95']:.0f} ms",
            f"{store['within_limit']:.1%}",
            f"{store['cpu_ms']['p50']:.0f} ms",
            f"{store['resident_mb']:.0f} MB",
            str(store["load_average"]),
        ]
        for store in read_run("hooks")["stores"]
    ]
    titles = ["memories", "p50", "p95", "within 300 ms", "CPU of the hook", "resident", "load"]
    return markdown_table(titles, rows)


def hook_run() -> str:
    run = read_run("hooks")
    facts = run["facts"]
    return (
        f"[hooks.json](../benchmarks/results/hooks.json): {facts['date'][:10]}, commit `{facts['commit'][:12]}`, "
        f"{facts['cpu']}, {facts['cores']} cores, Python {facts['python']}; {run['prompts']} prompts each, a process "
        "for each, from start to end. The load is how many processes wanted to run at a time: above the number of "
        "cores, they wait for each other."
    )
