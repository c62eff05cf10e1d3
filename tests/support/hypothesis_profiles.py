"""How far the tests search for counterexamples: the same way each time, or further with fresh seeds."""

from __future__ import annotations

import os

from hypothesis import settings

FACTOR = int(os.environ.get("RECOLLECT_TEST_RANDOM", "0"))
"""How many times as many examples as usual a search with fresh seeds tries; 0: the same few each time."""


def load() -> None:
    # A slow machine is no failed test.
    settings.register_profile("same each time", deadline=None, derandomize=True, max_examples=tries(40))
    settings.register_profile(
        "fresh seeds", deadline=None, derandomize=False, print_blob=True, max_examples=tries(40)
    )
    settings.load_profile("fresh seeds" if FACTOR else "same each time")


def tries(usual: int) -> int:
    """How many to try: `make test` tries half as many as usual, always the same ones."""
    return usual * FACTOR if FACTOR else -(-usual // 2)
