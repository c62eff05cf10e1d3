"""Pages within a token budget: the rows that fit, in order, and a cursor for the rest."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from recollect.admin import Internals
from recollect.domain.errors import InvalidInput
from recollect.domain.json_values import omitted, to_json
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.limits import MOST_HITS
from recollect.domain.records import Kind
from recollect.operations.operation import PageRequest, as_json, continuation_text
from recollect.operations.rows import best_observations_first, hit_row
from recollect.text.tokens import count_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recollect.domain.results import Answer, Hit
    from recollect.operations.operation import OperationCall


_Row = TypeVar("_Row")

FRAME = 200
"""Tokens that an answer may take beyond its budget, for JSON around its rows, a note and a cursor."""
LEAST_PROSE = 40
"""Minimum number of tokens of prose in a shortened row. A shorter text would be useless."""
# Long texts are cut to this many letters before a list loses an entry.
_BRIEF_LETTERS = 200
# Fields of prose: only these may be cut. Callers and programs need all others (ids, names, types, kinds,
# times, scores) whole.
_PROSE = frozenset(
    (
        "text content observations addedObservations superseded detail older newer observation similar "
        "topics former_texts verdict advice"
    ).split()
)


def position(page: PageRequest) -> int:
    """Return the number of rows that the caller has seen."""
    (seen,) = cursor_numbers("0" if page.cursor is None else page.cursor, 1)
    return seen


def cursor_numbers(cursor: str, *counts: int) -> list[int]:
    """Return the dot-separated numbers of a cursor; `counts` are the valid lengths."""
    parts = cursor.split(".")
    numbers = [number for part in parts if (number := row_id(part)) is not None]
    if len(numbers) != len(parts) or len(parts) not in counts:
        raise no_page(cursor)
    return numbers


def no_page(cursor: str) -> InvalidInput:
    return InvalidInput(
        f"There is no page {cursor[:40]!r}; pass on the `cursor` of the last answer, or none."
    )


def row_id(text: str) -> int | None:
    """Return the id in a text, or None if it cannot be an id."""
    # `int` would also accept signs, spaces, digits of other scripts, and numbers too large for an id.
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else None


def row_tokens(row: object) -> int:
    """Count the tokens of a row in a list, with its comma and line break."""
    return count_tokens(as_json(to_json(row))) + 2


def frame_tokens(row: object) -> int:
    """Count the tokens of a row without its prose: the least that a page needs for it."""
    return row_tokens(_cut(row, 0, 0))


def shorten_row(row: Any, room: int) -> Any:
    """Return the row with its prose cut as little as needed to fit: long texts first, then lists.

    Other fields stay whole, so the row may still be too large.
    """
    if row_tokens(row) <= room:
        return row
    texts, entries = _longest(row)

    def fits(letters: int, most: int) -> bool:
        return row_tokens(_cut(row, letters, most)) <= room

    if fits(_BRIEF_LETTERS, entries):
        letters = _highest(_BRIEF_LETTERS, texts, lambda letters: fits(letters, entries))
        return _cut(row, letters, entries)
    if fits(_BRIEF_LETTERS, 1):
        return _cut(row, _BRIEF_LETTERS, _highest(1, entries, lambda most: fits(_BRIEF_LETTERS, most)))
    if fits(0, 1):
        return _cut(row, _highest(0, _BRIEF_LETTERS, lambda letters: fits(letters, 1)), 1)
    return _cut(row, 0, 0)


def _longest(row: object) -> tuple[int, int]:
    """Return the length of the longest text in the row, and of the longest list."""
    match row:
        case str():
            return len(row), 0
        case list():
            inside = [_longest(each) for each in row]
            return max((texts for texts, _ in inside), default=0), max(
                [len(row), *(entries for _, entries in inside)]
            )
        case dict():
            return _longest(list(row.values()))
        case _:
            return 0, 0


def _cut(row: Any, letters: int, entries: int) -> Any:
    """Cut prose to `letters`, and lists to `entries`."""
    match row:
        case str():
            return row if len(row) <= letters else f"{row[:letters]}…"
        case list():
            return [_cut(each, letters, entries) for each in row[:entries]]
        case dict():
            return {
                field: _cut(value, letters, entries) if field in _PROSE else value
                for field, value in row.items()
            }
        case _:
            return row


def _highest(low: int, high: int, fits: Callable[[int], bool]) -> int:
    """Return the highest number that fits, by doubling steps. If a number fails, all above it must fail."""
    step = 1
    while low + step < high and fits(low + step):
        step *= 2
    stop = min(low + step, max(low, high))
    start = low + step // 2
    return start + bisect_left(range(start + 1, stop + 1), True, key=lambda number: not fits(number))


def fair_share(costs: Sequence[int], budget: int) -> int:
    """Return the largest cost per row at which all rows fit. Rows below it leave more for the others."""
    left = budget
    for place, price in enumerate(sorted(costs)):
        share = left // (len(costs) - place)
        if price > share:
            return share
        left -= price
    return budget


@dataclass(frozen=True, slots=True)
class Page:
    """Rows that fit, in order."""

    rows: list[Any]
    shortened: int
    """Number of shortened rows."""
    left_out: int
    """Number of requested rows that did not fit."""
    budget: int

    def note(self, offered: frozenset[str] = frozenset()) -> str | None:
        """Say what is missing and how to get it. `offered` are the tools that the note may name."""
        cut = more = None
        if self.shortened:
            were = "was" if self.shortened == 1 else "were"
            instead = ", or read an entity with `open_nodes`" if "open_nodes" in offered else ""
            cut = (
                f"{self.shortened} {were} cut to fit {self.budget} tokens; ask for fewer with `limit`, allow "
                f"more with `budget_tokens`{instead}."
            )
        if self.left_out:
            more = f"{self.left_out} more did not fit; go on with `cursor`."
        return join_sentences(cut, more)


def fit_page(
    rows: Sequence[Any],
    budget: int,
    shorten: Callable[[int, int], Any] | None = None,
    *,
    shared: bool = True,
    frame: int = 0,
) -> Page:
    """Take as many rows as fit, in order, and always the first. Only prose is cut.

    With `shared`, large rows are cut to a share of the budget, so that more fit. Otherwise, only a row larger
    than the whole budget is cut. `shorten` returns the row at a place, cut to a number of tokens; pass it to
    choose what is cut. `frame` is the number of tokens that the text around the rows takes.
    """
    rows = list(map(to_json, rows))
    room = max(LEAST_PROSE, budget - frame)
    cut = shorten or (lambda place, room: shorten_row(rows[place], room))
    costs = list(map(row_tokens, rows))
    wanted = 0 if shared else room
    # The least tokens of each row.
    least = [
        price if price <= wanted else min(price, max(wanted, frame_tokens(row) + LEAST_PROSE))
        for row, price in zip(rows, costs, strict=True)
    ]
    # The first row is always included.
    count = max(min(1, len(rows)), bisect_right(list(accumulate(least)), room))
    over = [price - most for price, most in zip(costs[:count], least, strict=False)]
    share = fair_share(over, max(0, room - sum(least[:count])))
    kept = [
        rows[place] if over[place] <= share else cut(place, least[place] + share) for place in range(count)
    ]
    return Page(kept, sum(each > share for each in over), len(rows) - count, budget)


def list_page(
    asked: PageRequest, rows: Sequence[Any], *, shared: bool = False, frame: int = 0
) -> tuple[list[Any], PageEnd]:
    """Return the rows after the caller's cursor, and a cursor and a note if there are more."""
    start = position(asked)
    page = fit_page(rows[start : start + asked.size], asked.budget, shared=shared, frame=frame)
    return page.rows, continuation(start + len(page.rows), len(rows), page.note())


