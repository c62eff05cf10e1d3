"""Cluster vectors by average linkage, and choose the number of groups by the silhouette.

Each row is a vector. The two nearest groups join first; their distance is the mean distance of their
members. The chosen number of groups has the highest silhouette (Rousseeuw 1987): how much nearer each row is
to its own group than to the next one. Nothing is random, and ties go to the lower index.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from recollect.domain.lazy_dataclass import dataclass
from recollect.text.tokens import topic_terms, words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]


# Maximum number of rows whose distances are computed, 8 bytes each. Further rows join the nearest group.
_MAX_COMPARED = 2_000
# A split into more groups must improve the silhouette by at least this.
_MIN_GAIN = 0.005


@dataclass(frozen=True, slots=True)
class Clusters:
    """Groups of row indices, each ascending, ordered by their first row."""

    groups: tuple[tuple[int, ...], ...] = ()
    silhouette: float = 0.0
    """The mean silhouette of all rows, from -1 to 1; rows in a group that is too small count 0."""


class Join(NamedTuple):
    """A merge of two groups. A group is named by its lowest row."""

    one: int
    other: int
    distance: float


def find_clusters(rows: NDArray[np.floating], most: int, fewest: int) -> Clusters:
    """Find the best split into 2 to `most` groups of at least `fewest` rows. A bad one gives no groups.

    Rows are compared by their directions from the mean, so that a shared direction does not count.
    """
    directions = centre_rows(rows)
    # Sample rows by the golden ratio: even steps could coincide with a period in the data.
    order = np.argsort(np.arange(len(directions)) * 2_654_435_761 % 2**32, kind="stable")
    compared = np.sort(order[:_MAX_COMPARED])
    apart = distances(directions[compared])
    joins = average_linkage(apart)
    best = Clusters()
    for groups in range(2, min(most * 2, len(compared) - 1) + 1):
        labels = label_groups(joins, len(compared), groups)
        found = _clusters_of(labels, apart, fewest)
        if 2 <= len(found.groups) <= most and found.silhouette > best.silhouette + _MIN_GAIN:
            best = found
    return best if len(compared) == len(rows) else _add_other_rows(best, directions, compared)


def centre_rows(rows: NDArray[np.floating]) -> Floats:
    """Return the directions of rows from their mean; a row equal to the mean stays zero."""
    if not len(rows):
        return np.zeros((0, 0))
    wide = np.asarray(rows, np.float64)
    moved = wide - wide.mean(axis=0)
    lengths = np.linalg.norm(moved, axis=1, keepdims=True)
    # The direction of a row equal to the mean would be a rounding error.
    return np.where(lengths < 1e-6, 0, moved / np.where(lengths == 0, 1, lengths))


def distances(rows: Floats) -> Floats:
    """Return 1 - cosine, from 0 to 2, for rows of length one; 0 on the diagonal."""
    apart = np.clip(1 - rows @ rows.T, 0, 2)
    # Rounding may differ between the two sides of the diagonal.
    apart = (apart + apart.T) / 2
    np.fill_diagonal(apart, 0)
    return apart


def average_linkage(apart: Floats) -> tuple[Join, ...]:
    """Return all joins until one group is left, nearest first.

    Following chains of nearest neighbours (Murtagh 1983) gives the same tree as searching for the nearest
    pair before each join, and is faster.
    """
    near = apart.astype(np.float64, copy=True)
    np.fill_diagonal(near, np.inf)
    sizes = np.ones(len(near), np.int64)
    alive = np.ones(len(near), bool)
    joins: list[Join] = []
    chain: list[int] = []
    while len(joins) < len(near) - 1:
        if not chain:
            chain = [int(np.argmax(alive))]
        last = chain[-1]
        nearest = int(np.argmin(near[last]))
        # The last two are nearest to each other, so they join. Ties count, or the chain could be a cycle.
        if len(chain) > 1 and near[last, chain[-2]] <= near[last, nearest]:
            _, before = chain.pop(), chain.pop()
            one, other = min(last, before), max(last, before)
            joins.append(Join(one, other, float(near[one, other])))
            # Lance and Williams: the distance to a joined group is the mean, weighted by the sizes.
            total = sizes[one] + sizes[other]
            mean = (sizes[one] * near[one] + sizes[other] * near[other]) / total
            near[one] = near[:, one] = np.where(alive, mean, np.inf)
            near[other] = near[:, other] = np.inf
            near[one, one] = near[one, other] = near[other, one] = np.inf
            alive[other] = False
            sizes[one] = total
        else:
            chain.append(nearest)
    return tuple(sorted(joins, key=lambda join: join.distance))


def label_groups(joins: Sequence[Join], rows: int, groups: int) -> Ints:
    """Return each row's group once only `groups` are left; a group's number is its lowest row."""
    labels = np.arange(rows)
    for join in joins[: max(0, rows - groups)]:
        one, other = sorted((labels[join.one], labels[join.other]))
        labels[labels == other] = one
    return labels


def silhouettes(labels: Ints, apart: Floats) -> Floats:
    """Return (b - a) / max(a, b) for each row: a is its mean distance to its own group, b to the next one.

    A row that is a group by itself gets 0, and so do all rows of a single group.
    """
    names, places = np.unique(labels, return_inverse=True)
    if len(names) < 2:
        return np.zeros(len(labels))
    member = np.zeros((len(labels), len(names)))
    member[np.arange(len(labels)), places] = 1
    sizes = member.sum(axis=0)
    total = apart @ member
    rows = np.arange(len(labels))
    own = total[rows, places] / np.maximum(1, sizes[places] - 1)
    others = total / sizes
    others[rows, places] = np.inf
    next_best = others.min(axis=1)
    longest = np.maximum(own, next_best)
    value = np.where(longest > 0, (next_best - own) / np.where(longest > 0, longest, 1), 0.0)
    return np.where(sizes[places] > 1, value, 0.0)


def _clusters_of(labels: Ints, apart: Floats, fewest: int) -> Clusters:
    members = [tuple(np.flatnonzero(labels == name).tolist()) for name in np.unique(labels)]
    groups = tuple(group for group in members if len(group) >= fewest)
    value = silhouettes(labels, apart)
    value[[row for group in members if len(group) < fewest for row in group]] = 0
    return Clusters(groups, float(value.mean()))


def _add_other_rows(found: Clusters, rows: Floats, compared: Ints) -> Clusters:
    """Add each row that was not compared: to the group with the least mean distance."""
    if not found.groups:
        return found
    groups = [[int(compared[row]) for row in group] for group in found.groups]
    middles = np.stack([rows[group].mean(axis=0) for group in groups])
    for row in sorted(set(range(len(rows))) - set(compared.tolist())):
        groups[int(np.argmax(middles @ rows[row]))].append(row)
    return Clusters(tuple(tuple(sorted(group)) for group in groups), found.silhouette)


# Topics: the words that distinguish each group of texts.

_WORDS_IN_A_NAME = 2
_PIECES = re.compile(r"\w+")


def topic_weights(groups: Sequence[Sequence[str]], excluded: Collection[str] = ()) -> list[dict[str, float]]:
    """Return the c-TF-IDF of each group's words, except the `excluded` ones."""
    counts = [
        Counter(term for text in group for term in topic_terms(text) if term not in excluded)
        for group in groups
    ]
    everywhere = sum(counts, Counter[str]())
    mean = everywhere.total() / max(1, len(groups))
    return [
        {word: n / count.total() * math.log(1 + mean / everywhere[word]) for word, n in count.items()}
        for count in counts
    ]


