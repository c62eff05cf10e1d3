"""The learned weights of the profile `recollect`, as `recollect_bench.training` wrote them."""

from __future__ import annotations

import json
from pkgutil import get_data

FILE = "weights.json"


def learned_weights() -> dict[str, dict[str, float]]:
    """By step, then by the name of the number."""
    plain = json.loads(get_data(__package__, FILE) or b"{}")
    weights: dict[str, dict[str, float]] = plain["weights"]
    return weights
