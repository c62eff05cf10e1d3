"""Review: decisions for the user, one at a time, each of which can be undone."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import chain, islice
from typing import Any
from urllib.parse import urlencode

from starlette.responses import RedirectResponse, Response

from recollect.domain.errors import InvalidInput, NotFound
from recollect.domain.lazy_dataclass import dataclass
from recollect.text.phrases import quantity
from recollect_server.web.drawings import TEXTS
from recollect_server.web.memory import word_diff
from recollect_server.web.templating import SECURITY_HEADERS, Screen, Undo

Tab = dict[str, str]
_SHOWN = 50
_SHOWN_FACTS = 12
_MAX_MOVED = 10_000
_TABS: list[Tab] = TEXTS["review_tabs"]
# If several decisions have the same key, the first possible one is offered.
_DECISIONS: list[dict[str, Any]] = TEXTS["decisions"]


async def review_screen(screen: Screen) -> Response:
    kept, kind = bool(screen.params.get("kept")), screen.params.get("kind")
    # Without a kind, show the first kind that has items.
    for tab in [_tab(kind)] if kind else _TABS:
        items = await _items(screen, tab, kept=kept)
        if items["items"]:
            break
    rows = items["items"]
    tab = tab if rows or kind else _TABS[0]
    place = next((place for place, row in enumerate(rows) if row["key"] == screen.params.get("at")), 0)
    row = rows[place] if rows and not kept else None
    decisions: dict[str, dict[str, Any]] = {}
    for each in _DECISIONS:
        if row is not None and each["action"] in row["actions"]:
            decisions.setdefault(each["key"], {**each, "label": each["label"] or tab["keep"]})
    return await screen.page(
        "review.html",
        tab=tab,
        kept=kept,
        rows=rows,
        row=row,
        place=place,
        more="cursor" in items,
        # The last item is followed by the first, unless it is the only one.
        next_key=str(rows[(place + 1) % len(rows)]["key"]) if len(rows) > 1 else "",
        shown_facts=_SHOWN_FACTS,
        decisions=list(decisions.values()),
        **await _focus_values(screen, row),
    )


async def redirect_old_path(screen: Screen) -> Response:
    return RedirectResponse(f"/review?{screen.request.url.query}", 308, SECURITY_HEADERS)


async def review_count(screen: Screen) -> Response:
    """Show the count of one kind, which each tab loads after the page."""
    tab = _tab(screen.params.get("kind", ""))
    items = await _items(screen, tab, kept=False)
    return await screen.page("review_count.html", count=len(items["items"]), more="cursor" in items, tab=tab)


async def decide(screen: Screen) -> Response:
    form = await screen.form()
    action = form.text("action")
    undo = (await screen.call("settle", key=form.text("key"), action=action))["undo"]
    said = next((each["done"] for each in _DECISIONS if each["action"] == action), "Done.")
    retired = len(undo["memories"]) + len(undo["observations"])
    if action == "supersede_older" and retired > 1:
        said += f" {quantity(retired - 1, 'near copy', 'near copies')} of it changed with it."
    path = _path(_tab(form.text("kind")), form.text("next"))
    return screen.redirect(path, said, Undo("/review/undo", (("undo", _undo_text(undo)),)))


async def undo_decision(screen: Screen) -> Response:
    undo = _read_undo((await screen.form()).text("undo"))
    key = str(undo.get("key", ""))
    await screen.call("undo_settling", undo=undo)
    return screen.redirect(_path(_tab(key.partition(":")[0]), key), "Undone: everything is as it was.")


def _undo_text(undo: Mapping[str, Any]) -> str:
    """Encode the undo compactly for a cookie: the ids of split observations become ranges."""
    split = undo.get("split")
    if split is not None:
        undo = {**undo, "split": {**split, "observations": _id_ranges(split["observations"])}}
    return json.dumps(undo, separators=(",", ":"))


def _read_undo(text: str) -> dict[str, Any]:
    try:
        undo: dict[str, Any] = json.loads(text)
        split = undo.get("split")
        if split is not None:
            runs = [range(int(first), int(last) + 1) for first, last in split["observations"]]
            moved = list(islice(chain.from_iterable(runs), _MAX_MOVED))
            undo["split"] = {**split, "observations": moved}
    except (ValueError, TypeError, KeyError, AttributeError):
        raise InvalidInput("The undo data is damaged; nothing was changed. See the item in Review.") from None
    return undo


def _id_ranges(ids: Sequence[int]) -> list[tuple[int, int]]:
    """Return the first and last id of each gapless range."""
    found: list[tuple[int, int]] = []
    for id_ in sorted(ids):
        if found and found[-1][1] == id_ - 1:
            found[-1] = (found[-1][0], id_)
        else:
            found.append((id_, id_))
    return found


def _tab(kind: str) -> Tab:
    kinds = {tab["kind"]: tab for tab in _TABS}
    if kind not in kinds:
        raise NotFound(f"Review has no kind of that name; there are: {', '.join(kinds)}.")
    return kinds[kind]


def _path(tab: Tab, key: str = "") -> str:
    return "/review?" + urlencode({"kind": tab["kind"]} | ({"at": key} if key else {}))


async def _items(screen: Screen, tab: Tab, *, kept: bool) -> Mapping[str, Any]:
    return await screen.call("to_settle", kind=tab["kind"], limit=_SHOWN, dismissed=kept)


# The item in focus


@dataclass(frozen=True, slots=True)
class ShownSide:
    title: str
    id: int
    name: str
    at: datetime | None
    words: Sequence[tuple[str, bool]]
    """Pieces of the text, each with whether the other text lacks it."""


async def _focus_values(screen: Screen, row: Mapping[str, Any] | None) -> dict[str, Any]:
    focus: dict[str, Any] = {"sides": [], "days_apart": None, "proposed": [], "entity": None}
    if row is None:
        return focus
    if row["newer"] is not None:
        sides = [_side(row, "older", "newer"), _side(row, "newer", "older")]
        times = [side.at for side in sides if side.at is not None]
        apart = abs((times[1] - times[0]).days) if len(times) == 2 else None
        return focus | {"sides": sides, "days_apart": apart}
    if row["kind"] == "split":
        proposed = await screen.call("propose_entity_split", entity_name=row["older"]["name"])
        return focus | {"proposed": proposed["suggested_splits"]}
    return focus | {"entity": await screen.run(lambda memory: memory.get(row["older"]["id"]))}


def _side(row: Mapping[str, Any], mine: str, other: str) -> ShownSide:
    side = row[mine]
    at = None if side["at"] is None else datetime.fromisoformat(side["at"])
    spans = word_diff(row[other]["text"], side["text"])
    words = [(span.text, span.kind == "added") for span in spans if span.kind != "removed"]
    return ShownSide(mine.capitalize(), side["id"], side["name"], at, words)
