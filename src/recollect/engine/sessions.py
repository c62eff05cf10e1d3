"""The conversations of a memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from recollect.engine import converse
from recollect.engine.parts import Parts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.engine.results import Remembered
    from recollect.records import Memory, Session


@dataclass(frozen=True, slots=True)
class Sessions:
    """`memory.sessions`: the conversations of a scope, and their messages."""

    parts: Parts

    def list(self) -> Sequence[Session]:
        """The conversations of this scope, the one with the newest turn first."""
        return converse.sessions(self.parts)

    def turns(self, session: str, *, last: int | None = None) -> Sequence[Memory]:
        """A session's messages in order; with `last`, only so many from its end."""
        return converse.turns(self.parts, session, last)

    def neighbours(self, id: int, *, before: int = 2, after: int = 2) -> Sequence[Memory]:  # noqa: A002  # the domain's word
        """A message with its neighbours in the session, in order."""
        return converse.around(self.parts, id, before, after)

    def extract(self, session: str) -> tuple[Remembered, ...]:
        """Draw notes out of a session's messages, as `add_messages` does, after the fact."""
        return converse.extract(self.parts, session)
