"""The official memory server's file, brought in once, where that is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from recollect.errors import RecollectError
from recollect.records import Filter, Kind
from recollect.settings import OFFICIAL_VARIABLE, official_file

if TYPE_CHECKING:
    from collections.abc import Callable

    from recollect.engine.engine import Engine


def bring_in(memory: Engine, store: Path, asked: Path | None, tell: Callable[[str], None]) -> None:
    """Only while the memory never had an entity: later it would bring back what was deleted.

    Or where an earlier start was ended in the middle of it: a mark beside the store tells. `asked` is the
    file, or the name of the variable that names it. A file that cannot be brought in is no reason not to
    serve.
    """
    named = official_file()
    begun = store.with_name(store.name + "-importing")
    if (asked is None and named is None) or (_ever_had_entities(memory) and not begun.exists()):
        return
    file = named if asked == Path(OFFICIAL_VARIABLE) else asked
    if asked is None:
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
    tell(
        f"Brought in {report.entities_created} entities from {file}. Words find them now; meaning does when "
        "their vectors are made, which goes on in the background."
    )
    if report.bad_count:
        tell(f"{report.bad_count} lines could not be read; `recollect import {file}` names them.")


def _ever_had_entities(memory: Engine) -> bool:
    scope = memory.scope
    with memory.store.read() as view:
        return bool(view.page(Filter(scope.owner, scope.agent, frozenset({Kind.ENTITY}), deleted=True), 0, 1))
