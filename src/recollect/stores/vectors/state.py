"""What a cache of vectors holds for one moment of the store. States are values: a new moment, a new state."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from recollect.stores.vectors.block import ROWS, Block, Ids, VectorRow
from recollect.stores.vectors.scan import Mask, Run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recollect.stores.vectors.source import VectorQueries, VectorSource, Version

TOO_MANY_DEAD = 0.25
"""Share of dead rows from which it pays to make the cache anew."""


@dataclass(frozen=True)
class Part:
    """The first `count` rows of a block, at least one. `live` is None where all are."""

    block: Block
    count: int
    shared: bool
    """The block is mapped from the file, not this process's own memory."""
    live: Mask | None = None

    @property
    def ids(self) -> Ids:
        return self.block.vector_ids[: self.count]

    @property
    def live_ids(self) -> Ids:
        return self.ids if self.live is None else self.ids[self.live]

    @property
    def dead(self) -> int:
        return 0 if self.live is None else self.count - int(np.count_nonzero(self.live))

    @cached_property
    def run(self) -> Run:
        """Kept, since most parts outlive many states."""
        block, n = self.block, self.count
        return Run.of(
            vectors=block.vectors[:n],
            codes=block.codes[:, :n],
            fine_codes=block.fine_codes[:n],
            factors=block.factors[:, :n],
            memories=block.memories[:n],
            passages=block.passages[:n],
            scopes=block.scopes[:n],
            kinds=block.kinds[:n],
            live=self.live,
        )


@dataclass(frozen=True)
class State:
    """Rows by ascending vector id: every vector that lives at `version`, and some that do no more."""

    version: Version
    parts: tuple[Part, ...]

    @cached_property
    def rows(self) -> int:
        return sum(part.count for part in self.parts)

    @cached_property
    def private_rows(self) -> int:
        return sum(part.count for part in self.parts if not part.shared)

    @cached_property
    def dead_rows(self) -> int:
        return sum(part.dead for part in self.parts)

    @cached_property
    def runs(self) -> list[Run]:
        return [part.run for part in self.parts]


def loaded(queries: VectorQueries, source: VectorSource, version: Version) -> State:
    """Everything, from SQLite, into this process's memory."""
    rows = queries.live_rows(source, 0)
    return State(version, tuple(Part(block, block.used, shared=False) for block in blocks_of(rows, source)))


def blocks_of(rows: Iterator[VectorRow], source: VectorSource) -> Iterator[Block]:
    """The rows in full private blocks; the last may have room left."""
    while True:
        block = Block.private(source.shape)
        if not block.fill(rows, source.centre):
            return
        yield block
        if block.used < ROWS:
            return


def caught_up(queries: VectorQueries, source: VectorSource, state: State, version: Version) -> State | None:
    """The state moved on to a later moment. None: it cannot be, or making it anew costs less."""
    moved = _with_life(queries, source, state, version)
    if moved is None or not _genuine(queries, source, moved):
        return None
    if version.vectors > state.version.vectors:
        moved = _with_rows(moved, queries.live_rows(source, state.version.vectors), source)
    if moved.dead_rows > TOO_MANY_DEAD * moved.rows:
        return None
    return replace(moved, version=version)


def cut_back(queries: VectorQueries, source: VectorSource, state: State, version: Version) -> State | None:
    """The state as it was when fewer vectors had come, but no other had died or returned."""
    parts = []
    for part in state.parts:
        count = int(np.searchsorted(part.ids, version.vectors, "right"))
        if count:
            live = None if part.live is None else part.live[:count]
            parts.append(replace(part, count=count, live=live))
    earlier = State(version, tuple(parts))
    return earlier if _genuine(queries, source, earlier) else None


def differences(queries: VectorQueries, source: VectorSource, state: State) -> Iterator[str]:
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


def _genuine(queries: VectorQueries, source: VectorSource, state: State) -> bool:
    """Does the newest vector we hold stand in the store, the same to the last bit?"""
    for part in reversed(state.parts):
        places = np.flatnonzero(part.live) if part.live is not None else np.arange(part.count)
        if len(places):
            block, at = part.block, places[-1]
            newest, passage = int(block.vector_ids[at]), int(block.passages[at])
            return queries.holds(source, newest, passage, block.vectors[at])
    return True


def _with_life(queries: VectorQueries, source: VectorSource, state: State, version: Version) -> State | None:
    if version.life == state.version.life:
        return state
    changes = queries.life_since(source, state.version.life)
    if changes is None:
        return None
    ids = np.array([vector for vector in changes if vector <= state.version.vectors], np.int64)
    alive = np.array([changes[vector] for vector in ids.tolist()], np.bool_)
    moved = replace(state, parts=tuple(_with_changes(part, ids, alive) for part in state.parts))
    returned = ids[alive]
    held = (
        sum(np.count_nonzero(np.isin(returned, part.live_ids)) for part in moved.parts)
        if len(returned)
        else 0
    )
    # One that was dead when we loaded is not among our rows, and its place by id is taken.
    return moved if held == len(returned) else None


def _with_changes(part: Part, ids: Ids, alive: Mask) -> Part:
    first, last = np.searchsorted(ids, part.ids[[0, -1]])
    ids, alive = ids[first : last + 1], alive[first : last + 1]
    places = np.searchsorted(part.ids, ids)
    here = places < part.count
    here[here] = part.ids[places[here]] == ids[here]
    if not here.any():
        return part
    live = np.ones(part.count, np.bool_) if part.live is None else part.live.copy()
    live[places[here]] = alive[here]
    return replace(part, live=None if live.all() else live)


def _with_rows(state: State, rows: Iterator[VectorRow], source: VectorSource) -> State:
    """The rows appended: into the last block if it is ours and has room, then into new ones."""
    parts = list(state.parts)
    first = next(rows, None)
    if first is None:
        return state
    rows = chain([first], rows)
    if parts and not parts[-1].shared and parts[-1].count < ROWS:
        parts[-1] = _extended(parts[-1], rows, source)
    parts += [Part(block, block.used, shared=False) for block in blocks_of(rows, source)]
    return replace(state, parts=tuple(parts))


def _extended(part: Part, rows: Iterator[VectorRow], source: VectorSource) -> Part:
    block = part.block
    if block.used > part.count:
        # A later state has written on in this block; its rows need not be the ones we are about to add.
        block = Block.private(source.shape)
        block.take(part.block, np.arange(part.count))
    added = block.fill(rows, source.centre)
    live = None if part.live is None else np.concatenate([part.live, np.ones(added, np.bool_)])
    return Part(block, part.count + added, shared=False, live=live)


def _equal_rows(block: Block, part: Part) -> int:
    """How many live rows of the part equal the block's row of the same id, in every column."""
    _, ours, theirs = np.intersect1d(
        block.vector_ids[: block.used], part.ids, assume_unique=True, return_indices=True
    )
    if part.live is not None:
        alive = part.live[theirs]
        ours, theirs = ours[alive], theirs[alive]
    return block.equal_rows(ours, part.block, theirs)
