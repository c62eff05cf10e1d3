"""Fit the model of "the newer text makes the older one untrue", and report its figures on held-out lives.

    python -m recollect_bench.fit_replaces --date DAY --cache DIR --lives DIR --facts DIR… -- arctic-s potion

`--lives` is a folder of lives with `halves.json`: only the half for choosing is read. Eight lives at a time
are joined into one store, so that pairs across lives are certain negatives. `--facts` are folders with
memories and questions whose `must_not` names overwritten facts. Short facts come from `short_facts.txt`, and
their changes in other words from `short_changes.txt`.
The weights go to `recollect/ranking/replaces.json`. `--ablate` also reports what each sign is worth.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import recollect.ranking as ranking_package
from recollect.domain.numbers import hash_number
from recollect.ranking import replaces as model_of_pairs
from recollect.ranking.factors import microseconds
from recollect.ranking.replaces import REPLACES_FILE, PairText, are_later, pair_signs
from recollect.search.contradictions import stated_since
from recollect.settings import Settings
from recollect_bench.datasets import ORIGIN
from recollect_bench.joined_lives import JOINED, join_lives, read_rows
from recollect_bench.logistic import LogisticProblem, fit_logistic
from recollect_bench.models import cached_models
from recollect_bench.quality import sha256

if TYPE_CHECKING:
    from recollect.ranking.candidates import Floats, Ints
    from recollect.stores.port import Embedder

SHORT_FACTS = Path(__file__).with_name("short_facts.txt")
SHORT_CHANGES = Path(__file__).with_name("short_changes.txt")
_GROUP = 30
_HOUR = 3_600_000_000
_PENALTY = 1.0
# Shares of the weight of all examples.
_SHARES = {"lives": 1.0, "facts": 0.3, "short facts": 0.12, "short changes": 1.0}
_RULES = frozenset({"long_opening", "same_words"})
"""Signs that rules read, not the regression."""
_NEGATIVES = 8
"""One of this number of negative examples is kept, with that weight."""
_ENDINGS = (
    ", near the river.",
    " as far as I know.",
    " since spring.",
    ", which is fine.",
    " with her sister.",
    "!",
)
_CHANGES = 10
"""Maximum number of changes in one store of short changes."""
_SIZES = (4, 6, 8, 10, 14, 20, 30)
_LEVELS = (0.3, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9)


@dataclass(slots=True)
class PairStore:
    """Texts in the order of storing, and the pairs of which the newer one replaces the older one."""

    name: str
    sort: str
    texts: list[PairText]
    questions: list[str] = field(default_factory=list)
    replaced: set[tuple[int, int]] = field(default_factory=set)
    """Pairs of places, the newer first."""
    judged: set[int] | None = None
    """Places of texts of which all pairs are known; None: of all."""
    cosines: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    asked: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    """The cosine of each question with each text."""


@dataclass(frozen=True, slots=True)
class Examples:
    signs: Mapping[str, Floats]
    true: Floats
    weight: Floats
    pairs: Ints


# Reading


def stored_texts(rows: Sequence[Mapping[str, Any]]) -> list[PairText]:
    found = []
    for place, row in enumerate(rows):
        at = microseconds(_time(row, place))
        since, is_message = stated_since(row["text"], at), row["kind"] == "message"
        entity, speaker = row.get("entity") or "", row.get("speaker") or ""
        found.append(PairText(row["text"], at, since, entity, speaker, is_message))
    return found


def _time(row: Mapping[str, Any], place: int) -> datetime:
    at = row.get("happened_at") or row.get("at")
    if at is None:
        return datetime.fromtimestamp(ORIGIN.timestamp() + 3600 * place, UTC)
    known = datetime.fromisoformat(at)
    return known if known.tzinfo else known.replace(hour=12, tzinfo=UTC)


def lives_stores(folder: Path, joined: int) -> Iterator[PairStore]:
    """Yield stores of this number of lives each. An assistant's messages replace nothing."""
    for number, lives in enumerate(join_lives(folder, "choosing", joined)):
        said = [row for row in lives.memories if row.get("role") != "assistant"]
        place = {row["id"]: number for number, row in enumerate(said)}
        pairs = [(row["new"], row["old"]) for row in lives.pairs if row["kind"] == "replaces"]
        known = {(place[new], place[old]) for new, old in pairs if new in place and old in place}
        questions = [row["text"] for row in lives.questions]
        yield PairStore(f"lives {number}", "lives", stored_texts(said), questions, _closed(known))


