"""Where the rows of a file ended up in the store, kept in little memory."""

from __future__ import annotations

import struct
import tempfile
from array import array
from bisect import bisect_right
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType


class Places:
    """Ids in the file to ids in the store.

    Ids that follow one another mostly stay together, so what is kept is runs: a million memories that
    went into an empty store are one.
    """

    def __init__(self) -> None:
        self._first = array("q")
        self._here = array("q")
        self._length = array("q")
        self._sorted = True

    def note(self, id_: int, here: int) -> None:
        if self._first:
            along = id_ - self._first[-1]
            if along == self._length[-1] and here == self._here[-1] + along:
                self._length[-1] += 1
                return
            self._sorted = self._sorted and along >= self._length[-1]
        self._first.append(id_)
        self._here.append(here)
        self._length.append(1)

    def of(self, id_: int) -> int | None:
        """None: the file has no such row."""
        if not self._sorted:
            self._sort()
        run = bisect_right(self._first, id_) - 1
        if run < 0 or id_ - self._first[run] >= self._length[run]:
            return None
        return self._here[run] + id_ - self._first[run]

    def _sort(self) -> None:
        """A file that was put in another order by hand."""
        order = sorted(range(len(self._first)), key=self._first.__getitem__)
        for name in ("_first", "_here", "_length"):
            column = getattr(self, name)
            setattr(self, name, array("q", (column[run] for run in order)))
        self._sorted = True


_PAIR = struct.Struct("<qq")


class Pairs:
    """Pairs of ids that wait on disk until all ids are known."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(max_size=1 << 20)  # noqa: SIM115  # closed by __exit__

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def note(self, one: int, other: int) -> None:
        self._file.write(_PAIR.pack(one, other))

    def __iter__(self) -> Iterator[tuple[int, int]]:
        self._file.seek(0)
        while piece := self._file.read(_PAIR.size * 4096):
            yield from _PAIR.iter_unpack(piece)