def topic_names(groups: Sequence[Sequence[str]], excluded: Collection[str] = ()) -> list[str]:
    """Name each group by its words with the highest weights; no two names are equal.

    A word is spelt as in most of the group's texts. A group without words is named by its number.
    """
    names: list[str] = []
    for place, (group, weight) in enumerate(zip(groups, topic_weights(groups, excluded), strict=True), 1):
        usual = _usual_spellings(group)
        terms = [usual.get(word, word) for word in sorted(weight, key=lambda word: (-weight[word], word))]
        choices = [
            " ".join(word[:1].upper() + word[1:] for word in terms[:length])
            for length in range(min(_WORDS_IN_A_NAME, len(terms)), len(terms) + 1)
            if length
        ]
        free = (choice for choice in choices if choice not in names)
        names.append(next(free, f"{choices[0]} {place}" if choices else f"Topic {place}"))
    return names


def tf_idf_rows(texts: Sequence[str]) -> NDArray[np.float64]:
    """Return TF-IDF rows, for stores without a model: (1 + ln(count)) * ln(texts / texts with the word).

    A word of only one text is left out, since it cannot make two texts similar.
    """
    counts = [Counter(topic_terms(text)) for text in texts]
    texts_with = Counter(word for count in counts for word in count)
    columns = {word: place for place, word in enumerate(sorted(w for w, n in texts_with.items() if n > 1))}
    rows = np.zeros((len(texts), len(columns)))
    for row, count in enumerate(counts):
        for word, n in count.items():
            if word in columns:
                rows[row, columns[word]] = (1 + math.log(n)) * math.log(len(texts) / texts_with[word])
    return rows


def _usual_spellings(texts: Iterable[str]) -> dict[str, str]:
    """Map each folded word to its most frequent spelling; ties go to the first."""
    forms: dict[str, Counter[str]] = {}
    for text in texts:
        for piece in _PIECES.findall(text):
            folded = words(piece)
            if len(folded) == 1:
                forms.setdefault(folded[0], Counter())[piece] += 1
    return {word: count.most_common(1)[0][0] for word, count in forms.items()}
