"""The errors that Recollect raises. Each message says what to do next."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from importlib.util import find_spec

TYPE_CHECKING = False  # a hook loads this, and `typing` is slow to load
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from importlib.metadata import EntryPoint
    from typing import Any


class RecollectError(Exception):
    """The base class of all errors of Recollect. Catch it to catch any of them."""

    change: int | None = None
    """The index in the batch of the change that failed, from 0; None if unknown."""


class InvalidInput(RecollectError):
    """A value cannot be stored or understood. Nothing was written.

    Correct the argument that the message names.
    """


class NotFound(RecollectError):
    """The store has nothing that the caller named. Nothing was written.

    Check the id or name, the owner and the agent; `recollect list` and `recollect graph`
    show what exists.
    """


class Conflict(RecollectError):
    """The request conflicts with what is stored. Nothing was written.

    Read the memory again and decide; the message names the conflict.
    """


class Outdated(Conflict):
    """The memory changed since it was read. Nothing was written.

    Read it again, then repeat the change.
    """


class NotAStore(RecollectError):
    """The file is not a Recollect store, or is from a newer version. It was not written to.

    Check the path, or install the newer version.
    """


class StoreDamaged(RecollectError):
    """The file is a store, but its content is broken.

    Run `recollect doctor --full --repair`, or restore a backup.
    """


class StoreUnavailable(RecollectError):
    """The store cannot be used now: locked, read-only, full, or out of reach. Nothing was lost.

    Remove the cause that the message names, then try again.
    """

    ask_again = False
    """Whether repeating the read may help: another server took over, or the file was changed during it."""


class ModelUnavailable(RecollectError):
    """The embedding model cannot be used; the message names the command that installs it.

    Install the model, or search by words alone with `model="none"`.
    """


class ExtractionFailed(RecollectError):
    """No notes could be extracted; the messages are stored and can be found.

    Check the extractor's address and key, then run `memory.sessions.extract`.
    """


_LONGEST_QUOTATION = 200


def cited(text: str) -> str:
    """Quote a text of the user in a message. A long text is cut, so that the message stays readable."""
    if len(text) <= _LONGEST_QUOTATION:
        return repr(text)
    return f"{text[:_LONGEST_QUOTATION]!r}…"


# Entry points of other packages, and the extras that install missing packages


class MissingExtra(RecollectError, ImportError):
    """A feature needs packages that are not installed; the message names the command.

    Run the `pip install` command in the message.
    """


def missing_extra(what: str, extra: str, reason: object) -> MissingExtra:
    needs = f"{what} needs packages that are not installed ({reason})"
    if extra in {"mcp", "server"} and find_spec("mcp") is not None and find_spec("mcp_types") is None:
        # `mcp` 1. LangChain's adapters and CrewAI, for example, do not work with the version for the server.
        return MissingExtra(
            f"{needs}. An older `mcp` is installed, which another package may need; install the server in a "
            f"separate environment: uv tool install {_requirement(extra)}"
        )
    return MissingExtra(f"{needs}; run: pip install {_requirement(extra)}")


@contextmanager
def needs_extra(what: str, extra: str) -> Iterator[None]:
    """Wrap imports of packages that an extra installs; if one fails, raise `MissingExtra`."""
    try:
        yield
    except ImportError as error:
        if isinstance(error, MissingExtra) or (error.name or "").partition(".")[0] == "recollect":
            raise
        if isinstance(error, ModuleNotFoundError):
            raise missing_extra(what, extra, error) from error
        # Usually, the installed version is too old to have the imported name.
        raise MissingExtra(
            f"{what} cannot use what is installed ({error}); run: pip install {_requirement(extra)}"
        ) from error


def registered(group: str, name: str | None = None) -> tuple[EntryPoint, ...]:
    """Return the entry points of a group, such as `recollect.importers`, one for each name."""
    from importlib.metadata import entry_points  # noqa: PLC0415  # takes milliseconds, and few commands need it

    found = entry_points(group=group) if name is None else entry_points(group=group, name=name)
    return tuple({point.name: point for point in found}.values())


def load_registered(group: str, name: str, *, what: str, extra: str) -> Any:
    """Load what a package registers under this name. If none does, the error names the extra to install."""
    for point in registered(group, name):
        with needs_extra(what, extra):
            return point.load()
    raise missing_extra(what, extra, f"No package registers {name!r}")


def _requirement(extra: str) -> str:
    return f"'recollect-memory[{extra}]'"


# Interruption: work ends early if its caller no longer waits

_check: ContextVar[Callable[[], None] | None] = ContextVar("recollect_interruption", default=None)


@contextmanager
def interruptible(check: Callable[[], None]) -> Iterator[None]:
    """In this context, stores and long work call `check` from time to time; it raises to end the work.

    For reads only: a write must not be interrupted.
    """
    before = _check.set(check)
    try:
        yield
    finally:
        _check.reset(before)


def end_if_interrupted() -> None:
    """Call the check of `interruptible`, if there is one. Stores and long work call this."""
    check = _check.get()
    if check is not None:
        check()
