"""The vector cache: it holds exactly the live vectors of each snapshot, and searches them in two stages."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from recollect.domain.numbers import pack_vector
from recollect.stores.vectors.block import ROWS, Block
from recollect.stores.vectors.file import PRIVATE_MODE, MappedFile, VectorFile
from recollect.stores.vectors.scan import Run, best, found_hits, leaders, pick, row_scores

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from recollect.domain.numbers import Rows
    from recollect.domain.records import Found
    from recollect.stores.vectors.block import Ids, VectorQueries, VectorRow, VectorSource, Version
    from recollect.stores.vectors.scan import Allowed, Mask


# Search in two stages, as Cognis does: shortlist by a third of each vector, then rank by the whole vector

IDLE_SEARCHES = 1_000
"""Prefixes are dropped after this many searches that do not use them."""

# Whole numbers below 2**24 are exact in float32, and so are all sums of these products, in any order. Vectors
# and rows of a rotation have length one, so no sum exceeds 2**12 * 2**11. A row's prefix then has the same
# bits however BLAS splits the work.
_VECTOR_STEPS = np.float32(2**12)
_ROTATION_STEPS = np.float32(2**11)


def prefix_width(dims: int) -> int:
    """Return the number of dimensions in a prefix."""
    return max(1, dims // 3)


class Prefixes:
    """The prefixes of one model's cached vectors, computed in this process on first use.

    Threads can share them: a block's rows never change, so their prefixes do not either.
    """

    def __init__(self, source: VectorSource, rotation: bytes | None) -> None:
        self.source = source
        self._width = prefix_width(source.dims)
        self._rotation: Rows | None = None
        if rotation is not None:
            directions = np.frombuffer(rotation, "<f2").reshape(self._width, source.dims)
            self._rotation = np.rint(directions.astype(np.float32) * _ROTATION_STEPS).T.copy()
        self._lock = threading.Lock()
        self._by_block: dict[Block, tuple[Rows, int]] = {}
        self._idle = 0

    def of(self, block: Block, count: int) -> Rows:
        """Return the prefixes of the block's first `count` rows. Known ones are not computed again."""
        with self._lock:
            self._idle = 0
            if block not in self._by_block:
                self._by_block[block] = np.empty((len(block.vectors), self._width), np.float32), 0
            rows, done = self._by_block[block]
            if done < count:
                rows[done:count] = self.prefixes(block.vectors[done:count])
                self._by_block[block] = rows, count
        return rows[:count]

    def keep(self, blocks: Iterable[Block]) -> None:
        """Keep only the prefixes of these blocks; after many searches that use none, drop all."""
        with self._lock:
            self._idle += 1
            if not self._by_block:
                return
            kept = set(blocks) if self._idle <= IDLE_SEARCHES else set[Any]()
            for block in self._by_block.keys() - kept:
                del self._by_block[block]

    def prefixes(self, vectors: Rows) -> Rows:
        """Rotate vectors if the model has a rotation, cut them to a third, and normalise them."""
        if self._rotation is None:
            cut = np.ascontiguousarray(vectors[:, : self._width])
        else:
            cut = np.rint(vectors * _VECTOR_STEPS) @ self._rotation
        lengths = np.sqrt(np.vecdot(cut, cut))[:, None]
        prefixes: Rows = np.divide(cut, lengths, out=np.zeros_like(cut), where=lengths > 0)
        return prefixes


def nearest_by_prefix(
    parts: Sequence[Part], prefixes: Prefixes, query: Rows, k: int, allowed: Allowed, shortlist: int
) -> list[Found]:
    """Return the best `k` of the `shortlist` memories whose prefixes are nearest.

    The answer depends only on the set of allowed rows. It is exact if they all fit into the shortlist.
    """
    runs = [(part, part.run) for part in parts]
    picks = [(part, run, rows) for part, run in runs if (rows := pick(run, allowed)) is None or len(rows)]
    count = sum(part.count if rows is None else len(rows) for part, _, rows in picks)
    if not count or k < 1 or shortlist < 1:
        return []
    if count <= shortlist:
        return found_hits(best([(run, rows) for _, run, rows in picks], query, k))
    near = prefixes.prefixes(query[None])[0]
    every = slice(None)
    columns = [
        (
            row_scores(prefixes.of(part.block, part.count), rows, near),
            run.memories[every if rows is None else rows],
            run.passages[every if rows is None else rows],
        )
        for part, run, rows in picks
    ]
    scores, memories, passages = (np.concatenate(column) for column in zip(*columns, strict=True))
    order = leaders(scores, memories, passages, shortlist)
    # Include all memories that tie with the last.
    chosen = np.unique(memories if len(order) < shortlist else memories[scores >= scores[order[-1]]])
    finalists = [(run, np.sort(run.rows_of(chosen))) for _, run, _ in picks]
    return found_hits(best([(run, rows) for run, rows in finalists if len(rows)], query, k))


