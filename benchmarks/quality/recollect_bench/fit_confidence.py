"""Fit the weights of confidence on judged questions and prompts, and report figures on held-out sets.

    python -m recollect_bench.fit_confidence --date 2026-11-18 --cache DIR FAMILY:MODEL=PATH…

Every set is stored and asked the default way, with the model named before it; of a folder with halves, only
the half for choosing. Sets of one family (languages, persons) are left out together. Each question is asked
as it is and with its answers taken out (removed). Those that the data calls unanswerable (unsaid), questions
of other families (elsewhere), and prompts that need something or nothing (idle) are asked, too. All are asked
of the whole store and of small ones.

The weights of the query's own words come first. They tell prompts that need nothing, of the data and of
`idle_prompts.txt`, from questions and from prompts that need something, of the data and of
`personal_prompts.txt`; there is one set for each model of `--text-model`, and one without vectors. All
numbers go to `recollect/ranking/confidence.json`, and what they reach on each family, when fitted on the
others, to the file of `--report`. Nothing in it is by chance: the same data gives the same numbers.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

import recollect.ranking as ranking_package
from recollect.domain.limits import UNLIKELY
from recollect.domain.numbers import auroc, hash_number
from recollect.domain.records import Kind, is_assistant
from recollect.ranking.candidates import Candidates, Cooccurrences, Flags, Floats, Ints, Source, run
from recollect.ranking.confidence import (
    ANSWERABLE,
    FILE,
    SHARPNESS,
    SIGNALS,
    SIGNS,
    ConfidenceInput,
    ConfidenceWeights,
    ModelRanges,
    QueryTerms,
    ScoreRange,
    TextWeights,
    estimate_confidence,
    log_sigmoid,
    query_signs,
    signal_rows,
    text_logit,
)
from recollect.ranking.profiles import RECOLLECT
from recollect.search.candidates import Gathered, gather
from recollect.search.recall import confidence_input, memories_to_read, open_search, query_of
from recollect.search.rows import memories_by_id
from recollect.settings import Settings
from recollect.text.tokens import content_words
from recollect_bench.haystack_store import open_haystack
from recollect_bench.loading import load_for_fitting
from recollect_bench.logistic import LogisticProblem, fit_logistic
from recollect_bench.models import cached_models
from recollect_bench.quality import dataset_files
from recollect_bench.reliability import JudgedHit, by_kind

if TYPE_CHECKING:
    from recollect.stores.port import Embedder
    from recollect_bench.datasets import Dataset, Haystack
    from recollect_bench.haystack_store import StoredHaystack

Variant = Literal["present", "removed", "unsaid", "elsewhere", "needs", "idle"]
Mode = Literal["meaning", "words"]
_MODES: tuple[Mode, ...] = ("meaning", "words")
_ANSWERED = frozenset({"present", "needs"})
_PROMPTS = frozenset({"needs", "idle"})
_LIMIT = 10
_FEW = (10, 30)
"""Numbers of other memories in small stores."""
_HIT_SIGNALS = frozenset(SIGNALS)
# The share of a hit in the ranking says which hit it is, not whether there is one.
_ANSWER_SIGNALS = _HIT_SIGNALS - {"share"}
_PROMPT_WEIGHT = 5.0
"""There are many more questions than prompts."""
_HIT_PENALTY, _ANSWER_PENALTY, _TEXT_PENALTY = 1e-4, 3e-4, 3e-4
_VECTOR_SCALE = 3.0
_MOST_MISSED = 0.07
"""The share of answerable queries that may get less than one half, in each family of personal notes."""
_LEAST_CHANCE = 1e-6
_TOPICS = 6
"""Number of keyword queries for each store with prompts."""
_OTHERS_SHARE = 0.5
"""Number of questions of other families for each question of a store."""
_FOLDS = 5
_FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """One question or prompt: the inputs of its confidence, and which hits were right."""

    family: str
    """Family of data sets, which are held out together."""
    store: str
    model: str | None
    """The full name of the model; None if only words were searched."""
    variant: Variant
    others: int
    """Number of other memories in the store; 0 for all."""
    category: str
    text: str
    timed: bool
    """Whether it names a time."""
    inputs: ConfidenceInput
    terms: QueryTerms
    right: Flags
    """The right hits, aligned with the rows that were read."""

    @property
    def short_model(self) -> str:
        return "" if self.model is None else self.model.partition("@")[0]


# The query's own words


@dataclass(frozen=True, slots=True)
class LabelledText:
    """A text that asks for something personal, or for nothing that a memory could know."""

    text: str
    is_personal: bool
    weight: float
    group: str
    """Texts of one group are left out together."""
    timed: bool = False


def labelled_texts(asked: Iterable[AskedQuestion]) -> list[LabelledText]:
    """Return each text once. Unanswerable questions do not count: they ask for something personal, too."""
    found: dict[str, LabelledText] = {}
    counts = Counter((each.family, each.variant) for each in asked if each.others == 0)
    for each in asked:
        if each.variant in {"removed", "unsaid", "elsewhere"} or each.others:
            continue
        weight = counts[each.family, each.variant] ** -0.5 * (
            _PROMPT_WEIGHT if each.variant in _PROMPTS else 1.0
        )
        text = LabelledText(
            each.text, each.variant != "idle", weight, f"{each.family} {each.store}", each.timed
        )
        found.setdefault(each.text, text)
    for name, personal in (("personal_prompts.txt", True), ("idle_prompts.txt", False)):
        lines = [line for line in (_FOLDER / name).read_text(encoding="utf-8").splitlines() if line.strip()]
        for place, line in enumerate(lines):
            found.setdefault(
                line,
                LabelledText(line, personal, _PROMPT_WEIGHT * len(lines) ** -0.5, f"{name} {place % _FOLDS}"),
            )
    return list(found.values())


def fit_text(texts: Sequence[LabelledText], embedder: Embedder | None) -> TextWeights:
    vectors = text_vectors(texts, embedder)
    return _fit_text(texts, vectors, _text_rows(texts, vectors))


def text_vectors(texts: Sequence[LabelledText], embedder: Embedder | None) -> Floats:
    if embedder is None:
        return np.zeros((len(texts), 0))
    return np.array([embedder.query(each.text) for each in texts], np.float64)


def _text_rows(texts: Sequence[LabelledText], vectors: Floats) -> Floats:
    signs = np.array([query_signs(each.text, timed=each.timed) for each in texts])
    centred = _VECTOR_SCALE * (vectors - vectors.mean(axis=0))
    return np.column_stack([centred, signs, np.ones(len(texts))])


def _fit_text(texts: Sequence[LabelledText], vectors: Floats, rows: Floats) -> TextWeights:
    true = np.array([each.is_personal for each in texts], np.float64)
    weight = np.array([each.weight for each in texts])
    weight = np.where(true > 0, weight / weight[true > 0].sum(), weight / weight[true == 0].sum()) / 2
    width = rows.shape[1]
    numbers = fit_logistic(
        LogisticProblem(
            lambda numbers: (rows @ numbers, rows),
            true,
            weight,
            np.full(width, -np.inf),
            np.array([_TEXT_PENALTY] * (width - 1) + [0.0]),
        )
    )
    dims = vectors.shape[1]
    vector = _VECTOR_SCALE * numbers[:dims]
    constant = numbers[-1] - float(vector @ vectors.mean(axis=0))
    return TextWeights(float(constant), tuple(numbers[dims:-1].tolist()), tuple(vector.tolist()))


def held_out_logits(texts: Sequence[LabelledText], embedder: Embedder | None) -> dict[str, float]:
    """Return each text's logit by weights that were fitted without its group."""
    vectors = text_vectors(texts, embedder)
    groups = {group: place % _FOLDS for place, group in enumerate(sorted({each.group for each in texts}))}
    fold = np.array([groups[each.group] for each in texts])
    logits: dict[str, float] = {}
    for held_out in range(_FOLDS):
        kept = np.flatnonzero(fold != held_out)
        some, own = [texts[place] for place in kept.tolist()], vectors[kept]
        weights = _fit_text(some, own, _text_rows(some, own))
        for place in np.flatnonzero(fold == held_out).tolist():
            signs = query_signs(texts[place].text, timed=texts[place].timed)
            logits[texts[place].text] = text_logit(signs, vectors[place], weights)
    return logits


