"""The process that answers hooks where no server does: started by a hook, gone when nothing happens."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING

from recollect.errors import RecollectError
from recollect.hooks.known import hooks_folder, options_of, settings_from
from recollect.hooks.listener import HookListener
from recollect.hooks.log import note_event

if TYPE_CHECKING:
    from recollect.engine.engine import Engine

_LOOK_SECONDS = 5.0


def answer_hooks(options: Sequence[str]) -> None:
    given = options_of(options)
    settings, folder = settings_from(given), given.get("--folder") or hooks_folder()

    @cache
    def opened() -> Engine:
        from recollect.bootstrap import engine  # noqa: PLC0415  # loads SQLite and NumPy

        return engine(settings)

    listener = HookListener(settings, opened, folder)
    if not listener.claim():
        return  # another was quicker
    with suppress(OSError):
        os.truncate(os.path.join(folder, "resident-errors.txt"), 0)  # of those that could not start before us
    os.chdir(os.path.expanduser("~"))  # the folder where a hook ran may go
    try:
        # Before anybody is told of us: a prompt waits for no model.
        opened().search("warm", limit=1)
        listener.listen()
        while not listener.stopped.wait(_LOOK_SECONDS):
            if not listener.is_reachable or listener.idle_seconds() > 60 * settings.hook_idle_minutes:
                break
    except RecollectError as error:
        note_event(folder, "", "resident", "error", detail=f"{type(error).__name__}: {error}")
    finally:
        listener.close()
        with suppress(RecollectError):
            opened().close()


if __name__ == "__main__":
    answer_hooks(sys.argv[1:])
