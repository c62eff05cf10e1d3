"""Which id in the store a row of a file got."""

from __future__ import annotations

from array import array
from bisect import bisect_right


class IdMap:
    """Ids in the file to ids in the store."""

    def __init__(self) -> None:
        self._ids = array("q")
        self._here = array("q")
        self._sorted = True

    def add(self, id_: int, here: int) -> None:
        self._sorted = self._sorted and (not self._ids or id_ > self._ids[-1])
        self._ids.append(id_)
        self._here.append(here)

    def get(self, id_: int) -> int | None:
        """None: the file has no such row."""
        if not self._sorted:  # a file that was put in another order by hand
            rows = sorted(zip(self._ids, self._here, strict=True))
            self._ids, self._here = (array("q", column) for column in zip(*rows, strict=True))
            self._sorted = True
        place = bisect_right(self._ids, id_) - 1
        return self._here[place] if place >= 0 and self._ids[place] == id_ else None
