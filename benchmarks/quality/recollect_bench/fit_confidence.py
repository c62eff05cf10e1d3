"""Fit the coefficients of confidence on judged questions, and report figures on held-out sets.

    python -m recollect_bench.fit_confidence --date 2026-11-17 --cache DIR FAMILY:MODEL=PATH…

Every set is stored and asked the default way, with the model named before it; sets of one family (languages,
persons, models) are left out together. Each question is asked as it
is, with its answers taken out (removed), and both again in a store of few memories; those that the data calls
unanswerable (unsaid) as they are. The numbers go to `recollect/ranking/confidence.json`, and what they reach
on each family, when fitted on the others, to the file of `--report`. Nothing in it is by chance: the same
data gives the same numbers.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

import recollect.ranking as ranking_package
from recollect.domain.limits import UNLIKELY
from recollect.domain.numbers import auroc, hash_number
from recollect.domain.records import Kind
from recollect.ranking.candidates import Candidates, Cooccurrences, Flags, Floats, Source, run
from recollect.ranking.confidence import (
    ANSWERABLE,
    FILE,
    SIGNALS,
    ConfidenceInput,
    ConfidenceWeights,
    CosineScale,
    QueryTerms,
    estimate_confidence,
    signal_rows,
)
from recollect.ranking.profiles import RECOLLECT
from recollect.search.candidates import Gathered, gather
from recollect.search.recall import confidence_input, memories_to_read, open_search, query_of
from recollect.search.rows import memories_by_id
from recollect.settings import Settings
from recollect_bench.haystack_store import open_haystack
from recollect_bench.loading import load_datasets
from recollect_bench.logistic import LogisticProblem, fit_logistic
from recollect_bench.models import cached_models
from recollect_bench.quality import dataset_files
from recollect_bench.reliability import JudgedHit, by_kind

if TYPE_CHECKING:
    from recollect.search.candidates import Search
    from recollect_bench.datasets import Dataset, Haystack, Question
    from recollect_bench.haystack_store import StoredHaystack

Variant = Literal["present", "removed", "unsaid"]
Mode = Literal["known", "unknown", "words"]
_MODES: tuple[Mode, ...] = ("known", "unknown", "words")
_LIMIT = 10
_FEW = 12
"""Number of other memories in a small store."""
_HIT_SIGNALS = frozenset({"above", "held", "ahead", "agreed", "share", "fits", "timed"})
# A hit far above the rest of its list may be the answer, or a near miss that shares a name. Of the
# signals that compare a hit with its list, only the one by words helped on most held-out sets.
_ANSWER_SIGNALS: dict[Mode, frozenset[str]] = {
    "known": frozenset({"near", "held", "ahead", "fits", "timed"}),
    # The spread of this model's cosines is unknown, so the hit is compared with its own list.
    "unknown": frozenset({"above", "held", "ahead", "fits", "timed"}),
    "words": frozenset({"held", "ahead", "fits", "timed"}),
}
# Questions that the data calls unanswerable are real; those with a removed answer are artificial.
_UNSAID_WEIGHT = 3.0
_HIT_PENALTY, _ANSWER_PENALTY = 1e-4, 1e-3


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """One question: the inputs of its confidence, and which hits were right."""

    family: str
    """Family of data sets, which are held out together."""
    data: str
    model: str | None
    """None if only words were searched."""
    variant: Variant
    few: bool
    category: str
    inputs: ConfidenceInput
    terms: QueryTerms
    right: Flags
    """The right hits, aligned with the rows that were read."""


def fit_weights(
    asked: Sequence[AskedQuestion], scales: Mapping[str, CosineScale], mode: Mode
) -> ConfidenceWeights:
    rows = [signal_rows(each.inputs, each.terms, _scale(each, scales, mode)) for each in asked]
    hit, kind = _fit_hits(asked, rows)
    answer, constant = _fit_answers(asked, rows, mode)
    return ConfidenceWeights(hit, kind, answer, constant)


def _fit_hits(
    asked: Sequence[AskedQuestion], rows: Sequence[Floats]
) -> tuple[tuple[float, ...], Mapping[str, float]]:
    """Fit on the hits of answerable questions, in unchanged stores."""
    seen = [
        (each, signals)
        for each, signals in zip(asked, rows, strict=True)
        if each.variant == "present" and not each.few
    ]
    counts = Counter(each.data for each, _ in seen)
    kinds = [kind for each, _ in seen for kind in each.inputs.kinds]
    # One constant for all, and a regularised offset for each kind.
    constants = np.array([[1.0, *(float(kind is other) for other in Kind)] for kind in kinds])
    table = np.hstack([np.concatenate([signals for _, signals in seen]), constants])
    weight = np.concatenate([np.full(len(signals), counts[each.data] ** -0.5) for each, signals in seen])
    used = np.array([name in _HIT_SIGNALS for name in SIGNALS] + [True] * constants.shape[1])
    numbers = np.zeros(table.shape[1])
    numbers[used] = fit_logistic(
        LogisticProblem(
            lambda numbers: (table[:, used] @ numbers, table[:, used]),
            np.concatenate([each.right for each, _ in seen]).astype(np.float64),
            weight / weight.sum(),
            np.array([0.0] * len(SIGNALS) + [-np.inf] * constants.shape[1])[used],
            np.array([_HIT_PENALTY] * len(SIGNALS) + [0.0] + [_HIT_PENALTY] * len(Kind))[used],
        )
    )
    base = numbers[len(SIGNALS)]
    offsets = dict(zip(Kind, numbers[len(SIGNALS) + 1 :].tolist(), strict=True))
    return tuple(numbers[: len(SIGNALS)].tolist()), {kind.value: base + offsets[kind] for kind in Kind}


def _fit_answers(
    asked: Sequence[AskedQuestion], rows: Sequence[Floats], mode: Mode
) -> tuple[tuple[float, ...], float]:
    """Fit with weights by which five of eight questions have an answer (`ANSWERABLE`)."""
    judged = [(each, signals[: each.inputs.first]) for each, signals in zip(asked, rows, strict=True)]
    judged = [(each, signals) for each, signals in judged if len(signals)]
    most = max(len(signals) for _, signals in judged)
    used = np.array([name in _ANSWER_SIGNALS[mode] for name in SIGNALS])
    table = np.zeros((len(judged), most, int(used.sum())))
    lacking = np.full((len(judged), most), -np.inf)
    for place, (_, signals) in enumerate(judged):
        table[place, : len(signals)] = signals[:, used]
        lacking[place, : len(signals)] = 0.0
    log_count = np.log([len(signals) for _, signals in judged])
    true = np.array([each.variant == "present" for each, _ in judged], np.float64)
    counts = Counter((each.data, each.variant, each.few) for each, _ in judged)
    weight = np.array(
        [
            counts[each.data, each.variant, each.few] ** -0.5
            * (_UNSAID_WEIGHT if each.variant == "unsaid" else 1.0)
            for each, _ in judged
        ]
    )
    totals = weight[true > 0].sum(), weight[true == 0].sum()
    weight *= np.where(true > 0, ANSWERABLE / totals[0], (1 - ANSWERABLE) / totals[1])

    def margins(numbers: Floats) -> tuple[Floats, Floats]:
        evidence = table @ numbers[:-1] + lacking
        total = np.logaddexp.reduce(evidence, axis=1)
        share = np.exp(evidence - total[:, None])
        slope = np.einsum("ik,iks->is", share, table)
        return total - log_count + numbers[-1], np.column_stack([slope, np.ones(len(slope))])

    count = int(used.sum())
    fitted = fit_logistic(
        LogisticProblem(
            margins,
            true,
            weight,
            np.array([0.0] * count + [-np.inf]),
            np.array([_ANSWER_PENALTY] * count + [0.0]),
        )
    )
    numbers = np.zeros(len(SIGNALS))
    numbers[used] = fitted[:-1]
    return tuple(numbers.tolist()), float(fitted[-1])


def fit_scales(asked: Sequence[AskedQuestion]) -> dict[str, CosineScale]:
    """Return the mean and spread of the best cosine of unanswerable questions, for each model."""
    scales = {}
    for model in sorted({each.model for each in asked if each.model is not None}):
        found = [
            np.sort(each.inputs.cosine[np.isfinite(each.inputs.cosine)])[::-1]
            for each in asked
            if each.model == model and each.variant != "present" and not each.few
        ]
        best = np.array([float(cosine[0]) for cosine in found if len(cosine)])
        far = np.array([float(cosine[10:30].mean()) for cosine in found if len(cosine) > 20])
        scales[model] = CosineScale(float(best.mean()), float(best.std()), float(far.mean()))
    return scales


def _scale(each: AskedQuestion, scales: Mapping[str, CosineScale], mode: Mode) -> CosineScale | None:
    return scales[each.model] if mode == "known" and each.model is not None else None


def ask_dataset(family: str, dataset: Dataset, model: str, cache: Path | None) -> Iterator[AskedQuestion]:
    settings = Settings(store=Path("unused.db"), model=model, time_zone="UTC")
    with cached_models(settings, cache) as models:
        for haystack in dataset.haystacks:
            with open_haystack(haystack, models) as stored:
                yield from _ask_haystack(family, f"{dataset.name} {model}", haystack, stored)


def _ask_haystack(
    family: str, data: str, haystack: Haystack, stored: StoredHaystack
) -> Iterator[AskedQuestion]:
    for question in sorted(haystack.questions, key=haystack.asked_after):
        if question.answerable and not question.relevant:
            continue
        stored.advance(question)
        services = stored.engine._services
        query = query_of(services, question.text, RECOLLECT, limit=_LIMIT, record=False)
        with open_search(services, query) as (search, embedded, _):
            for model, asked in ((stored.model, embedded), (None, replace(embedded, vector=None))):
                gathered = gather(search, RECOLLECT, asked)
                for each in _variants(data, stored, question, search, gathered, model):
                    yield replace(each, family=family)


def _variants(
    data: str,
    stored: StoredHaystack,
    question: Question,
    search: Search,
    gathered: Gathered,
    model: str | None,
) -> Iterator[AskedQuestion]:
    ids = gathered.candidates.ids.tolist()
    memories = memories_by_id(search.snapshot, ids)
    relevant = stored.canonical(question.relevant)
    right = np.array([stored.document(memories[id_]) in relevant for id_ in ids], bool)
    chance = np.array([hash_number("few", f"{question.id} {id_}") for id_ in ids], object)
    few = np.zeros(len(ids), bool)
    few[np.argsort(chance, kind="stable")[:_FEW]] = True
    every = np.ones(len(ids), bool)
    name = None if model is None else model.partition("@")[0]
    variants: list[tuple[Variant, bool, Flags]]
    if question.answerable:
        variants = [("present", False, every), ("removed", False, ~right)]
        variants += [("present", True, few | right), ("removed", True, few & ~right)]
    else:
        variants = [("unsaid", False, every)]
    for variant, is_few, kept in variants:
        part = _only(gathered, kept)
        if not len(part.candidates):
            continue
        ranked = run(RECOLLECT, part.candidates, part.query)
        wanted = {id_: memories[id_] for id_ in memories_to_read(ranked)}
        inputs, terms = confidence_input(search, part, ranked, wanted)
        hits = np.isin(part.candidates.ids[inputs.rows], np.array(ids)[right])
        yield AskedQuestion("", data, name, variant, is_few, question.category, inputs, terms, hits)


def _only(gathered: Gathered, kept: Flags) -> Gathered:
    """Return the candidates as if the store had only the kept ones."""
    if kept.all():
        return gathered
    rows = np.flatnonzero(kept)
    candidates = gathered.candidates
    return replace(
        gathered,
        candidates=Candidates(
            candidates.facts.at(rows),
            {name: _renumbered(source.at(rows)) for name, source in candidates.sources.items()},
            candidates.score[rows],
            cooccurrences=Cooccurrences.none(),
        ),
    )


def _renumbered(source: Source) -> Source:
    rank = source.rank.copy()
    found = np.flatnonzero(source.found)
    rank[found[np.argsort(rank[found], kind="stable")]] = np.arange(1, len(found) + 1)
    return Source(rank, source.score)


@dataclass(frozen=True, slots=True)
class Judgement:
    """Figures of confidence on one set."""

    auroc: Mapping[str, float]
    """AUROC by sort of unanswerable question."""
    told_nothing: Mapping[str, float]
    """Share below the threshold, by sort of question."""
    reliability: Mapping[str, Sequence[tuple[float, float, int]]]
    """Mean confidence, share of right hits and count in each tenth, by kind of memory."""


def judge(
    asked: Sequence[AskedQuestion], weights: ConfidenceWeights, scales: Mapping[str, CosineScale], mode: Mode
) -> Judgement:
    answers: dict[str, list[float]] = {}
    hits: list[JudgedHit] = []
    for each in asked:
        done = _estimate(each, weights, _scale(each, scales, mode))
        sort = each.category if each.variant == "unsaid" else each.variant
        answers.setdefault(f"{sort}, few" if each.few else sort, []).append(done[1])
        if each.variant != "removed" and not each.few:
            hits += [
                JudgedHit(kind.value, confidence, bool(right))
                for kind, confidence, right in zip(each.inputs.kinds, done[0], each.right, strict=True)
            ]
    return Judgement(
        {
            sort: auroc(np.array(answers["present, few" if "few" in sort else "present"]), np.array(those))
            for sort, those in answers.items()
            if "present" not in sort
        },
        {sort: float(np.mean(np.array(those) < UNLIKELY)) for sort, those in answers.items()},
        {
            kind: [(each.confidence, each.right, each.hits) for each in places]
            for kind, places in by_kind(hits).items()
        },
    )


def _estimate(
    each: AskedQuestion, weights: ConfidenceWeights, scale: CosineScale | None
) -> tuple[list[float], float]:
    done = estimate_confidence(each.inputs, each.terms, weights, scale)
    return done.hits.tolist(), done.answer


def _of_mode(asked: Sequence[AskedQuestion], mode: Mode) -> list[AskedQuestion]:
    return [each for each in asked if (each.model is None) == (mode == "words")]


def left_out(asked: Sequence[AskedQuestion], mode: Mode) -> dict[str, Judgement]:
    """Measure each set with coefficients fitted on the sets of all other families."""
    mine = _of_mode(asked, mode)
    judgements = {}
    for family in sorted({each.family for each in mine}):
        others = [each for each in mine if each.family != family]
        # The location of a model's cosines is a fact of the model, so it is measured on all sets.
        scales = fit_scales(mine)
        judgements[family] = judge(
            [each for each in mine if each.family == family],
            fit_weights(others, scales, mode),
            scales,
            mode,
        )
    return judgements


def weights_json(weights: ConfidenceWeights) -> dict[str, Any]:
    return {
        "hit": {name: round(value, 4) for name, value in zip(SIGNALS, weights.hit, strict=True)}
        | {"constant": {kind: round(value, 4) for kind, value in weights.kind.items()}},
        "answer": {name: round(value, 4) for name, value in zip(SIGNALS, weights.answer, strict=True)}
        | {"constant": round(weights.constant, 4)},
    }


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="fit_confidence", description="Fit the numbers of confidence.")
    parser.add_argument("sets", nargs="+", metavar="FAMILY:MODEL=PATH")
    parser.add_argument("--date", required=True, help="the day of the run, for the record")
    parser.add_argument("--cache", type=Path, help="folder that keeps vectors between runs")
    parser.add_argument("--out", type=Path, default=Path(str(ranking_package.__path__[0])) / FILE)
    parser.add_argument("--report", type=Path, help="where to write the figures of each held-out family")
    given = parser.parse_args(arguments)
    asked: list[AskedQuestion] = []
    files = {}
    for spec in given.sets:
        family, _, rest = spec.partition(":")
        model, _, path = rest.partition("=")
        for dataset in load_datasets([Path(path)]):
            before = len(asked)
            asked += ask_dataset(family, dataset, model, given.cache)
            print(f"{dataset.name} with {model}: {len(asked) - before} answers", flush=True)
            files[f"{family}: {dataset.name}, {model}"] = dataset_files(dataset)
    run_facts = {"date": given.date, "answers": len(asked), "files": files}
    _write(given.out, fitted_json(asked) | {"run": run_facts})
    if given.report is not None:
        _write(given.report, report_json(asked) | {"run": run_facts})


def _write(path: Path, plain: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(plain, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def fitted_json(asked: Sequence[AskedQuestion]) -> dict[str, Any]:
    scales = fit_scales(asked)
    return {
        "weights": {mode: weights_json(fit_weights(_of_mode(asked, mode), scales, mode)) for mode in _MODES},
        "scales": {
            model: {name: round(value, 4) for name, value in asdict(scale).items()}
            for model, scale in scales.items()
        },
    }


def report_json(asked: Sequence[AskedQuestion]) -> dict[str, Any]:
    """Return the figures of each family with coefficients fitted on the others."""
    return {
        "left_out": {
            mode: {family: _judgement_json(each) for family, each in left_out(asked, mode).items()}
            for mode in _MODES
        }
    }


def _judgement_json(judgement: Judgement) -> dict[str, Any]:
    return {
        "auroc": {sort: round(value, 3) for sort, value in judgement.auroc.items()},
        "told_nothing": {sort: round(value, 3) for sort, value in judgement.told_nothing.items()},
        "reliability": {
            kind: [[round(confidence, 3), round(right, 3), hits] for confidence, right, hits in places]
            for kind, places in judgement.reliability.items()
        },
    }


if __name__ == "__main__":
    main()