# The content of a cache at one version of the store. States are never changed

TOO_MANY_DEAD = 0.25
"""The cache is rebuilt if a larger share of its rows is dead."""


@dataclass(frozen=True)
class Part:
    """The first `count` rows of a block, at least one. `live` is None if all are live."""

    block: Block
    count: int
    shared: bool
    """Whether the block is mapped from the file, not in private memory."""
    live: Mask | None = None

    @property
    def ids(self) -> Ids:
        return self.block.vector_ids[: self.count]

    @property
    def dead(self) -> int:
        return 0 if self.live is None else self.count - int(np.count_nonzero(self.live))

    @cached_property
    def run(self) -> Run:
        """The rows to scan; cached, since most parts are in many states."""
        return Run(self.block, self.count, self.live)


@dataclass(frozen=True)
class State:
    """Rows by ascending vector id: every vector that is live at `version`, and some dead ones."""

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


def load_state(queries: VectorQueries, source: VectorSource, version: Version) -> State:
    """Load all live vectors from the store into private memory."""
    rows = queries.live_rows(source, 0)
    return State(version, tuple(Part(block, block.used, shared=False) for block in blocks_of(rows, source)))


def blocks_of(rows: Iterator[VectorRow], source: VectorSource) -> Iterator[Block]:
    """Yield the rows in private blocks. Only the last may have room left."""
    while True:
        block = Block.private(source.shape)
        if not block.fill(rows, source.centre):
            return
        yield block
        if block.used < ROWS:
            return


def catch_up_state(
    queries: VectorQueries, source: VectorSource, state: State, version: Version
) -> State | None:
    """Return the state at a later version; None if that fails, or a rebuild costs less."""
    moved = _with_vector_changes(queries, source, state, version)
    if moved is None or not _has_newest_vector(queries, source, moved):
        return None
    if version.vectors > state.version.vectors:
        moved = _with_rows(moved, queries.live_rows(source, state.version.vectors), source)
    if moved.dead_rows > TOO_MANY_DEAD * moved.rows:
        return None
    return replace(moved, version=version)


def rewind_state(
    queries: VectorQueries, source: VectorSource, state: State, version: Version
) -> State | None:
    """Return the state at an earlier version that lacks only the newest vectors; None if that fails."""
    parts = []
    for part in state.parts:
        count = int(np.searchsorted(part.ids, version.vectors, "right"))
        if count:
            live = None if part.live is None else part.live[:count]
            parts.append(replace(part, count=count, live=live))
    earlier = State(version, tuple(parts))
    return earlier if _has_newest_vector(queries, source, earlier) else None


def differences(queries: VectorQueries, source: VectorSource, state: State) -> Iterator[str]:
    """Yield a sentence for each difference between the state and the store."""
    expected = same = 0
    for block in blocks_of(queries.live_rows(source, 0), source):
        expected += block.used
        for part in state.parts:
            _, ours, theirs = np.intersect1d(
                block.vector_ids[: block.used], part.ids, assume_unique=True, return_indices=True
            )
            if part.live is not None:
                alive = part.live[theirs]
                ours, theirs = ours[alive], theirs[alive]
            same += block.equal_rows(ours, part.block, theirs)
    held = state.rows - state.dead_rows
    if held != expected:
        yield f"The vector cache has {held} live vectors, and the store has {expected}."
    if same != min(held, expected):
        yield f"{min(held, expected) - same} vectors in the cache differ from those in the store."


def _has_newest_vector(queries: VectorQueries, source: VectorSource, state: State) -> bool:
    """Return whether the newest live vector of the state is bit for bit the same in the store."""
    for part in reversed(state.parts):
        places = np.flatnonzero(part.live) if part.live is not None else np.arange(part.count)
        if len(places):
            block, at = part.block, places[-1]
            # A diverged copy of the store has another vector under this id.
            row = queries.stored_vector(source, int(block.vector_ids[at]))
            return row == (int(block.passages[at]), pack_vector(block.vectors[at]))
    return True