# Hits and answers


def fit_weights(asked: Sequence[AskedQuestion], ranges: Mapping[str, ModelRanges]) -> ConfidenceWeights:
    rows = [signal_rows(each.inputs, each.terms, ranges.get(each.short_model)) for each in asked]
    hit, kind = _fit_hits(asked, rows)
    answer, constant = _fit_answers(asked, rows)
    weights = ConfidenceWeights(hit, kind, answer, constant)
    return replace(weights, constant=constant + _missing_logit(asked, weights, ranges))


def _missing_logit(
    asked: Sequence[AskedQuestion], weights: ConfidenceWeights, ranges: Mapping[str, ModelRanges]
) -> float:
    """Return what the constant lacks, so that few answerable queries get less than one half.

    To call a stored fact absent is worse than to show a hit that does not help. The families with prompts
    count: their stores are notes of people.
    """
    personal = {each.family for each in asked if each.variant in _PROMPTS}
    logits: dict[str, list[float]] = {}
    for each in asked:
        if each.variant in _ANSWERED and not each.others and (not personal or each.family in personal):
            answer = estimate_confidence(
                each.inputs, each.terms, weights, ranges.get(each.short_model)
            ).answer
            logits.setdefault(each.family, []).append(
                np.log(answer / (1 - answer)) if 0 < answer < 1 else 0.0
            )
    return max(0.0, -min(float(np.quantile(values, _MOST_MISSED)) for values in logits.values()))