def continuation(done: int, total: int, note: str | None) -> PageEnd:
    """Return the end of a page: a cursor if rows are left, and the note."""
    return PageEnd(str(done) if done < total else None, note)


@dataclass(frozen=True, slots=True)
class PageEnd:
    """The cursor and note of a page, beside its rows."""

    cursor: Annotated[str | None, "Pass it to get the next page; absent at the end"] = omitted()
    note: Annotated[str | None, "Omitted parts, and how to get them"] = omitted()

    @property
    def text(self) -> str | None:
        """The note, and how to use the cursor, as a text for the caller."""
        return continuation_text(to_json(self))


def page_end(reached: int, more: bool) -> PageEnd:
    """Return the end of a page, with a cursor if there is `more`."""
    return PageEnd(str(reached) if more else None)


def place_of(cursor: str | None) -> int:
    """Return the number of rows on the previous pages."""
    return position(PageRequest(cursor=cursor))


def page_of(found: Sequence[_Row], limit: int, cursor: str | None) -> tuple[list[_Row], PageEnd]:
    """Return the rows of this page. `found` begins with the first page."""
    start = place_of(cursor)
    return list(found[start : start + limit]), page_end(start + limit, start + limit < len(found))


def join_sentences(*parts: str | None) -> str | None:
    return " ".join(filter(None, parts)) or None


