"""Measure whether needed memories are found in a simulated year, with and without dreams.

    python benchmarks/dreams/year.py --json results.json --plot year.svg

Each profile gets the same memories and questions in the same order, once without dreams and once with dreams
that skip the phases that fail their gate. A memory answers a question if it states the current fact, in any
words. See `life.py` for the facts and questions, and `simulate.py` for the run.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from life import Life, Need, life
from plot import Panel, draw_year
from rich.console import Console
from rich.table import Table
from simulate import CachedEmbedder, Nights, YearResult, live, month_of

from recollect.domain.numbers import bootstrap_interval, discounts
from recollect.models.embedders import embedder_named
from recollect.ranking.profiles import PROFILES

sys.path.append(str(Path(__file__).parents[1] / "speed"))

from facts import facts, write_json
from timing import tell, timed

SEED = 1
RESAMPLES = 5_000
MEASURES = ("recall@10", "mrr", "ndcg@10")
GROUPS = ("all", "habit", "burst", "one-off", "one-off, 60 to 330 days later", "corrected")


def main() -> None:
    options = _options()
    made = life(options.size, options.days, options.seed)
    embedder = embedder_named(options.model)
    if embedder is None:
        sys.exit("This benchmark needs an embedding model; name one with --model.")
    known = CachedEmbedder(embedder, Path(options.cache) if options.cache else None)
    profiles = options.profiles.split(",")
    needs = [need for day in made.needs for need in day]
    statements = sum(map(len, made.tellings))
    tell(f"{statements:,} statements, {len(needs):,} questions, need falls as t^{made.slope:.2f}")
    off = _run_year(made, known, profiles, Nights(0), "without dreams", options.folder)
    known.save()
    results: dict[str, Any] = {}
    panels: list[Panel] = []
    for name in profiles:
        on = _run_year(made, known, [name], Nights(options.every), name, options.folder)
        results[name] = _compared(needs, made.days, on, off, name)
        panels.append(_panel(name, results[name]))
        _show(results)
        _write(options, made, known, off, results)
        if options.plot:
            Path(options.plot).parent.mkdir(parents=True, exist_ok=True)
            Path(options.plot).write_text(
                draw_year(panels, _caption(made, needs, options.every)), encoding="utf-8"
            )
    known.save()


def _run_year(
    made: Life,
    embedder: CachedEmbedder,
    profiles: Sequence[str],
    nights: Nights,
    name: str,
    folder: str | None,
) -> YearResult:
    # Without dreams, only limbic uses recorded hits. It is asked last, because only the last one is recorded.
    asked = sorted(profiles, key=lambda profile: profile == "limbic")
    with tempfile.TemporaryDirectory(prefix="recollect-bench-", dir=folder) as place, timed() as whole:
        lived = live(made, embedder, Path(place), asked, nights)
    tell(f"{name}: {whole.wall:.0f} s")
    return lived


# Measuring


def _compared(
    needs: Sequence[Need], days: int, on: YearResult, off: YearResult, profile: str
) -> dict[str, Any]:
    ranks = {"on": on.ranks[profile], "off": off.ranks[profile]}
    scores = {way: {name: _scores(found, name) for name in MEASURES} for way, found in ranks.items()}
    groups = {group: [place for place, need in enumerate(needs) if _is_in(need, group)] for group in GROUPS}
    return {
        "by_need": {
            group: {"questions": len(places)} | {name: _pair(scores, name, places) for name in MEASURES}
            for group, places in groups.items()
            if places
        },
        "by_month": [
            {"month": month + 1, "questions": len(places)}
            | {
                name: {
                    way: round(statistics.fmean(scores[way][name][at] for at in places), 4) for way in ranks
                }
                for name in MEASURES
            }
            | {"dreams": on.months[month], "in_force_without": off.months[month]["in_force"]}
            for month, places in enumerate(_months(needs, days))
            if places
        ],
        "better": sum(
            _scores([a], "mrr") > _scores([b], "mrr") for a, b in zip(*ranks.values(), strict=True)
        ),
        "worse": sum(_scores([a], "mrr") < _scores([b], "mrr") for a, b in zip(*ranks.values(), strict=True)),
        "nothing_left_that_answers": dict(on.gone),
        "dreams": dict(on.done),
        "gate_blamed": dict(on.skipped),
        "in_force_at_the_end": {"on": on.months[-1]["in_force"], "off": off.months[-1]["in_force"]},
        "dream_ms": {
            "median": round(1000 * statistics.median(on.dream_seconds), 1),
            "longest": round(1000 * max(on.dream_seconds), 1),
        },
    }


def _scores(ranks: Sequence[int], measure: str) -> list[float]:
    """Return the scores of ranks. A need has one fact, so NDCG is the discount of its first memory."""
    match measure:
        case "recall@10":
            return [float(rank > 0) for rank in ranks]
        case "mrr":
            return [1 / rank if rank else 0.0 for rank in ranks]
        case _:
            found: list[float] = discounts(np.array(ranks, np.int64), max(ranks, default=0)).tolist()
            return found


def _pair(
    scores: Mapping[str, Mapping[str, Sequence[float]]], name: str, places: Sequence[int]
) -> dict[str, float]:
    on, off = ([scores[way][name][place] for place in places] for way in ("on", "off"))
    differences = np.array(on) - np.array(off)
    interval = bootstrap_interval(differences, np.random.default_rng(SEED), RESAMPLES)
    return {
        "on": round(statistics.fmean(on), 4),
        "off": round(statistics.fmean(off), 4),
        "difference": round(interval.mean, 4),
        "low": round(interval.low, 4),
        "high": round(interval.high, 4),
    }


def _is_in(need: Need, group: str) -> bool:
    match group:
        case "all":
            return True
        case "corrected":
            return need.changed
        case "one-off, 60 to 330 days later":
            return need.late
        case _:
            return need.sort == group


def _months(needs: Sequence[Need], days: int) -> list[list[int]]:
    """Return the positions of the needs of each month."""
    months: list[list[int]] = [[] for _ in range(month_of(days, days) + 1)]
    for place, need in enumerate(needs):
        months[month_of(need.day, days)].append(place)
    return months


# Results


def _write(
    options: argparse.Namespace,
    made: Life,
    known: CachedEmbedder,
    off: YearResult,
    results: Mapping[str, Any],
) -> None:
    if not options.json:
        return
    plain = {
        "facts": facts("onnxruntime") | {"model": known.model.name},
        "life": {
            "seed": made.seed,
            "days": made.days,
            "facts": len(made.facts),
            "tellings": sum(map(len, made.tellings)),
            "memories": off.months[-1]["in_force"],
            "questions": sum(map(len, made.needs)),
            "need_falls_as_t_to_the": round(made.slope, 2),
        },
        "nights_between_dreams": options.every,
        "resamples": RESAMPLES,
        "profiles": results,
    }
    write_json(Path(options.json), plain)


def _panel(name: str, result: Mapping[str, Any]) -> Panel:
    months = result["by_month"]
    differences = {
        group: tuple(result["by_need"][group]["mrr"][key] for key in ("difference", "low", "high"))
        for group in GROUPS
        if group in result["by_need"]
    }
    whole = result["by_need"]["all"]
    return Panel(
        title=name.removeprefix("reverie, "),  # its panel is narrow, and next to the one of reverie
        on=tuple(month["mrr"]["on"] for month in months),
        off=tuple(month["mrr"]["off"] for month in months),
        recall_on=tuple(month["recall@10"]["on"] for month in months),
        recall_off=tuple(month["recall@10"]["off"] for month in months),
        differences=differences,
        summary=f"recall@10 {whole['recall@10']['difference']:+.3f}, MRR {whole['mrr']['difference']:+.3f}",
        in_force=tuple(month["dreams"]["in_force"] for month in months),
        in_force_off=tuple(month["in_force_without"] for month in months),
    )


def _caption(made: Life, needs: Sequence[Need], every: int) -> str:
    how = "every night" if every == 1 else f"every {every} nights"
    texts = {one.text for day in made.tellings for one in day}
    return (
        f"{len(texts):,} texts, {made.days} days, {len(needs):,} questions, a dream {how}, seed {made.seed}"
    )


def _show(results: Mapping[str, Any]) -> None:
    console = Console(width=150, stderr=True)
    table = Table(title="with dreams, without, and the difference with its 95 % bootstrap interval")
    for column in ("profile", *MEASURES, "merged", "pruned", "archived", "gate closed", "current"):
        table.add_column(column)
    for name, result in results.items():
        cells = (_cell(result["by_need"]["all"][measure]) for measure in MEASURES)
        done = result["dreams"]
        table.add_row(
            name,
            *cells,
            *(str(done[what]) for what in ("merged", "pruned", "archived", "gate_closed")),
            str(result["in_force_at_the_end"]["on"]),
        )
    console.print(table)


def _cell(one: Mapping[str, float]) -> str:
    bounds = f"[{one['low']:+.4f}, {one['high']:+.4f}]"
    return f"{one['on']:.3f}  {one['off']:.3f}  {one['difference']:+.4f} {bounds}"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--size", type=int, default=5_000, help="approximate number of memories")
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--every", type=int, default=1, help="nights between dreams")
    parser.add_argument("--model", default="arctic-memory", help="embedding model")
    parser.add_argument("--profiles", default=",".join(PROFILES), help="names, separated by commas")
    parser.add_argument("--cache", help="a file that keeps the vectors between runs")
    parser.add_argument("--folder", help="where to put the stores")
    parser.add_argument("--json", help="where to write the results")
    parser.add_argument("--plot", help="where to write the plot, as SVG")
    return parser.parse_args()


if __name__ == "__main__":
    main()