def _fit_hits(
    asked: Sequence[AskedQuestion], rows: Sequence[Floats]
) -> tuple[tuple[float, ...], Mapping[str, float]]:
    """Fit on the hits of answerable questions and of prompts that need something."""
    seen = [(each, signals) for each, signals in zip(asked, rows, strict=True) if each.variant in _ANSWERED]
    counts = Counter((each.family, each.others) for each, _ in seen)
    kinds = [kind for each, _ in seen for kind in each.inputs.kinds]
    # One constant for all, and a regularised offset for each kind.
    constants = np.array([[1.0, *(float(kind is other) for other in Kind)] for kind in kinds])
    table = np.hstack([np.concatenate([signals for _, signals in seen]), constants])
    weight = np.concatenate(
        [
            np.full(len(signals), counts[each.family, each.others] ** -0.5 * (0.3 if each.others else 1.0))
            for each, signals in seen
        ]
    )
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


def _fit_answers(asked: Sequence[AskedQuestion], rows: Sequence[Floats]) -> tuple[tuple[float, ...], float]:
    """Fit with weights by which the share `ANSWERABLE` of the queries has an answer."""
    judged = [(each, signals[: each.inputs.first]) for each, signals in zip(asked, rows, strict=True)]
    judged = [(each, signals) for each, signals in judged if len(signals)]
    most = max(len(signals) for _, signals in judged)
    used = np.array([name in _ANSWER_SIGNALS for name in SIGNALS])
    table = np.zeros((len(judged), most, int(used.sum())))
    lacking = np.full((len(judged), most), -np.inf)
    for place, (_, signals) in enumerate(judged):
        table[place, : len(signals)] = signals[:, used]
        lacking[place, : len(signals)] = 0.0
    log_count = np.log([len(signals) for _, signals in judged])
    text = np.array([log_sigmoid(each.inputs.text) for each, _ in judged])
    true = np.array([each.variant in _ANSWERED for each, _ in judged], np.float64)
    counts = Counter((each.family, each.variant, each.others) for each, _ in judged)
    weight = np.array(
        [
            counts[each.family, each.variant, each.others] ** -0.5
            * (_PROMPT_WEIGHT if each.variant in _PROMPTS else 1.0)
            for each, _ in judged
        ]
    )
    totals = weight[true > 0].sum(), weight[true == 0].sum()
    weight *= np.where(true > 0, ANSWERABLE / totals[0], (1 - ANSWERABLE) / totals[1])

    def margins(numbers: Floats) -> tuple[Floats, Floats]:
        evidence = SHARPNESS * (table @ numbers[:-1] + lacking)
        total = np.logaddexp.reduce(evidence, axis=1)
        share = np.exp(evidence - total[:, None])
        slope = np.einsum("ik,iks->is", share, table)
        margin = (total - log_count) / SHARPNESS + text + numbers[-1]
        return margin, np.column_stack([slope, np.ones(len(slope))])

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


