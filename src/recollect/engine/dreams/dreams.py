"""The dreams of a memory: those that were, and those to come."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from recollect.changes import UndoDream
from recollect.dreams.forecast import Forecast
from recollect.dreams.forecast import forecast as look_ahead
from recollect.dreams.knobs import Phase
from recollect.engine.services import Services, asks_again
from recollect.errors import InvalidInput, NotFound
from recollect.lazy_dataclass import dataclass
from recollect.ranking.factors.recency import microseconds
from recollect.records import DreamRecord, Memory
from recollect.retrieval.dream_state import dream_journal, dream_records, dream_state, dreams_since, links_of
from recollect.retrieval.records import memories_by_id, scope_id

_FARTHEST_DAYS = 3_650


@dataclass(frozen=True, slots=True)
class DreamUndoResult:
    """Dreams that were taken back, the newest first."""

    ids: tuple[int, ...]
    changes: int
    left: tuple[int, ...]
    """Memories that were changed since, and stay as they are."""


@dataclass(frozen=True, slots=True)
class Dreams:
    """`memory.dreams`: the dreams of a scope, how to undo one, and what future ones would do."""

    services: Services
    _reader: Services | None = None
    """Who looks, where they see more than one scope: an owner reads the memories of all their agents."""

    @asks_again
    def history(self, limit: int = 20, before: int | None = None) -> tuple[DreamRecord, ...]:
        """The dreams of this scope, the newest first; with `before`, only those before that one."""
        with self.services.read() as view:
            return tuple(dream_records(view, scope_id(view, self.services.scope), limit, before=before))

    @asks_again
    def journal(self, id: int) -> tuple[DreamRecord, Mapping[str, object]]:  # noqa: A002  # the domain's word
        """A dream, and every change that it made, with before and after."""
        with self.services.read() as view:
            found = dream_journal(view, scope_id(view, self.services.scope), id)
            if found is None:
                raise NotFound(f"There is no dream {id}; `recollect dream history` lists them.")
            (record,) = dream_records(view, scope_id(view, self.services.scope), dream=id)
        return record, found

    @asks_again
    def undone_with(self, id: int) -> tuple[int, ...]:  # noqa: A002  # the domain's word
        """The dreams that `undo` with `later` takes back: it and those after it, the newest first."""
        with self.services.read() as view:
            return tuple(dreams_since(view, scope_id(view, self.services.scope), id))

    def undo(self, id: int, *, later: bool = False) -> DreamUndoResult:  # noqa: A002  # the domain's word
        """Put everything back as it was before a dream; what was changed since is reported and left.

        With `later`, the dreams that came after it are undone as well.
        """
        ids = self.undone_with(id)
        wanted = ids if later and id in ids else (id,)
        outcomes = self.services.write([UndoDream(self.services.scope, each) for each in wanted])
        return DreamUndoResult(
            wanted,
            sum(outcome.count for outcome in outcomes),
            tuple(sorted({left for outcome in outcomes for left in outcome.left})),
        )

    @asks_again
    def forecast(self, days: int = 365) -> Forecast:
        """What nightly dreams would do to memories that nobody uses from now on."""
        if not 1 <= days <= _FARTHEST_DAYS:
            raise InvalidInput(f"A forecast reaches 1 to {_FARTHEST_DAYS:,} days ahead, not {days!r}.")
        services, knobs = self.services, self.services.knobs
        services.usage.settle(services.usage.patience_seconds)
        with services.read() as view:
            snapshot = dream_state(
                view, scope_id(view, services.scope), microseconds(services.clock()), knobs.link_together
            )
        fades = Phase.DOWNSCALE in services.phases
        return look_ahead(snapshot, knobs if fades else replace(knobs, daily=1.0), days)

    @asks_again
    def links(self, id: int) -> tuple[tuple[Memory, int], ...]:  # noqa: A002  # the domain's word
        """The memories that keep coming up together with one, and in how many answers they did."""
        services = self._reader or self.services
        memory = services.memory(id)
        with services.read() as view:
            found = {other: weight for _, other, weight in links_of(view, [memory.id])}
            others = memories_by_id(view, list(found))
        best_first = sorted(found.items(), key=lambda item: (-item[1], item[0]))
        return tuple((others[other], weight) for other, weight in best_first)
