"""A small learned model of pairs of texts: does the newer one make the older one untrue?

A logistic regression over signs that are read from a group of texts, such as the first candidates of a
query. Cosines are standardised within the group, so the spread of a model's vectors does not
matter. Without vectors, words alone decide, with weights of their own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pkgutil import get_data
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.numbers import products
from recollect.language.words import FILLERS, STOPWORDS, alternatives, word_set
from recollect.ranking.candidates import DAY, NEVER
from recollect.text.tokens import cache_short, compile_later, fold, light_stem

if TYPE_CHECKING:
    from recollect.ranking.candidates import Flags, Floats, Ints

REPLACES_FILE = "replaces.json"
LONGEST = 600
"""Texts of more characters say several things: they neither replace nor are replaced."""
_SHORT = 14
"""A text of at most this number of words states one fact."""
_OPENING = 12
"""The number of first words that are compared in order."""
_SAME_OPENING = 0.25
_LONG_OPENING = 6
"""From this number of equal first words on, two texts are of one form: `The position that Ana plays is …`."""
_BELOW_EVEN = 0.49
"""From 0.5 on, the newer text ranks first however well the older one matches the query."""
_MOST_COUNTED = 3
_PRIOR = 3.0
"""The usual cosines of a model count as much as this number of texts."""
_THOUSANDS = compile_later(r"[.,](?=\d{3}(?!\d))")
_PIECES = compile_later(r"\d+(?:[.,:]\d+)*|[^\W\d_]+")


class PairText(NamedTuple):
    """A text that may replace another."""

    text: str
    at: int
    """When it happened, or else when it was said, in microseconds; NEVER if unknown."""
    since: int = NEVER
    """Since when it says to be true; NEVER if it does not say."""
    entity: str = ""
    """The name of the entity that it is an observation of."""
    speaker: str = ""
    is_message: bool = False


@dataclass(frozen=True, slots=True)
class _Words:
    """The parts of a text that are compared; words as stems."""

    stems: frozenset[str]
    numbers: frozenset[str]
    several: frozenset[str]
    """Words of what people have, do or like several of."""
    opening: tuple[str, ...]
    count: int
    changes: int
    """The number of words of change."""
    besides: int
    """The number of words that add something to what held before."""


@cache
def _pattern(section: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{alternatives('changes', section)})(?!\w)")


@cache
def _words_of_several() -> frozenset[str]:
    return frozenset(map(light_stem, word_set("changes", "several values")))


@cache_short(4_096, longest=2_000)  # one text is compared with many, and found by many queries
def _words_of(text: str) -> _Words:
    folded = fold(text[:LONGEST])
    words = _PIECES.findall(folded)
    content = {
        light_stem(word) for word in words if len(word) > 1 and word not in STOPWORDS and word not in FILLERS
    }
    # 1,200 and 1.200 are one number.
    numbers = frozenset(_THOUSANDS.sub("", word) for word in words if word[0].isdecimal())
    stems = frozenset(stem for stem in content if not stem[0].isdecimal())
    counts = (min(_MOST_COUNTED, len(_pattern(section).findall(folded))) for section in ("change", "besides"))
    return _Words(stems, numbers, stems & _words_of_several(), tuple(words[:_OPENING]), len(words), *counts)


def pair_signs(
    texts: Sequence[PairText], cosines: Floats | None, model: str, rows: Sequence[int] | None = None
) -> dict[str, Floats]:
    """Return the signs that a text replaces another, each by its row and the other's column.

    `rows` are the texts that may replace; by default, all.
    """
    size = len(texts)
    new = np.arange(size) if rows is None else np.array(rows, np.int64)
    read = [_words_of(each.text) for each in texts]
    stems = _table([each.stems for each in read])
    rarity = np.log1p((size - stems.sum(axis=0) + 0.5) / (stems.sum(axis=0) + 0.5))
    shared, weight = products(stems[new] * rarity, stems), stems @ rarity
    count = np.array([each.count for each in read], np.float64)
    short = np.maximum(count[new, None], count) <= _SHORT
    opening_words = _same_openings([each.opening for each in read], new)
    opening = opening_words / np.clip(np.minimum(count[new, None], count), 1, _OPENING)
    match = shared / np.maximum(np.maximum(weight[new, None], weight), 1e-9)
    change = np.array([each.changes for each in read], np.float64)[new, None]
    entities = np.array([each.entity for each in texts], object)
    about = np.array([each.entity or each.speaker for each in texts], object)
    numbers = _table([each.numbers for each in read])
    same_words, same_numbers = products(stems[new], stems), products(numbers[new], numbers)
    number_count = numbers.sum(axis=1)
    said = stems.sum(axis=1) + number_count
    # The newer text has all words and numbers of the older one.
    contained = (same_words + same_numbers >= said) & (change == 0)
    several_words = _table([each.several for each in read])
    several = products(several_words[new], several_words) > 0
    signs = {
        "match": match,
        "match_of_less": shared / np.maximum(np.minimum(weight[new, None], weight), 1e-9),
        "opening": opening,
        "opening_short": opening * short,
        "other_opening": match * short * (opening < _SAME_OPENING),
        "several_values": opening * several,
        "several_short": several * short,
        "long_opening": opening_words >= _LONG_OPENING,
        # The newer text says all that the older one says, and nothing of a change.
        "contains": contained,
        "same_words": contained & (said[new, None] == said),
        # Each text has a number that the other lacks.
        "other_numbers": (number_count[new, None] > same_numbers) & (number_count > same_numbers),
        "change": change,
        "change_and_match": np.minimum(change, 1) * match,
        "besides": np.array([each.besides for each in read])[new, None],
        "days": _days_between(np.array([each.at for each in texts], np.int64), new),
        "message": np.array([each.is_message for each in texts])[new, None],
        "former_message": np.array([each.is_message for each in texts])[None],
        "length": np.log1p(count)[new, None],
        "former_length": np.log1p(count)[None],
        "same_entity": (entities[new, None] == entities) & (entities != ""),
        "other_subject": (about[new, None] != about) & (about != "") & (about[new, None] != ""),
        "entity_named": _mentions([each.stems for each in read], [each.entity for each in texts], new),
    }
    if cosines is not None and size > 1:
        usual = USUAL_COSINES.get(model.partition("@")[0], _USUAL_OF_ANY)
        signs |= _signs_of_meaning(cosines, usual, new)
        # Short facts that begin differently may tell a change in other words.
        reworded = short & (opening < _SAME_OPENING)
        signs |= {
            "reworded": reworded,
            "reworded_change": reworded * np.minimum(change, 1),
            **{f"reworded_{name}": reworded * signs[name] for name in ("cosine", "rank", "former_rank")},
        }
    return {
        name: np.broadcast_to(values, (len(new), size)).astype(np.float64) for name, values in signs.items()
    }


def _signs_of_meaning(cosines: Floats, usual: Sequence[float], new: Ints) -> dict[str, Floats]:
    """Return each cosine in standard deviations above the mean, and the ranks of both texts."""
    other = ~np.eye(len(cosines), dtype=bool)
    mean, spread = usual
    cosines = np.where(np.isnan(cosines), mean, cosines)
    count = len(cosines) - 1 + _PRIOR
    means = ((cosines * other).sum(axis=1) + _PRIOR * mean) / count
    squares = ((cosines**2 * other).sum(axis=1) + _PRIOR * (mean**2 + spread**2)) / count
    spreads = np.sqrt(np.maximum(squares - means**2, 1e-6))
    order = np.argsort(np.where(other, -cosines, np.inf), axis=1, kind="stable")
    ranks = np.argsort(order, axis=1)
    return {
        "cosine": (2 * cosines[new] - means[new, None] - means) / (spreads[new, None] + spreads),
        "rank": 1 / (1.0 + ranks[new]),
        "former_rank": 1 / (1.0 + ranks.T[new]),
    }


def _table(sets: Sequence[frozenset[str]]) -> Floats:
    """Return a row per set and a column per word: 1 where the set has the word."""
    columns: dict[str, int] = {}
    places = [columns.setdefault(word, len(columns)) for words in sets for word in words]
    table = np.zeros((len(sets), len(columns)))
    table[np.repeat(np.arange(len(sets)), [len(words) for words in sets]), places] = 1
    return table


def _mentions(stems: Sequence[frozenset[str]], entities: Sequence[str], new: Ints) -> Flags:
    """Tell whether one text names the entity that the other is about."""
    if not any(entities):
        return np.zeros((1, 1), bool)
    names = [frozenset(map(light_stem, fold(name).split())) for name in entities]
    table = _table([*stems, *names])
    mentions = products(table[: len(stems)], table[len(stems) :])
    return (mentions[new] + mentions.T[new]) > 0


def _same_openings(openings: Sequence[tuple[str, ...]], new: Ints) -> Floats:
    """Count the first words that two texts have in common, in order."""
    number: dict[str, int] = {}
    table = np.empty((len(openings), _OPENING), np.int64)
    for row, words in enumerate(openings):
        table[row] = -1 - row
        table[row, : len(words)] = [number.setdefault(word, len(number)) for word in words]
    same = np.logical_and.accumulate(table[new, None] == table, axis=2)
    found: Floats = same.sum(axis=2).astype(np.float64)
    return found


def _days_between(at: Ints, new: Ints) -> Floats:
    """Return the logarithm of 1 + the days between two texts; 0 if a time is unknown."""
    known = (at[new, None] != NEVER) & (at != NEVER)
    days: Floats = np.where(known, np.abs(at[new, None] - at) / DAY, 0.0)
    found: Floats = np.log1p(days)
    return found


def are_later(texts: Sequence[PairText], rows: Sequence[int] | None = None, *, ties: bool = False) -> Flags:
    """Tell whether a text is later than another, by its row and the other's column.

    If both texts say since when they are true, and these times differ, these are compared; otherwise the
    times of the texts. With `ties`, the later in the list is later of two with equal or unknown times.
    """
    new = np.arange(len(texts)) if rows is None else np.array(rows, np.int64)
    at = np.array([each.at for each in texts], np.int64)
    since = np.array([each.since for each in texts], np.int64)
    stated = (since[new, None] != NEVER) & (since != NEVER) & (since[new, None] != since)
    known = (at[new, None] != NEVER) & (at != NEVER) & (at[new, None] != at)
    later = np.where(known, at[new, None] > at, ties & (new[:, None] > np.arange(len(texts))))
    return np.where(stated, since[new, None] > since, later)


def replacing_chances(
    texts: Sequence[PairText], cosines: Floats | None, model: str, rows: Sequence[int] | None = None
) -> Floats:
    """Return the probability that each text of `rows` makes each of the texts untrue, if it is later."""
    signs = pair_signs(texts, cosines, model, rows)
    weights = WEIGHTS if "cosine" in signs else WEIGHTS_OF_WORDS
    margin = weights["constant"] + sum(weights.get(name, 0.0) * values for name, values in signs.items())
    # `I love pears` and `I love apples` are both true, unless the newer text has a word of change.
    # Two entities or two speakers never replace each other's facts, and a question replaces nothing.
    asks = np.array([each.text.rstrip().endswith("?") for each in texts], bool)
    asking = asks if rows is None else asks[list(rows)]
    several = (signs["several_short"] > 0) & (signs["change"] == 0)
    both_hold = (several & (signs["long_opening"] == 0)) | (signs["other_subject"] > 0)
    both_hold |= asking[:, None] | asks | (signs["same_words"] > 0)
    chances: Floats = 1 / (1 + np.exp(-np.clip(margin, -30, 30)))
    # Two such texts of one form are ranked by their time, but never named as a contradiction.
    return np.where(both_hold, 0.0, np.where(several, np.minimum(chances, _BELOW_EVEN), chances))


_LEARNED: Mapping[str, Any] = json.loads(get_data(__package__, REPLACES_FILE) or b"{}")
WEIGHTS: Mapping[str, float] = _LEARNED["weights"]
WEIGHTS_OF_WORDS: Mapping[str, float] = _LEARNED["weights_of_words"]
USUAL_COSINES: Mapping[str, Sequence[float]] = _LEARNED["usual_cosines"]
"""The mean and the standard deviation of the cosines of a model's texts."""
_USUAL_OF_ANY = (0.5, 0.15)
