"""Every error that Recollect raises on purpose; each message says what to do next."""

from __future__ import annotations


class RecollectError(Exception):
    """The root of all our errors: catch this one to catch them all."""

    change: int | None = None
    """Which of a batch's changes failed, from 0, where one did."""


class InvalidInput(RecollectError):
    """What the caller gave cannot be stored or understood. Nothing was written."""


class NotFound(RecollectError):
    """What the caller named is not in the store. Nothing was written."""


class Conflict(RecollectError):
    """The request contradicts what the store holds. Nothing was written."""


class Outdated(Conflict):
    """Somebody changed what this was worked out from. Nothing was written."""


class NotAStore(RecollectError):
    """The file is not a Recollect store, or is from a newer version. It was not written to."""


class StoreDamaged(RecollectError):
    """The file is a store, but its content is broken."""


class StoreUnavailable(RecollectError):
    """The store cannot be used now: locked, read-only, full, or out of reach. Nothing was lost."""

    ask_again = False
    """Whether only this reading was lost: a server failed meanwhile, and another one has taken over."""


class ModelUnavailable(RecollectError):
    """The embedding model cannot be used; the message names the command that installs it."""


class ExtractionFailed(RecollectError):
    """Nothing could be drawn out of the messages; they are stored and can be found."""


_LONGEST_QUOTATION = 200


def cited(text: str) -> str:
    """A text of the user's in a message: names and observations may be long, and a message is read."""
    if len(text) <= _LONGEST_QUOTATION:
        return repr(text)
    return f"{text[:_LONGEST_QUOTATION]!r}…"