def _closed(pairs: set[tuple[int, int]]) -> set[tuple[int, int]]:
    """Add the pairs that follow: what replaces a text replaces all that this text replaced."""
    found = set(pairs)
    while True:
        more = {(new, oldest) for new, old in found for middle, oldest in found if middle == old} - found
        if not more:
            return found
        found |= more


def fact_stores(folder: Path) -> Iterator[PairStore]:
    """Yield stores of facts. Of a fact that a question names, all pairs are known."""
    memories = read_rows(folder / "memories.jsonl")
    questions = read_rows(folder / "questions.jsonl")
    for store in dict.fromkeys(row["store"] for row in memories):
        own = [row for row in memories if row["store"] == store]
        place = {row["id"]: number for number, row in enumerate(own)}
        asked = [row for row in questions if row["store"] == store]
        is_overwritten = not any(row.get("happened_at") for row in own) and own[0].get("at") is not None
        judged: set[int] = set()
        replaced: set[tuple[int, int]] = set()
        for row in asked:
            golds, others = [place[id_] for id_ in row["gold"]], [place[id_] for id_ in row["must_not"]]
            judged.update(golds)
            if is_overwritten:
                replaced |= {
                    (gold, other)
                    for gold in golds
                    for other in others
                    if gold > other and _alike(own[gold]["text"], own[other]["text"])
                }
        texts = stored_texts(own)
        yield PairStore(
            f"{folder.name} {store}", "facts", texts, [row["text"] for row in asked], replaced, judged
        )


def _alike(one: str, other: str) -> bool:
    """Whether two facts begin alike: a question of several hops names facts of several subjects."""
    words, others = one.split(), other.split()
    return sum(a == b for a, b in zip(words, others, strict=False)) * 2 >= min(len(words), len(others))


def short_fact_stores() -> Iterator[PairStore]:
    """Yield stores of short facts made from templates, about half of them with a later value."""
    sections = _sections(SHORT_FACTS)
    lines = {name: _lines(text) for name, text in sections.items() if name != "words"}
    words = {
        line.split(": ")[0]: line.split(": ")[1].split() for line in sections["words"].splitlines() if line
    }
    for number, size in enumerate((*_SIZES, *_SIZES, *_SIZES, 96, 96, 96)):
        yield _short_fact_store(number, size, lines, words)


