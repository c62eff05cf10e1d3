"""What can be asked of cached vectors: the nearest memories, the cosines of some, and their passages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recollect.stores.vectors.codes import query_code
from recollect.stores.vectors.scan import Best, Run, allowed_rows, best, found, leaders, row_scores
from recollect.stores.vectors.shortlist import shortlisted
from recollect.vectors import distinct

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from recollect.records import Found
    from recollect.stores.vectors.scan import Allowed, Positions
    from recollect.vectors import Rows

TWO_STAGES_FROM = 30_000
"""Allowed rows from which codes are compared before vectors. Fewer take a millisecond or two."""

_ROWS_PER_HIT = 300
"""Where there are fewer rows for each of the best `k`, codes save nothing."""


def nearest(
    runs: Sequence[Run], query: Rows, k: int, allowed: Allowed, centre: Rows | None = None
) -> list[Found]:
    """The best `k` memories: cosine falling, ties by memory, then passage.

    The answer depends on the set of allowed rows only, never on where they stand or what else there is.
    """
    picks, count = allowed_rows(runs, allowed)
    if not count or k < 1:
        return []
    hits: Best | None = None
    if centre is not None and count >= max(TWO_STAGES_FROM, _ROWS_PER_HIT * k):
        hits = shortlisted(picks, count, query_code(query, centre), query, k)
    return found(best(picks, query, k) if hits is None else hits)


def cosines(runs: Sequence[Run], query: Rows, ids: Collection[int]) -> list[Found]:
    """The cosine of each of these memories, by id; its best passage speaks for it."""
    rows = list(_rows_of(runs, ids))
    if not rows:
        return []
    scores = np.concatenate([row_scores(run.vectors, at, query) for run, at in rows])
    memories = np.concatenate([run.memories[at] for run, at in rows])
    passages = np.concatenate([run.passages[at] for run, at in rows])
    order = leaders(scores, memories, passages, len(scores))
    order = order[np.argsort(memories[order])]
    return found((scores[order], memories[order], passages[order]))


def vector_passages(runs: Sequence[Run], ids: Collection[int]) -> list[tuple[int, int]]:
    """The passages of these memories that have a vector, each with its memory, by passage."""
    pairs = [
        pair
        for run, at in _rows_of(runs, ids)
        for pair in zip(run.passages[at].tolist(), run.memories[at].tolist(), strict=True)
    ]
    return sorted(pairs)


def _rows_of(runs: Sequence[Run], ids: Collection[int]) -> list[tuple[Run, Positions]]:
    wanted = distinct(np.fromiter(ids, np.int64, len(ids)))
    return [(run, at) for run in runs if len(at := run.rows_of(wanted))] if len(wanted) else []
