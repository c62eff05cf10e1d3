"""What a store has learnt of its own confidence, as it is kept."""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import lru_cache

from recollect.ports import Snapshot
from recollect.ranking.confidence import Calibration, CosineScale
from recollect.records import Scope
from recollect.retrieval.answer_log import stored_calibration
from recollect.retrieval.records import scope_id


def read_calibration(view: Snapshot, scope: Scope, model: str) -> Calibration | None:
    """None: there is none yet, or it was made by a version that measured otherwise."""
    row = stored_calibration(view, scope_id(view, scope), model)
    return None if row is None else _calibration(row.value)


def as_kept(calibration: Calibration) -> str:
    return json.dumps({"version": _VERSION, **asdict(calibration)}, sort_keys=True)


# Goes up with every change of the signs or the weights, so that nobody reads what was measured with others.
_VERSION = 2


@lru_cache(maxsize=64)
def _calibration(value: str) -> Calibration | None:
    plain = json.loads(value)
    if plain.pop("version", None) != _VERSION:
        return None
    scale = plain.pop("scale")
    return Calibration(scale=None if scale is None else CosineScale(**scale), **plain)
