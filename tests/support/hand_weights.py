"""The `recollect` profile with simple weights for arithmetic by hand. Learned ones change with training."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.ranking.profiles import LEARNED_WEIGHTS, recollect_profile

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recollect.ranking.candidates import Profile


def hand_weighted(**weights: Mapping[str, float]) -> Profile:
    """Return the profile with these weights, by step and number, and 0 for all others."""
    return recollect_profile(
        {
            step: dict.fromkeys(numbers, 0.0) | dict(weights.get(step, {}))
            for step, numbers in LEARNED_WEIGHTS.items()
        }
    )


PLAIN_FUSION = hand_weighted(meaning={"cosine": 0.6}, words={"bm25": 0.4})
MATCHED_FUSION = hand_weighted(meaning={"cosine": 0.6}, words={"bm25": 0.4, "share": 0.4})
"""Plain fusion, and 0.4 for a text that contains all words of the query."""
