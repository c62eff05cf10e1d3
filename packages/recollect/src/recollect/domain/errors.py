"""Every error that Recollect raises on purpose; each message says what to do next."""

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
    """The root of all our errors: catch this one to catch them all."""

    change: int | None = None
    """Which of a batch's changes failed, from 0, where one did."""


class InvalidInput(RecollectError):
    """The caller's value cannot be stored or understood. Nothing was written.

    Correct the argument that the message names.
    """


class NotFound(RecollectError):
    """The store does not hold what the caller named. Nothing was written.

    Check the id or name, the owner and the agent; `recollect list` and `recollect graph`
    show what there is.
    """


class Conflict(RecollectError):
    """The request contradicts what the store holds. Nothing was written.

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
    """Whether only this read was lost: a server failed, and another one took over."""


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
    """A text of the user's in a message: names and observations may be long, and a message is read."""
    if len(text) <= _LONGEST_QUOTATION:
        return repr(text)
    return f"{text[:_LONGEST_QUOTATION]!r}…"


# Registrations of other packages, and the extra that installs a missing one.


class MissingExtra(RecollectError, ImportError):
    """A feature needs packages that are not installed; the message names the command.

    Run the `pip install` command in the message.
    """


def missing_extra(what: str, extra: str, reason: object) -> MissingExtra:
    needs = f"{what} needs packages that are not installed ({reason})"
    if extra in {"mcp", "server"} and find_spec("mcp") is not None and find_spec("mcp_types") is None:
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


def registered(group: str, name: str | None = None) -> tuple[EntryPoint, ...]:
    """The entry points of a group, such as `recollect.importers`, each name once."""
    from importlib.metadata import entry_points  # noqa: PLC0415  # takes milliseconds, and few commands need it

    found = entry_points(group=group) if name is None else entry_points(group=group, name=name)
    return tuple({point.name: point for point in found}.values())


def load_registered(group: str, name: str, *, what: str, extra: str) -> Any:
    """Load what a package registers under this name; without it, name the extra to install."""
    for point in registered(group, name):
        with needs_extra(what, extra):
            return point.load()
    raise missing_extra(what, extra, f"No package registers {name!r}")


def _requirement(extra: str) -> str:
    return f"'recollect-memory[{extra}]'"


# Interruption: work whose caller no longer waits ends early.

_check: ContextVar[Callable[[], None] | None] = ContextVar("recollect_interruption", default=None)


@contextmanager
def interruptible(check: Callable[[], None]) -> Iterator[None]:
    """Within it, `check` is called before every question to a store; it raises to end the work.

    Only around what reads: a write that was begun is done to its end.
    """
    before = _check.set(check)
    try:
        yield
    finally:
        _check.reset(before)


def end_if_interrupted() -> None:
    """Called by stores and by whatever takes long."""
    check = _check.get()
    if check is not None:
        check()
