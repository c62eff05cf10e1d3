"""Make the tables about confidence, context and precision from the saved runs, for `cog`."""

from __future__ import annotations

from collections.abc import Sequence

from figure_runs import BEFORE, Plain, has_run, markdown_table, read_run, run_of
from figures import title_of


def prompts() -> str:
    """Figures of `context` for prompts, of the first version and of this one."""
    rows = []
    for name, label in ((f"prompts{BEFORE}", "first version"), ("prompts", "now")):
        for data, groups in read_run(name)["data"].items() if has_run(name) else ():
            figures = groups["all"]
            rows.append(
                [
                    data,
                    label,
                    f"{figures['silent']:.0%} of {figures['needing_nothing']}",
                    f"{figures['helped']:.0%} of {figures['needing']}",
                    *(
                        "" if figures[key] is None else f"{figures[key]:.0%}"
                        for key in ("precision", "recall")
                    ),
                    "" if figures["tokens_per_helpful"] is None else f"{figures['tokens_per_helpful']:,.0f}",
                ]
            )
    rows.sort(key=lambda row: row[0])
    heads = (
        "data",
        "",
        "silent where nothing is needed",
        "helpful where something is",
        "precision",
        "recall",
    )
    return markdown_table((*heads, "tokens a helpful memory"), rows)


def precision() -> str:
    """Return the table of PrecisionMemBench, if it was run."""
    runs = [
        (label, name)
        for label, name in (("first version", f"precision{BEFORE}"), ("now", "precision"))
        if has_run(name)
    ]
    if not runs:
        return "\nNot measured yet with this version.\n"
    rows = []
    for label, name in runs:
        run = read_run(name)
        rows.append([label, *(f"{run[key]:.2f}" for key in ("precision", "recall"))])
        rows[-1] += [f"{run['passes']} of {run['cases']}", str(run["active_passes"])]
    return markdown_table(("", "mean precision", "mean recall", "passes", "active passes"), rows)


def abstention() -> str:
    """Return the table of how well confidence separates answerable questions from others."""
    before = _by_data(f"abstention{BEFORE}")
    rows = []
    for data in read_run("abstention")["data"]:
        first = before.get(data["data"], {}).get("auroc", {}).get("confidence", {})
        for absent, error in data["calibration_error"].items():
            if ": " in absent:
                continue
            means = [data["auroc"][method][absent] for method in ("confidence", "cosine", "bm25")]
            told = data["told_nothing"]
            earlier = f"{first[absent]:.2f} → " if absent in first else ""
            rows.append(
                [
                    f"{title_of(data['data'])}, {absent}",
                    f"{data['questions']['present']:,} / {data['questions'][absent]:,}",
                    f"{earlier}{_best(means[0], means)}",
                    *(_best(value, means) for value in means[1:]),
                    f"{error:.2f}",
                    f"{told['present']:.0%} / {told[absent]:.0%}",
                ]
            )
    heads = ("data, absent", "questions", "AUROC", "cosine", "BM25", "error")
    return run_of("abstention") + markdown_table((*heads, "below the line: present / absent"), rows)


def _by_data(name: str) -> dict[str, Plain]:
    return {data["data"]: data for data in read_run(name)["data"]} if has_run(name) else {}


def _best(value: float, values: Sequence[float]) -> str:
    return f"**{value:.2f}**" if value == max(values) else f"{value:.2f}"
