"""The clients' files on this machine: read as they are, written whole, with a copy of what was there."""

from __future__ import annotations

import os
import stat
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.clients.entry import MODULE, NAME
from recollect.clients.failures import NotEditable
from recollect.clients.places import Machine
from recollect.errors import Conflict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recollect.clients.change import Change

_PRIVATE = 0o600
"""For files that hold other servers' keys; as their owners make them, too."""


def this_machine(environ: Mapping[str, str]) -> Machine:
    machine = Machine(sys.platform, Path.home(), environ)
    if machine.system != "win32":
        return machine
    packages = Path(machine.windows_packages())
    names = tuple(each.name for each in packages.iterdir()) if packages.is_dir() else ()
    return Machine(machine.system, machine.home, environ, names)


def launcher(scripts: Path | None = None, executable: str | None = None) -> tuple[str, ...]:
    """The command's words, absolute: a client with windows does not have the user's PATH."""
    scripts = Path(sysconfig.get_path("scripts")) if scripts is None else scripts
    for name in (NAME, f"{NAME}.exe"):
        if (scripts / name).is_file():
            # Not resolved: a link in a virtual environment is what makes it that environment's.
            return (str((scripts / name).absolute()),)
    return (executable or sys.executable, "-m", MODULE)


def content(path: Path) -> str | None:
    """The text with its line ends as they are; None where there is no file."""
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise NotEditable(f"it is not UTF-8: {error}") from error


def kept(path: Path) -> Path:
    """Where the copy of what was there before our last change stands."""
    return path.with_name(f"{path.name}.before-{NAME}")


def original(path: Path) -> str | None:
    """What was there before us, as far as it was kept and can be read."""
    try:
        return content(kept(path))
    except NotEditable:
        return None


def write(path: Path, change: Change, within: Path | None = None) -> Path | None:
    """Make the change at once, or not at all; then where the copy is, if there is one.

    With a file that held only our server go the folders that are empty without it, below `within`.
    """
    path = path.resolve()  # a link to a file kept elsewhere stays a link
    if content(path) != change.before:
        raise Conflict(f"{path} was changed by another program just now; try again.")
    copy = kept(path)
    back = change.before is not None and change.after == original(path)
    if change.before is not None and not back and change.after is not None and change.worth_a_copy:
        _put(copy, change.before, like=path)
    if change.after is None:
        path.unlink()
    else:
        _put(path, change.after, like=path)
    if back or change.after is None:
        copy.unlink(missing_ok=True)
    if change.after is None and within is not None:
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
