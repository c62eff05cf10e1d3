"""Templates, forms and answers that the dashboard's screens share."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from recollect.domain.errors import InvalidInput
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.records import Kind, Memory
from recollect.operations.paging import row_id
from recollect.text.phrases import decimals, ellipsize, file_size, quantity, visible
from recollect_server.runner import MemoryRunner, Right, caller_of
from recollect_server.web.drawings import TEXTS, step_text, waterfall_rows

FOLDER = Path(__file__).parent
STATIC = FOLDER / "static"
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
SECURITY_HEADERS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    # Not `no-referrer`: browsers would send forms with the origin `null`, which is no page of ours.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    # What is remembered does not stay in a browser's cache.
    "cache-control": "no-store",
}
_THEME = "recollect_theme"
_FLASH = "recollect_flash"
_FLASH_SECONDS = 60
_MOST_FLASH = 2_000
# What a link takes along: whose memory, and as of when.
KEPT_PARAMETERS = ("owner", "agent", "as_of")


@dataclass(frozen=True, slots=True)
class Undo:
    """A form that takes back what was just done."""

    path: str
    fields: tuple[tuple[str, str], ...] = ()


# Pages


async def page(
    runner: MemoryRunner, request: Request, template: str, *, status: int = 200, **values: Any
) -> Response:
    """Render a template with what `base.html` needs beside these values."""
    caller = caller_of(request)
    params = request.query_params
    zone: tzinfo = runner.memory().zone
    found = _environment().get_template(template)
    flash = _read_flash(request)
    text = found.render(
        request=request,
        path=request.url.path,
        theme=request.cookies.get(_THEME) if request.cookies.get(_THEME) in {"light", "dark"} else None,
        csrf=getattr(request.state, "csrf", None),
        signed_in=bool(getattr(request.state, "csrf", None)),
        may_change=caller.right >= Right.WRITE,
        may_write=caller.right >= Right.WRITE and not params.get("as_of"),
        may_admin=caller.reach >= Right.ADMIN,
        may_store=caller.reach >= Right.STORE,
        scope_name=_scope_name(runner, request),
        as_of=_readable_as_of(request),
        zone=zone,
        flash=flash,
        **{"query": None, "here": request.url.path, **values},
    )
    response = HTMLResponse(text, status, SECURITY_HEADERS)
    if flash is not None:
        response.delete_cookie(_FLASH, path="/", httponly=True, samesite="strict")
    return response


def bare_page(request: Request, template: str, *, status: int = 200, **values: Any) -> Response:
    """The same for who has not signed in: nothing of the memory, and no way into it."""
    theme = request.cookies.get(_THEME)
    text = (
        _environment()
        .get_template(template)
        .render(theme=theme if theme in {"light", "dark"} else None, **values)
    )
    return HTMLResponse(text, status, SECURITY_HEADERS)


def redirect(
    request: Request, path: str, said: str | None = None, undo: Undo | None = None, *, kind: str = "good"
) -> Response:
    """After a form: to a page that says what was done, once, with a way back."""
    response = RedirectResponse(kept_url(request, path), 303, SECURITY_HEADERS)
    if said is not None:
        told: dict[str, Any] = {"text": ellipsize(said, 300), "kind": kind, "undo": None}
        if undo is not None:
            told["undo"] = {"path": undo.path, "fields": undo.fields}
        value = urlsafe_b64encode(json.dumps(told).encode()).decode()
        if len(value) > _MOST_FLASH:
            value = urlsafe_b64encode(json.dumps({**told, "undo": None}).encode()).decode()
        response.set_cookie(_FLASH, value, _FLASH_SECONDS, path="/", httponly=True, samesite="strict")
    return response


def _read_flash(request: Request) -> dict[str, Any] | None:
    try:
        found: dict[str, Any] = json.loads(urlsafe_b64decode(request.cookies.get(_FLASH, "")))
        is_whole = isinstance(found["text"], str) and found["kind"] in {"good", "bad", "warn"}
        undo = found["undo"]
        if undo is not None:
            is_whole &= str(undo["path"]).startswith("/") and all(len(each) == 2 for each in undo["fields"])
    except (ValueError, KeyError, TypeError):
        return None
    return found if is_whole else None


# What a request says


def as_of(request: Request) -> datetime | None:
    """The moment that everything is shown at; None: now."""
    return parsed_time(request.query_params.get("as_of"), "as_of")


def _readable_as_of(request: Request) -> datetime | None:
    """The same, and none where it is no time: the page that says so has to be shown, and to lead on."""
    try:
        return as_of(request)
    except InvalidInput:
        return None


def parsed_time(given: str | None, name: str) -> datetime | None:
    if not given:
        return None
    try:
        found = datetime.fromisoformat(given)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise InvalidInput(f"{name}: {visible(given[:40])!r} is no time; write 2026-03-01.") from None


def kept_url(request: Request, path: str, **changes: Any) -> str:
    """A path of ours with the owner, the agent and the moment of this request; None takes one away."""
    base, _, query = path.partition("?")
    params: dict[str, Any] = {
        name: request.query_params[name]
        for name in KEPT_PARAMETERS
        if name in request.query_params and (name != "as_of" or _readable_as_of(request))
    }
    params |= changes
    params = {name: str(value) for name, value in params.items() if value is not None and value != ""}
    joined = "&".join(filter(None, (query, urlencode(params))))
    return f"{base}?{joined}" if joined else base


def _scope_name(runner: MemoryRunner, request: Request) -> str:
    caller, params = caller_of(request), request.query_params
    scope = caller.scope or runner.memory().scope
    owner, agent = params.get("owner", scope.owner), params.get("agent", scope.agent)
    whose = visible(owner) or "everyone's" if owner else "your memory"
    return f"{whose} · {visible(agent)}" if agent else whose


def title_of(memory: Memory) -> str:
    """What a list shows of a memory: its text, or an entity's name and what is known of it."""
    if memory.kind != Kind.ENTITY:
        return memory.text
    known = " · ".join(observation.content for observation in memory.in_force[:3])
    return f"{memory.name}: {known}" if known else memory.name


