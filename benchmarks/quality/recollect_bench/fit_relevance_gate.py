"""Fit the gate that keeps `context` empty, and report its figures on held-out people.

    python -m recollect_bench.fit_relevance_gate --date 2026-11-17 --cache DIR MODEL=PATH…

Reads folders with prompts.jsonl: half of the prompts need something remembered, half need nothing. Beside
them, every store is given its own questions and topics (two long words of a memory), which need it, and the
prompts of `idle_prompts.txt`, which do not. The weights go to `recollect/ranking/relevance_gate.json`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

import recollect.ranking as ranking_package
from recollect.domain.numbers import hash_number
from recollect.ranking.confidence import GATE_FILE, SILENT_BELOW, GateSignals
from recollect.ranking.profiles import RECOLLECT
from recollect.search.context import answer_gate_signals
from recollect.search.recall import query_of, recall
from recollect.settings import Settings
from recollect.text.tokens import content_words
from recollect_bench.haystack_store import open_haystack
from recollect_bench.loading import load_datasets
from recollect_bench.logistic import LogisticProblem, fit_logistic
from recollect_bench.models import cached_models
from recollect_bench.quality import dataset_files

if TYPE_CHECKING:
    from recollect.ranking.candidates import Floats
    from recollect_bench.datasets import Haystack
    from recollect_bench.haystack_store import StoredHaystack

Sort = Literal["needs", "needs nothing", "question", "topic", "idle"]
# There are many more questions and idle prompts, but the gate is made for the prompts.
_WEIGHTS: dict[Sort, float] = {"needs": 1.0, "needs nothing": 1.0, "question": 0.5, "topic": 0.5, "idle": 0.4}
_NEEDING = frozenset({"needs", "question", "topic"})
_TOPICS = 40
_PENALTY = 1.0
IDLE = Path(__file__).with_name("idle_prompts.txt")


@dataclass(frozen=True, slots=True)
class Prompted:
    store: str
    sort: Sort
    signals: Floats


def ask_store(stored: StoredHaystack, idle: Sequence[str]) -> Iterator[Prompted]:
    haystack = stored.haystack
    stored.fill()
    asked: list[tuple[Sort, str, Any]] = [
        ("needs" if prompt.needs_memory else "needs nothing", prompt.text, prompt.at)
        for prompt in haystack.prompts
    ]
    asked += [("question", each.text, each.at) for each in haystack.judged_questions]
    asked += [("topic", topic, None) for topic in store_topics(haystack)]
    asked += [("idle", text, None) for text in idle]
    for sort, text, at in asked:
        stored.set_clock(at)
        services = stored.engine._services
        question = query_of(services, text, RECOLLECT, limit=60, across=True, record=False)
        signals = answer_gate_signals(recall(services, question, RECOLLECT))
        yield Prompted(haystack.name, sort, np.array(astuple(signals)))


def store_topics(haystack: Haystack) -> list[str]:
    """Return keyword prompts: the two longest content words of some documents."""
    some = sorted(haystack.documents, key=lambda document: hash_number("topic", document.id))[:_TOPICS]
    words = [
        sorted(set(content_words(document.text)), key=lambda word: (-len(word), word)) for document in some
    ]
    return [" ".join(longest[:2]) for longest in words if longest]


def fit_prompts(rows: Sequence[Prompted]) -> Floats:
    table = np.array([[*row.signals, 1.0] for row in rows])
    spread = table.std(axis=0)
    return fit_logistic(
        LogisticProblem(
            lambda numbers: (table @ numbers, table),
            np.array([float(row.sort in _NEEDING) for row in rows]),
            np.array([_WEIGHTS[row.sort] for row in rows]),
            np.full(table.shape[1], -np.inf),
            # Scaled by spread, so that units do not matter; the constant is not regularised.
            _PENALTY * spread**2,
        )
    )


def open_shares(rows: Sequence[Prompted], numbers: Floats) -> dict[str, float]:
    """Return the share of prompts of each sort that would get memories."""
    line = np.log(SILENT_BELOW / (1 - SILENT_BELOW))
    return {
        sort: round(
            float(np.mean([[*row.signals, 1.0] @ numbers >= line for row in rows if row.sort == sort])), 3
        )
        for sort in _WEIGHTS
    }


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="fit_relevance_gate", description="Fit when `context` is silent.")
    parser.add_argument("sets", nargs="+", metavar="MODEL=PATH")
    parser.add_argument("--date", required=True, help="the day of the run, for the record")
    parser.add_argument("--cache", type=Path, help="folder that keeps vectors between runs")
    parser.add_argument("--out", type=Path, default=Path(str(ranking_package.__path__[0])) / GATE_FILE)
    given = parser.parse_args(arguments)
    idle = [line for line in IDLE.read_text(encoding="utf-8").splitlines() if line]
    rows: list[Prompted] = []
    files = {}
    for spec in given.sets:
        model, _, path = spec.partition("=")
        settings = Settings(store=Path("unused.db"), model=model, time_zone="UTC")
        with cached_models(settings, given.cache) as models:
            for dataset in load_datasets([Path(path)]):
                files[f"{dataset.name}, {model}"] = dataset_files(dataset)
                for haystack in dataset.haystacks:
                    with open_haystack(haystack, models) as stored:
                        rows += ask_store(stored, idle)
    numbers = fit_prompts(rows)
    names = [*(field.name for field in fields(GateSignals)), "constant"]
    plain = {
        "weights": {name: round(float(value), 4) for name, value in zip(names, numbers, strict=True)},
        "left_out": {
            store: open_shares(
                [row for row in rows if row.store == store],
                fit_prompts([row for row in rows if row.store != store]),
            )
            for store in sorted({row.store for row in rows})
        },
        "run": {"date": given.date, "prompts": len(rows), "idle": len(idle), "files": files},
    }
    given.out.write_text(json.dumps(plain, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
