"""Numbers that a profile is given in the place of its published ones; every set of them is kept."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from recollect.changes import Outcome
from recollect.errors import Conflict

if TYPE_CHECKING:
    from recollect.changes import TuneProfile
    from recollect.stores.sqlite.write.batch import Batch


def tune(batch: Batch, change: TuneProfile) -> Outcome:
    scope = batch.scope_id(change.scope)
    newest = batch.one(
        "SELECT id FROM tuned WHERE scope_id = ? AND profile = ? ORDER BY id DESC LIMIT 1",
        scope,
        change.profile,
    )
    if (newest or 0) != change.after:
        raise Conflict(
            f"The profile {change.profile!r} was tuned by someone else meanwhile; look at it with "
            "`recollect tune history`, and try again. Nothing was changed."
        )
    version = batch.insert(
        "INSERT INTO tuned(scope_id, profile, at, knobs, why, report) VALUES (?, ?, ?, ?, ?, ?)",
        scope,
        change.profile,
        batch.at,
        json.dumps(dict(change.knobs)),
        change.why,
        change.report,
    )
    return Outcome(ids=(version,), created=True, count=1)
