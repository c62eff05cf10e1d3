"""Topics: what groups of texts are about, by the words that distinguish each group.

c-TF-IDF (Grootendorst 2022, BERTopic): each group is taken for one long text, and a word weighs

    share of the group's words that it is  x  ln(1 + A / f)

with A the mean number of words of a group, and f how often the word comes in all of them.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from recollect.text.tokens import topic_terms, words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from numpy.typing import NDArray

_WORDS_IN_A_NAME = 2
_PIECES = re.compile(r"\w+")


def topic_weights(groups: Sequence[Sequence[str]], without: Collection[str] = ()) -> list[dict[str, float]]:
    """The c-TF-IDF of each group's words; those of `without` are passed over."""
    counts = [
        Counter(term for text in group for term in topic_terms(text) if term not in without)
        for group in groups
    ]
    everywhere = sum(counts, Counter[str]())
    mean = everywhere.total() / max(1, len(groups))
    return [
        {word: n / count.total() * math.log(1 + mean / everywhere[word]) for word, n in count.items()}
        for count in counts
    ]


def topic_names(groups: Sequence[Sequence[str]], without: Collection[str] = ()) -> list[str]:
    """A name for each group, of its weightiest words, no two alike.

    A word stands as the group's texts write it most often. A group without any is named by its number.
    """
    named: list[str] = []
    for place, (group, weight) in enumerate(zip(groups, topic_weights(groups, without), strict=True), 1):
        heaviest = sorted(weight, key=lambda word: (-weight[word], word))
        written = _written(group)
        shown = [written.get(word, word) for word in heaviest]
        choices = [
            " ".join(word[:1].upper() + word[1:] for word in shown[:length])
            for length in range(min(_WORDS_IN_A_NAME, len(heaviest)), len(heaviest) + 1)
            if length
        ]
        free = (choice for choice in choices if choice not in named)
        named.append(next(free, f"{choices[0]} {place}" if choices else f"Topic {place}"))
    return named


def tf_idf_rows(texts: Sequence[str]) -> NDArray[np.float64]:
    """TF-IDF rows, where no model knows what the texts mean: 1 + ln(count), times ln(texts / texts with it).

    A word that only one text has says nothing of what it is near to, and is left out.
    """
    counts = [Counter(topic_terms(text)) for text in texts]
    with_it = Counter(word for count in counts for word in count)
    columns = {word: place for place, word in enumerate(sorted(w for w, n in with_it.items() if n > 1))}
    rows = np.zeros((len(texts), len(columns)))
    for row, count in enumerate(counts):
        for word, n in count.items():
            if word in columns:
                rows[row, columns[word]] = (1 + math.log(n)) * math.log(len(texts) / with_it[word])
    return rows


def _written(texts: Iterable[str]) -> dict[str, str]:
    """Each word in the letters that it most often comes in; of equals, those that came first."""
    forms: dict[str, Counter[str]] = {}
    for text in texts:
        for piece in _PIECES.findall(text):
            folded = words(piece)
            if len(folded) == 1:
                forms.setdefault(folded[0], Counter())[piece] += 1
    return {word: count.most_common(1)[0][0] for word, count in forms.items()}
