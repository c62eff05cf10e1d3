"""Names the extra of `recollect-memory` that brings a missing package."""

from __future__ import annotations

from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

from recollect.errors import RecollectError

if TYPE_CHECKING:
    from collections.abc import Iterator


class MissingExtra(RecollectError, ImportError):
    """Something was asked for whose packages are not installed; the message names the command."""


def missing_extra(what: str, extra: str, reason: object) -> MissingExtra:
    needs = f"{what} needs packages that are not installed ({reason})"
    if extra == "mcp" and find_spec("mcp") is not None:
        # Version 1: LangChain's adapters and CrewAI, for two, do not work with the one that the server needs.
        return MissingExtra(
            f"{needs}. An older `mcp` is installed, which another package may need; install the server in a "
            f"separate environment: uv tool install {_requirement(extra)}"
        )
    return MissingExtra(f"{needs}; run: pip install {_requirement(extra)}")


@contextmanager
def needs_extra(what: str, extra: str) -> Iterator[None]:
    """Import within this what only the extra brings."""
    try:
        yield
    except ImportError as error:
        if isinstance(error, MissingExtra) or (error.name or "").partition(".")[0] == "recollect":
            raise
        if isinstance(error, ModuleNotFoundError):
            raise missing_extra(what, extra, error) from error
        # A release from before the name that is imported, most often.
        raise MissingExtra(
            f"{what} cannot use what is installed ({error}); run: pip install {_requirement(extra)}"
        ) from error


def _requirement(extra: str) -> str:
    return f"'recollect-memory[{extra}]'"
