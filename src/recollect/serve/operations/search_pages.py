"""Pages of a search that join to the whole list, each made by one search at most."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from recollect.engine.limits import MOST_HITS
from recollect.errors import InvalidInput
from recollect.lazy_dataclass import dataclass
from recollect.records import Kind
from recollect.serve.operations.paging import cursor_numbers, fit_page, no_page, page_rows, shorten_row
from recollect.serve.operations.rows import PageRows, best_observations_first, hit_row

if TYPE_CHECKING:
    from recollect.engine.results import Answer, Hit
    from recollect.serve.operations.operation import OperationCall
    from recollect.serve.operations.paging import Page


@dataclass(frozen=True, slots=True)
class FoundPage:
    """The hits of one page, before they are cut to a budget."""

    call: OperationCall
    answer: Answer
    hits: Sequence[Hit]
    reach: tuple[int, int, int]
    """How far the caller has read: the limit of the first page, how many that showed, and how many since."""

    def cursor(self, page: Page) -> str | None:
        """For what comes after the page; None: nothing does."""
        if not page.left_out and len(self.hits) < self.call.page.size and not self.answer.unread:
            return None
        (first, shown, further), count = self.reach, len(page.rows)
        if shown:
            return f"{first}.{shown}.{further + count}"
        ids = frozenset(hit.memory.id for hit in self.hits[:count])
        self.call.recent.shown.keep((self.call.question, first, count), ids)
        return f"{first}.{count}.0"


def find(call: OperationCall, query: str, search: Callable[[int | None], Answer]) -> FoundPage:
    """What a search finds, from where the caller has read to.

    How many one asks for is part of how a question is understood, so the second page is not the end of a
    longer list: it is what a search to the bottom finds beside what the first page had.
    """
    if not query.strip():
        raise InvalidInput("The `query` is empty; say in words what you look for.")
    page, recent = call.page, call.recent
    if page.cursor is None:
        answer = search(page.limit)
        return FoundPage(call, answer, answer.hits[: page.size], (page.limit or 0, 0, 0))
    first, shown, further = cursor_numbers(page.cursor, 3)
    if first > MOST_HITS or not shown:
        raise no_page(page.cursor)
    state = (call.question, call.engine.upkeep.version())
    deep = recent.answers.get(state)
    if deep is None:
        deep = search(MOST_HITS)
        recent.answers.keep(state, deep)
    ids = recent.shown.get((call.question, first, shown))
    if ids is None:
        # The server was started anew since the first page. What that had is searched for again, once, so that
        # no hit is shown twice and none is missed.
        ids = frozenset(hit.memory.id for hit in search(first or None).hits[:shown])
        recent.shown.keep((call.question, first, shown), ids)
    rest = [hit for hit in deep.hits if hit.memory.id not in ids]
    return FoundPage(call, deep, rest[further:][: page.size], (first, shown, further))


@dataclass(frozen=True, slots=True)
class HitsPage:
    answer: Answer
    rows: list[Any]
    left_out: int
    more: PageRows
    notes: list[str]
    """What a reader of the text must know."""


def hits_page(
    call: OperationCall, query: str, search: Callable[[int | None], Answer], row: Callable[[Hit], Any]
) -> HitsPage:
    """What a search finds, as rows within the budget; a cut entity keeps what answers the query."""
    found = find(call, query, search)
    rows = list(map(row, found.hits))

    def shorten(place: int, room: int) -> Any:
        text = "\n".join(_best_lines_first(found.hits[place], query))
        return shorten_row({**rows[place], "text": text}, room)

    page = fit_page(rows, call.page.budget, shorten)
    unshown = sum(
        _unshown(_best_lines_first(hit, query), len(shown["text"]))
        for hit, whole, shown in zip(found.hits, rows, page.rows, strict=False)
        if shown is not whole
    )
    hidden = f"{unshown} observations of entities are not shown." if unshown else None
    notes = [note for note in (hidden, page.note(call.offered), found.answer.note) if note]
    cursor = found.cursor(page)
    more = page_rows(cursor, " ".join(notes))
    # What is not worth reading needs no word in the text; who wants it has the cursor in the result.
    if cursor is not None and (page.left_out or len(found.hits) == call.page.size):
        notes.append(f"There may be more: cursor {cursor!r}.")
    return HitsPage(found.answer, page.rows, page.left_out, more, notes)


def _best_lines_first(hit: Hit, query: str) -> list[str]:
    """What a hit says; of an entity, what answers the query first, so that a cut takes the rest."""
    memory = hit.memory
    if memory.kind is not Kind.ENTITY:
        return [hit_row(hit)["text"]]
    observations = [observation.content for observation in memory.in_force]
    return [f"{memory.name} ({memory.type})", *best_observations_first(observations, query, hit.passage)]


def _unshown(lines: Sequence[str], letters: int) -> int:
    """How many of an entity's observations, which follow its name, a text of so many letters lacks."""
    end = 0
    for place, line in enumerate(lines):
        end += len(line) + 1
        if end > letters:
            return len(lines) - max(place, 1)
    return 0
