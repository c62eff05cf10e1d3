"""The vector cache file, which processes map into memory and share. It can be rebuilt from the store.

A header page comes first, then blocks. New rows are added after the published ones; then the header publishes
them. The file is replaced, never truncated: truncation would kill (SIGBUS) the processes that have mapped it.
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


# New files are private to their owner

PRIVATE_MODE = 0o600


def create_private_file(path: Path) -> None:
    """Create an empty private file unless it exists. SQLite copies the file's mode to the WAL and journals.

    Errors are ignored: SQLite reports them better.
    """
    with suppress(OSError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_MODE))


def mode_of_store(store: Path) -> int:
    """Return the permission bits of a store, for the files beside it."""
    try:
        return stat.S_IMODE(store.stat().st_mode)
    except OSError:
        return PRIVATE_MODE


if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

MAX_BLOCKS_VERIFIED_ON_OPENING = 8
"""A file of at most this many blocks is verified when opened (about 20 ms), a larger one piece by piece."""

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
    scope_kind_checksum: int

    def pack(self) -> bytes:
        fields = _FIELDS.pack(
            _MAGIC,
            self.digest,
            self.generation,
            self.rows,
            *self.version,
            self.checksum,
            self.scope_kind_checksum,
        )
        return fields + _CRC.pack(zlib.crc32(fields))

    @classmethod
    def parse(cls, slot: bytes) -> Header | None:
        fields, crc = slot[: _FIELDS.size], slot[_FIELDS.size : _FIELDS.size + _CRC.size]
        if len(crc) < _CRC.size or _CRC.unpack(crc)[0] != zlib.crc32(fields):
            return None
        magic, digest, generation, rows, vectors, life, newest, *checksums = _FIELDS.unpack(fields)
        version = Version(vectors, life, newest)
        return cls(digest, generation, rows, version, *checksums) if magic == _MAGIC else None


class BlockVerification:
    """Verifies a few blocks at a time: verifying a large file at once would delay a search too long."""

    def __init__(self, blocks: Iterable[Block], checksum: int) -> None:
        self._unverified = [(block, block.used) for block in blocks]
        self._rest_of_checksum = checksum

    def verify(self, blocks: int) -> bool:
        """Verify the next blocks. Return False once all have been read and their checksum is wrong."""
        for block, used in self._unverified[:blocks]:
            self._rest_of_checksum -= block.checksum(0, used)
        del self._unverified[:blocks]
        return bool(self._unverified) or self._rest_of_checksum % 2**64 == 0


@dataclass(frozen=True, slots=True)
class MappedFile:
    """The published rows of a file, mapped. They stay valid if the file is replaced."""

    inode: tuple[int, int]
    header: Header
    blocks: tuple[Block, ...]
    verification: BlockVerification
    """The verification of blocks that were not verified when mapped."""
    view: mmap.mmap | None = None
    """The memory map that contains the last block."""
    size: int = 0
    """The minimum length of a file with these rows."""

    @property
    def is_truncated(self) -> bool:
        """Whether the file was truncated: reading beyond its end would kill the process (SIGBUS)."""
        return self.view is not None and self.view.size() < self.size


class VectorFile:
    """The file at one path, and the lock beside it."""

    def __init__(self, path: Path, shape: Shape, digest: bytes, mode: int = PRIVATE_MODE) -> None:
        self.path = path
        self._mode = mode
        self._shape = shape
        self._digest = digest

    def header(self) -> Header | None:
        """Return the newest valid header, if the file exists and has the expected digest."""
        try:
            with self.path.open("rb") as file:
                return self._read_header(file)
        except OSError:
            return None

    def map_rows(self, known: MappedFile | None = None, *, whole: bool = False) -> MappedFile | None:
        """Map the rows of the file. Return None if it is missing or damaged, or has another digest.

        Rows of `known` are not verified again. The vectors of a large file are verified later, by
        `MappedFile.verification`; with `whole`, they are verified now.
        """
        try:
            with self.path.open("rb") as file:
                status = os.fstat(file.fileno())
                header = self._read_header(file)
                if header is None or status.st_size < self._size(header.rows):
                    return None
                inode = (status.st_dev, status.st_ino)
                if known is None or known.inode != inode or known.header.generation > header.generation:
                    known = MappedFile(inode, self._empty(header.version), (), BlockVerification((), 0))
                return self._map_more(file, known, header, whole=whole)
        except (OSError, ValueError):  # mmap raises ValueError for a file that has shrunk
            return None

    def create(self, blocks: Iterable[Block], version: Version) -> None:
        """Write a new file, and replace the old one; needs the lock."""
        fresh = self.path.with_name(self.path.name + "-new")
        try:
            fresh.unlink(missing_ok=True)  # left by a killed writer, perhaps with another mode
            with self._open_file(fresh, os.O_RDWR | os.O_EXCL, "w+b", buffering=0) as file:
                self._append_rows(file, self._empty(version), blocks, version)
            fresh.replace(self.path)
        except BaseException:
            fresh.unlink(missing_ok=True)
            raise

    def append(self, after: Header, blocks: Iterable[Block], version: Version) -> None:
        """Add rows to the file that has this header, then publish them; needs the lock."""
        with self.path.open("r+b", buffering=0) as file:
            self._append_rows(file, after, blocks, version)

    @staticmethod
    def remove(path: Path) -> None:
        """Delete the file. Maps stay valid. The lock file stays, or writers could lock different files."""
        for name in (path.name, path.name + "-new"):
            path.with_name(name).unlink(missing_ok=True)

    @contextmanager
    def lock(self) -> Iterator[bool]:
        """Try to take the writer's lock, without waiting; yield whether that succeeded."""
        # The lock has its own file: a lock on a cache file would not stop others once the file is replaced.
        lock_path = self.path.with_name(self.path.name + "-lock")
        with self._open_file(lock_path, os.O_RDWR | os.O_APPEND, "a+b") as file:
            try:
                _lock(file)
            except BlockingIOError:
                yield False
                return
            yield True

    def _open_file(self, path: Path, flags: int, kind: str, buffering: int = -1) -> BinaryIO:
        # On Windows, `os.open` needs O_BINARY, although `fdopen` gets a binary mode.
        flags |= os.O_CREAT | getattr(os, "O_BINARY", 0)
        return cast("BinaryIO", os.fdopen(os.open(path, flags, self._mode), kind, buffering))

    def _empty(self, version: Version) -> Header:
        return Header(self._digest, 0, 0, version, 0, 0)

    def _size(self, rows: int) -> int:
        return _HEADER + -(-rows // ROWS) * self._shape.block_bytes

    def _read_header(self, file: BinaryIO) -> Header | None:
        page = file.read(2 * _SLOT)
        slots = [Header.parse(page[:_SLOT]), Header.parse(page[_SLOT:])]
        valid = [header for header in slots if header is not None and header.digest == self._digest]
        return max(valid, key=lambda header: header.generation, default=None)

    def _map_more(
        self, file: BinaryIO, known: MappedFile, header: Header, *, whole: bool
    ) -> MappedFile | None:
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
        later = not known.blocks and len(blocks) > MAX_BLOCKS_VERIFIED_ON_OPENING and not whole
        missing = header.checksum - known.header.checksum
        missing_scope_kind = header.scope_kind_checksum - known.header.scope_kind_checksum
        for number, block in enumerate(blocks[full:], full):
            start = partial if number == full else 0
            missing_scope_kind -= block.scope_kind_checksum(start, block.used)
            missing -= 0 if later else block.checksum(start, block.used)
        # Scopes and kinds are verified now, because a damaged scope could show a row to another owner.
        if missing_scope_kind % 2**64 or (missing % 2**64 and not later):
            return None
        verification = BlockVerification(blocks, header.checksum) if later else known.verification
        return MappedFile(known.inode, header, tuple(blocks), verification, view, self._size(header.rows))

    def _append_rows(self, file: BinaryIO, after: Header, blocks: Iterable[Block], version: Version) -> None:
        rows, checksum, scope_kind = after.rows, after.checksum, after.scope_kind_checksum
        for block in blocks:
            start = 0
            while start < block.used:
                stop = min(block.used, start + ROWS - rows % ROWS)
                self._write(file, rows, block, start, stop)
                rows, start = rows + stop - start, stop
            checksum += block.checksum(0, block.used)
            scope_kind += block.scope_kind_checksum(0, block.used)
        sums = checksum % 2**64, scope_kind % 2**64
        header = Header(self._digest, after.generation + 1, rows, version, *sums)
        os.fsync(file.fileno())
        file.seek(header.generation % 2 * _SLOT)
        _write_all(file, memoryview(header.pack()))
        os.fsync(file.fileno())

    def _write(self, file: BinaryIO, at: int, block: Block, start: int, stop: int) -> None:
        """Write rows of a block at row `at` of the file. They fit into one block of the file."""
        if file.seek(0, os.SEEK_END) < self._size(at + stop - start):
            # The new part is sparse. `write` fills it, not a memory map: a full disk is then an error here,
            # not a SIGBUS.
            file.truncate(self._size(at + stop - start))
        base = self._size(at - at % ROWS)
        # In each column of the block, the rows move by the same number of rows.
        shift = at % ROWS - start
        for offset, piece in block.pieces(start, stop):
            file.seek(base + offset + shift * piece.strides[0])
            _write_all(file, piece.reshape(-1).view(np.uint8).data)


def _write_all(file: BinaryIO, data: memoryview) -> None:
    # An unbuffered write may write only a part of the data.
    while data:
        data = data[file.write(data) :]


def _lock(file: BinaryIO) -> None:
    """Lock the file until it is closed."""
    if sys.platform == "win32":
        file.seek(0)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError as error:
            raise BlockingIOError from error
    else:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
