"""The dreams of a memory: those that were, and those to come."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from recollect.engine import dreaming
from recollect.engine.parts import Parts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recollect.dream.forecast import Forecast
    from recollect.engine.dreaming import DreamUndoResult
    from recollect.records import DreamRecord, Memory


@dataclass(frozen=True, slots=True)
class Dreams:
    """`memory.dreams`: the dreams of a scope, how to undo one, and what future ones would do."""

    parts: Parts

    def history(self, limit: int = 20) -> tuple[DreamRecord, ...]:
        """The dreams of this scope, the newest first."""
        return dreaming.dreams(self.parts, limit)

    def journal(self, id: int) -> tuple[DreamRecord, Mapping[str, object]]:  # noqa: A002
        """A dream, and every change that it made, with before and after."""
        return dreaming.journal(self.parts, id)

    def undo(self, id: int, *, later: bool = False) -> DreamUndoResult:  # noqa: A002  # the domain's word
        """Put everything back as it was before a dream; what was changed since is reported and left."""
        return dreaming.undo(self.parts, id, later=later)

    def forecast(self, days: int = 365) -> Forecast:
        """What nightly dreams would do to memories that nobody uses from now on."""
        return dreaming.forecast(self.parts, days)

    def links(self, id: int) -> tuple[tuple[Memory, int], ...]:  # noqa: A002  # the domain's word
        """The memories that keep coming up together with one, and in how many answers they did."""
        return dreaming.links(self.parts, id)