def fit_ranges(asked: Sequence[AskedQuestion]) -> dict[str, ModelRanges]:
    """Return the usual cosines and token matches of each model: mean and deviation over the candidates."""
    found = {}
    for model in sorted({each.short_model for each in asked} - {""}):
        inputs = [each.inputs for each in asked if each.short_model == model and each.others == 0]
        tokens = _range_of([each.tokens for each in inputs])
        cosine = _range_of([each.cosine for each in inputs])
        if cosine is not None:
            found[model] = ModelRanges(cosine, tokens)
    return found


def _range_of(columns: Iterable[Floats]) -> ScoreRange | None:
    """Average over queries, so that each counts the same."""
    known = [column[np.isfinite(column)] for column in columns]
    known = [column for column in known if len(column) > 1]
    if not known:
        return None
    mean = float(np.mean([column.mean() for column in known]))
    return ScoreRange(mean, float(np.sqrt(np.mean([((column - mean) ** 2).mean() for column in known]))))


# Asking every set


def named_sets(specs: Iterable[str]) -> Iterator[tuple[str, str, Dataset]]:
    """Yield the family, the model and the data of each `FAMILY:MODEL=PATH`."""
    for spec in specs:
        family, _, rest = spec.partition(":")
        model, _, path = rest.partition("=")
        for dataset in load_for_fitting(Path(path)):
            yield family, model, dataset


def questions_of_others(family: str, sets: Sequence[tuple[str, str, Dataset]]) -> list[str]:
    """Return questions of all other families, the same number of each.

    Two people may both know where they work, so one person's questions are not asked of another's memories.
    """
    personal = {each for each, _, data in sets if _is_of_one_person(data)}
    by_family: dict[str, dict[str, None]] = {}
    for other, _, data in sets:
        if other != family and not {other, family} <= personal:
            texts = (each.text for haystack in data.haystacks for each in haystack.questions)
            by_family.setdefault(other, {}).update(dict.fromkeys(texts))
    least = min(map(len, by_family.values()), default=0)
    return [
        text
        for texts in by_family.values()
        for text in sorted(texts, key=lambda text: hash_number("elsewhere", text))[:least]
    ]


def _is_of_one_person(data: Dataset) -> bool:
    """Whether the stores hold memories of one person: there are prompts, or messages to an assistant."""
    return any(
        haystack.prompts or any(is_assistant(each.role) for each in haystack.documents)
        for haystack in data.haystacks
    )


def ask_dataset(
    family: str, dataset: Dataset, model: str, cache: Path | None, elsewhere: Sequence[str]
) -> Iterator[AskedQuestion]:
    """Ask all questions of a data set, and some of `elsewhere`, the questions of other families."""
    settings = Settings(store=Path("unused.db"), model=model, time_zone="UTC")
    with cached_models(settings, cache) as models:
        for haystack in dataset.haystacks:
            with open_haystack(haystack, models) as stored:
                yield from _ask_haystack(family, haystack, stored, elsewhere)


def _ask_haystack(
    family: str, haystack: Haystack, stored: StoredHaystack, elsewhere: Sequence[str]
) -> Iterator[AskedQuestion]:
    for question in sorted(haystack.questions, key=haystack.asked_after):
        if question.answerable and not question.relevant:
            continue
        stored.advance(question)
        variant: Variant = "present" if question.answerable else "unsaid"
        yield from _ask(family, stored, question.text, variant, question.category, question.relevant)
    stored.fill()
    order = sorted(elsewhere, key=lambda text: hash_number("other", f"{haystack.name} {text}"))
    for text in order[: ceil(_OTHERS_SHARE * len(haystack.questions))]:
        yield from _ask(family, stored, text, "elsewhere", "elsewhere", ())
    if haystack.prompts:
        for topic, document in store_topics(haystack):
            yield from _ask(family, stored, topic, "present", "topic", [document])
    for prompt in haystack.prompts:
        stored.set_clock(prompt.at)
        variant = "needs" if prompt.needs_memory else "idle"
        yield from _ask(family, stored, prompt.text, variant, variant, prompt.helpful)


def store_topics(haystack: Haystack) -> list[tuple[str, str]]:
    """Return keyword queries with their documents: the two longest content words of some documents."""
    some = sorted(haystack.documents, key=lambda document: hash_number("topic", document.id))[:_TOPICS]
    topics = [
        (" ".join(sorted(sorted(content_words(document.text), key=len)[-2:])), document.id)
        for document in some
    ]
    return [topic for topic in topics if topic[0]]


