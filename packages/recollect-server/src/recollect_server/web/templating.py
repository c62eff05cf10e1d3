"""Templates, forms and answers that the dashboard's screens share."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from markupsafe import Markup
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from recollect import Engine
from recollect.domain.errors import InvalidInput
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.records import NOTE_FIELDS, Kind, Memory
from recollect.operations.paging import row_id
from recollect.text.phrases import decimals, ellipsize, file_size, quantity, visible
from recollect_server.runner import Caller, MemoryRunner, Right, caller_of
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
    # Not `no-referrer`: browsers would send forms with the origin `null`, which is refused.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    # Memories do not stay in a browser's cache.
    "cache-control": "no-store",
}
_THEME = "recollect_theme"
_FLASH = "recollect_flash"
_FLASH_SECONDS = 60
_MOST_FLASH = 2_000
# Parameters that every link keeps.
KEPT_PARAMETERS = ("owner", "agent", "as_of")


@dataclass(frozen=True, slots=True)
class Undo:
    path: str
    fields: tuple[tuple[str, str], ...] = ()


# Screens

_Work = TypeVar("_Work")


@dataclass(frozen=True, slots=True)
class Screen:
    """One request to the dashboard: runs work on the memory, then shows a page or redirects to one."""

    runner: MemoryRunner
    request: Request

    @property
    def params(self) -> QueryParams:
        return self.request.query_params

    @property
    def caller(self) -> Caller:
        return caller_of(self.request)

    @property
    def profiles(self) -> list[str]:
        return list(self.runner.memory().profiles)

    @property
    def as_of(self) -> datetime | None:
        """The moment that everything is shown at; None: now."""
        return parsed_time(self.params.get("as_of"), "as_of")

    async def run(
        self, work: Callable[[Engine], _Work], *, right: Right = Right.READ, reads: bool | None = None
    ) -> _Work:
        return await self.runner.run(self.request, work, right=right, reads=reads)

    async def call(self, operation: str, **given: Any) -> dict[str, Any]:
        return (await self.runner.call(self.request, operation, given)).result

    async def form(self) -> SentForm:
        async with self.request.form(max_files=0, max_fields=1_000) as form:
            return SentForm(form.multi_items())

    async def page(self, template: str, *, status: int = 200, **values: Any) -> Response:
        """Render a template with these values and those that `base.html` needs."""
        request, caller = self.request, self.caller
        csrf = getattr(request.state, "csrf", None)
        flash = _read_flash(request)
        text = _rendered(
            template,
            request.cookies,
            request=request,
            url=self.url,
            path=request.url.path,
            csrf=csrf,
            signed_in=bool(csrf),
            may_change=caller.right >= Right.WRITE,
            may_write=caller.right >= Right.WRITE and not self.params.get("as_of"),
            may_admin=caller.reach >= Right.ADMIN,
            may_store=caller.reach >= Right.STORE,
            scope_name=self._scope_name(),
            as_of=_readable_as_of(request),
            zone=self.runner.memory().zone,
            flash=flash,
            **{"query": None, "here": request.url.path, **values},
        )
        response = HTMLResponse(text, status, SECURITY_HEADERS)
        if flash is not None:
            response.delete_cookie(_FLASH, path="/", httponly=True, samesite="strict")
        return response

    def redirect(
        self, path: str, said: str | None = None, undo: Undo | None = None, *, kind: str = "good"
    ) -> Response:
        """After a form: redirect to a page that says once what was done, with an undo."""
        response = RedirectResponse(self.url(path), 303, SECURITY_HEADERS)
        if said is not None:
            told: dict[str, Any] = {"text": ellipsize(said, 300), "kind": kind, "undo": None}
            value = _flash_text(told if undo is None else {**told, "undo": asdict(undo)})
            if len(value) > _MOST_FLASH:
                value = _flash_text(told)
            response.set_cookie(_FLASH, value, _FLASH_SECONDS, path="/", httponly=True, samesite="strict")
        return response

    def url(self, path: str, **changes: Any) -> str:
        """Return a path of ours with this request's owner, agent and moment; None removes one."""
        base, _, query = path.partition("?")
        params: dict[str, Any] = {
            name: self.params[name]
            for name in KEPT_PARAMETERS
            if name in self.params and (name != "as_of" or _readable_as_of(self.request))
        }
        params |= changes
        params = {name: str(value) for name, value in params.items() if value is not None and value != ""}
        joined = "&".join(filter(None, (query, urlencode(params))))
        return f"{base}?{joined}" if joined else base

    def _scope_name(self) -> str:
        scope = self.caller.scope or self.runner.memory().scope
        owner, agent = self.params.get("owner", scope.owner), self.params.get("agent", scope.agent)
        whose = visible(owner) or "everyone's" if owner else "your memory"
        return f"{whose} · {visible(agent)}" if agent else whose


def bare_page(request: Request, template: str, *, status: int = 200, **values: Any) -> Response:
    """Render a page for a reader who has not signed in: it shows nothing of the memory."""
    return HTMLResponse(_rendered(template, request.cookies, **values), status, SECURITY_HEADERS)


def _rendered(template: str, cookies: Mapping[str, str], **values: Any) -> str:
    theme = cookies.get(_THEME) if cookies.get(_THEME) in {"light", "dark"} else None
    return _environment().get_template(template).render(theme=theme, **values)


def _flash_text(told: Mapping[str, Any]) -> str:
    return urlsafe_b64encode(json.dumps(told).encode()).decode()


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


def _readable_as_of(request: Request) -> datetime | None:
    """The moment of the request; None if it is no time, since the page that says so must be shown."""
    try:
        return parsed_time(request.query_params.get("as_of"), "as_of")
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


def title_of(memory: Memory) -> str:
    """The title of a memory in a list: its text, or an entity's name and what is known of it."""
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
        "kept_fields": _kept_fields,
        "csrf_field": _csrf_field,
        "texts": TEXTS,
        "waterfall_rows": waterfall_rows,
        "quantity": quantity,
        "title_of": title_of,
        "note_fields": NOTE_FIELDS,
        "step_text": step_text,
    }
    made.filters |= {
        "time": _time,
        "iso": lambda found: found.isoformat(),
        "date": pass_context(partial(_time, form="%Y-%m-%d")),
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
def _kept_fields(context: Context) -> Markup:
    """Hidden fields with the owner, the agent and the moment, for a form that is sent with GET."""
    params = context["request"].query_params
    field = Markup('<input type="hidden" name="{}" value="{}">')
    return Markup("").join(field.format(name, params[name]) for name in KEPT_PARAMETERS if params.get(name))


@pass_context
def _csrf_field(context: Context) -> Markup:
    token = context["csrf"]
    return Markup('<input type="hidden" name="csrf" value="{}">').format(token) if token else Markup("")


@pass_context
def _time(context: Context, found: datetime | None, form: str = "%Y-%m-%d %H:%M") -> str:
    return "" if found is None else f"{found.astimezone(context['zone']):{form}}"


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
        """The page of the form, if it is one of ours."""
        given = self.get("back") or usual
        is_ours = given.startswith(("/browse", "/memory/", "/recall", "/why-not")) and given.isprintable()
        return given if is_ours and len(given) <= _LONGEST_PATH else usual


def joined_ids(ids: Iterable[int]) -> str:
    return ",".join(map(str, ids))
