"""Search by meaning over cached vectors that show exactly what the asking snapshot holds."""

from __future__ import annotations

import threading
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from recollect.stores.private_files import OWNER_ALONE
from recollect.stores.vectors.file import Mapped, VectorFile
from recollect.stores.vectors.prefix import Prefixes, nearest_by_prefix
from recollect.stores.vectors.search import cosines, nearest, vector_passages
from recollect.stores.vectors.state import Part, State, blocks_of, caught_up, cut_back, differences, loaded

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from recollect.ports import Vector
    from recollect.records import Found
    from recollect.stores.vectors.scan import Allowed
    from recollect.stores.vectors.source import VectorQueries, VectorSource, Version

WORTH_SHARING = 2_048
"""Rows of its own from which a process puts them into the file; fewer load from SQLite in milliseconds."""

_VERIFIED_PER_SEARCH = 2
"""Blocks of a large file: a few milliseconds of a search that takes more."""

_KEPT_STATES = 4
"""Threads that read at slightly different moments each find theirs."""


class VectorCache:
    """The vectors of the model in use, for searching. Safe to share between threads.

    `path` names the file that processes share; its lock stands beside it. Without a path, or where it
    cannot be written, this process holds the vectors in its own memory and answers the same. `mode` says
    who may read the file.
    """

    def __init__(self, path: Path | None, mode: int = OWNER_ALONE) -> None:
        self.reason: str | None = None if path else "no place for a file was given"
        """Why vectors are held in private memory; None where they are shared."""
        self._path = path
        self._mode = mode
        self._lock = threading.Lock()
        self._source: VectorSource | None = None
        self._file: VectorFile | None = None
        self._mapped: Mapped | None = None
        self._states: tuple[State, ...] = ()
        self._prefixes: Prefixes | None = None
        self._share_from = WORTH_SHARING

    def search(
        self,
        queries: VectorQueries,
        source: VectorSource,
        query: Vector,
        k: int,
        allowed: Allowed,
        shortlist: int | None = None,
    ) -> list[Found]:
        """The best `k` memories among those allowed. `queries` are of one moment.

        With a `shortlist`, only that many memories, the nearest by a prefix of their vectors, are compared in
        full.
        """
        state = self.state(queries, source)
        query = np.ascontiguousarray(query, np.float32)
        # Outside the lock: a state never changes, so threads scan side by side.
        if shortlist is None:
            return nearest(state.runs, query, k, allowed, source.centre)
        prefixes = self.prefixes_of(queries, source)
        return nearest_by_prefix(state.parts, prefixes, query, k, allowed, shortlist)

    def size(self, queries: VectorQueries, source: VectorSource) -> int:
        """How many vectors there are, give or take those that died."""
        return self.state(queries, source).rows

    def cosines(
        self, queries: VectorQueries, source: VectorSource, query: Vector, ids: Collection[int]
    ) -> list[Found]:
        """The cosine of each of these memories, by id."""
        state = self.state(queries, source)
        return cosines(state.runs, np.ascontiguousarray(query, np.float32), ids)

    def passages(
        self, queries: VectorQueries, source: VectorSource, ids: Collection[int]
    ) -> list[tuple[int, int]]:
        """The passages of these memories that have a vector, each with its memory, by passage."""
        return vector_passages(self.state(queries, source).runs, ids)

    def check(self, queries: VectorQueries, source: VectorSource) -> list[str]:
        """Everything compared with the store, inside a read transaction. Empty when all is in step."""
        problems = list(differences(queries, source, self.state(queries, source)))
        if self._file is not None and self._file.path.exists() and self._file.mapped(whole=True) is None:
            problems.append(f"{self._file.path} is damaged or of another store; it will be made anew.")
        return problems

    def forget(self) -> None:
        """Remove the file, and hold nothing; the next search makes both again."""
        with self._lock:
            self._forget()

    def close(self) -> None:
        """Release memory and maps. A search after this starts over."""
        with self._lock:
            self._drop()

    def _forget(self) -> None:
        self._drop()
        if self._path is not None:
            try:
                VectorFile.remove(self._path)
            except OSError as error:  # Windows keeps what another process has mapped
                self._stay_private(error, 0)

    def _drop(self) -> None:
        self._source = self._file = self._mapped = self._prefixes = None
        self._states = ()
        self._share_from = WORTH_SHARING

    def state(self, queries: VectorQueries, source: VectorSource) -> State:
        """What there is to search, at the moment of these queries."""
        version = queries.version(source)
        if queries.is_writing():
            # What is being written may yet be undone, so no other search may meet it.
            return loaded(queries, source, version)
        with self._lock:
            self._turn_to(source)
            self._verify_some(source)
            if self._prefixes is None and self._states and self._is_settled(self._states[0], version):
                return self._states[0]
            state = self._state_at(queries, source, version)
            if self._file is not None and state.private_rows >= self._share_from:
                state = self._shared(queries, source, state)
            others = (other for other in self._states if other.version != version)
            self._states = (state, *others)[:_KEPT_STATES]
            if self._prefixes is not None:
                self._prefixes.keep(part.block for held in self._states for part in held.parts)
            return state

    def _verify_some(self, source: VectorSource) -> None:
        """Read on in a large file. One that turns out to be damaged or cut off is made anew."""
        if self._mapped is None or (self._mapped.verification.is_done and not self._mapped.is_cut_off):
            return
        if self._mapped.is_cut_off or not self._mapped.verification.read(_VERIFIED_PER_SEARCH):
            self._forget()
            self._turn_to(source)

    def _is_settled(self, state: State, version: Version) -> bool:
        """Whether there is nothing to do but to search it, as most often."""
        return state.version == version and (self._file is None or state.private_rows < self._share_from)

    def prefixes_of(self, queries: VectorQueries, source: VectorSource) -> Prefixes:
        with self._lock:
            if self._prefixes is not None and self._prefixes.source == source:
                return self._prefixes
            made = Prefixes(source, queries.rotation(source))
            if not queries.is_writing():  # else the model itself may be undone
                self._prefixes = made
            return made

    def _turn_to(self, source: VectorSource) -> None:
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
                moved = caught_up(queries, source, state, version)
            elif version.life == state.version.life:
                moved = cut_back(queries, source, state, version)
            if moved is not None:
                return moved
        return self._from_file(queries, source, version) or self._made_anew(queries, source, version)

    def _from_file(self, queries: VectorQueries, source: VectorSource, version: Version) -> State | None:
        """The file's rows, moved on to the snapshot. None: there is no use in the file."""
        if self._file is None:
            return None
        mapped = self._file.mapped(self._mapped)
        if mapped is None or not version.follows(mapped.header.version):
            return None
        self._mapped = mapped
        parts = tuple(Part(block, block.used, shared=True) for block in mapped.blocks)
        return caught_up(queries, source, State(mapped.header.version, parts), version)

    def _made_anew(self, queries: VectorQueries, source: VectorSource, version: Version) -> State:
        """From SQLite: through the file where there is enough to share, so that no process holds it all."""
        state = None
        if self._file is not None and self._share_from == WORTH_SHARING:
            try:
                with self._file.lock() as mine:
                    if mine and not self._outrun(version):
                        state = self._through_file(queries, source, version)
            except OSError as error:
                self._stay_private(error, 0)
        return loaded(queries, source, version) if state is None else state

    def _through_file(self, queries: VectorQueries, source: VectorSource, version: Version) -> State | None:
        assert self._file is not None  # noqa: S101  # the callers have looked
        blocks = blocks_of(queries.live_rows(source, 0), source)
        first = next(blocks, None)
        if first is None:
            return State(version, ())
        if first.used < WORTH_SHARING:
            return State(version, (Part(first, first.used, shared=False),))
        self._file.create(chain([first], blocks), version)
        self.reason = None
        return self._from_file(queries, source, version)

    def _shared(self, queries: VectorQueries, source: VectorSource, state: State) -> State:
        """The same state, with its rows in the file, if that can be had now."""
        assert self._file is not None  # noqa: S101  # the caller has looked
        try:
            with self._file.lock() as mine:
                if not mine or self._outrun(state.version):
                    return state
                moved = self._from_file(queries, source, state.version)
                if moved is None:
                    moved = self._through_file(queries, source, state.version)
                elif moved.private_rows >= WORTH_SHARING:
                    self._append(moved)
                    moved = self._from_file(queries, source, state.version)
        except OSError as error:
            self._stay_private(error, state.private_rows)
            return state
        self._share_from = WORTH_SHARING
        return moved or state

    def _append(self, state: State) -> None:
        """Put what the state holds beyond the file into the file."""
        assert self._file is not None  # noqa: S101  # the callers have looked
        assert self._mapped is not None  # noqa: S101
        header = self._mapped.header
        private = [part.block for part in state.parts if not part.shared]
        # Rows in the file that have died since are marked nowhere but in the log, so who opens the file
        # must read the log from where it began.
        life = header.version.life if state.dead_rows else state.version.life
        self._file.append(header, private, state.version._replace(life=life))
        self.reason = None

    def _outrun(self, version: Version) -> bool:
        """Has another process put into the file what this snapshot does not see yet?"""
        header = self._file.header() if self._file is not None else None
        return header is not None and not version.follows(header.version)

    def _stay_private(self, error: OSError, rows: int) -> None:
        self.reason = f"{self._path}: {error.strerror or error}"
        self._share_from = rows + WORTH_SHARING
