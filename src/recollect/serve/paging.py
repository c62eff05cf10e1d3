"""Pages and budgets: no tool floods a context. Rows come in order, as many as fit, and a cursor goes on."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any, TypeVar

from recollect.engine.limits import MOST_HITS
from recollect.errors import InvalidInput
from recollect.serve import wire
from recollect.serve.shapes import text, whole
from recollect.text.token_counts import count_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from recollect.serve.shapes import Shape
    from recollect.serve.tool import Call

BUDGET = 10_000
"""Tokens that an answer may take where the caller names no budget: some 200 entities of a few facts each."""
FRAME = 200
"""Tokens that an answer may take beyond its budget: what stands around its rows, a note and a cursor."""
LEAST_PROSE = 40
"""Tokens of prose that a row has at least: one cut below that would say only that it is there."""
# Long texts are cut to this many letters before a list loses an entry.
_BRIEF = 200
# What is said in words: only this may be cut. By all else (ids, names, types, kinds, times, scores) a caller
# asks on or a program reads, so another page is better than half of it.
_PROSE = frozenset(
    {
        "text",
        "observations",
        "addedObservations",
        "superseded",
        "detail",
        "older",
        "newer",
        "observation",
        "similar",
        "topics",
        "former_texts",
        "verdict",
        "advice",
    }
)

CURSOR = text("The last answer's `cursor`, to go on")
MORE: dict[str, Shape] = {
    "cursor": text("Pass it on for what comes after; absent at the end"),
    "note": text("What was left out, and how to get it"),
}
"""What the answer of a tool with pages may hold beside its rows."""

_Found = TypeVar("_Found")


def budget_from(least: int) -> Shape:
    """The argument `budget_tokens`, from what one ordinary row takes with little prose."""
    return whole("At most about so many tokens", minimum=least)


BUDGET_TOKENS = budget_from(100)


def at_most(most: int, otherwise: int) -> Shape:
    return whole(f"At most so many; {otherwise} if not given", minimum=1, maximum=most)


def after(call: Call) -> int:
    """How many rows, or up to which id, the caller has seen."""
    cursor = str(call.get("cursor", "0"))
    seen = id_of(cursor)
    if seen is None:
        raise no_page(cursor)
    return seen


def no_page(cursor: str) -> InvalidInput:
    return InvalidInput(
        f"There is no page {cursor[:40]!r}; pass on the `cursor` of the last answer, or none."
    )


def id_of(written: str) -> int | None:
    """The id that a text stands for; None: no id of ours could look so."""
    # Python would also read “²”, digits of other scripts, and numbers that no row could have.
    return int(written) if written.isascii() and written.isdecimal() and len(written) < 19 else None


# Rows


def cost(row: object) -> int:
    """What a row takes in a list, with its comma and line break."""
    return count_tokens(wire.shown(row)) + 2


def bare(row: object) -> int:
    """What a row takes without its prose, which no page can do with less than."""
    return cost(_cut(row, 0, 0))


def shortened(row: Any, room: int) -> Any:
    """The row with long prose cut, then lists of it, as little as it takes to fit the room.

    All else stays whole, so that a row whose names alone take more does not fit.
    """
    if cost(row) <= room:
        return row
    texts, entries = _largest(row)

    def fits(letters: int, most: int) -> bool:
        return cost(_cut(row, letters, most)) <= room

    if fits(_BRIEF, entries):
        return _cut(row, _last(_BRIEF, texts, lambda letters: fits(letters, entries)), entries)
    if fits(_BRIEF, 1):
        return _cut(row, _BRIEF, _last(1, entries, lambda most: fits(_BRIEF, most)))
    if fits(0, 1):
        return _cut(row, _last(0, _BRIEF, lambda letters: fits(letters, 1)), 1)
    return _cut(row, 0, 0)


def _largest(row: object) -> tuple[int, int]:
    """The letters of its longest text, and the entries of its longest list."""
    match row:
        case str():
            return len(row), 0
        case list():
            inside = [_largest(each) for each in row]
            return max((texts for texts, _ in inside), default=0), max(
                [len(row), *(entries for _, entries in inside)]
            )
        case dict():
            return _largest(list(row.values()))
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


def _last(low: int, high: int, fits: Callable[[int], bool]) -> int:
    """The highest number that fits; more never fits better. Steps double, so that little is tried in vain."""
    step = 1
    while low + step < high and fits(low + step):
        step *= 2
    stop = min(low + step, max(low, high))
    start = low + step // 2
    return start + bisect_left(range(start + 1, stop + 1), True, key=lambda number: not fits(number))


def fair(costs: Sequence[int], budget: int) -> int:
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
    cut: int
    """How many of them had to be shortened."""
    left: int
    """How many of those asked for did not fit."""
    budget: int

    def note(self, call: Call | None = None) -> str | None:
        """What is missing, and how to get it: for a caller who can open entities, also by that."""
        told = []
        opened = call is not None and "open_nodes" in call.offered
        instead = ", or read an entity with `open_nodes`" if opened else ""
        if self.cut:
            told.append(cut_short(self.cut, self.budget, instead))
        if self.left:
            told.append(f"{self.left} more did not fit; go on with `cursor`.")
        return " ".join(told) or None


def cut_short(count: int, budget: int, instead: str = "") -> str:
    """That so many were cut, and what to do about it; `instead` names another way."""
    return (
        f"{count} {'was' if count == 1 else 'were'} cut to fit {budget} tokens; ask for fewer with `limit`, "
        f"allow more with `budget_tokens`{instead}."
    )


def fit(
    rows: Sequence[Any],
    budget: int,
    shorten: Callable[[int, int], Any] | None = None,
    *,
    shared: bool = True,
) -> Page:
    """As many rows as fit, in order, and always the first. All but prose is whole.

    A `shared` budget cuts large rows to their share, so that more fit. Without, rows come whole, and only
    one that the whole budget could not hold is cut. `shorten` gives the row at a place within a number of
    tokens, where it matters what is cut.
    """
    cut_to = shorten or (lambda place, room: shortened(rows[place], room))
    costs = list(map(cost, rows))
    least = [_least(row, price, 0 if shared else budget) for row, price in zip(rows, costs, strict=True)]
    count = _how_many(least, budget)
    over = [price - most for price, most in zip(costs[:count], least, strict=False)]
    share = fair(over, max(0, budget - sum(least[:count])))
    kept = [
        rows[place] if over[place] <= share else cut_to(place, least[place] + share) for place in range(count)
    ]
    return Page(kept, sum(each > share for each in over), len(rows) - count, budget)


def _least(row: object, price: int, wanted: int) -> int:
    """The tokens that a row is given in any case."""
    return price if price <= wanted else min(price, max(wanted, bare(row) + LEAST_PROSE))


def _how_many(costs: Sequence[int], budget: int) -> int:
    """How many of the first fit together; the first always does."""
    spent = list(accumulate(costs))
    return max(min(1, len(costs)), bisect_right(spent, budget))


def listing(
    call: Call, name: str, rows: Sequence[Any], limit: int, *, shared: bool = False
) -> dict[str, Any]:
    """The rows after the caller's cursor, under a name; with a cursor and a note where there are more."""
    start = after(call)
    wanted = rows[start : start + call.get("limit", limit)]
    page = fit(wanted, call.get("budget_tokens", BUDGET), shared=shared)
    return {name: page.rows, **onward(start + len(page.rows), len(rows), page.note())}


