"""What can be wrong with a client's settings. None of these errors leaves a file changed."""

from __future__ import annotations

from recollect.errors import Conflict, InvalidInput


class NotEditable(InvalidInput):
    """A settings file that we cannot read, or could not change without losing something."""


class AnotherEntry(Conflict):
    """The name is taken by an entry that does not start Recollect."""
