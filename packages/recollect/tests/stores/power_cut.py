"""The possible content of a disk after a power cut: all synced writes, and any part of the others."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from watched_disk import Op

SECTOR = 512

Fate = Literal["dropped", "kept", "first kept", "some kept", "torn"]
FATES: tuple[Fate, ...] = get_args(Fate)
"""The fate of unsynced writes. Torn ones keep some of their sectors."""


@dataclass
class _File:
    synced: bytearray = field(default_factory=bytearray)
    pending: list[Op] = field(default_factory=list)

    def sync(self) -> None:
        for op in self.pending:
            _carry_out(self.synced, op)
        self.pending = []

    def after_cut(self, fate: Fate, chance: np.random.Generator) -> bytes:
        content = bytearray(self.synced)
        kept = int(chance.integers(0, len(self.pending) + 1))
        for number, op in enumerate(self.pending):
            if fate == "torn":
                _tear(content, op, chance)
            elif (
                fate == "kept"
                or (fate == "first kept" and number < kept)
                or (fate == "some kept" and chance.random() < 0.5)
            ):
                _carry_out(content, op)
        return bytes(content)


class Disk:
    """Files, their folder, and what of both would survive a power cut."""

    def __init__(self) -> None:
        self._files: dict[str, _File] = {}
        self._in_folder: dict[str, _File] = {}  # as confirmed by a sync of the folder
        self._fresh: set[str] = set()

    @classmethod
    def holding(cls, files: Iterable[Path]) -> Disk:
        disk = cls()
        for path in files:
            disk._files[str(path)] = _File(bytearray(path.read_bytes()))
        disk._in_folder = dict(disk._files)
        return disk

    def run(self, ops: Iterable[Op]) -> None:
        for op in ops:
            self._do(op)

    def after_cut(self, folder: Path, chance: np.random.Generator) -> None:
        """Write the surviving files into the folder."""
        fate = FATES[chance.integers(len(FATES))]
        for path in sorted(self._files.keys() | self._in_folder.keys()):
            # Without a sync of the folder, a new or deleted name may or may not survive.
            either = (self._files.get(path), self._in_folder.get(path))
            file = either[chance.integers(2)]
            if file is not None:
                (folder / Path(path).name).write_bytes(file.after_cut(fate, chance))

    def _do(self, op: Op) -> None:
        match op.what:
            case "make":
                self._files[op.path] = _File()
                self._fresh.add(op.path)
            case "delete":
                self._files.pop(op.path, None)
            case "sync":
                self._files[op.path].sync()
                if op.path in self._fresh and op.path.endswith(("-wal", "-journal")):
                    # SQLite also syncs the folder when it first syncs a new journal or log.
                    self._in_folder = dict(self._files)
                    self._fresh.clear()
            case "write" | "truncate":
                self._files[op.path].pending.append(op)


def _carry_out(content: bytearray, op: Op) -> None:
    if op.what == "truncate":
        del content[op.offset :]
        return
    _put(content, op.offset, op.data)


def _tear(content: bytearray, op: Op, chance: np.random.Generator) -> None:
    if op.what == "truncate":
        if chance.random() < 0.5:
            _carry_out(content, op)
        return
    first = op.offset - op.offset % SECTOR
    for sector in range(first, op.offset + len(op.data), SECTOR):
        if chance.random() < 0.5:
            start, stop = max(sector, op.offset), min(sector + SECTOR, op.offset + len(op.data))
            _put(content, start, op.data[start - op.offset : stop - op.offset])


def _put(content: bytearray, offset: int, data: bytes) -> None:
    if len(content) < offset:
        content.extend(bytes(offset - len(content)))
    content[offset : offset + len(data)] = data
