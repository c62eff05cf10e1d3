"""Names the extra of `recollect-memory` that brings a missing package."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from recollect.errors import RecollectError

if TYPE_CHECKING:
    from collections.abc import Iterator


class MissingExtra(RecollectError, ImportError):
    """Something was asked for whose packages are not installed; the message names the command."""


def missing_extra(what: str, extra: str, reason: object) -> MissingExtra:
    command = f"pip install 'recollect-memory[{extra}]'"
    return MissingExtra(f"{what} needs packages that are not installed ({reason}); run: {command}")


@contextmanager
def needs_extra(what: str, extra: str) -> Iterator[None]:
    """Import within this what only the extra brings."""
    try:
        yield
    except ModuleNotFoundError as error:
        if isinstance(error, MissingExtra) or (error.name or "").partition(".")[0] == "recollect":
            raise
        raise missing_extra(what, extra, error) from error
