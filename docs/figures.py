"""The tables of docs/benchmarks.md, read by `cog` from what the benchmarks wrote."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_RESULTS = Path(__file__).parents[1] / "benchmarks" / "results"
_OURS = "recollect"
_MEASURES = (
    "ndcg@10", "mrr@10", "fraction@1", "fraction@5", "fraction@10", "fraction@20", "any@5", "any@10", "all@5",
    "all@10",
)  # fmt: skip
_PART = f"{_OURS} − "
_RERANKED = f"{_OURS} + rerank"


def run_of(name: str) -> str:
    """When, on what and by which commit."""
    run = _read(name)
    facts = run["facts"]
    machine = f"{facts['cpu']}, {facts['cores']} cores, Python {facts['python']}, model `{run['model']}`"
    return f"\nRun of {facts['date'][:10]}, commit `{facts['commit'][:12]}`, {machine}.\n"


def quality(data: str) -> str:
    """All questions of a data set, every profile."""
    results = _data(data)["results"]
    names = [name for name in results if not name.startswith(_PART)]
    rows = [[name, *(f"{results[name]['all'][measure]:.1f}" for measure in _MEASURES)] for name in names]
    return _table(("", *_MEASURES), rows)


def categories(data: str) -> str:
    """Fraction@10 and NDCG@10 by category."""
    results = _data(data)["results"]
    groups = [group for group in results[_OURS] if group != "all"]
    heads = [f"{group} ({results[_OURS][group]['questions']})" for group in groups]
    rows = [
        [name, *(f"{means[group]['fraction@10']:.1f} / {means[group]['ndcg@10']:.1f}" for group in groups)]
        for name, means in results.items()
        if not name.startswith(_PART)
    ]
    return _table(("fraction@10 / NDCG@10", *heads), rows)


def ahead(data: Sequence[str]) -> str:
    """Our profile minus each other one, on several data sets."""
    rows = []
    for name in data:
        minus = _data(name)[f"{_OURS} minus"]
        rows += [
            [name, other, *(_interval(minus[measure][other]) for measure in ("fraction@10", "ndcg@10"))]
            for other in minus["ndcg@10"]
        ]
    return _table(("data", f"{_OURS} minus", "fraction@10", "NDCG@10"), rows)


def parts(data: str) -> str:
    """What is lost where one part of our profile is left out."""
    minus = _data(data)[f"{_OURS} minus itself without a part"]
    measures = ("fraction@10", "ndcg@10")
    rows = [
        [name.removeprefix(_PART), *(_interval(minus[measure][name]) for measure in measures)]
        for name in minus["ndcg@10"]
    ]
    return _table(("left out", "costs fraction@10", "costs NDCG@10"), rows)


def reranking(*runs: str) -> str:
    """Our profile before and after its first places are read again, and what that costs."""
    measures = ("fraction@1", "fraction@5", "fraction@10", "ndcg@10")
    rows = []
    for run in map(_read, runs):
        for name, data in run["data"].items():
            ours, again = (data["results"][each]["all"] for each in (_OURS, _RERANKED))
            minus = data[f"{_OURS} minus"]
            taken = run["milliseconds"][name]
            rows.append(
                [
                    f"{name} ({ours['questions']:,})",
                    *(f"{ours[measure]:.1f} → {again[measure]:.1f}" for measure in measures),
                    *(_interval(_turned(minus[each][_RERANKED])) for each in ("fraction@10", "ndcg@10")),
                    f"{taken[_OURS]:.0f} → {taken[_RERANKED]:.0f}",
                ]
            )
    return _table(("data", *measures, "gains fraction@10", "gains NDCG@10", "ms"), rows)


def _turned(value: Mapping[str, float]) -> dict[str, float]:
    """The difference the other way round, without a negative zero."""
    return {"mean": 0.0 - value["mean"], "low": 0.0 - value["high"], "high": 0.0 - value["low"]}


def abstention() -> str:
    """How well confidence tells questions with an answer from those without."""
    run = _read("abstention")
    rows = []
    for data in run["data"]:
        for absent, error in data["calibration_error"].items():
            means = [data["auroc"][name][absent] for name in ("confidence", "cosine", "cosine, z", "bm25")]
            below = f"{data['below']['present']:.0%}, {data['below'][absent]:.0%}"
            shown = [
                f"{'**' if value == max(means) else ''}{value:.3f}{'**' if value == max(means) else ''}"
                for value in means
            ]
            rows.append([data["data"], absent, *shown, f"{error:.3f}", f"{data['brier'][absent]:.3f}", below])
        hits = data["hits"]
        rows.append(
            [
                data["data"],
                "single hits",
                f"{hits['auroc']:.3f}",
                "",
                "",
                "",
                f"{hits['error']:.3f}",
                f"{hits['brier']:.3f}",
                "",
            ]
        )
    heads = (
        "data",
        "absent",
        "AUROC",
        "cosine",
        "cosine, z",
        "BM25",
        "error",
        "Brier",
        "below: present, absent",
    )
    facts = run["facts"]
    told = f"Run of {facts['date'][:10]}, commit `{facts['commit'][:12]}`, {facts['cpu']}."
    return f"\n{told}\n{_table(heads, rows)}"


def _data(name: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = _read("quality")["data"][name]
    return found


def _read(name: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads((_RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return found


def _interval(value: Mapping[str, float]) -> str:
    sure = "**" if value["low"] > 0 or value["high"] < 0 else ""
    return f"{sure}{value['mean']:+.1f}{sure} [{value['low']:+.1f}, {value['high']:+.1f}]"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"
