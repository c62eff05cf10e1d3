"""To settle: what a person should decide, one thing at a time, each decision with its undo."""

from __future__ import annotations

import json
from datetime import datetime
from difflib import SequenceMatcher
from itertools import chain, islice
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from recollect.errors import InvalidInput, NotFound
from recollect.lazy_dataclass import dataclass
from recollect.serve.web.templating import Undo, page, redirect
from recollect.text.phrases import quantity

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from recollect.serve.http.face import Face

_SHOWN = 50
# What is in focus is shown whole up to here, and is a link beyond it.
_MOST_WORDS = 2_000
_SHOWN_FACTS = 12
_MOST_MOVED = 10_000


@dataclass(frozen=True, slots=True)
class SettleTab:
    """One kind of what there is to settle."""

    kind: str
    title: str
    question: str
    nothing: str
    keep: str
    """What it means to leave it as it is."""


_TABS = (
    SettleTab(
        "contradiction",
        "Contradictions",
        "These two seem to contradict each other. Which one is right?",
        "No two of the newest texts contradict each other.",
        "Keep both",
    ),
    SettleTab(
        "similar_notes",
        "Repeated notes",
        "These two notes nearly say the same. Which one should stay?",
        "No note nearly repeats another.",
        "Keep both",
    ),
    SettleTab(
        "similar_observations",
        "Repeated facts",
        "These two facts about one entity nearly say the same. Which one should stay?",
        "No fact about an entity nearly repeats another.",
        "Keep both",
    ),
    SettleTab(
        "split",
        "Too large",
        "This entity holds more than one topic. Should each become an entity of its own?",
        "No entity has grown so large that it falls into topics.",
        "Leave it whole",
    ),
    SettleTab(
        "stale",
        "Unused",
        "Nobody has seen or changed this entity for long. Is it still worth keeping at hand?",
        "Every entity was seen or changed in the last 90 days.",
        "Still right",
    ),
)


@dataclass(frozen=True, slots=True)
class Decision:
    """A button of the thing in focus."""

    action: str
    key: str
    label: str
    done: str
    look: str = ""


# Of two with the same key, the first that there is.
_DECISIONS = (
    Decision(
        "supersede_older", "n", "Keep the newer", "Kept the newer one; it supersedes the older.", "main"
    ),
    Decision("remove_older", "n", "Keep the newer", "Kept the newer one; the older is removed.", "main"),
    Decision("forget_newer", "o", "Keep the older", "Kept the older one; the newer is forgotten."),
    Decision("remove_newer", "o", "Keep the older", "Kept the older one; the newer is removed."),
    Decision("split", "s", "Split it", "Split into one entity for each topic.", "main"),
    Decision("archive", "a", "Archive it", "Archived: it is still found, and no longer asked about.", "main"),
    Decision("keep", "b", "", "Kept as it is; it is not asked about again."),
    Decision("forget_older", "f", "Forget the older", "Forgot the older one.", "danger"),
    Decision("forget", "f", "Forget it", "Forgotten.", "danger"),
)


async def settle_screen(face: Face, request: Request) -> Response:
    params = request.query_params
    kept = bool(params.get("kept"))
    if params.get("kind"):
        tab = _tab(params["kind"])
        items = await _items(face, request, tab, kept=kept)
    else:
        # The first kind of which there is something.
        for tab in _TABS:
            items = await _items(face, request, tab, kept=kept)
            if items["items"]:
                break
        else:
            tab = _TABS[0]
    rows = items["items"]
    place = next((place for place, row in enumerate(rows) if row["key"] == params.get("at")), 0)
    row = rows[place] if rows and not kept else None
    return await page(
        face,
        request,
        "settle.html",
        tabs=_TABS,
        tab=tab,
        kept=kept,
        rows=rows,
        row=row,
        place=place,
        more="cursor" in items,
        next_key=_next_key(rows, place),
        shown_facts=_SHOWN_FACTS,
        decisions=[] if row is None else _decisions(tab, row["actions"]),
        **await _focus(face, request, row),
    )


async def settle_count(face: Face, request: Request) -> Response:
    """How many of one kind there are, for its tab; a page asks for the others when it has been shown."""
    tab = _tab(request.query_params.get("kind", ""))
    items = await _items(face, request, tab, kept=False)
    return await page(
        face, request, "settle_count.html", count=len(items["items"]), more="cursor" in items, tab=tab
    )


async def settle_one(face: Face, request: Request) -> Response:
    form = await request.form()
    key, action, kind = (str(form.get(name, "")) for name in ("key", "action", "kind"))
    done = await face.call(request, "settle", {"key": key, "action": action})
    said = next((each.done for each in _DECISIONS if each.action == action), "Done.")
    retired = len(done.result["undo"]["memories"]) + len(done.result["undo"]["observations"])
    if action == "supersede_older" and retired > 1:
        said += f" {quantity(retired - 1, 'near copy', 'near copies')} of it went with it."
    undo = Undo("/settle/undo", (("undo", _undo_text(done.result["undo"])),))
    return redirect(request, _path(_tab(kind), str(form.get("next", ""))), said, undo)


