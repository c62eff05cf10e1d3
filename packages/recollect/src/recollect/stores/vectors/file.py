"""The cache's file: blocks of vectors that processes map and share. Disposable; the truth is in SQLite.

A header page, then blocks. Rows are only ever added after those already published, and the header then
says how many count; a file is replaced by another, never made shorter, since that would kill its readers.
"""

from __future__ import annotations

import mmap
import os
import stat
import struct
import sys
import zlib
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, cast

import numpy as np

from recollect.stores.vectors.block import ALIGNMENT, ROWS, Block, Shape, Version

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path


# New files are private to their owner.

OWNER_ALONE = 0o600


def make(path: Path) -> None:
    """Make the file, empty, unless it is there. SQLite gives its log and journals the mode of their file.

    Where that fails SQLite fails too, and says why.
    """
    with suppress(OSError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ALONE))


def like(store: Path) -> int:
    """The mode for a file beside a store: who may read the one may read the other."""
    try:
        return stat.S_IMODE(store.stat().st_mode)
    except OSError:
        return OWNER_ALONE


if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

VERIFIED_AT_ONCE = 8
"""Blocks of a file that are verified as it is opened, which takes about twenty milliseconds."""

_MAGIC = b"rcltvec\n"
_HEADER = ALIGNMENT
# Two slots, written in turn: if one write fails, the other slot is intact.
_SLOT = 4096
_FIELDS = struct.Struct("<8s32sQQqqqQQ")
_CRC = struct.Struct("<I")


@dataclass(frozen=True, slots=True)
class Header:
    digest: bytes
    generation: int
    rows: int
    version: Version
    checksum: int
    facts_checksum: int

    def packed(self) -> bytes:
        fields = _FIELDS.pack(
            _MAGIC, self.digest, self.generation, self.rows, *self.version, self.checksum, self.facts_checksum
        )  # fmt: skip
        return fields + _CRC.pack(zlib.crc32(fields))

    @classmethod
    def parse(cls, slot: bytes) -> Header | None:
        fields, crc = slot[: _FIELDS.size], slot[_FIELDS.size : _FIELDS.size + _CRC.size]
        if len(crc) < _CRC.size or _CRC.unpack(crc)[0] != zlib.crc32(fields):
            return None
        magic, digest, generation, rows, vectors, life, newest, *checksums = _FIELDS.unpack(fields)
        version = Version(vectors, life, newest)
        return cls(digest, generation, rows, version, *checksums) if magic == _MAGIC else None


class CheckedBlocks:
    """Reads blocks against their checksum, some at a time: a large file takes longer than a search may."""

    def __init__(self, blocks: Iterable[Block], checksum: int) -> None:
        self._left = [(block, block.used) for block in blocks]
        self._missing = checksum

    def read(self, blocks: int) -> bool:
        """False: all are read now, and the file is damaged."""
        for block, used in self._left[:blocks]:
            self._missing -= block.checksum(0, used)
        del self._left[:blocks]
        return bool(self._left) or self._missing % 2**64 == 0


@dataclass(frozen=True, slots=True)
class Mapped:
    """A file's published rows, mapped. They stay, whatever becomes of the path."""

    inode: tuple[int, int]
    header: Header
    blocks: tuple[Block, ...]
    verification: CheckedBlocks
    """The verification of blocks that were not verified when mapped."""
    view: mmap.mmap | None = None
    """The map that reaches farthest."""
    size: int = 0
    """How long the file must be for it."""

    @property
    def is_cut_off(self) -> bool:
        """Whether the file was truncated: reading beyond its end would kill the process (SIGBUS)."""
        return self.view is not None and self.view.size() < self.size


