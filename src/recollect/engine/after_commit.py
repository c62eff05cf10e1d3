"""What follows a commit. Nothing of it may raise: what was written is there, and the caller must learn so."""

from __future__ import annotations

import logging
from collections.abc import Callable

from recollect.engine.services import asks_again
from recollect.errors import RecollectError
from recollect.ports import Result

UNFINISHED = "It is stored, but not all that follows could be done"
"""How a note begins that says so."""

_log = logging.getLogger(__name__)


def attempt_follow_up(step: Callable[[], Result]) -> tuple[Result | None, str | None]:
    """What the step gives; where it fails, None and a note that says why."""
    try:
        return asks_again(step)(), None
    except RecollectError as error:
        _log.warning("What was written is stored; what follows a write could not be done: %s", error)
        return None, _note_of(error)
    except Exception as error:  # noqa: BLE001  # whatever it is, the write stands
        # A library that finds no descriptor or no memory left raises what it likes.
        _log.exception("What was written is stored; what follows a write could not be done")
        return None, _note_of(error)


def _note_of(error: Exception) -> str:
    # What the store says of the write that failed is not so of the one before it.
    return f"{UNFINISHED}: {str(error).removesuffix(' Nothing was written.') or type(error).__name__}"


def unfinished_note(note: str | None) -> str | None:
    """The note, where it says that something failed; not where it only says that there is no model."""
    return note if note is not None and note.startswith(UNFINISHED) else None