def onward(done: int, total: int, note: str | None) -> dict[str, Any]:
    """Where to go on, if anything is left, and what there is to say."""
    cursor = {"cursor": str(done)} if done < total else {}
    return cursor | ({"note": note} if note else {})


def more(data: Mapping[str, Any]) -> str | None:
    """What a reader of the text must know to go on."""
    if "cursor" not in data:
        return data.get("note")
    return f"{data.get('note', 'There is more.')} The next page: cursor {data['cursor']!r}."


def layers(
    sections: Mapping[str, Sequence[Any]], start: int, limit: int, budget: int
) -> tuple[dict[str, list[Any]], int]:
    """The same stretch of every section, and how long it is: page after page covers all, each row once."""
    taken = {name: list(rows[start : start + limit]) for name, rows in sections.items()}
    deep = max(map(len, taken.values()), default=0)
    spent = 0
    for place in range(deep):
        spent += sum(cost(rows[place]) for rows in taken.values() if place < len(rows))
        if spent > budget and place > 0:
            return {name: rows[:place] for name, rows in taken.items()}, place
        if spent > budget:
            share = fair([cost(rows[0]) for rows in taken.values() if rows], budget)
            return {
                name: [shortened(row, max(share, bare(row) + LEAST_PROSE)) for row in rows[:1]]
                for name, rows in taken.items()
            }, 1
    return taken, max(1, deep)


# What a search found


def found(
    call: Call, ask: Callable[[int | None], Sequence[_Found]], key: Callable[[_Found], Hashable]
) -> tuple[_Reach, Sequence[_Found]]:
    """What a search finds, from where the caller has read to.

    How many one asks for is part of how a question is understood, so the second page is not the end of a
    longer list: it is what a search to the bottom finds beside what the first page had.
    """
    cursor = call.get("cursor")
    if cursor is None:
        return _Reach(call.get("limit", 0)), ask(call.get("limit"))
    reach = _reach_of(cursor)
    shown = {key(one) for one in ask(reach.first or None)[: reach.shown]}
    rest = [one for one in ask(MOST_HITS) if key(one) not in shown]
    return reach, rest[reach.further :]


@dataclass(frozen=True, slots=True)
class _Reach:
    """How far a caller has read: the limit of the first page, what it showed, and what was shown beyond."""

    first: int
    shown: int = 0
    further: int = 0

    def onward(self, count: int) -> str:
        """The cursor after so many more."""
        if self.shown:
            return f"{self.first}.{self.shown}.{self.further + count}"
        return f"{self.first}.{count}.0"


def _reach_of(cursor: str) -> _Reach:
    numbers = [id_of(part) for part in cursor.split(".")]
    match numbers:
        case [int(first), int(shown), int(further)] if first <= MOST_HITS and shown > 0:
            return _Reach(first, shown, further)
        case _:
            raise no_page(cursor)


def first_of(names: Sequence[object], most: int = 10) -> str:
    """Names in a sentence, as many as one reads."""
    shown = ", ".join(str(name)[:80] for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
