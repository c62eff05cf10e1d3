"""Measure embedders by plain cosine, and by token vectors alone, on judged questions.

    python models/train/measure_embedder.py --save FILE FOLDER PATH…
    python models/train/measure_embedder.py --compare BEFORE AFTER

FOLDER is a model's package folder. NDCG@10 of each question is saved; `--compare` prints the means of two
files and their difference with a 95 % interval (bootstrap over questions).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pairs import document_texts

from recollect.models.packaged import PackagedEmbedder
from recollect.models.registry import read_descriptor
from recollect.search.candidates import max_similarities
from recollect_bench.datasets import Dataset, Haystack
from recollect_bench.loading import load_datasets

DRAWS = 2_000
Scores = dict[str, dict[str, float]]
"""NDCG@10 by way (`cosine` or `tokens`) and question."""


def ndcg(order: Sequence[str], relevant: frozenset[str]) -> float:
    gains = [1 / np.log2(place + 2) for place, id_ in enumerate(order[:10]) if id_ in relevant]
    best = sum(1 / np.log2(place + 2) for place in range(min(10, len(relevant))))
    return float(sum(gains) / best)


def measure(embedder: PackagedEmbedder, datasets: Sequence[Dataset]) -> dict[str, Scores]:
    found: dict[str, Scores] = {}
    for dataset in datasets:
        scores = found.setdefault(dataset.name, {"cosine": {}, "tokens": {}})
        for haystack in dataset.haystacks:
            for question, way, value in _scores(embedder, haystack):
                scores[way][f"{haystack.name}/{question}"] = value
        means = {way: round(100 * float(np.mean(list(each.values()))), 1) for way, each in scores.items()}
        print(dataset.name, len(scores["cosine"]), means, flush=True)
    return found


def _scores(embedder: PackagedEmbedder, haystack: Haystack) -> Iterator[tuple[str, str, float]]:
    passages = [document_texts(document) for document in haystack.documents]
    owners = np.array([place for place, texts in enumerate(passages) for _ in texts])
    vectors, signs = embedder.documents_with_tokens([text for texts in passages for text in texts])
    ids = [document.id for document in haystack.documents]
    dims = embedder.model.dims
    for question in haystack.judged_questions:
        vector, tokens = embedder.query_with_tokens(question.text)
        stored = haystack.asked_after(question)
        ways: dict[str, NDArray[np.float64]] = {"cosine": (vectors @ vector).astype(np.float64)}
        if tokens is not None:
            ways["tokens"] = max_similarities(tokens, signs, dims)
        for way, near in ways.items():
            best = np.full(len(ids), -np.inf)
            np.maximum.at(best, owners, near)
            order = np.argsort(-best[:stored], kind="stable")[:10]
            yield question.id, way, ndcg([ids[place] for place in order], question.relevant)


def difference(before: Mapping[str, float], after: Mapping[str, float]) -> tuple[float, float, float]:
    """Return the mean gain in points, and the ends of its 95 % interval."""
    gains = 100 * np.array([after[key] - before[key] for key in sorted(before)])
    chance = np.random.default_rng(0)
    means = gains[chance.integers(len(gains), size=(DRAWS, len(gains)))].mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return float(gains.mean()), float(low), float(high)


def compare(before: Mapping[str, Scores], after: Mapping[str, Scores]) -> Iterator[dict[str, object]]:
    for name in [name for name in before if name in after]:
        for way in before[name]:
            old, new = before[name][way], after[name][way]
            if old and old.keys() == new.keys():
                gain, low, high = difference(old, new)
                yield {
                    "set": name,
                    "way": way,
                    "questions": len(old),
                    "before": round(100 * float(np.mean(list(old.values()))), 1),
                    "after": round(100 * float(np.mean(list(new.values()))), 1),
                    "gain": round(gain, 1),
                    "interval": [round(low, 1), round(high, 1)],
                }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--save", type=Path)
    parser.add_argument("--compare", action="store_true")
    parser.add_argument("--facts", type=Path, help="with --compare: the run.json that keeps the figures")
    parser.add_argument("paths", nargs="+", type=Path)
    given = parser.parse_args()
    if given.compare:
        before, after = (json.loads(path.read_text(encoding="utf-8")) for path in given.paths)
        rows = list(compare(before, after))
        for row in rows:
            print(json.dumps(row))
        if given.facts:
            facts = json.loads(given.facts.read_text(encoding="utf-8"))
            facts["figures"] = rows
            given.facts.write_text(json.dumps(facts, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        return
    folder, *paths = given.paths
    scores = measure(PackagedEmbedder(read_descriptor(folder), at_once=1), load_datasets(paths))
    if given.save:
        given.save.write_text(json.dumps(scores), encoding="utf-8")


if __name__ == "__main__":
    main()
