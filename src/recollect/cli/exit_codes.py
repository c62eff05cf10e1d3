"""How a run ends: an error is one line on standard error, and an exit code that scripts read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from recollect.cli.rendering import warn
from recollect.errors import ModelUnavailable, NotAStore, RecollectError, StoreDamaged, StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable

REFUSED = 1
"""It cannot be done, `verify` or `doctor` found a problem, or a dream was not written."""
MISUSED = 2
STORE_FAILED = 3
MODEL_FAILED = 4
INTERRUPTED = 130
"""As shells report it: 128 and the number of SIGINT."""
OUTPUT_CLOSED = 141
"""128 and the number of SIGPIPE: the reader of our output left."""


def exit_code_of(run: Callable[[], int | None]) -> int:
    """Run a command; errors of the user and of the world are told in one line, without a stack trace."""
    try:
        return run() or 0
    except RecollectError as error:
        return _failed(str(error), _code_of(error))
    except click.UsageError as error:
        help_ = f"Try: {error.ctx.command_path} --help" if error.ctx is not None else ""
        return _failed(f"{error.format_message()} {help_}", MISUSED)
    except click.ClickException as error:
        return _failed(error.format_message(), REFUSED)
    except (click.Abort, KeyboardInterrupt):
        return _failed("stopped; what was finished is kept.", INTERRUPTED)
    except OSError as error:
        return _failed(f"{error.filename or 'the file'}: {error.strerror or error}.", REFUSED)


def _code_of(error: RecollectError) -> int:
    match error:
        case NotAStore() | StoreDamaged() | StoreUnavailable():
            return STORE_FAILED
        case ModelUnavailable():
            return MODEL_FAILED
        case _:
            return REFUSED


def _failed(message: str, code: int) -> int:
    warn(message)
    return code
