"""The clients' files on this machine: read as they are, written whole, with a copy of what was there."""

from __future__ import annotations

import os
import stat
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.clients.catalogue import Machine
from recollect.clients.entry import MODULE, NAME, SAFE_MODULE_OPTIONS, NotEditable
from recollect.errors import Conflict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recollect.clients.entry import SettingsEdit

_PRIVATE = 0o600
"""For files that hold other servers' keys; as their owners make them, too."""
_WRITABLE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


def this_machine(environ: Mapping[str, str]) -> Machine:
    machine = Machine(sys.platform, Path.home(), environ)
    if machine.system != "win32":
        return machine
    packages = Path(machine.windows_packages())
    names = tuple(each.name for each in packages.iterdir()) if packages.is_dir() else ()
    return Machine(machine.system, machine.home, environ, names)


def launch_words(scripts: Path | None = None, executable: str | None = None) -> tuple[str, ...]:
    """The command's words, absolute: a client with windows does not have the user's PATH."""
    scripts = Path(sysconfig.get_path("scripts")) if scripts is None else scripts
    for name in (NAME, f"{NAME}.exe"):
        if (scripts / name).is_file():
            # Not resolved: a link in a virtual environment is what makes it that environment's.
            return (str((scripts / name).absolute()),)
    return (executable or sys.executable, *SAFE_MODULE_OPTIONS, MODULE)


def read_settings(path: Path) -> str | None:
    """The text with its line ends as they are; None where there is no file."""
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise NotEditable(f"it is not UTF-8: {error}") from error


def backup_path(path: Path) -> Path:
    """Where the copy of what was there before our last change stands."""
    return path.with_name(f"{path.name}.before-{NAME}")


def read_backup(path: Path) -> str | None:
    """What was there before us, as far as it was kept and can be read."""
    try:
        return read_settings(backup_path(path))
    except NotEditable:
        return None


def apply_edit(path: Path, edit: SettingsEdit, within: Path | None = None) -> Path | None:
    """Make the change at once, or not at all; then where the copy is, if there is one.

    With a file that held only our server go the folders that are empty without it, below `within`.
    """
    path = path.resolve()  # a link to a file kept elsewhere stays a link
    if read_settings(path) != edit.before:
        raise Conflict(f"{path} was changed by another program just now; try again.")
    if path.exists() and not path.stat().st_mode & _WRITABLE:  # replacing it would work all the same
        raise Conflict(f"{path} is read-only and was left as it is; make it writable, and try again.")
    copy = backup_path(path)
    back = edit.before is not None and edit.after == read_backup(path)
    if edit.before is not None and not back and edit.after is not None and edit.needs_backup:
        _put(copy, edit.before, like=path)
    if edit.after is None:
        path.unlink()
    else:
        _put(path, edit.after, like=path)
    if back or edit.after is None:
        copy.unlink(missing_ok=True)
    if edit.after is None and within is not None:
        _remove_empty(path.parent, within.resolve())
    return copy if copy.exists() else None


def _remove_empty(folder: Path, within: Path) -> None:
    while within in folder.parents:
        try:
            folder.rmdir()  # refuses what holds anything
        except OSError:
            return
        folder = folder.parent


def _put(path: Path, text: str, *, like: Path) -> None:
    """Beside the file first, so that whoever reads it sees the old one or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = stat.S_IMODE(like.stat().st_mode) if like.exists() else _PRIVATE
    handle, made = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
        Path(made).chmod(mode)
        Path(made).replace(path)
    except BaseException:
        Path(made).unlink(missing_ok=True)
        raise