def _short_fact_store(
    number: int, size: int, lines: Mapping[str, Sequence[Sequence[str]]], words: Mapping[str, Sequence[str]]
) -> PairStore:
    chosen = [(name, place) for name, found in lines.items() for place in range(len(found))]
    chosen.sort(key=lambda each: hash_number(("short", number), each))
    facts: list[tuple[str, tuple[object, ...], bool, list[str]]] = []
    for turn in range(size):
        name, place = chosen[turn // 2 % len(chosen)]
        wordings = lines[name][place]
        draw = hash_number(("draw", number), turn)
        # The subject is the first slot of the line's first wording, if it comes before the verb's value.
        slots = re.findall(r"\{(\w+)\}", wordings[0])
        subject_slot = slots[0] if len(slots) > 1 and slots[0] != "amount" else None
        # A line comes twice in turn: of one subject, or of two.
        subject = hash_number(("subject", number), (name, place, 0 if draw % 3 else turn))
        wording = wordings[draw // 7 % len(wordings)] if turn % 2 else wordings[0]
        if subject_slot is not None and f"{{{subject_slot}}}" not in wording:
            wording = wordings[0]

        stated: list[str] = []
        # One in four values is said again in other words.
        said = turn // 2 if draw % 4 == 0 or not turn % 2 else turn + size
        seeds = {slot: hash_number(("value", number), (said, slot)) for slot in words}
        if subject_slot is not None:
            seeds[subject_slot] = subject
        text = wording
        for slot in re.findall(r"\{(\w+)\}", wording):
            value = words[slot][seeds[slot] % len(words[slot])].replace("_", " ")
            text = text.replace(f"{{{slot}}}", value)
            if slot != subject_slot:
                stated.append(value)
        values = words[subject_slot] if subject_slot else ("",)
        if draw // 31 % 3 == 0:
            text = text.rstrip(".") + _ENDINGS[draw // 97 % len(_ENDINGS)]
        facts.append((text, (name, place, values[subject % len(values)]), name == "one value", stated))
    # The second of a line comes in the second half of the store.
    order = [*range(0, size, 2), *range(1, size, 2)]
    facts = [facts[place] for place in order]
    gap = (_HOUR, 24 * _HOUR, 24 * 30 * _HOUR)[number % 3]
    texts = [PairText(text, microseconds(ORIGIN) + gap * place) for place, (text, *_) in enumerate(facts)]
    replaced = {
        (new, old)
        for new in range(size)
        for old in range(new)
        if facts[new][1] == facts[old][1] and facts[new][2] and facts[new][3] != facts[old][3]
    }
    return PairStore(f"short facts {number}", "short facts", texts, [], replaced)


def _sections(file: Path) -> dict[str, str]:
    parts = re.split(r"^\[(.+)\]\n", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def _lines(section: str) -> list[list[str]]:
    lines = [line for line in section.splitlines() if line and not line.startswith("#")]
    return [line.split(" | ") for line in lines]


def short_change_stores() -> Iterator[PairStore]:
    """Yield stores of one language each: first facts, then their changes and other facts like them."""
    lines = {name: _lines(text) for name, text in _sections(SHORT_CHANGES).items()}
    for language in (name.split()[-1] for name in lines if name.startswith("changed")):
        changed, hold = lines[f"changed {language}"], lines[f"both hold {language}"]
        count = -(-len(changed) // _CHANGES)
        for number in range(count):
            gap = (6, 24, 24 * 9)[number % 3] * _HOUR
            some, others = changed[number::count], hold[number::count]
            yield _short_change_store(f"{language} {number}", some, others, gap)


def _short_change_store(
    name: str, changed: Sequence[Sequence[str]], hold: Sequence[Sequence[str]], gap: int
) -> PairStore:
    former, later = (
        sorted({pair[place] for pair in (*changed, *hold)}, key=lambda text: hash_number(name, text))
        for place in (0, 1)
    )
    texts = [*former, *(text for text in later if text not in former)]
    place_of = {text: place for place, text in enumerate(texts)}
    stated = [PairText(text, microseconds(ORIGIN) + gap * place) for text, place in place_of.items()]
    replaced = {(place_of[new], place_of[old]) for old, new in changed}
    return PairStore(f"short changes {name}", "short changes", stated, [], replaced)


# Examples


def embed_store(store: PairStore, embedder: Embedder) -> PairStore:
    given = [f"{each.entity}: {each.text}" if each.entity else each.text for each in store.texts]
    vectors = np.vstack([embedder.documents(given[start : start + 64]) for start in range(0, len(given), 64)])
    vectors = vectors.astype(np.float64) / np.linalg.norm(vectors, axis=1, keepdims=True)
    queries = np.array([embedder.query(text) for text in store.questions]).reshape(-1, vectors.shape[1])
    return replace(store, cosines=vectors @ vectors.T, asked=queries @ vectors.T)


def groups_of(store: PairStore) -> Iterator[tuple[Ints, tuple[int, ...] | None]]:
    """Yield groups of texts that are compared: those of questions, of new notes, and of entities."""
    every = max(1, len(store.questions) // 150)
    for cosines in store.asked[::every]:
        yield np.sort(np.argsort(-cosines, kind="stable")[:_GROUP]), None
    step = max(1, len(store.texts) // 400)
    for place in range(1, len(store.texts), step):
        nearest = np.argsort(-store.cosines[place, :place], kind="stable")[:_GROUP]
        yield np.append(np.sort(nearest), place), (len(nearest),)
    entities = defaultdict(list)
    for place, text in enumerate(store.texts):
        if text.entity:
            entities[text.entity].append(place)
    for places in entities.values():
        if len(places) > 1:
            yield np.array(places), (len(places) - 1,)


def examples_of(store: PairStore, model: str, *, with_vectors: bool, writes_only: bool = False) -> Examples:
    signs: dict[str, list[Floats]] = defaultdict(list)
    pairs = []
    for group, rows in groups_of(store):
        if writes_only and (rows is None or len(group) == len(store.texts)):
            continue
        texts = [store.texts[place] for place in group]
        cosines = store.cosines[np.ix_(group, group)] if with_vectors else None
        counts = are_later(texts, rows, ties=True)
        new, old = np.nonzero(counts)
        own = np.arange(len(group)) if rows is None else np.array(rows)
        both = np.column_stack([group[own[new]], group[old]])
        keep = np.array([_is_known(store, *pair) and _kept(store, pair) for pair in both.tolist()], bool)
        if writes_only:
            keep = np.array([_is_known(store, *pair) for pair in both.tolist()], bool)
        for name, values in pair_signs(texts, cosines, model, rows).items():
            signs[name].append(values[new, old][keep])
        pairs.append(both[keep])
    every = np.vstack(pairs)
    true = np.array([tuple(pair) in store.replaced for pair in every.tolist()], float)
    weight = np.where(true > 0, 1.0, float(_NEGATIVES))
    return Examples({name: np.concatenate(values) for name, values in signs.items()}, true, weight, every)


def _is_known(store: PairStore, new: int, old: int) -> bool:
    if store.texts[new].text == store.texts[old].text:
        return False
    return store.judged is None or new in store.judged


def _kept(store: PairStore, pair: Sequence[int]) -> bool:
    return tuple(pair) in store.replaced or hash_number("kept", tuple(pair)) % _NEGATIVES == 0


# Fitting and judging


def fit_signs(given: Sequence[tuple[str, Examples]], names: Sequence[str]) -> dict[str, float]:
    """Fit all signs, and then those of `reworded` texts, on short changes too.

    So short changes teach nothing about texts that begin alike, which other sets know better.
    """
    others = [name for name in names if not name.startswith("reworded")]
    weights = fit_examples([each for each in given if each[0] != "short changes"], others)
    reworded = [name for name in names if name.startswith("reworded")]
    return weights | (fit_examples(given, reworded, weights) if reworded else {})


def fit_examples(
    given: Sequence[tuple[str, Examples]], names: Sequence[str], fixed: Mapping[str, float] | None = None
) -> dict[str, float]:
    """Fit a logistic regression beside the fixed weights; each sort of store has its share of the weight."""
    sorts = {sort for sort, _ in given}
    total = {sort: sum(each.weight.sum() for own, each in given if own == sort) for sort in sorts}
    weight = np.concatenate(
        [each.weight * _SHARES[sort] * total["lives"] / total[sort] for sort, each in given]
    )
    table = np.vstack([np.column_stack([each.signs[name] for name in names]) for _, each in given])
    spread = table.std(axis=0)
    names = [name for name, one in zip(names, spread, strict=True) if one > 0]
    table = table[:, spread > 0]
    known = np.zeros(len(table))
    if fixed is None:
        names, table = [*names, "constant"], np.column_stack([table, np.ones(len(table))])
    else:
        known = np.concatenate([_margins(each, fixed) for _, each in given])
    numbers = fit_logistic(
        LogisticProblem(
            lambda numbers: (known + table @ numbers, table),
            np.concatenate([each.true for _, each in given]),
            weight,
            np.full(table.shape[1], -np.inf),
            _PENALTY * table.std(axis=0) ** 2,
        )
    )
    return dict(zip(names, map(float, numbers), strict=True))


def _margins(examples: Examples, weights: Mapping[str, float]) -> Floats:
    margins = weights["constant"] + np.zeros(len(examples.true))
    for name, weight in weights.items():
        if name != "constant":
            margins += weight * examples.signs[name]
    return margins


def chances_of(examples: Examples, weights: Mapping[str, float]) -> Floats:
    chances: Floats = 1 / (1 + np.exp(-_margins(examples, weights)))
    return chances


def average_precision(chances: Floats, true: Floats) -> float:
    ordered = true[np.argsort(-chances, kind="stable")]
    found = np.cumsum(ordered) / np.arange(1, len(ordered) + 1)
    return float(found[ordered > 0].mean()) if ordered.any() else float("nan")


def judge_stores(
    stores: Sequence[tuple[PairStore, Examples, Examples]], names: Sequence[str]
) -> tuple[dict[str, float], dict[str, list[float]]]:
    """Judge each store with weights fitted on the others.

    Return the average precision by sort, and, by level of probability, what `remember` would name in the
    joined lives: the share that is right, the share of changes that are found, and the count per 100 texts.
    """
    precisions: dict[str, list[float]] = defaultdict(list)
    right: Counter[float] = Counter()
    named: Counter[float] = Counter()
    changes = texts = 0
    folds = max(1, sum(store.sort == "lives" for store, _, _ in stores))
    held = {
        store.name: number % folds
        for number, (store, _, _) in enumerate(sorted(stores, key=lambda s: s[0].sort != "lives"))
    }
    fitted = {
        fold: fit_signs([(s.sort, e) for s, e, _ in stores if held[s.name] != fold], names)
        for fold in range(folds)
    }
    for store, examples, writes in stores:
        weights = fitted[held[store.name]]
        if examples.true.any():
            precisions[store.sort].append(average_precision(chances_of(examples, weights), examples.true))
        if store.sort != "lives":
            continue
        chances = chances_of(writes, weights)
        best = {
            tuple(pair): (chance, is_true)
            for pair, chance, is_true in zip(
                writes.pairs.tolist(), chances.tolist(), writes.true.tolist(), strict=True
            )
        }
        changes, texts = changes + len(store.replaced), texts + len(store.texts)
        for level in _LEVELS:
            over = [is_true for chance, is_true in best.values() if chance >= level]
            named[level] += len(over)
            right[level] += int(sum(over))
    written = {
        str(level): [
            round(right[level] / max(1, named[level]), 3),
            round(right[level] / max(1, changes), 3),
            round(100 * named[level] / max(1, texts), 2),
        ]
        for level in _LEVELS
    }
    return {sort: round(float(np.mean(found)), 3) for sort, found in precisions.items()}, written


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="fit_replaces", description='Fit the model of "replaces".')
    parser.add_argument("models", nargs="+")
    parser.add_argument("--lives", type=Path, required=True)
    parser.add_argument("--facts", type=Path, nargs="*", default=[])
    parser.add_argument("--date", required=True, help="the day of the run, for the record")
    parser.add_argument("--cache", type=Path, help="folder that keeps vectors between runs")
    parser.add_argument("--ablate", action="store_true", help="report the loss without each sign")
    parser.add_argument("--out", type=Path, default=Path(str(ranking_package.__path__[0])) / REPLACES_FILE)
    given = parser.parse_args(arguments)
    bare = [
        *lives_stores(given.lives, JOINED),
        *list(lives_stores(given.lives, 1))[::4],
        *(store for folder in given.facts for store in fact_stores(folder)),
        *short_fact_stores(),
        *short_change_stores(),
    ]
    bare = [replace(store, name=f"{store.name} {number}") for number, store in enumerate(bare)]
    usual, stores = {}, {}
    for model in given.models:
        settings = Settings(store=Path("unused.db"), model=model, time_zone="UTC")
        with cached_models(settings, given.cache) as models:
            embedder = models.embedder_named(model)
            assert embedder is not None
            own = [embed_store(store, embedder) for store in bare]
        cosines = np.concatenate(
            [s.cosines[np.triu_indices(len(s.texts), 1)] for s in own if s.sort == "lives"]
        )
        usual[model] = [round(float(cosines.mean()), 4), round(float(cosines.std()), 4)]
        stores[model] = own
    model_of_pairs.USUAL_COSINES = usual
    fits = {}
    report: dict[str, Any] = {}
    for kind, with_vectors in (("weights", True), ("weights_of_words", False)):
        # Without vectors, a change in other words looks like any other text.
        ready = [
            (
                replace(store, name=f"{store.name} {model}"),
                examples_of(store, model, with_vectors=with_vectors),
                examples_of(store, model, with_vectors=with_vectors, writes_only=True),
            )
            for model in (given.models if with_vectors else given.models[:1])
            for store in stores[model]
            if with_vectors or store.sort != "short changes"
        ]
        names = [name for name in ready[0][1].signs if name not in _RULES]
        fits[kind] = fit_signs([(s.sort, e) for s, e, _ in ready], names)
        first = [each for each in ready if each[0].name.endswith(given.models[0])]
        report[kind] = judge_stores(first, names)
        print(kind, *report[kind], sep="\n  ", flush=True)
        if given.ablate:
            while True:
                losses = []
                base = sum(report[kind][0].values())
                for name in names:
                    scores, _ = judge_stores(first, [each for each in names if each != name])
                    losses.append((sum(scores.values()) - base, name, scores))
                losses.sort(reverse=True)
                print(
                    "\n".join(f"    {loss:+.3f} without {name} {scores}" for loss, name, scores in losses),
                    flush=True,
                )
                break
    plain = {
        **{
            kind: {name: round(value, 4) for name, value in weights.items()} for kind, weights in fits.items()
        },
        "usual_cosines": usual,
        "held_out": {
            kind: {"average_precision": scores, "named_at_write_time": written}
            for kind, (scores, written) in report.items()
        },
        "run": {
            "date": given.date,
            "models": given.models,
            "stores": {
                store.name: [len(store.texts), len(store.replaced)] for store in bare if store.sort != "lives"
            },
            "files": {path.name: sha256(path / "memories.jsonl") for path in given.facts},
        },
    }
    given.out.write_text(json.dumps(plain, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
