"""Whether the confidence of hits can be relied on: of hits that were called 70 % likely, 70 % should be right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.engine.limits import DEFAULT_LIMIT, SELF_TEST_SAMPLE
from recollect.engine.recall import query_of, recall
from recollect.engine.self_test.sample import sample, sampled_questions, survey_of
from recollect.engine.self_test.self_test import end_of_day
from recollect.errors import InvalidInput
from recollect.lazy_dataclass import dataclass
from recollect.statistics import wilson_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.engine.services import Services
    from recollect.ports import Progress
    from recollect.ranking.pipeline import Profile

BINS = 10
"""Equally wide, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """The hits whose confidence lies from `low` up to `high`."""

    low: float
    high: float
    hits: int
    right: int
    confidence: float
    """Their mean."""
    share_low: float
    share_high: float
    """The 95 % interval of the share that was right."""

    @property
    def share(self) -> float:
        """Of its hits, those that were right."""
        return self.right / self.hits if self.hits else 0.0


@dataclass(frozen=True, slots=True)
class Reliability:
    """What became of the confidence on questions made of this memory. The same store, seed and moment give
    the same."""

    profile: str
    seed: int
    sampled: int
    questions: int
    hits: int
    bins: tuple[ReliabilityBin, ...]
    """Those that have hits, the lowest first."""

    @property
    def error(self) -> float:
        """The mean distance of confidence and share, each bin counting by its hits (expected calibration
        error; Naeini, Cooper & Hauskrecht, AAAI 2015)."""
        off = sum(each.hits * abs(each.share - each.confidence) for each in self.bins)
        return off / self.hits if self.hits else 0.0


def reliability(
    services: Services,
    profile: Profile,
    size: int = SELF_TEST_SAMPLE,
    seed: int = 0,
    progress: Progress | None = None,
) -> Reliability:
    """Ask questions made of a sample of the memory, and look which of the first hits are right."""
    if size < 1:
        raise InvalidInput(f"The sample is a number of memories, 1 or more, not {size}.")
    now = end_of_day(services)
    with services.read() as view:
        survey = survey_of(services, view)
        sampled = sample(survey, seed, size)
        asked = sampled_questions(view, survey, sampled, seed, now)
    judged: list[tuple[float, bool]] = []
    for number, question in enumerate(asked, start=1):
        query = query_of(
            services, question.query, profile, now=now, limit=DEFAULT_LIMIT, record=False, across=True
        )
        for hit in recall(services, query, profile).hits:
            if hit.confidence is not None:
                judged.append((hit.confidence, survey.answers(question, hit.memory.id)))
        if progress is not None:
            progress(number, len(asked))
    return Reliability(profile.name, seed, len(sampled), len(asked), len(judged), reliability_bins(judged))


def reliability_bins(judged: Sequence[tuple[float, bool]]) -> tuple[ReliabilityBin, ...]:
    """Confidences, each with whether the hit was right, by tenths."""
    parted: list[list[tuple[float, bool]]] = [[] for _ in range(BINS)]
    for confidence, right in judged:
        parted[min(BINS - 1, int(confidence * BINS))].append((confidence, right))
    bins = []
    for place, inside in enumerate(parted):
        if inside:
            right = sum(is_right for _, is_right in inside)
            mean = sum(confidence for confidence, _ in inside) / len(inside)
            interval = wilson_interval(right, len(inside))
            bins.append(
                ReliabilityBin(place / BINS, (place + 1) / BINS, len(inside), right, mean, *interval)
            )
    return tuple(bins)
