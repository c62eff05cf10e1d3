"""Which files were brought into a memory, so that a server that should bring one in knows when it was."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from recollect.changes import NoteImport

if TYPE_CHECKING:
    from pathlib import Path

    from recollect.engine.parts import Parts


def note_import(parts: Parts, file: str | Path) -> None:
    parts.store.apply([NoteImport(parts.scope, _whole_path(file))], at=parts.clock())


def was_imported(parts: Parts, file: str | Path) -> bool:
    with parts.store.read() as view:
        return view.imported(parts.scope, _whole_path(file))


def _whole_path(file: str | Path) -> str:
    # A name need not be text; a store takes nothing else.
    return os.fsencode(os.path.realpath(file)).decode("utf-8", "backslashreplace")
