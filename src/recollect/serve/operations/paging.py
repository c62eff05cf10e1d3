"""Pages within a budget of tokens: rows in order, as many as fit, and a cursor for the rest."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from recollect.errors import InvalidInput
from recollect.lazy_dataclass import dataclass
from recollect.serve.operations.operation import PageRequest, as_json
from recollect.serve.operations.rows import PageRows
from recollect.text.token_counts import count_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

FRAME = 200
"""Tokens that an answer may take beyond its budget: what surrounds its rows, a note and a cursor."""
LEAST_PROSE = 40
"""Tokens of prose that a row keeps at least: one cut below that would say only that it is there."""
# Long texts are cut to this many letters before a list loses an entry.
_BRIEF_LETTERS = 200
# The fields of prose: only these may be cut. By all else (ids, names, types, kinds, times, scores) a caller
# asks on or a program reads, so another page is better than half of it.
_PROSE = frozenset(
    (
        "text content observations addedObservations superseded detail older newer observation similar "
        "topics former_texts verdict advice"
    ).split()
)


def position(page: PageRequest) -> int:
    """How many rows the caller has seen."""
    (seen,) = cursor_numbers("0" if page.cursor is None else page.cursor, 1)
    return seen


def cursor_numbers(cursor: str, *counts: int) -> list[int]:
    """The numbers of a cursor, which has one of these counts of them with dots between."""
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
    """The id that a text names; None: no id of ours could look so."""
    # Python would also read “²”, digits of other scripts, and numbers that no row could have.
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else None


def row_tokens(row: object) -> int:
    """What a row takes in a list, with its comma and line break."""
    return count_tokens(as_json(row)) + 2


def frame_tokens(row: object) -> int:
    """What a row takes without its prose, which no page can do with less than."""
    return row_tokens(_cut(row, 0, 0))


def shorten_row(row: Any, room: int) -> Any:
    """The row with long prose cut, then lists of it, as little as it takes to fit the room.

    All else stays whole, so that a row whose names alone take more does not fit.
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
    """The letters of its longest text, and the entries of its longest list."""
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
    """Of prose, so many letters, and so many entries of a list."""
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
    """The highest number that fits; more never fits better. Steps double, so that little is tried in vain."""
    step = 1
    while low + step < high and fits(low + step):
        step *= 2
    stop = min(low + step, max(low, high))
    start = low + step // 2
    return start + bisect_left(range(start + 1, stop + 1), True, key=lambda number: not fits(number))


def fair_share(costs: Sequence[int], budget: int) -> int:
    """The most that one may take so that all fit together: what the small ones leave goes to the large."""
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
    """How many of them had to be cut."""
    left_out: int
    """How many of those asked for did not fit."""
    budget: int

    def note(self, offered: frozenset[str] = frozenset()) -> str | None:
        """What is missing, and how to get it: for a caller who can open entities, also by that."""
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
    """As many rows as fit, in order, and always the first. All but prose is whole.

    A `shared` budget cuts large rows to their share, so that more fit. Without, rows come whole, and only
    one that the whole budget could not hold is cut. `shorten` gives the row at a place within a number of
    tokens, where it matters what is cut. What stands around the rows takes `frame` tokens of the budget.
    """
    room = max(LEAST_PROSE, budget - frame)
    cut = shorten or (lambda place, room: shorten_row(rows[place], room))
    costs = list(map(row_tokens, rows))
    least = [_least_tokens(row, price, 0 if shared else room) for row, price in zip(rows, costs, strict=True)]
    # The first always fits.
    count = max(min(1, len(rows)), bisect_right(list(accumulate(least)), room))
    over = [price - most for price, most in zip(costs[:count], least, strict=False)]
    share = fair_share(over, max(0, room - sum(least[:count])))
    kept = [
        rows[place] if over[place] <= share else cut(place, least[place] + share) for place in range(count)
    ]
    return Page(kept, sum(each > share for each in over), len(rows) - count, budget)


def _least_tokens(row: object, price: int, wanted: int) -> int:
    """The tokens that a row is given in any case."""
    return price if price <= wanted else min(price, max(wanted, frame_tokens(row) + LEAST_PROSE))


def list_page(
    asked: PageRequest, rows: Sequence[Any], *, shared: bool = False, frame: int = 0
) -> tuple[list[Any], PageRows]:
    """The rows after the caller's cursor; and a cursor and a note where there are more."""
    start = position(asked)
    page = fit_page(rows[start : start + asked.size], asked.budget, shared=shared, frame=frame)
    return page.rows, continuation(start + len(page.rows), len(rows), page.note())


def continuation(done: int, total: int, note: str | None) -> PageRows:
    """Where to go on, if anything is left, and what there is to say."""
    return page_rows(str(done) if done < total else None, note)


def page_rows(cursor: str | None, note: str | None) -> PageRows:
    more: PageRows = {} if cursor is None else {"cursor": cursor}
    if note:
        more["note"] = note
    return more


def join_sentences(*parts: str | None) -> str | None:
    return " ".join(filter(None, parts)) or None


def name_list(names: Sequence[object], most: int = 10) -> str:
    """Names in a sentence, as many as one reads."""
    shown = ", ".join(map(str, names[:most]))
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
