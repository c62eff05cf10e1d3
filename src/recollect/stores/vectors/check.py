"""Comparing a cache of vectors with the truth, row by row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recollect.stores.vectors.state import Part, State, blocks_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recollect.stores.vectors.block import Block
    from recollect.stores.vectors.source import Source, VectorQueries


def differences(queries: VectorQueries, source: Source, state: State) -> Iterator[str]:
    """One sentence for each way in which the state is not what SQLite holds."""
    expected = same = 0
    for block in blocks_of(queries.live_rows(source, 0), source):
        expected += block.used
        same += sum(_equal_rows(block, part) for part in state.parts)
    held = state.rows - state.dead_rows
    if held != expected:
        yield f"The vector cache holds {held} live vectors, and the store {expected}."
    if same != min(held, expected):
        yield f"{min(held, expected) - same} vectors in the cache are not those of the store."


def _equal_rows(block: Block, part: Part) -> int:
    """How many live rows of the part equal the block's row of the same id, in every column."""
    _, ours, theirs = np.intersect1d(
        block.vector_ids[: block.used], part.ids, assume_unique=True, return_indices=True
    )
    if part.live is not None:
        alive = part.live[theirs]
        ours, theirs = ours[alive], theirs[alive]
    return block.equal_rows(ours, part.block, theirs)