def name_list(names: Sequence[object], most: int = 10) -> str:
    """Return names for a sentence, with a count of those beyond `most`."""
    shown = ", ".join(map(str, names[:most]))
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


# Pages of a search: together they are the whole list, and each needs at most one search.


@dataclass(frozen=True, slots=True)
class FoundPage:
    """The hits of one page, before they are cut to a budget."""

    call: OperationCall
    answer: Answer
    hits: Sequence[Hit]
    reach: tuple[int, int, int]
    """The position: the first page's limit, the hits it showed, and the hits shown since."""

    def cursor(self, page: Page) -> str | None:
        """Return the cursor of the next page, or None after the last."""
        if not page.left_out and len(self.hits) < self.call.page.size and not self.answer.unread:
            return None
        (first, shown, further), count = self.reach, len(page.rows)
        if shown:
            return f"{first}.{shown}.{further + count}"
        ids = frozenset(hit.memory.id for hit in self.hits[:count])
        self.call.recent.shown.keep((self.call.question, first, count), ids)
        return f"{first}.{count}.0"


def find(call: OperationCall, query: str, search: Callable[[int | None], Answer]) -> FoundPage:
    """Search, and return the hits after those that the caller has read.

    The limit affects the ranking, so a longer search may have other first hits. Later pages are therefore
    all hits of the longest possible search, without those of the first page.
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
    state = (call.question, Internals(call.engine).version())
    deep = recent.answers.get(state)
    if deep is None:
        deep = search(MOST_HITS)
        recent.answers.keep(state, deep)
    ids = recent.shown.get((call.question, first, shown))
    if ids is None:
        # The server no longer knows the first page, as after a restart. Search for its hits again, so that no
        # hit is shown twice and none is missed.
        ids = frozenset(hit.memory.id for hit in search(first or None).hits[:shown])
        recent.shown.keep((call.question, first, shown), ids)
    rest = [hit for hit in deep.hits if hit.memory.id not in ids]
    return FoundPage(call, deep, rest[further:][: page.size], (first, shown, further))


@dataclass(frozen=True, slots=True)
class HitsPage:
    answer: Answer
    rows: list[Any]
    left_out: int
    more: PageEnd
    notes: list[str]
    """Notes in the text for a language model."""


def hits_page(
    call: OperationCall, query: str, search: Callable[[int | None], Answer], row: Callable[[Hit], Any]
) -> HitsPage:
    """Search, and return rows within the budget. If an entity is cut, the lines nearest to the query stay."""
    found = find(call, query, search)
    rows = [to_json(row(hit)) for hit in found.hits]

    def shorten(place: int, room: int) -> Any:
        text = "\n".join(_best_lines_first(found.hits[place], query))
        return shorten_row({**rows[place], "text": text}, room)

    page = fit_page(rows, call.page.budget, shorten)
    unshown = sum(
        _unshown(_best_lines_first(hit, query), len(shown["text"]))
        for hit, whole, shown in zip(found.hits, rows, page.rows, strict=False)
        if shown != whole
    )
    hidden = f"{unshown} observations of entities are not shown." if unshown else None
    notes = [note for note in (hidden, page.note(call.offered), found.answer.note) if note]
    cursor = found.cursor(page)
    more = PageEnd(cursor, " ".join(notes) or None)
    # The text does not mention weak hits; the cursor in the result still leads to them.
    if cursor is not None and (page.left_out or len(found.hits) == call.page.size):
        notes.append(f"There may be more: cursor {cursor!r}.")
    return HitsPage(found.answer, page.rows, page.left_out, more, notes)


def _best_lines_first(hit: Hit, query: str) -> list[str]:
    """Return the lines of a hit. An entity's best observations come first, so that a cut keeps them."""
    memory = hit.memory
    if memory.kind is not Kind.ENTITY:
        return [hit_row(hit).text]
    observations = [observation.content for observation in memory.in_force]
    return [f"{memory.name} ({memory.type})", *best_observations_first(observations, query, hit.passage)]


def _unshown(lines: Sequence[str], letters: int) -> int:
    """Count the observations that a text of `letters` lacks; the entity's name is its first line."""
    end = 0
    for place, line in enumerate(lines):
        end += len(line) + 1
        if end > letters:
            return len(lines) - max(place, 1)
    return 0
