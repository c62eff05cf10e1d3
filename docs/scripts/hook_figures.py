"""Make the table of docs/guides/hooks.md from the saved run, for `cog`."""

from __future__ import annotations

from figure_runs import markdown_table, read_run


def hook_waits() -> str:
    """Return the table of times that prompts waited for hooks."""
    rows = [
        [
            f"{store['memories']:,}",
            f"{store['wall_ms']['p50']:.0f} ms",
            f"{store['wall_ms']['p95']:.0f} ms",
            f"{store['within_limit']:.1%}",
            f"{store['bare_python_ms']['p50']:.0f} ms",
            f"{store['cpu_ms']['p50']:.0f} + {store['resident_cpu_ms']['p50']:.0f} ms",
            f"{store['resident_mb']:.0f} MB",
        ]
        for store in read_run("hooks")["stores"]
    ]
    titles = [
        "memories",
        "p50",
        "p95",
        "within 300 ms",
        "a bare Python",
        "CPU of hook + resident",
        "resident",
    ]
    return markdown_table(titles, rows)


def hook_run() -> str:
    run = read_run("hooks")
    facts, stores = run["facts"], run["stores"]
    loads = " and ".join(str(store["load_average"]) for store in stores)
    nice = f", at niceness {stores[0]['niceness']}" if stores[0]["niceness"] else ""
    return (
        f"[hooks.json](../../benchmarks/results/hooks.json): {facts['date'][:10]}, "
        f"commit `{facts['commit'][:12]}`, {facts['cpu']}, {facts['cores']} cores, Python {facts['python']}; "
        f"{run['prompts']} prompts each, a process for each, from start to end. Other programs ran "
        f"beside it: the load was {loads}{nice}."
    )
