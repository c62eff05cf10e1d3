"""The tables about confidence, context and precision, read by `cog` from what the benchmarks wrote."""

from __future__ import annotations

from collections.abc import Sequence

from figure_runs import BEFORE, Plain, has_run, markdown_table, read_run, run_of
from figures import title_of


def prompts() -> str:
    """What `context` gives beside prompts, by the first version and by this one."""
    rows = []
    for name, label in ((f"prompts{BEFORE}", "before"), ("prompts", "after")):
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
    """PrecisionMemBench, where it was run."""
    runs = [
        (label, name)
        for label, name in (("before", f"precision{BEFORE}"), ("after", "precision"))
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
    """How well confidence tells questions with an answer from those without."""
    heads = ("data", "absent", "questions", "AUROC", "cosine", "cosine, z", "BM25", "error", "Brier")
    name = "abstention" if has_run("abstention") else f"abstention{BEFORE}"
    before = _by_data(f"abstention{BEFORE}")
    rows = []
    for data in read_run(name)["data"]:
        first = before.get(data["data"]) if name == "abstention" else None
        for absent, error in data["calibration_error"].items():
            means = [
                data["auroc"][method][absent] for method in ("confidence", "cosine", "cosine, z", "bm25")
            ]
            told = data["told_nothing"]
            earlier = "" if first is None else f"{first['auroc']['confidence'].get(absent, 0):.3f} → "
            rows.append(
                [
                    title_of(data["data"]),
                    absent,
                    f"{data['questions']['present']:,} and {data['questions'][absent]:,}",
                    *(
                        f"{earlier if place == 0 else ''}{_best(value, means)}"
                        for place, value in enumerate(means)
                    ),
                    f"{error:.3f}",
                    f"{data['brier'][absent]:.3f}",
                    f"{told['present']:.0%}, {told[absent]:.0%}",
                ]
            )
    return run_of(name) + markdown_table((*heads, "told nothing: present, absent"), rows)


def reliability() -> str:
    """Of single hits, in how many tenths of their confidence the share of right ones is what it says."""
    name = "abstention" if has_run("abstention") else f"abstention{BEFORE}"
    before = _by_data(f"abstention{BEFORE}") if name == "abstention" else {}
    rows = []
    for data in read_run(name)["data"]:
        for kind, tenths in data["reliability"].items():
            first = before.get(data["data"], {}).get("reliability", {}).get(kind)
            earlier = "" if first is None else f"{_holding(first)} → "
            shares = [
                f"{tenth['low']:.1f}: {tenth['confidence']:.2f}, {tenth['right']:.2f} ± "
                f"{tenth['standard_error']:.2f} ({tenth['hits']:,})"
                for tenth in tenths
                if not _holds(tenth)
            ]
            hits = sum(tenth["hits"] for tenth in tenths)
            rows.append(
                [title_of(data["data"]), kind, f"{hits:,}", f"{earlier}{_holding(tenths)}", "; ".join(shares)]
            )
    off = "tenths that do not hold: said, right ± standard error (hits)"
    return markdown_table(("data", "kind", "hits", "tenths that hold", off), rows)


def _holds(tenth: Plain) -> bool:
    """Within two standard errors, and within 5 points where there are 400 hits."""
    error = abs(tenth["right"] - tenth["confidence"])
    return bool(error <= 2 * tenth["standard_error"] and (tenth["hits"] < 400 or error <= 0.05))


def _holding(tenths: Sequence[Plain]) -> str:
    return f"{sum(map(_holds, tenths))} of {len(tenths)}"


def _by_data(name: str) -> dict[str, Plain]:
    return {data["data"]: data for data in read_run(name)["data"]} if has_run(name) else {}


def _best(value: float, values: Sequence[float]) -> str:
    return f"**{value:.3f}**" if value == max(values) else f"{value:.3f}"