async def undo_settled(face: Face, request: Request) -> Response:
    form = await request.form()
    undo = _read_undo(str(form.get("undo", "")))
    key = str(undo.get("key", ""))
    await face.call(request, "undo_settling", {"undo": undo})
    tab = _tab(key.partition(":")[0])
    return redirect(request, _path(tab, key), "Taken back: it is as it was.")


def _undo_text(undo: Mapping[str, Any]) -> str:
    """Short enough for a cookie: the observations of a large entity that was split have ids in a row."""
    split = undo.get("split")
    if split is not None:
        undo = {**undo, "split": {**split, "observations": _runs(split["observations"])}}
    return json.dumps(undo, separators=(",", ":"))


def _read_undo(text: str) -> dict[str, Any]:
    try:
        undo: dict[str, Any] = json.loads(text)
        split = undo.get("split")
        if split is not None:
            runs = [range(int(first), int(last) + 1) for first, last in split["observations"]]
            moved = list(islice(chain.from_iterable(runs), _MOST_MOVED))
            undo["split"] = {**split, "observations": moved}
    except (ValueError, TypeError, KeyError, AttributeError):
        raise InvalidInput("This form lacks what it takes to undo; look at the list again.") from None
    return undo


def _runs(ids: Sequence[int]) -> list[tuple[int, int]]:
    """The first and last of each row of ids without a gap."""
    found: list[tuple[int, int]] = []
    for id_ in sorted(ids):
        if found and found[-1][1] == id_ - 1:
            found[-1] = (found[-1][0], id_)
        else:
            found.append((id_, id_))
    return found


SETTLE_PAGES = {
    ("GET", "/settle"): settle_screen,
    ("POST", "/settle"): settle_one,
    ("GET", "/settle/count"): settle_count,
    ("POST", "/settle/undo"): undo_settled,
}
"""By method and path."""


def _tab(kind: str) -> SettleTab:
    for tab in _TABS:
        if tab.kind == kind:
            return tab
    raise NotFound(f"There is nothing of that kind to settle; there are: {', '.join(t.kind for t in _TABS)}.")


def _path(tab: SettleTab, key: str = "") -> str:
    return "/settle?" + urlencode({"kind": tab.kind} | ({"at": key} if key else {}))


async def _items(face: Face, request: Request, tab: SettleTab, *, kept: bool) -> Mapping[str, Any]:
    given = {"kind": tab.kind, "limit": _SHOWN, "dismissed": kept}
    found: Mapping[str, Any] = (await face.call(request, "to_settle", given)).result
    return found


def _next_key(rows: Sequence[Mapping[str, Any]], place: int) -> str:
    """After the last comes the first, unless there is no other."""
    return str(rows[(place + 1) % len(rows)]["key"]) if len(rows) > 1 else ""


def _decisions(tab: SettleTab, actions: Sequence[str]) -> list[Decision]:
    by_key: dict[str, Decision] = {}
    for each in _DECISIONS:
        if each.action in actions:
            by_key.setdefault(each.key, each)
    return [
        Decision(each.action, each.key, each.label or tab.keep, each.done, each.look)
        for each in by_key.values()
    ]


# What is in focus


@dataclass(frozen=True, slots=True)
class ShownSide:
    """One of two texts, beside the other."""

    title: str
    id: int
    name: str
    at: datetime | None
    words: Sequence[tuple[str, bool]]
    """Pieces of the text, and whether the other one lacks them."""


async def _focus(face: Face, request: Request, row: Mapping[str, Any] | None) -> dict[str, Any]:
    focus: dict[str, Any] = {"sides": [], "days_apart": None, "proposed": [], "entity": None}
    if row is None:
        return focus
    if row["newer"] is not None:
        sides = [_side(row, "older", "newer"), _side(row, "newer", "older")]
        times = [side.at for side in sides if side.at is not None]
        apart = abs((times[1] - times[0]).days) if len(times) == 2 else None
        return focus | {"sides": sides, "days_apart": apart}
    if row["kind"] == "split":
        name = row["older"]["name"]
        proposed = await face.call(request, "propose_entity_split", {"entity_name": name})
        return focus | {"proposed": proposed.result["suggested_splits"]}
    entity = await face.run(request, lambda memory: memory.get(row["older"]["id"]))
    return focus | {"entity": entity}


def _side(row: Mapping[str, Any], mine: str, other: str) -> ShownSide:
    side = row[mine]
    at = None if side["at"] is None else datetime.fromisoformat(side["at"])
    words = differing_words(side["text"], row[other]["text"])
    return ShownSide(mine.capitalize(), side["id"], side["name"], at, words)


def differing_words(text: str, other: str) -> list[tuple[str, bool]]:
    """The words of a text in pieces, each with whether the other text lacks them at that place."""
    mine, theirs = text.split(), other.split()
    if max(len(mine), len(theirs)) > _MOST_WORDS:
        return [(" ".join(mine[:_MOST_WORDS]), False)]
    found = SequenceMatcher(None, theirs, mine, autojunk=False).get_opcodes()
    return [
        (" ".join(mine[start:stop]), what != "equal") for what, _, _, start, stop in found if stop > start
    ]
