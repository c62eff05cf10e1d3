"""How long the tuner's search takes over a log of many answers.

    python benchmarks/speed/tuning.py --events 1k,10k --json results.json

Answers are made up: 30 candidates each, with use, relations and pairs seen together; every answer has
feedback, since those without are not ranked. Each profile is searched as `recollect tune run` does: `limbic`
over 25 pairs of gamma and beta_sal, the others one number at a time. `one by one` is what ranking each answer
by itself with each set of numbers would take, worked out from a sample.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from facts import facts, write_json

from recollect.domain.records import Query
from recollect.ranking.candidates import DAY, NEVER, Candidates, Cooccurrences, Facts, Profile, Source, run
from recollect.ranking.profiles import PROFILES
from recollect.search.recording import similarity_baseline
from recollect.tuning.events import Event
from recollect.tuning.knobs import points_for
from recollect.tuning.search import analyze, propose_numbers

SEED = 20_260_301
NOW = 1_772_366_400_000_000
CANDIDATES = 30
LIMIT = 10
SAMPLE = 200


def main() -> None:
    options = _options()
    results: list[dict[str, Any]] = []
    for size in options.events.split(","):
        for name in options.profiles.split(","):
            row = measured(_number(size), PROFILES[name])
            results.append(row)
            print(json.dumps(row), flush=True)
    if options.json:
        write_json(Path(options.json), {"facts": facts(), "results": results})


def measured(count: int, profile: Profile) -> dict[str, Any]:
    chance = np.random.default_rng(SEED)
    events = [_event(number, profile, chance) for number in range(count)]
    points = len(points_for(profile))
    began, spent = time.perf_counter(), time.process_time()
    proposal = propose_numbers(events, profile)
    searched, used = time.perf_counter() - began, time.process_time() - spent
    began = time.perf_counter()
    analyze(events, profile, similarity_baseline(profile))
    analyzed = time.perf_counter() - began
    began = time.perf_counter()
    for event in events[:SAMPLE]:
        run(profile, event.candidates, event.context)
    alone = (time.perf_counter() - began) / len(events[:SAMPLE])
    return {
        "what": "search",
        "profile": profile.name,
        "events": count,
        "candidates": CANDIDATES,
        "points": points,
        "verdict": proposal.verdict,
        "search_s": round(searched, 2),
        "search_cpu_s": round(used, 2),
        "analyze_s": round(analyzed, 2),
        "one_by_one_s": round(alone * proposal.train * points, 1),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def _event(number: int, profile: Profile, chance: np.random.Generator) -> Event:
    """Something of the first ten was used, mostly near the top."""
    candidates = replace(_candidates(chance), cooccurrences=_pairs(chance))
    context = Query(f"the question number {number // 2}", NOW + number, LIMIT)
    ranked = tuple(run(profile, candidates, context).ids.tolist())
    used = ranked[min(int(chance.geometric(0.4)) - 1, len(ranked) - 1)]
    return Event(
        number + 1, context.now, context.text, profile.name, "ours", ranked, ranked, ranked, candidates,
        context, {used: 1.0},
    )  # fmt: skip


def _candidates(chance: np.random.Generator) -> Candidates:
    """Two thirds found by meaning, two thirds by words; a talk of some messages among them."""
    count = CANDIDATES
    ids = np.sort(chance.choice(100_000, count, replace=False)) + 1
    times = NOW - chance.integers(0, 500 * DAY, (3, count))
    accesses = chance.integers(0, 20, count)
    ones, none = np.ones(count), np.zeros(count, np.int64)
    columns: dict[str, Any] = dict.fromkeys(Facts.__slots__, none) | {
        "ids": ids,
        "created_at": times[0],
        "updated_at": times[1],
        "happened_at": np.full(count, NEVER),
        "last_access": np.where(accesses > 0, times[2], NEVER),
        "access_count": accesses,
        "access_days": np.minimum(accesses, 5),
        "degree": chance.integers(0, 20, count),
        "status": chance.integers(0, 4, count),
        "importance": chance.random(count),
        "strength": ones,
        "depth": np.full(count, 2),
        "spread": np.ones(count, np.int64),
        "stability": ones,
        "metadata_share": chance.random(count),
        "content": -ids,
        "origin": ids,
        "session": np.where(np.arange(count) < 10, 1, 0),
        "position": np.where(np.arange(count) < 10, np.arange(count) + 1, 0),
    }
    flags = {"echo", "named", "asks"} & set(columns)
    columns |= {name: np.zeros(count, bool) for name in flags}
    sources = {"meaning": _source(chance, 1.0), "words": _source(chance, 20.0)}
    return Candidates(Facts(**columns), sources, np.zeros(count))


def _source(chance: np.random.Generator, best: float) -> Source:
    found = chance.permutation(CANDIDATES)[: 2 * CANDIDATES // 3]
    rank, score = np.zeros(CANDIDATES, np.int64), np.full(CANDIDATES, np.nan)
    rank[found] = np.arange(1, len(found) + 1)
    score[found] = np.sort(chance.random(len(found)) * best)[::-1]
    return Source(rank, score)


def _pairs(chance: np.random.Generator) -> Cooccurrences:
    first, second = np.triu_indices(8, 1)
    count = chance.integers(1, 9, len(first))
    last = NOW - chance.integers(0, 300 * DAY, len(first))
    return Cooccurrences(first, second, count, last)


def _number(text: str) -> int:
    return int(float(text.lower().removesuffix("k")) * 1000) if text.lower().endswith("k") else int(text)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--events", default="1k,10k", help="how many answers the log holds")
    parser.add_argument("--profiles", default="limbic,recollect,mnemosyne", help="which profiles to tune")
    parser.add_argument("--json", help="where to write the results")
    return parser.parse_args()


if __name__ == "__main__":
    main()