# Templates


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals |= {
        "static": _static,
        "url": _url,
        "kept_fields": _kept_fields,
        "csrf_field": _csrf_field,
        "texts": TEXTS,
        "waterfall_rows": waterfall_rows,
        "quantity": quantity,
        "title_of": title_of,
        "step_text": step_text,
    }
    made.filters |= {
        "time": _time,
        "iso": lambda found: found.isoformat(),
        "date": _date,
        "decimals": decimals,
        "percent": lambda share: f"{100 * share:.0f} %",
        "size": file_size,
        "brief": lambda text, width=160: ellipsize(visible(text), width),
        "shown": visible,
        "as_json": _as_json,
    }
    return made


@cache
def _static(name: str) -> str:
    """With a part of its hash, so that a browser may keep it for good."""
    return f"/static/{name}?v={sha256((STATIC / name).read_bytes()).hexdigest()[:10]}"


@pass_context
def _url(context: Context, path: str, **changes: Any) -> str:
    return kept_url(context["request"], path, **changes)


@pass_context
def _kept_fields(context: Context) -> Markup:
    """The same, for a form that is sent with GET."""
    params = context["request"].query_params
    field = Markup('<input type="hidden" name="{}" value="{}">')
    return Markup("").join(field.format(name, params[name]) for name in KEPT_PARAMETERS if params.get(name))


@pass_context
def _csrf_field(context: Context) -> Markup:
    token = context["csrf"]
    return Markup('<input type="hidden" name="csrf" value="{}">').format(token) if token else Markup("")


@pass_context
def _time(context: Context, found: datetime | None) -> str:
    return "" if found is None else f"{found.astimezone(context['zone']):%Y-%m-%d %H:%M}"


@pass_context
def _date(context: Context, found: datetime | None) -> str:
    return "" if found is None else f"{found.astimezone(context['zone']):%Y-%m-%d}"


def _as_json(data: Mapping[str, Any] | list[Any]) -> Markup:
    """For a script of type application/json: no text in it can end it."""
    return Markup(json.dumps(data).replace("<", "\\u003c"))  # noqa: S704  # escaped here


# Forms

_LONGEST_PATH = 1_000
# More ids than a page has rows come from no form of ours.
MOST_SELECTED = 50


class SentForm:
    """The fields of a form; a file is not taken for one."""

    def __init__(self, fields: Iterable[tuple[str, object]]) -> None:
        self._fields = [(name, value) for name, value in fields if isinstance(value, str)]

    def get(self, name: str) -> str | None:
        """The last value of this name, without spaces around it."""
        return next((value.strip() for key, value in reversed(self._fields) if key == name), None)

    def text(self, name: str) -> str:
        """As a person wrote it, empty without one; browsers send line ends as CR LF."""
        return (self.get(name) or "").replace("\r\n", "\n")

    def ids(self, name: str) -> Sequence[int]:
        """From boxes that are checked, or from one field with commas between."""
        words = [word for key, value in self._fields if key == name for word in value.split(",") if word]
        found = [number for word in words if (number := row_id(word.strip())) is not None]
        if len(found) != len(words) or len(found) > MOST_SELECTED:
            raise InvalidInput(f"Select up to {MOST_SELECTED} memories by their ids; nothing was changed.")
        return list(dict.fromkeys(found))

    def pairs(self, name: str) -> Sequence[tuple[int, int]]:
        """Ids in twos, as `12:34,56:78`."""
        words = [word for word in (self.get(name) or "").split(",") if word]
        found = [(row_id(one), row_id(other)) for one, _, other in (word.partition(":") for word in words)]
        whole = [(one, other) for one, other in found if one is not None and other is not None]
        if len(whole) != len(words) or len(whole) > MOST_SELECTED:
            raise InvalidInput(f"The field {name} holds pairs of ids, as 12:34; nothing was changed.")
        return whole

    def back(self, usual: str) -> str:
        """The page that the form stood on, if it was one of ours."""
        given = self.get("back") or usual
        is_ours = given.startswith(("/browse", "/memory/", "/recall", "/why-not")) and given.isprintable()
        return given if is_ours and len(given) <= _LONGEST_PATH else usual


async def sent_form(request: Request) -> SentForm:
    async with request.form(max_files=0, max_fields=1_000) as form:
        return SentForm(form.multi_items())


def joined_ids(ids: Iterable[int]) -> str:
    return ",".join(map(str, ids))
