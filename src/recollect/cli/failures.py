"""What went wrong, in one line on standard error, and the exit status that scripts read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from recollect.errors import ModelUnavailable, NotAStore, RecollectError, StoreDamaged, StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable

REFUSED = 1
"""What was asked cannot be done, `verify` or `doctor` found something wrong, or a dream's gate is closed."""
MISUSED = 2
STORE = 3
MODEL = 4
INTERRUPTED = 130
"""As shells report it: 128 and the number of SIGINT."""
UNREAD = 141
"""128 and the number of SIGPIPE: whoever read our output has had enough."""


def exit_status(run: Callable[[], int | None]) -> int:
    """Run a command; a mistake of the user's or of the world's is told, never traced."""
    try:
        return run() or 0
    except RecollectError as error:
        return _told(str(error), _status_of(error))
    except click.UsageError as error:
        return _told(f"{error.format_message()} {_where_to_look(error)}".strip(), MISUSED)
    except click.ClickException as error:
        return _told(error.format_message(), REFUSED)
    except (click.Abort, KeyboardInterrupt):
        return _told("stopped; what was finished is kept.", INTERRUPTED)
    except OSError as error:
        return _told(f"{error.filename or 'the file'}: {error.strerror or error}.", REFUSED)


def _status_of(error: RecollectError) -> int:
    match error:
        case NotAStore() | StoreDamaged() | StoreUnavailable():
            return STORE
        case ModelUnavailable():
            return MODEL
        case _:
            return REFUSED


def _where_to_look(error: click.UsageError) -> str:
    return f"Try: {error.ctx.command_path} --help" if error.ctx is not None else ""


def _told(message: str, status: int) -> int:
    # One line whatever the message: a script that reads standard error line by line relies on it.
    click.echo(f"recollect: {' '.join(message.split())}", err=True)
    return status
