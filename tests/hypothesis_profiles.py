"""How far the tests search for counterexamples: the same way each time, or further with fresh seeds."""

from __future__ import annotations

import os

from hypothesis import settings

FACTOR = int(os.environ.get("RECOLLECT_TEST_RANDOM", "0"))
"""How many times as many examples a search with fresh seeds tries; 0: the usual ones, the same each time."""


def load() -> None:
    # A slow machine is no failed test.
    settings.register_profile("same each time", deadline=None, derandomize=True, max_examples=tries(40))
    settings.register_profile(
        "fresh seeds", deadline=None, derandomize=False, print_blob=True, max_examples=tries(40)
    )
    settings.load_profile("fresh seeds" if FACTOR else "same each time")


def tries(usual: int) -> int:
    """How many to try where `make test` tries so many."""
    return usual * max(1, FACTOR)
