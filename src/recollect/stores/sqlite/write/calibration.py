"""What a scope has learnt of how sure its answers are; the last to measure it is believed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.changes import Outcome

if TYPE_CHECKING:
    from recollect.changes import Calibrate
    from recollect.stores.sqlite.write.batch import Batch


def calibrate(batch: Batch, change: Calibrate) -> Outcome:
    count = batch.run(
        "INSERT OR REPLACE INTO calibration(scope_id, model, at, memories, value) VALUES (?, ?, ?, ?, ?)",
        batch.scope_id(change.scope),
        change.model,
        batch.at,
        change.memories,
        change.value,
    )
    return Outcome(count=count)