def _ask(
    family: str, stored: StoredHaystack, text: str, variant: Variant, category: str, relevant: Iterable[str]
) -> Iterator[AskedQuestion]:
    query = query_of(stored.engine._services, text, RECOLLECT, limit=_LIMIT, across=True, record=False)
    with open_search(stored.engine._services, query) as (search, embedded, _):
        for model, asked in ((stored.model, embedded), (None, replace(embedded, vector=None, tokens=None))):
            gathered = gather(search, RECOLLECT, asked)
            ids = gathered.candidates.ids
            memories = memories_by_id(search.snapshot, ids.tolist())
            wanted = stored.canonical(relevant)
            right = np.array([stored.document(memories[id_]) in wanted for id_ in ids.tolist()], bool)
            for which, others, kept in _variants(text, variant, ids, right):
                part = _only(gathered, kept)
                if not len(part.candidates):
                    continue
                ranked = run(RECOLLECT, part.candidates, part.query)
                read = {id_: memories[id_] for id_ in memories_to_read(ranked)}
                inputs, terms = confidence_input(search, part, ranked, read)
                hits = np.isin(part.candidates.ids[inputs.rows], ids[right])
                yield AskedQuestion(
                    family, stored.haystack.name, model, which, others, category, text,
                    query.time is not None, inputs, terms, hits,
                )  # fmt: skip


def _variants(text: str, variant: Variant, ids: Ints, right: Flags) -> Iterator[tuple[Variant, int, Flags]]:
    """Yield the variants of a question, in the whole store and in small ones, with the kept candidates."""
    chance = np.array([hash_number("few", f"{text} {id_}") for id_ in ids.tolist()], object)
    for others in (0, *_FEW):
        kept = np.ones(len(ids), bool)
        if others:
            kept[np.argsort(chance, kind="stable")[others:]] = False
        yield variant, others, kept | right
        if variant == "present":
            yield "removed", others, kept & ~right


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


# Figures


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
    asked: Sequence[AskedQuestion], weights: ConfidenceWeights, ranges: Mapping[str, ModelRanges]
) -> Judgement:
    answers: dict[str, list[float]] = {}
    hits: list[JudgedHit] = []
    for each in asked:
        done = estimate_confidence(each.inputs, each.terms, weights, ranges.get(each.short_model))
        sort = f"{each.variant}, {each.others}" if each.others else each.variant
        answers.setdefault(sort, []).append(done.answer)
        if each.variant in {"present", "unsaid"}:
            size = f" in a store of {each.others}" if each.others else ""
            hits += [
                JudgedHit(f"{kind.value}{size}", confidence, bool(right))
                for kind, confidence, right in zip(
                    each.inputs.kinds, done.hits.tolist(), each.right, strict=True
                )
            ]
    reference = {"idle": "needs"}
    return Judgement(
        {
            sort: auroc(np.array(answers[other]), np.array(those))
            for sort, those in answers.items()
            if sort.partition(",")[0] not in _ANSWERED
            and (other := reference.get(sort.partition(",")[0], "present") + "".join(sort.partition(",")[1:]))
            in answers
        },
        {sort: float(np.mean(np.array(those) < UNLIKELY)) for sort, those in answers.items()},
        {
            kind: [(each.confidence, each.right, each.hits) for each in places]
            for kind, places in by_kind(hits).items()
        },
    )