def _with_vector_changes(
    queries: VectorQueries, source: VectorSource, state: State, version: Version
) -> State | None:
    if version.life == state.version.life:
        return state
    changes = queries.vector_changes_since(source, state.version.life)
    if changes is None:
        return None
    ids = np.array([vector for vector in changes if vector <= state.version.vectors], np.int64)
    alive = np.array([changes[vector] for vector in ids.tolist()], np.bool_)
    moved = replace(state, parts=tuple(_with_changes(part, ids, alive) for part in state.parts))
    returned = ids[alive]
    # A vector that was dead when the state was loaded is not among its rows, and cannot be inserted in order.
    if not len(returned):
        return moved
    alive_here = (part.ids if part.live is None else part.ids[part.live] for part in moved.parts)
    held = sum(np.count_nonzero(np.isin(returned, ids)) for ids in alive_here)
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
    """Append rows to the last block if it is private and has room, then to new blocks."""
    parts = list(state.parts)
    first = next(rows, None)
    if first is None:
        return state
    rows = chain([first], rows)
    if parts and not parts[-1].shared and parts[-1].count < ROWS:
        part = parts.pop()
        block = part.block
        if block.used > part.count:
            # A later state has appended other rows to this block.
            block = Block.private(source.shape)
            block.take(part.block, np.arange(part.count))
        added = block.fill(rows, source.centre)
        live = None if part.live is None else np.concatenate([part.live, np.ones(added, np.bool_)])
        parts.append(Part(block, part.count + added, shared=False, live=live))
    parts += [Part(block, block.used, shared=False) for block in blocks_of(rows, source)]
    return replace(state, parts=tuple(parts))


WORTH_SHARING = 2_048
"""A process moves at least this many private rows to the file. Fewer load from the store in milliseconds."""

_VERIFIED_PER_SEARCH = 2
"""Blocks of a large file that each search verifies, in a few milliseconds."""

_KEPT_STATES = 4
"""The number of cached states: threads may read slightly different versions."""


