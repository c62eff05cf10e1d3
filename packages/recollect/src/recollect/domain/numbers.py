"""Arithmetic on embedding vectors, repeatable samples, and statistics of rankings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from heapq import nsmallest
from math import exp, lgamma, log, log2, sqrt

import numpy as np
from numpy.typing import NDArray

from recollect.domain.lazy_dataclass import dataclass

Rows = NDArray[np.float32]


def normalised(rows: NDArray[np.floating]) -> Rows:
    """Scale rows to length one; a row of zeros stays zero."""
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.asarray(rows / np.where(lengths == 0, 1, lengths), dtype=np.float32)


def distinct(ids: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return each id once, ascending. Unlike `np.unique`, it does not load `numpy.ma` (ten milliseconds)."""
    ordered = np.sort(ids)
    is_first = np.ones(len(ordered), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    return ordered[is_first]


def pack_vector(row: Rows) -> bytes:
    """Pack as little-endian float32 on every machine."""
    return np.ascontiguousarray(row, dtype="<f4").tobytes()


def unpack_vector(blob: bytes) -> Rows:
    return np.frombuffer(blob, dtype="<f4")


MOST_PRODUCTS = 262_144
"""The number of multiplications in one matrix product. Above it, OpenBLAS starts a second thread, which takes
ten times the CPU time if other threads are busy."""


def products(left: NDArray[np.floating], right: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return the product of each row of `left` with each row of `right`, without a second thread.

    That holds for a `right` of at most 400,000 numbers.
    """
    found: NDArray[np.floating] = np.empty((len(left), len(right)), np.result_type(left, right))
    at_once = max(1, MOST_PRODUCTS // max(1, right.size))
    for start in range(0, len(left), at_once):
        part = slice(start, start + at_once)
        np.matmul(left[part], right.T, out=found[part])
    return found


def sign_bytes(dims: int) -> int:
    """How many bytes the signs of one vector take."""
    return (dims + 7) // 8


def pack_signs(rows: Rows) -> bytes:
    """Pack one bit for each number: whether it is above zero. Each row begins a new byte."""
    return np.packbits(rows > 0, axis=1).tobytes()


# Repeatable randomness: the same seed gives the same numbers and samples


def hash_number(seed: object, of: object) -> int:
    """Return a number from 0 to 2^64 - 1, always the same for the same arguments."""
    return int.from_bytes(blake2b(f"{seed}:{of}".encode(), digest_size=8).digest(), "big")


def sample_ids(ids: Iterable[int], seed: object, size: int) -> list[int]:
    """Choose `size` ids in the order of their hashes."""
    if size <= 0:
        return []
    # The bytes of `hash_number`, which have the same order and need no conversion.
    start = f"{seed}:".encode()
    hashed = ((blake2b(b"%s%d" % (start, id_), digest_size=8).digest(), id_) for id_ in ids)
    return [id_ for _, id_ in nsmallest(size, hashed)]


# Measures of rankings, and their uncertainty

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TAIL = 0.025
"""The part that a 95 % interval leaves out on each side."""
_Z = 1.959963984540054
"""Standard deviations that contain 95 % of a normal distribution."""
_NUMBERS_AT_ONCE = 1 << 20
"""Random numbers drawn at a time, to bound the memory."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean, and where 95 % of the resampled means lie."""

    mean: float
    low: float
    high: float

    @property
    def excludes_zero(self) -> bool:
        return self.low > 0 or self.high < 0

    def negated(self) -> Interval:
        # Subtracted from 0, so that there is no negative zero.
        return Interval(0.0 - self.mean, 0.0 - self.high, 0.0 - self.low)


def bootstrap_interval(
    values: Floats, chance: np.random.Generator, resamples: int, weights: Floats | None = None
) -> Interval:
    """Return the interval of the weighted mean by drawing with replacement (percentile bootstrap, Efron
    1979).

    The same seed draws the same indices of lists of equal length, so that differences stay paired.
    """
    counts = np.ones(len(values)) if weights is None else weights
    means = []
    for size in _batches(resamples, len(values)):
        drawn = chance.integers(0, len(values), (size, len(values)))
        means.append(values[drawn].sum(1) / counts[drawn].sum(1))
    low, high = np.quantile(np.concatenate(means), [TAIL, 1 - TAIL])
    return Interval(float(values.sum() / counts.sum()), float(low), float(high))


def sign_flip_test(values: Floats, chance: np.random.Generator, flips: int) -> float:
    """Return the one-sided probability of at least this sum if the sign of each value were random."""
    moved = values[values != 0]
    # A tolerance, because equal sums may be rounded differently.
    observed = moved.sum() - 1e-9 * np.abs(moved).sum()
    as_great = 0
    for size in _batches(flips, len(moved)):
        signs = 2.0 * chance.integers(0, 2, (size, len(moved))) - 1.0
        as_great += int((signs @ moved >= observed).sum())
    # The observed signs count as one of the flips.
    return (1 + as_great) / (1 + flips)


def sign_test(wins: int, losses: int) -> float:
    """Return the two-sided probability that fair coins fall at least as unevenly."""
    count, fewer = wins + losses, min(wins, losses)
    logs = (
        lgamma(count + 1) - lgamma(heads + 1) - lgamma(count - heads + 1) - count * log(2)
        for heads in range(fewer + 1)
    )
    return min(1.0, 2 * sum(map(exp, logs)))


def wilson_interval(hits: int, of: int) -> tuple[float, float]:
    """Return the 95 % interval of a share (Wilson 1927); 0 to 1 if nothing was counted.

    Unlike the share plus or minus its error, it stays within 0 to 1, and is valid for small counts.
    """
    if not of:
        return 0.0, 1.0
    share, spare = hits / of, _Z**2 / of
    middle = (share + spare / 2) / (1 + spare)
    half = _Z / (1 + spare) * sqrt(share * (1 - share) / of + spare / (4 * of))
    # With no hits or only hits, one end is exactly 0 or 1; the formula may be slightly off.
    return (0.0 if hits == 0 else middle - half), (1.0 if hits == of else middle + half)


def auroc(present: Floats, absent: Floats) -> float:
    """Return the share of pairs with `present` above `absent`. Ties count half; 0.5 without pairs."""
    if not len(present) or not len(absent):
        return 0.5
    ordered = np.sort(absent)
    below, up_to = np.searchsorted(ordered, present, "left"), np.searchsorted(ordered, present, "right")
    return float((below + up_to).mean() / 2 / len(absent))


def discounts(places: Ints, k: int) -> Floats:
    """Return 1 / log2(1 + place) for the places 1 to K, else 0. Place 0 means not ranked."""
    counted = (places >= 1) & (places <= k)
    return np.where(counted, 1.0 / np.log2(1.0 + np.maximum(places, 1)), 0.0)


def dcg_bounds(gains: Iterable[float], k: int) -> tuple[float, float]:
    """Return the DCG@K of the worst and of the best order."""
    known = list(gains)
    good = sorted((number for number in known if number > 0), reverse=True)
    wrong = sorted(number for number in known if number < 0)
    return _dcg(wrong, k), _dcg(good, k)


def lift(found: Floats | Ints, shown: Floats, relevant: Floats | Ints, among: Floats) -> Floats:
    """Return the lift of each answer: 1 is as good as chance; 0 if nothing was found, relevant or shown.

    All arguments are counts: `found` of the `shown` first K are relevant, and `relevant` of the candidates,
    whose number is `among`.
    """
    counted = (relevant > 0) & (shown > 0)
    share = found / np.where(counted, shown, 1.0)
    return np.where(counted, share / np.where(counted, relevant / np.maximum(among, 1.0), 1.0), 0.0)


def _dcg(gains: Sequence[float], k: int) -> float:
    return sum(number / log2(1 + place) for place, number in enumerate(gains[:k], start=1))


def _batches(draws: int, width: int) -> Iterator[int]:
    """Return how many draws of `width` numbers to make in each batch."""
    most = max(1, _NUMBERS_AT_ONCE // max(width, 1))
    return (min(most, draws - start) for start in range(0, draws, most))
