"""Tune an embedder on questions and the texts that answer them; writes an adapter and the facts of the run.

    python models/train/train.py --data ../shared/data --out models/arctic-memory

Contrastive learning: a question's vector shall be nearest to the text that answers it, among the texts of its
batch and one hard negative each. The same loss is taken of the token vectors, as late interaction compares
them: each token of the question with the signs of the text's tokens. See README.md beside this file.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from network import Network
from pairs import Pair, folder_pairs, published_pairs, with_pool
from torch import Tensor
from torch.nn import functional

from recollect.models.packaged import load_tokenizer, read_centre, tells_something
from recollect.models.registry import PackagedModel, ready_model

HERE = Path(__file__).parent
BENCHMARKS = HERE.parents[1] / "benchmarks"
PUBLISHED = ("friendsqa", "molweni", "qmsum")
FOLDERS = ("beam100k", "realmem", "factcon", "tsqa", "hotpotqa")
OURS = ("lives", "lives prompts", "everyday", "everyday prompts")
LICENCES = {
    **dict.fromkeys(OURS, "MIT, ours"),
    "friendsqa": "Apache-2.0",
    "molweni": "Apache-2.0",
    "qmsum": "MIT",
    "beam100k": "CC BY-SA 4.0",
    "realmem": "Apache-2.0",
    "factcon": "MIT",
    "tsqa": "BSD-3-Clause",
    "hotpotqa": "CC BY-SA 4.0",
}


@dataclass(frozen=True, slots=True)
class Recipe:
    """The settings of a run."""

    steps: int = 240
    rank: int = 8
    rate: float = 1.5e-3
    warm_up: float = 0.1
    """Share of the steps in which the rate rises."""
    share_of_ours: float = 0.45
    """Share of the batches that are drawn from the lives and the everyday people."""
    token_weight: float = 0.3
    """Weight of the loss of the token vectors."""
    temperature: float = 0.03
    token_temperature: float = 0.03
    batch: int = 24
    longest: int = 96
    """Number of tokens of a text that are read."""
    mined: int = 8
    """Number of texts of a public set's pool that are looked at for hard negatives; of ours, all are."""
    hardest: int = 8
    """Number of hard negatives of a question; a batch takes one of them."""
    margin: float = 0.1
    """A text that the base finds nearer than the answer by more than this may be an answer too."""
    blend: float = 0.6
    """Share of the change that is kept: the whole of it loses questions about long chats."""
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Example:
    """A question, with places in the table of texts."""

    query: int
    answers: tuple[int, ...]
    """The best passage of each answering memory."""
    negatives: tuple[int, ...]
    no_negatives: frozenset[int]


