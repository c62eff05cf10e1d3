"""Explain why this user cannot read or write a store's file."""

from __future__ import annotations

import os
from pathlib import Path


def why_unwritable(path: Path) -> str:
    """Return why this user cannot write to an existing file or folder; empty if it can.

    The file's folder must be writable, too: SQLite writes a log beside the file.
    """
    if not os.path.exists(path):  # noqa: PTH110  # False also where a folder cannot be entered
        return ""
    if os.name == "posix" and os.statvfs(path).f_flag & os.ST_RDONLY:
        return "the disk is mounted read-only"
    if not _has_right(path, os.W_OK):
        return _missing_right(path, "write")
    if path.is_dir() or _has_right(path.parent, os.W_OK):
        return ""
    # Another process of this user may have the store open already, with a log that can be used.
    beside = [path.with_name(path.name + ending) for ending in ("-wal", "-shm")]
    if all(each.exists() and _has_right(each, os.W_OK) for each in beside):
        return ""
    return _missing_right(path.parent, "write")


def why_unreadable(path: Path) -> str:
    """Return why this user cannot read a file; empty if it can, or if there is no file."""
    for folder in reversed(path.absolute().parents):
        if not _has_right(folder, os.X_OK):
            return _missing_right(folder, "enter") if os.path.lexists(folder) else ""
    return _missing_right(path, "read") if os.path.lexists(path) and not _has_right(path, os.R_OK) else ""


def _has_right(path: Path, right: int) -> bool:
    return os.access(path, right, effective_ids=os.access in os.supports_effective_ids)


def _missing_right(path: Path, right: str) -> str:
    """Return, say, `user ana may not write the folder /srv (owner root, mode 755)`."""
    kind = "folder" if path.is_dir() else "file"
    try:
        status = path.stat()
        details = f" (owner {_user_name(status.st_uid)}, mode {status.st_mode & 0o777:o})"
    except OSError:
        details = ""
    return f"user {_user_name()} may not {right} the {kind} {path}{details}"


def _user_name(number: int | None = None) -> str:
    try:
        import pwd  # noqa: PLC0415  # POSIX only

        return pwd.getpwuid(os.geteuid() if number is None else number).pw_name
    except (ImportError, KeyError):
        return str(number) if number is not None else os.environ.get("USERNAME", "?")  # noqa: TID251
