"""`recollect doctor`: what is installed, which model, which file, what is wrong and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.cli.command import command
from recollect.cli.failures import REFUSED
from recollect.cli.replies import Check, Checkup
from recollect.errors import RecollectError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recollect.cli.call import Call


@command("doctor", "recollect doctor", "recollect doctor --store memory.db --json")
def doctor(call: Call) -> int | None:
    """Say what is installed, what is wrong and what to do.

    Each line is ok, a note or a problem. Nothing is changed: no store is created, and a file that is not ours
    is not touched. To check every row and index of a store, use `recollect verify`.
    """
    checkup = Checkup(tuple(_checks(call)))
    call.show(checkup)
    return REFUSED if checkup.problems else None


def _checks(call: Call) -> Iterator[Check]:
    from recollect.cli import health  # noqa: PLC0415  # loads the engine, SQLite and NumPy

    yield from health.program()
    try:
        settings, _ = call.settings()
    except RecollectError as error:
        yield Check("problem", "settings", str(error), "Correct it; `recollect settings` shows them all.")
        return
    yield from health.settings(settings)
    file = health.store_file(settings.store)
    yield health.file_check(settings.store, file)
    if file.state == "current" and file.writable:
        yield from health.store(settings)
    else:
        yield health.preferred_model(settings)
    yield health.other_models()
    yield health.reranking(settings)