class VectorFile:
    """The file at one path, and the lock beside it."""

    def __init__(self, path: Path, shape: Shape, digest: bytes, mode: int = OWNER_ALONE) -> None:
        self.path = path
        self._mode = mode
        self._shape = shape
        self._digest = digest

    def header(self) -> Header | None:
        """The newest valid header, if the file is there and ours."""
        try:
            with self.path.open("rb") as file:
                return self._read_header(file)
        except OSError:
            return None

    def mapped(self, known: Mapped | None = None, *, whole: bool = False) -> Mapped | None:
        """The file's rows, or None where it is missing, damaged, or not of this source.

        Rows of `known` are not verified again. The rest of a large file is verified later; with
        `whole`, all is now.
        """
        try:
            with self.path.open("rb") as file:
                status = os.fstat(file.fileno())
                header = self._read_header(file)
                if header is None or status.st_size < self._size(header.rows):
                    return None
                inode = (status.st_dev, status.st_ino)
                if known is None or known.inode != inode or known.header.generation > header.generation:
                    known = Mapped(inode, self._empty(header.version), (), CheckedBlocks((), 0))
                return self._extended(file, known, header, whole=whole)
        except (OSError, ValueError):  # mmap says ValueError of a file that shrank under it
            return None

    def create(self, blocks: Iterable[Block], version: Version) -> None:
        """Write a new file and put it in the old one's place; needs the lock."""
        fresh = self.path.with_name(self.path.name + "-new")
        try:
            fresh.unlink(missing_ok=True)  # left by a killed writer, perhaps with another mode
            with self._open_file(fresh, os.O_RDWR | os.O_EXCL, "w+b", buffering=0) as file:
                self._add(file, self._empty(version), blocks, version)
            fresh.replace(self.path)
        except BaseException:
            fresh.unlink(missing_ok=True)
            raise

    def append(self, after: Header, blocks: Iterable[Block], version: Version) -> None:
        """Add rows to the file that has this header, then publish them; needs the lock."""
        with self.path.open("r+b", buffering=0) as file:
            self._add(file, after, blocks, version)

    @staticmethod
    def remove(path: Path) -> None:
        """Existing maps stay valid. The lock file stays, or two writers could hold one each."""
        for name in (path.name, path.name + "-new"):
            path.with_name(name).unlink(missing_ok=True)

    @contextmanager
    def lock(self) -> Iterator[bool]:
        """Whether this is the one writer among all processes and threads. Never waits."""
        # A file of its own: the cache's file is replaced, and a lock on what was replaced guards nothing.
        beside = self.path.with_name(self.path.name + "-lock")
        with self._open_file(beside, os.O_RDWR | os.O_APPEND, "a+b") as file:
            try:
                _lock(file)
            except BlockingIOError:
                yield False
                return
            yield True

    def _open_file(self, path: Path, flags: int, kind: str, buffering: int = -1) -> BinaryIO:
        # Windows parts text from bytes even here.
        flags |= os.O_CREAT | getattr(os, "O_BINARY", 0)
        return cast("BinaryIO", os.fdopen(os.open(path, flags, self._mode), kind, buffering))

    def _empty(self, version: Version) -> Header:
        return Header(self._digest, 0, 0, version, 0, 0)

    def _size(self, rows: int) -> int:
        return _HEADER + -(-rows // ROWS) * self._shape.block_bytes

    def _read_header(self, file: BinaryIO) -> Header | None:
        page = file.read(2 * _SLOT)
        slots = [Header.parse(page[:_SLOT]), Header.parse(page[_SLOT:])]
        ours = [header for header in slots if header is not None and header.digest == self._digest]
        return max(ours, key=lambda header: header.generation, default=None)

    def _extended(self, file: BinaryIO, known: Mapped, header: Header, *, whole: bool) -> Mapped | None:
        full = known.header.rows // ROWS
        partial = known.header.rows % ROWS
        blocks, view = list(known.blocks), known.view
        if len(blocks) * ROWS < header.rows:
            size, count = self._shape.block_bytes, -(-header.rows // ROWS) - len(blocks)
            start = _HEADER + len(blocks) * size
            view = mmap.mmap(file.fileno(), count * size, access=mmap.ACCESS_READ, offset=start)
            blocks += [Block(self._shape, view, number * size, 0) for number in range(count)]
        for number in range(full, len(blocks)):
            blocks[number].used = min(ROWS, header.rows - number * ROWS)
        later = not known.blocks and len(blocks) > VERIFIED_AT_ONCE and not whole
        missing = header.checksum - known.header.checksum
        missing_facts = header.facts_checksum - known.header.facts_checksum
        for number, block in enumerate(blocks[full:], full):
            start = partial if number == full else 0
            missing_facts -= block.facts_checksum(start, block.used)
            missing -= 0 if later else block.checksum(start, block.used)
        # The owner of each row must be right from the start.
        if missing_facts % 2**64 or (missing % 2**64 and not later):
            return None
        verification = CheckedBlocks(blocks, header.checksum) if later else known.verification
        return Mapped(known.inode, header, tuple(blocks), verification, view, self._size(header.rows))

    def _add(self, file: BinaryIO, after: Header, blocks: Iterable[Block], version: Version) -> None:
        rows, checksum, facts = after.rows, after.checksum, after.facts_checksum
        for block in blocks:
            start = 0
            while start < block.used:
                stop = min(block.used, start + ROWS - rows % ROWS)
                self._write(file, rows, block, start, stop)
                rows, start = rows + stop - start, stop
            checksum += block.checksum(0, block.used)
            facts += block.facts_checksum(0, block.used)
        sums = checksum % 2**64, facts % 2**64
        header = Header(self._digest, after.generation + 1, rows, version, *sums)
        os.fsync(file.fileno())
        file.seek(header.generation % 2 * _SLOT)
        _write_all(file, memoryview(header.packed()))
        os.fsync(file.fileno())

    def _write(self, file: BinaryIO, at: int, block: Block, start: int, stop: int) -> None:
        """Put rows of a block at row `at` of the file; they fit the file's block there."""
        if file.seek(0, os.SEEK_END) < self._size(at + stop - start):
            # The room that is left holds no disk space yet. All is written by `write`, never through a map,
            # so a full disk is an error here and cannot end a reader.
            file.truncate(self._size(at + stop - start))
        base = self._size(at - at % ROWS)
        # In every column, a row is shifted by the same number of rows.
        shift = at % ROWS - start
        for offset, piece in block.pieces(start, stop):
            file.seek(base + offset + shift * piece.strides[0])
            _write_all(file, piece.reshape(-1).view(np.uint8).data)


def _write_all(file: BinaryIO, data: memoryview) -> None:
    # An unbuffered write may stop short.
    while data:
        data = data[file.write(data) :]


def _lock(file: BinaryIO) -> None:
    """Closing the file gives the lock back."""
    if sys.platform == "win32":
        file.seek(0)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError as error:
            raise BlockingIOError from error
    else:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