class Texts:
    """Texts by place, with their tokens and the vectors of the base."""

    def __init__(self, packaged: PackagedModel, longest: int) -> None:
        self.tokenizer = load_tokenizer(packaged)
        self.prefix, self.document_prefix = packaged.query_prefix, packaged.document_prefix
        self.pooling = packaged.pooling
        self.longest = longest
        self.places: dict[str, int] = {}
        self.ids: list[list[int]] = []
        self.vectors = torch.empty(0)
        pieces = self.tokenizer.get_vocab()
        self.informative = torch.zeros(len(pieces), dtype=torch.bool)
        for piece, id_ in pieces.items():
            special = (piece[0], piece[-1]) in {("[", "]"), ("<", ">")} and len(piece) > 2
            self.informative[id_] = tells_something(piece) and not special
        self.query_head, self.document_head = (
            len(self.tokenizer.encode(prefix.rstrip()).ids) - 1
            for prefix in (self.prefix, self.document_prefix)
        )

    def pooled(self, rows: Tensor, mask: Tensor) -> Tensor:
        """Return the vector of each text."""
        if self.pooling == "cls":
            return functional.normalize(rows[:, 0].float(), dim=1)
        return functional.normalize((rows.float() * mask[:, :, None]).sum(1), dim=1)

    def place(self, text: str, *, query: bool = False) -> int:
        text = (self.prefix if query else self.document_prefix) + text
        if text not in self.places:
            self.places[text] = len(self.ids)
            ids = self.tokenizer.encode(text).ids
            self.ids.append([*ids[: self.longest - 1], ids[-1]] if len(ids) > self.longest else ids)
        return self.places[text]

    def padded(self, places: Sequence[int]) -> tuple[Tensor, Tensor]:
        """Return ids and mask. Lengths are multiples of 16, since each new shape costs seconds."""
        longest = max(len(self.ids[place]) for place in places)
        ids = torch.zeros(len(places), -(-longest // 16) * 16, dtype=torch.long)
        for row, place in enumerate(places):
            ids[row, : len(self.ids[place])] = torch.tensor(self.ids[place])
        lengths = torch.tensor([len(self.ids[place]) for place in places])
        return ids, torch.arange(ids.shape[1]) < lengths[:, None]

    def embed_all(self, network: Network, cache: Path | None) -> None:
        """Compute the base's vectors of all texts, except those in the cache of an earlier run."""
        self.vectors = torch.empty(len(self.ids), network.words.shape[1])
        known: dict[str, int] = {}
        if cache is not None and cache.is_file():
            kept = np.load(cache)
            known = {text: place for place, text in enumerate(kept["texts"].tolist())}
            found = [(place, known[text]) for text, place in self.places.items() if text in known]
            self.vectors[[place for place, _ in found]] = torch.from_numpy(
                kept["vectors"][[there for _, there in found]]
            )
        missing = [place for text, place in self.places.items() if text not in known]
        missing.sort(key=lambda place: len(self.ids[place]))
        with torch.no_grad():
            tuned = network.tuned_numbers()
            for start in range(0, len(missing), 64):
                part = missing[start : start + 64]
                ids, mask = self.padded(part)
                self.vectors[part] = self.pooled(network(ids, mask, tuned), mask)
        if cache is not None:
            np.savez(cache, texts=np.array(list(self.places)), vectors=self.vectors.numpy())


def load_pairs(data: Path, left_out: frozenset[str]) -> dict[str, list[Pair]]:
    """Return the pairs of each set. Judging lives and judging people take no part."""
    sets: dict[str, list[Pair]] = {}
    for name in ("lives", "everyday"):
        halves = json.loads((BENCHMARKS / name / "halves.json").read_text(encoding="utf-8"))
        chosen = [who for who in sorted(halves["choosing"]) if who not in left_out]
        both = [folder_pairs(BENCHMARKS / name / who) for who in chosen]
        pool = sorted({text for pairs, _ in both for pair in pairs for text in pair.pool})
        sets[name] = with_pool([pair for pairs, _ in both for pair in pairs], pool)
        sets[f"{name} prompts"] = with_pool([pair for _, pairs in both for pair in pairs], pool)
    for name in PUBLISHED:
        sets[name] = published_pairs(data / "train_pairs" / f"{name}.jsonl")
    for name in FOLDERS:
        sets[name] = folder_pairs(data / name)[0]
    return sets


def place_texts(
    texts: Texts, sets: Mapping[str, Sequence[Pair]], recipe: Recipe, chance: np.random.Generator
) -> dict[str, list[tuple[Pair, list[int]]]]:
    """Give every text of a question a place, and draw the texts in which its negatives are looked for."""
    placed: dict[str, list[tuple[Pair, list[int]]]] = {}
    for name, pairs in sets.items():
        for pair in pairs:
            most = len(pair.pool) if name in OURS else recipe.mined
            texts.place(pair.query, query=True)
            for answer in pair.answers:
                for passage in answer:
                    texts.place(passage)
            pool = pair.pool
            if len(pool) > most:
                pool = [pool[place] for place in chance.choice(len(pool), most, replace=False)]
            drawn = [texts.place(text) for text in pool if text not in pair.no_negatives]
            placed.setdefault(name, []).append((pair, drawn))
    return placed


def example_of(texts: Texts, pair: Pair, drawn: Sequence[int], recipe: Recipe) -> Example | None:
    query = texts.place(pair.query, query=True)
    answers = []
    for answer in pair.answers:
        passages = [texts.place(passage) for passage in answer]
        near = texts.vectors[passages] @ texts.vectors[query]
        answers.append(passages[int(near.argmax())])
    furthest = min(float(texts.vectors[answer] @ texts.vectors[query]) for answer in answers)
    near = texts.vectors[list(drawn)] @ texts.vectors[query]
    order = [
        drawn[place]
        for place in near.argsort(descending=True).tolist()
        if near[place] <= furthest + recipe.margin
    ]
    if not order:
        return None
    told = (texts.document_prefix + text for text in pair.no_negatives)
    known = frozenset(texts.places[text] for text in told if text in texts.places)
    return Example(query, tuple(answers), tuple(order[: recipe.hardest]), known | set(answers))


def batches(
    examples: Mapping[str, Sequence[Example]], recipe: Recipe, chance: np.random.Generator
) -> Iterator[list[Example]]:
    """Draw batches of one set each: ours by their share and size, the others by the root of their size."""
    names = sorted(examples)
    sizes = np.array([len(examples[name]) for name in names], float)
    ours = np.array([name in OURS for name in names])
    weights = np.where(ours, sizes, np.sqrt(sizes))
    weights[ours] *= recipe.share_of_ours / weights[ours].sum()
    weights[~ours] *= (1 - recipe.share_of_ours) / weights[~ours].sum()
    while True:
        own = examples[names[chance.choice(len(names), p=weights)]]
        yield [own[place] for place in chance.choice(len(own), min(recipe.batch, len(own)), replace=False)]


class Loss:
    """The loss of a batch: of the vectors, and of the token vectors."""

    def __init__(self, texts: Texts, recipe: Recipe, token_centre: Tensor) -> None:
        self.texts, self.recipe, self.token_centre = texts, recipe, token_centre

    def __call__(
        self, network: Network, batch: Sequence[Example], chance: np.random.Generator
    ) -> tuple[Tensor, Tensor]:
        texts, recipe = self.texts, self.recipe
        queries = [example.query for example in batch]
        answers = [example.answers[chance.integers(len(example.answers))] for example in batch]
        negatives = [example.negatives[chance.integers(len(example.negatives))] for example in batch]
        documents = answers + negatives
        hidden = self._hidden(batch, queries, documents)
        tuned = network.tuned_numbers()
        ids, mask = texts.padded(queries)
        query_rows = network(ids, mask, tuned)
        # Short and long texts are read apart, so that little is padded.
        order = sorted(range(len(documents)), key=lambda place: len(texts.ids[documents[place]]))
        halves = [order[: len(order) // 2], order[len(order) // 2 :]]
        vectors, signs, kept = [], [], []
        for half in halves:
            document_ids, document_mask = texts.padded([documents[place] for place in half])
            rows = network(document_ids, document_mask, tuned)
            vectors.append(texts.pooled(rows, document_mask))
            signs.append(self._signs(rows))
            informative = texts.informative[document_ids] & document_mask
            informative[:, : texts.document_head] = False
            # A text of stopwords alone keeps all its tokens.
            kept.append(torch.where(informative.any(1, keepdim=True), informative, document_mask))
        back = torch.tensor(halves[0] + halves[1]).argsort()
        target = torch.arange(len(batch))

        near = texts.pooled(query_rows, mask) @ torch.cat(vectors)[back].T
        loss = functional.cross_entropy((near / recipe.temperature).masked_fill(hidden, -1e4), target)

        asked = functional.normalize(self._centred(query_rows), dim=2)
        asked_mask = mask.clone()
        asked_mask[:, : texts.query_head] = False
        asked_mask[torch.arange(len(batch)), mask.sum(1) - 1] = False
        match = torch.cat([self._matches(asked, *each) for each in zip(signs, kept, strict=True)], 1)[:, back]
        match = (match * asked_mask[:, None, :]).sum(2) / asked_mask.sum(1)[:, None]
        scores = (match / recipe.token_temperature).masked_fill(hidden, -1e4)
        return loss, functional.cross_entropy(scores, target)

    def _centred(self, rows: Tensor) -> Tensor:
        return functional.normalize(rows.float(), dim=2) - self.token_centre

    def _signs(self, rows: Tensor) -> Tensor:
        """Return signs, with the gradient of a smooth step."""
        soft = torch.tanh(self._centred(rows) * rows.shape[2] ** 0.5)
        return soft + (soft.sign() - soft).detach()

    def _matches(self, asked: Tensor, signs: Tensor, kept: Tensor) -> Tensor:
        """Return for each question, text and token of the question the best match in the text."""
        queries, tokens, dims = asked.shape
        products = asked.reshape(-1, dims).bfloat16() @ signs.reshape(-1, dims).bfloat16().T
        products = products.float().view(queries, tokens, *kept.shape) / dims**0.5
        return products.masked_fill(~kept, -1e4).amax(3).transpose(1, 2)

    def _hidden(self, batch: Sequence[Example], queries: Sequence[int], documents: Sequence[int]) -> Tensor:
        """Return which texts are left out as negatives: other answers, and what may be one."""
        texts = self.texts
        near = texts.vectors[queries] @ texts.vectors[documents].T
        own = near[torch.arange(len(batch)), torch.arange(len(batch))]
        hidden = near > own[:, None] + self.recipe.margin
        for row, example in enumerate(batch):
            for column, place in enumerate(documents):
                if place in example.no_negatives:
                    hidden[row, column] = True
            hidden[row, row] = False
        return hidden


def rate_at(step: int, recipe: Recipe) -> float:
    """Return the share of the rate: it rises, then falls along a cosine."""
    rise = max(1, round(recipe.warm_up * recipe.steps))
    if step < rise:
        return (step + 1) / rise
    return 0.5 + 0.5 * float(np.cos(np.pi * (step - rise) / max(1, recipe.steps - rise)))


def write_adapter(path: Path, network: Network, blend: float) -> None:
    arrays: dict[str, Any] = network.adapter(blend)
    np.savez_compressed(path, **arrays)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--leave-out", nargs="*", default=[], metavar="LIFE")
    parser.add_argument("--base", default="arctic-s", help="the model to tune")
    parser.add_argument("--cache", type=Path)
    for name, value in asdict(Recipe()).items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(value), default=value)
    given = parser.parse_args()
    recipe = Recipe(**{name: getattr(given, name) for name in asdict(Recipe())})
    torch.manual_seed(recipe.seed)
    torch.use_deterministic_algorithms(mode=True)
    chance = np.random.default_rng(recipe.seed)

    given.out.mkdir(parents=True, exist_ok=True)
    packaged = ready_model(given.base)
    network = Network(packaged.weights, recipe.rank)
    texts = Texts(packaged, recipe.longest)
    sets = load_pairs(given.data, frozenset(given.leave_out))
    placed = place_texts(texts, sets, recipe, chance)
    print({name: len(pairs) for name, pairs in sets.items()}, len(texts.ids), "texts", flush=True)
    started = time.perf_counter()
    texts.embed_all(network, given.cache)
    print(f"{time.perf_counter() - started:.0f} s for the base's vectors", flush=True)
    examples = {
        name: [made for pair, drawn in pairs if (made := example_of(texts, pair, drawn, recipe))]
        for name, pairs in placed.items()
    }
    if packaged.token_centre is None:
        raise SystemExit("The base has no token centre.")
    loss_of = Loss(texts, recipe, torch.from_numpy(read_centre(packaged.token_centre)))
    optimiser = torch.optim.AdamW(network.parameters(), lr=recipe.rate, weight_decay=0.0)
    means = np.zeros(2)
    drawn = batches(examples, recipe, chance)
    for step in range(recipe.steps):
        optimiser.param_groups[0]["lr"] = recipe.rate * rate_at(step, recipe)
        loss, token_loss = loss_of(network, next(drawn), chance)
        optimiser.zero_grad()
        (loss + recipe.token_weight * token_loss).backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimiser.step()
        means = 0.95 * means + 0.05 * np.array([loss.item(), token_loss.item()])
        if step % 25 == 24:
            level = means / (1 - 0.95 ** (step + 1))
            print(step + 1, level.round(3), f"{time.perf_counter() - started:.0f} s", flush=True)
            write_adapter(given.out / "adapter.npz", network, recipe.blend)
    write_adapter(given.out / "adapter.npz", network, recipe.blend)
    facts = {
        "base": packaged.full_name,
        "recipe": asdict(recipe),
        "data": {name: {"pairs": len(each), "licence": LICENCES[name]} for name, each in examples.items()},
        "left_out": sorted(given.leave_out),
        "pytorch": torch.__version__,
        "seconds": round(time.perf_counter() - started),
    }
    (given.out / "run.json").write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
