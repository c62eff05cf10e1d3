"""Recall: what the memory answers, how sure it is, and how every score came about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from recollect.engine.limits import DEFAULT_BUDGET, DEFAULT_LIMIT
from recollect.errors import InvalidInput
from recollect.lazy_dataclass import dataclass
from recollect.ranking.default_profile import DEFAULT_PROFILE
from recollect.records import Kind
from recollect.serve.web.templating import KEPT_PARAMETERS, as_of, page

if TYPE_CHECKING:
    from datetime import datetime

    from starlette.requests import Request
    from starlette.responses import Response

    from recollect.engine.engine import Engine
    from recollect.engine.results import Answer, Context, Hit
    from recollect.records import Memory
    from recollect.serve.http.face import Face

_MOST_SHOWN = 50
# Beyond the hits that are shown, those that came closest.
_CLOSEST = 5


@dataclass(frozen=True, slots=True)
class RecallForm:
    """The form, as it was filled in."""

    query: str = ""
    profile: str = DEFAULT_PROFILE
    kinds: tuple[str, ...] = ()
    tag: str = ""
    session: str = ""
    limit: int | None = None
    superseded: bool = False
    as_of: datetime | None = None

    def search(self) -> dict[str, Any]:
        """Arguments of the engine's `search` and `why_not`, but for the limit."""
        return {
            "profile": self.profile,
            "kinds": self.kinds or tuple(Kind),
            "tags": (self.tag,) if self.tag else (),
            "session": self.session or None,
            "as_of": self.as_of,
            "include_superseded": self.superseded,
        }


def recall_form(request: Request) -> RecallForm:
    params = request.query_params
    return RecallForm(
        query=params.get("q", "").strip(),
        profile=params.get("profile") or DEFAULT_PROFILE,
        kinds=tuple(kind for kind in params.getlist("kind") if kind),
        tag=params.get("tag", "").strip(),
        session=params.get("session", "").strip(),
        limit=whole_number(params.get("limit"), "limit", _MOST_SHOWN),
        superseded=bool(params.get("superseded")),
        as_of=as_of(request),
    )


def whole_number(given: str | None, name: str, most: int) -> int | None:
    if not given:
        return None
    if not given.isascii() or not given.isdigit() or not 1 <= int(given[:9]) <= most:
        raise InvalidInput(f"{name}: write a number from 1 to {most}.")
    return int(given)


@dataclass(frozen=True, slots=True)
class RecallAnswer:
    shown: tuple[Hit, ...]
    closest: tuple[Hit, ...]
    answer: Answer
    context: Context


async def recall_screen(face: Face, request: Request) -> Response:
    asked = recall_form(request)
    if not asked.query:
        recent = await face.run(request, _overview)
        return await page(face, request, "recall.html", **_form(face, asked), found=None, recent=recent)
    found = await face.run(request, lambda memory: _find(memory, asked))
    return await page(
        face,
        request,
        "recall.html",
        **_form(face, asked),
        found=found,
        recent=(),
        query=asked.query,
        back=_address(request),
    )


def _address(request: Request) -> str:
    """This very question, for a form to come back to; whose memory it is of comes by itself."""
    params = request.query_params.multi_items()
    return f"/recall?{urlencode([each for each in params if each[0] not in KEPT_PARAMETERS])}"


def _form(face: Face, asked: RecallForm) -> dict[str, Any]:
    return {"asked": asked, "profiles": list(face.memory().profiles), "kinds": list(Kind)}


def _find(memory: Engine, asked: RecallForm) -> RecallAnswer:
    """What is shown is what an agent gets; a longer list of the same search has those that came closest.

    A person who looks around leaves no trace.
    """
    chosen = memory.search(asked.query, limit=asked.limit, explain=True, **asked.search())
    longer = memory.search(asked.query, limit=len(chosen.hits) + _CLOSEST, explain=True, **asked.search())
    shown = {hit.memory.id for hit in chosen.hits}
    closest = tuple(hit for hit in longer.hits if hit.memory.id not in shown)[:_CLOSEST]
    context = memory.context(
        query=asked.query,
        budget_tokens=DEFAULT_BUDGET,
        session=asked.session or None,
        profile=asked.profile,
        as_of=asked.as_of,
    )
    return RecallAnswer(chosen.hits, closest, chosen, context)


def _overview(memory: Engine) -> tuple[Memory, ...]:
    """What a person sees who has not asked yet."""
    return tuple(memory.list(kinds=tuple(Kind), limit=DEFAULT_LIMIT).memories)


async def recall_counts(face: Face, request: Request) -> Response:
    """How much there is: fetched after the page, since a large memory takes a while to count."""
    return await page(face, request, "recall_counts.html", tiles=await face.run(request, _tiles))


def _tiles(memory: Engine) -> dict[str, int]:
    kinds, counts = memory.upkeep.how_many(), memory.upkeep.own_counts()
    return {
        "notes": kinds.get(Kind.NOTE, 0),
        "entities": kinds.get(Kind.ENTITY, 0),
        "messages": kinds.get(Kind.MESSAGE, 0),
        "observations": counts.observations,
        "relations": counts.relations,
        "forgotten": counts.forgotten,
    }
