"""Bearing: how likely it is that a prompt calls for something remembered.

A prompt is no question: one that asks for a menu needs the memory of an allergy, and one that asks for a
synonym needs none, however near some memory may be. Eleven signals, from the answer that a recall gives to
the prompt, and from its wording:

answer     the logit of the answer's confidence
known      ln(1 + how many of its content words the first 20 memories contain)
topic      1 where it has three content words at most, and one of these memories contains them all
names      how many of the names in it these contain, at most two
strangers  1 where it has names, and these contain none of them
personal   1 where it says I, my, our                    timed    1 where it speaks of a time
quotes     1 where it brings along a text                code     1 where it shows signs of code
errand     1 where it wants something written to someone, planned, bought, booked
general    1 where it wants a translation, a definition, a joke, or only says good morning

    P(it calls for something) = sigmoid(constant + sum of weight * signal)

Where the wording is in a language that nobody has listed, the store alone tells. The weights were fitted by
`recollect_bench.fit_bearing` and stand in `bearing.json`, with the facts of the run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cache
from math import exp, log, log1p
from pkgutil import get_data
from typing import TYPE_CHECKING

from recollect.lazy_dataclass import dataclass
from recollect.text.stems import stems_of_word
from recollect.text.tokens import query_terms

if TYPE_CHECKING:
    from recollect.text.prompt_signs import PromptSigns

FILE = "bearing.json"
READ = 20
"""Memories whose words count."""
SILENT_BELOW = 0.5
_MOST_NAMES = 2
_TOPIC_WORDS = 3
_SUREST = 0.999


@dataclass(frozen=True, slots=True)
class BearingSignals:
    answer: float
    known: float
    topic: float
    names: float
    strangers: float
    personal: float
    timed: float
    quotes: float
    code: float
    errand: float
    general: float


def prompt_stems(prompt: str) -> frozenset[str]:
    """The coarse stems of its content words."""
    return frozenset(stem for word in query_terms(prompt) for stem in stems_of_word(word))


def bearing_signals(
    signs: PromptSigns,
    stems: frozenset[str],
    confidence: float,
    matched: Sequence[frozenset[str]],
    *,
    timed: bool,
) -> BearingSignals:
    """`matched` has, of each of the first memories, the prompt's `stems` that it contains."""
    contained = frozenset[str]().union(*matched[:READ])
    names = {stem for name in signs.names for stem in stems_of_word(name)}
    known_names = names & contained
    likely = min(max(confidence, 1 - _SUREST), _SUREST)
    return BearingSignals(
        answer=log(likely / (1 - likely)),
        known=log1p(len(contained)),
        topic=float(0 < len(stems) <= _TOPIC_WORDS and any(each == stems for each in matched[:READ])),
        names=float(min(len(known_names), _MOST_NAMES)),
        strangers=float(bool(names) and not known_names),
        personal=float(signs.is_personal),
        timed=float(timed),
        quotes=float(signs.quotes),
        code=float(signs.has_code),
        errand=float(signs.is_errand),
        general=float(signs.is_general),
    )


def bearing(signals: BearingSignals, weights: Mapping[str, float] | None = None) -> float:
    """The probability that the prompt calls for something remembered."""
    known = fitted_bearing() if weights is None else weights
    logit = known["constant"] + sum(known[name] * value for name, value in asdict(signals).items())
    return 1 / (1 + exp(-logit))


@cache
def fitted_bearing() -> Mapping[str, float]:
    weights: Mapping[str, float] = json.loads(get_data(__package__, FILE) or b"")["weights"]
    return weights