def left_out(asked: Sequence[AskedQuestion]) -> dict[str, Judgement]:
    """Measure each family with weights fitted on all other families."""
    # The usual range of a model's scores is a fact of the model, so it is measured on all sets.
    ranges = fit_ranges(asked)
    return {
        family: judge(
            [each for each in asked if each.family == family],
            fit_weights([each for each in asked if each.family != family], ranges),
            ranges,
        )
        for family in sorted({each.family for each in asked})
    }


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="fit_confidence", description="Fit the numbers of confidence.")
    parser.add_argument("sets", nargs="+", metavar="FAMILY:MODEL=PATH")
    parser.add_argument(
        "--text-model", action="append", default=[], help="fit the query's vector for this model"
    )
    parser.add_argument("--date", required=True, help="the day of the run, for the record")
    parser.add_argument("--cache", type=Path, help="folder that keeps vectors between runs")
    parser.add_argument("--out", type=Path, default=Path(str(ranking_package.__path__[0])) / FILE)
    parser.add_argument("--report", type=Path, help="where to write the figures of each held-out family")
    given = parser.parse_args(arguments)
    asked: list[AskedQuestion] = []
    files = {}
    sets = list(named_sets(given.sets))
    for family, model, dataset in sets:
        before = len(asked)
        asked += ask_dataset(family, dataset, model, given.cache, questions_of_others(family, sets))
        print(f"{dataset.name} with {model}: {len(asked) - before} answers", flush=True)
        files[f"{family}: {dataset.name}, {model}"] = dataset_files(dataset)
    fitted, asked = fitted_json(asked, given.text_model, given.cache)
    run_facts = {"date": given.date, "answers": len(asked), "files": files}
    _write(given.out, fitted | {"run": run_facts})
    if given.report is not None:
        _write(given.report, report_json(asked) | {"run": run_facts})


def _write(path: Path, plain: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(plain, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def fitted_json(
    asked: Sequence[AskedQuestion], text_models: Sequence[str], cache: Path | None
) -> tuple[dict[str, Any], list[AskedQuestion]]:
    """Return the numbers, and the questions with the logits of their texts."""
    texts = labelled_texts(asked)
    weights = {"": fit_text(texts, None)}
    logits = {"": held_out_logits(texts, None)}
    for name in text_models:
        settings = Settings(store=Path("unused.db"), model=name, time_zone="UTC")
        with cached_models(settings, cache) as models:
            embedder = models.embedder_named(models.preferred)
            assert embedder is not None  # `cached_models` has checked it
            full_name = embedder.model.name
            weights[full_name] = fit_text(texts, embedder)
            logits[full_name] = held_out_logits(texts, embedder)
            unsaid = {each.text: each for each in asked if each.model == full_name}
            for text, each in unsaid.items():
                if text not in logits[full_name]:
                    signs = query_signs(text, timed=each.timed)
                    logits[full_name][text] = text_logit(signs, embedder.query(text), weights[full_name])
    placed = [
        replace(each, inputs=replace(each.inputs, text=_logit(each, logits, weights))) for each in asked
    ]
    ranges = fit_ranges(placed)
    plain = {
        "weights": {mode: weights_json(fit_weights(_of_mode(placed, mode), ranges)) for mode in _MODES},
        "ranges": {model: _ranges_json(each) for model, each in ranges.items()},
        "texts": {
            model: {
                "constant": round(each.constant, 4),
                "signs": {sign: round(value, 4) for sign, value in zip(SIGNS, each.signs, strict=True)},
                "vector": " ".join(f"{value:.3f}" for value in each.vector),
            }
            for model, each in weights.items()
        },
    }
    return plain, placed


def _logit(
    each: AskedQuestion, logits: Mapping[str, Mapping[str, float]], weights: Mapping[str, TextWeights]
) -> float:
    name = each.model if each.model in logits else ""
    found = logits[name or ""].get(each.text)
    return text_logit(query_signs(each.text, timed=each.timed), None, weights[""]) if found is None else found


def _of_mode(asked: Sequence[AskedQuestion], mode: Mode) -> list[AskedQuestion]:
    return [each for each in asked if (each.model is None) == (mode == "words")]


def weights_json(weights: ConfidenceWeights) -> dict[str, Any]:
    return {
        "hit": {name: round(value, 4) for name, value in zip(SIGNALS, weights.hit, strict=True)}
        | {"constant": {kind: round(value, 4) for kind, value in weights.kind.items()}},
        "answer": {name: round(value, 4) for name, value in zip(SIGNALS, weights.answer, strict=True)}
        | {"constant": round(weights.constant, 4)},
    }


def _ranges_json(ranges: ModelRanges) -> dict[str, Any]:
    return {
        name: {key: round(value, 4) for key, value in found.items()}
        for name, found in asdict(ranges).items()
        if found is not None
    }


def report_json(asked: Sequence[AskedQuestion]) -> dict[str, Any]:
    """Return the figures of each family with weights fitted on the others."""
    return {
        "left_out": {
            mode: {family: _judgement_json(each) for family, each in left_out(_of_mode(asked, mode)).items()}
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
