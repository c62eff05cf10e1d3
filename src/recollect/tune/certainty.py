"""How sure a share is."""

from __future__ import annotations

from math import sqrt

_Z = 1.959963984540054
"""95 % of a normal distribution lie within so many standard deviations."""


def wilson(hits: int, of: int) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson 1927); 0 to 1 where nothing was counted.

    Unlike the share plus or minus its error, it never leaves 0 to 1, and holds for few counts.
    """
    if not of:
        return 0.0, 1.0
    share, spare = hits / of, _Z**2 / of
    middle = (share + spare / 2) / (1 + spare)
    half = _Z / (1 + spare) * sqrt(share * (1 - share) / of + spare / (4 * of))
    # Where nothing or everything was hit, that end is exact; floats come out a hair beside it.
    return (0.0 if hits == 0 else middle - half), (1.0 if hits == of else middle + half)
