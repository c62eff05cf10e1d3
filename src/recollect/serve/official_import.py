"""Imports the file of the official memory server once, where that is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from recollect.errors import RecollectError
from recollect.settings import OFFICIAL_VARIABLE, official_file

if TYPE_CHECKING:
    from collections.abc import Callable

    from recollect.engine.engine import Engine

_NAMED = 5
"""Entities that a line names; more are counted."""


def import_official_file(
    memory: Engine, begun: Path, asked: Path | None, tell: Callable[[str], None]
) -> None:
    """Only while the memory never had an entity: later it would bring back what was deleted.

    Or where an earlier start was ended in the middle of it: the mark `begun` tells. `asked` is the
    file, or the name of the variable that names it. A file that cannot be brought in is no reason not to
    serve, and one that comes too late is told of until it was imported in some way.
    """
    named = official_file()
    if asked is None and named is None:
        return
    file = named if asked == Path(OFFICIAL_VARIABLE) else asked
    if memory.graph.ever_had_entities() and not begun.exists():
        _tell_if_too_late(memory, file, tell)
    elif asked is None:
        tell(f"{OFFICIAL_VARIABLE} names {named}; `recollect serve --import` brings it into this memory.")
    elif file is None:
        tell(f"{OFFICIAL_VARIABLE} is not set; name the file to bring in: --import FILE.")
    elif not file.exists():
        tell(f"There is no file {file} to bring in; the memory starts without it.")
    else:
        begun.touch(mode=0o600)
        _import(memory, file, tell)
        begun.unlink(missing_ok=True)


def _import(memory: Engine, file: Path, tell: Callable[[str], None]) -> None:
    from recollect.transfer import import_file  # noqa: PLC0415  # few starts bring something in

    try:
        report = import_file(memory, file, embed=False)
    except (RecollectError, OSError) as error:
        tell(f"{file} could not be brought in: {error}")
        return
    gained = [_counted(report.entities_created, "entity", "entities")]
    if report.relations_created:
        gained.append(_counted(report.relations_created, "relation", "relations"))
    tell(
        f"Brought in {' and '.join(gained)} from {file}. Words find them now; meaning does when their "
        "vectors are made, which goes on in the background."
    )
    if report.also_created:
        more = report.also_created_count - _NAMED
        named = ", ".join(report.also_created[:_NAMED]) + (f" and {more:,} more" if more > 0 else "")
        tell(f"Created with the type 'unknown', because relations name them: {named}.")
    left_out = []
    if report.dangling_count:
        many = "relations that lead nowhere"
        left_out.append(_counted(report.dangling_count, "relation that leads nowhere", many))
    if report.bad_count:
        lines = _counted(report.bad_count, "line", "lines")
        left_out.append(f"{lines} that could not be read")
    for left in left_out:
        tell(f"Left out {left}; {_by_hand(file)} names what it leaves out.")


def _tell_if_too_late(memory: Engine, file: Path | None, tell: Callable[[str], None]) -> None:
    if file is None or memory.upkeep.importing().was_recorded(file):
        return
    if file.exists():
        tell(f"{file} was not brought in, since this memory has entities already; {_by_hand(file)} adds it.")
    else:
        tell(f"There is no file {file} to bring in.")


def _counted(number: int, one: str, several: str) -> str:
    return f"{number:,} {one if number == 1 else several}"


def _by_hand(file: Path) -> str:
    quoted = f'"{file}"' if " " in str(file) else file
    return f"`recollect import {quoted}`"