class VectorCache:
    """The vectors of the model in use, for searching. Threads can share it.

    `path` names the file that processes share; its lock is beside it. Without a path, or if the file cannot
    be written, this process holds the vectors in private memory. `mode` is the mode of the file.
    """

    def __init__(self, path: Path | None, mode: int = PRIVATE_MODE) -> None:
        self.reason: str | None = None if path else "no path for a cache file was given"
        """Why vectors are in private memory; None if they are shared."""
        self._path = path
        self._mode = mode
        self._lock = threading.Lock()
        self._source: VectorSource | None = None
        self._file: VectorFile | None = None
        self._mapped: MappedFile | None = None
        self._states: tuple[State, ...] = ()
        self._prefixes: Prefixes | None = None
        self._share_from = WORTH_SHARING

    def check(self, queries: VectorQueries, source: VectorSource) -> Iterator[str]:
        """Compare everything with the store, and yield a sentence for each difference."""
        yield from differences(queries, source, self.state(queries, source))
        if self._file is not None and self._file.path.exists() and self._file.map_rows(whole=True) is None:
            yield f"{self._file.path} is damaged or belongs to another store; the next search rebuilds it."

    def clear(self) -> None:
        """Delete the file, and release memory. The next search rebuilds both."""
        with self._lock:
            self._clear()

    def close(self) -> None:
        """Release memory and maps. A later search loads them again."""
        with self._lock:
            self._drop()

    def _clear(self) -> None:
        self._drop()
        if self._path is not None:
            try:
                VectorFile.remove(self._path)
            except OSError as error:  # Windows does not delete a file that another process has mapped
                self._stay_private(error, 0)

    def _drop(self) -> None:
        self._source = self._file = self._mapped = self._prefixes = None
        self._states = ()
        self._share_from = WORTH_SHARING

    def state(self, queries: VectorQueries, source: VectorSource) -> State:
        """Return the vectors to search, as of the snapshot of these queries."""
        version = queries.version(source)
        if queries.is_writing():
            # This transaction may be rolled back, so no other search may see its rows.
            return load_state(queries, source, version)
        with self._lock:
            self._use_source(source)
            # Verify more blocks of a large file. A damaged or truncated file is rebuilt.
            mapped = self._mapped
            if mapped and (mapped.is_truncated or not mapped.verification.verify(_VERIFIED_PER_SEARCH)):
                self._clear()
                self._use_source(source)
            latest = self._states[0] if self._states and self._prefixes is None else None
            if latest is not None and latest.version == version and not self._is_worth_sharing(latest):
                return latest  # the usual case
            state = self._state_at(queries, source, version)
            if self._is_worth_sharing(state):
                state = self._move_to_file(queries, source, state)
            others = (other for other in self._states if other.version != version)
            self._states = (state, *others)[:_KEPT_STATES]
            if self._prefixes is not None:
                self._prefixes.keep(part.block for held in self._states for part in held.parts)
            return state

    def _is_worth_sharing(self, state: State) -> bool:
        return self._file is not None and state.private_rows >= self._share_from

    def prefixes_of(self, queries: VectorQueries, source: VectorSource) -> Prefixes:
        with self._lock:
            if self._prefixes is not None and self._prefixes.source == source:
                return self._prefixes
            prefixes = Prefixes(source, queries.rotation(source))
            if not queries.is_writing():  # a rollback may remove the model
                self._prefixes = prefixes
            return prefixes

    def _use_source(self, source: VectorSource) -> None:
        if source != self._source:
            self._drop()
            self._source = source
            self._file = (
                VectorFile(self._path, source.shape, source.digest(), self._mode) if self._path else None
            )

    def _state_at(self, queries: VectorQueries, source: VectorSource, version: Version) -> State:
        for state in sorted(self._states, key=lambda state: state.version, reverse=True):
            if state.version == version:
                return state
            moved = None
            if version.follows(state.version):
                moved = catch_up_state(queries, source, state, version)
            elif version.life == state.version.life:
                moved = rewind_state(queries, source, state, version)
            if moved is not None:
                return moved
        return self._from_file(queries, source, version) or self._rebuild(queries, source, version)

    def _from_file(self, queries: VectorQueries, source: VectorSource, version: Version) -> State | None:
        """Return the file's rows at the version of the snapshot; None if the file cannot be used."""
        if self._file is None:
            return None
        mapped = self._file.map_rows(self._mapped)
        if mapped is None or not version.follows(mapped.header.version):
            return None
        self._mapped = mapped
        parts = tuple(Part(block, block.used, shared=True) for block in mapped.blocks)
        return catch_up_state(queries, source, State(mapped.header.version, parts), version)

    def _rebuild(self, queries: VectorQueries, source: VectorSource, version: Version) -> State:
        """Load from the store: into the file if there are enough rows to share, else into private memory."""
        state = None
        if self._file is not None and self._share_from == WORTH_SHARING:
            try:
                with self._file.lock() as is_ours:
                    if is_ours and not self._is_behind_file(version):
                        state = self._through_file(queries, source, version)
            except OSError as error:
                self._stay_private(error, 0)
        return load_state(queries, source, version) if state is None else state

    def _through_file(self, queries: VectorQueries, source: VectorSource, version: Version) -> State | None:
        assert self._file is not None  # noqa: S101  # the callers have checked
        blocks = blocks_of(queries.live_rows(source, 0), source)
        first = next(blocks, None)
        if first is None:
            return State(version, ())
        if first.used < WORTH_SHARING:
            return State(version, (Part(first, first.used, shared=False),))
        self._file.create(chain([first], blocks), version)
        self.reason = None
        return self._from_file(queries, source, version)

    def _move_to_file(self, queries: VectorQueries, source: VectorSource, state: State) -> State:
        """Return the same state with its rows in the file, if the lock is free."""
        assert self._file is not None  # noqa: S101  # the caller has checked
        try:
            with self._file.lock() as is_ours:
                if not is_ours or self._is_behind_file(state.version):
                    return state
                moved = self._from_file(queries, source, state.version)
                if moved is None:
                    moved = self._through_file(queries, source, state.version)
                elif moved.private_rows >= WORTH_SHARING:
                    assert self._mapped is not None  # noqa: S101  # the rows are from the file
                    header, version = self._mapped.header, moved.version
                    if moved.dead_rows:
                        # Only the log records which rows of the file are dead, so other processes must read
                        # it from the version that the file has now.
                        version = version._replace(life=header.version.life)
                    private = [part.block for part in moved.parts if not part.shared]
                    self._file.append(header, private, version)
                    self.reason = None
                    moved = self._from_file(queries, source, state.version)
        except OSError as error:
            self._stay_private(error, state.private_rows)
            return state
        self._share_from = WORTH_SHARING
        return moved or state

    def _is_behind_file(self, version: Version) -> bool:
        """Whether the file has rows that are too new for this snapshot."""
        header = self._file.header() if self._file is not None else None
        return header is not None and not version.follows(header.version)

    def _stay_private(self, error: OSError, rows: int) -> None:
        self.reason = f"{self._path}: {error.strerror or error}"
        self._share_from = rows + WORTH_SHARING
