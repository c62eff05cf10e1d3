"""Late interaction: each token of the query beside each token of the candidates' passages.

MaxSim (Khattab and Zaharia 2020, "ColBERT"): every token of the query looks for the token of the passage that
is most like it, and the passage gets the mean of what they find. The query's token vectors q are as they are;
of a passage's d only the signs are kept, so that a token takes a bit for each number:

    score = mean over q of max over d of (q · sign(d)) / sqrt(dims)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from math import ceil, log2, sqrt
from typing import TYPE_CHECKING

import numpy as np

from recollect.conditions import Equals, OneOf
from recollect.ranking.candidates import Floats, Ints, Source
from recollect.ranking.pipeline import ByMeaning, Profile
from recollect.vectors import sign_bytes

if TYPE_CHECKING:
    from recollect.ports import Snapshot, Vectors
    from recollect.query import Query
    from recollect.records import Found
    from recollect.retrieval.search import Search

MOST_PASSAGES = 4
"""Of a memory with more of them, the nearest by its vector speaks for it, else the first ones."""
_FIRST = 50
"""Of each search; what it found behind them seldom rises to the first places."""
_MOST_PRODUCTS = 262_144
"""In one product of matrices. Above it OpenBLAS takes a second thread, which costs ten times the CPU time
where others use it too; and what is unpacked together stays in the cache."""
_FEWEST_AT_ONCE = 16
_EXACT_BITS = 23
"""Whole numbers below twice the power of two that this names are exact in float32."""


def token_source(
    search: Search, profile: Profile, query: Query, found: Mapping[str, Sequence[Found]], ids: Ints
) -> dict[str, Source]:
    """The token scores of the candidates that the searches by meaning and by words put first."""
    wanted = any(isinstance(retriever, ByMeaning) and retriever.tokens for retriever in profile.retrieve)
    if not wanted or query.tokens is None:
        return {}
    first = {hit.id for name in ("meaning", "words") for hit in found.get(name, ())[:_FIRST]}
    nearest = {hit.id: hit.passage for hit in found.get("meaning", ()) if hit.passage is not None}
    scores = search.token_scores(query.tokens, sorted(first), nearest)
    column = np.array([scores.get(id_, np.nan) for id_ in ids.tolist()])
    return {"tokens": Source(np.zeros(len(ids), np.int64), column)}


def passages_to_compare(passages: Iterable[tuple[int, int]], nearest: Mapping[int, int]) -> dict[int, int]:
    """Of passages with their memories, those that are compared."""
    every = dict(passages)
    if max(Counter(every.values()).values(), default=0) <= MOST_PASSAGES:
        return every
    by_memory: dict[int, list[int]] = {}
    for passage, memory in sorted(every.items()):
        by_memory.setdefault(memory, []).append(passage)
    chosen: dict[int, int] = {}
    for memory, own in by_memory.items():
        few = own if len(own) <= MOST_PASSAGES else [nearest[memory]] if memory in nearest else own
        for passage in few[:MOST_PASSAGES]:
            chosen[passage] = memory
    return chosen


def best_token_scores(
    snapshot: Snapshot, model: tuple[int, int], tokens: Vectors, memories: Mapping[int, int]
) -> dict[int, float]:
    """By memory, the score of its best passage; `model` is the row of a model and its width.

    What has no tokens in the store has no score.
    """
    model_id, dims = model
    rows = snapshot.rows(
        "passage_tokens",
        ("passage_id", "signs"),
        (Equals("model_id", model_id), OneOf("passage_id", sorted(memories))),
    )
    there = [(passage, signs) for passage, signs in rows if signs]
    scores = max_similarities(tokens, [signs for _, signs in there], dims).tolist()
    best: dict[int, float] = {}
    for (passage, _), score in zip(there, scores, strict=True):
        memory = memories[passage]
        best[memory] = max(score, best.get(memory, score))
    return best


def max_similarities(tokens: Vectors, passages: Sequence[bytes], dims: int) -> Floats:
    """The score of each passage, of which each has a token or more; `tokens` are rows of length one.

    The rows are rounded to whole numbers of a unit so small that every sum of them is exact in float32. So a
    passage's score is the same to the last bit on any machine, whatever passages are scored beside it.
    """
    if not passages or not len(tokens):
        return np.zeros(len(passages))
    # The numbers of a row of length one add up to the root of its width at the most.
    unit = 2.0 ** (ceil(log2(sqrt(dims))) - _EXACT_BITS)
    rows = np.rint(tokens / np.float32(unit)).astype(np.float32)
    width = sign_bytes(dims)
    packed = np.frombuffer(b"".join(passages), np.uint8).reshape(-1, width)
    products = np.empty((len(packed), len(rows)), np.float32)
    at_once = max(_FEWEST_AT_ONCE, _MOST_PRODUCTS // (dims * len(rows)))
    for start in range(0, len(packed), at_once):
        part = slice(start, start + at_once)
        bits = np.unpackbits(packed[part], axis=1, count=dims).astype(np.float32)
        np.matmul(bits, rows.T, out=products[part])
    starts = [0, *accumulate(len(signs) // width for signs in passages[:-1])]
    highest = np.maximum.reduceat(products, starts, axis=0).astype(np.float64)
    # Bits are 0 and 1 where signs are -1 and 1: q · sign = 2 (q · bit) - the sum of q.
    totals = (2 * highest - rows.sum(axis=1, dtype=np.float64)).sum(axis=1)
    scores: Floats = totals * unit / (len(rows) * sqrt(dims))
    return scores
