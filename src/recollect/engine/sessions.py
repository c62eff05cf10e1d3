"""The conversations of a memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from recollect.engine import converse
from recollect.engine.parts import Parts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from recollect.engine.results import Remembered, Told
    from recollect.engine.wanted import TurnLike
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

    def import_turns(self, session: str, turns: Iterable[TurnLike], *, extract: bool) -> Told:
        """As `add_messages`, leaving out what cannot be stored, and embedding nothing yet."""
        return converse.add_messages(
            self.parts, session, turns, extract=extract, keep_going=True, key=None, embed=False
        )
