"""Which files were brought in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.changes import Outcome
from recollect.stores.sqlite.rows import import_setting

if TYPE_CHECKING:
    from recollect.changes import NoteImport
    from recollect.stores.sqlite.write.batch import Batch


def note(batch: Batch, change: NoteImport) -> Outcome:
    new = batch.run(
        "INSERT OR IGNORE INTO setting(name, value) VALUES (?, ?)",
        import_setting(change.scope, change.file),
        str(batch.at),
    )
    return Outcome(created=bool(new))
