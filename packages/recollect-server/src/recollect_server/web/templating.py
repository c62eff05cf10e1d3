"""Templates, forms and responses shared by the dashboard's screens."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime, tzinfo
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
from recollect.cli.options import span_text
from recollect.domain.errors import InvalidInput
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.records import NOTE_FIELDS, Kind, Memory
from recollect.operations.paging import row_id
from recollect.plugin import as_of_time, step_text
from recollect.text.phrases import decimals, ellipsize, file_size, quantity, visible
from recollect_server.runner import Caller, MemoryRunner, Right, caller_of
from recollect_server.web.drawings import TEXTS, waterfall_rows

FOLDER = Path(__file__).parent
STATIC = FOLDER / "static"
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
SECURITY_HEADERS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    # With `no-referrer`, browsers send forms with the origin `null`, which we refuse.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    # Memories must not stay in a browser's cache.
    "cache-control": "no-store",
}
_THEME = "recollect_theme"
_FLASH = "recollect_flash"
_FLASH_SECONDS = 60
_MAX_FLASH = 2_000
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
    """One request to the dashboard. It runs work on the memory, then shows a page or redirects."""

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
        """The moment of a past view; None: now."""
        return as_of_time(self.params.get("as_of") or None, self.runner.memory().zone)

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
        """Render a template with these values and the ones that `base.html` needs."""
        request, caller = self.request, self.caller
        csrf = getattr(request.state, "csrf", None)
        flash = _read_flash(request)
        text = _render(
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
            as_of=_readable_as_of(request, self.runner.memory().zone),
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
        """Redirect after a form. The next page shows the message once, with an undo button."""
        response = RedirectResponse(self.url(path), 303, SECURITY_HEADERS)
        if said is not None:
            flash: dict[str, Any] = {"text": ellipsize(said, 300), "kind": kind, "undo": None}
            value = _flash_text(flash if undo is None else {**flash, "undo": asdict(undo)})
            if len(value) > _MAX_FLASH:
                value = _flash_text(flash)
            response.set_cookie(_FLASH, value, _FLASH_SECONDS, path="/", httponly=True, samesite="strict")
        return response

    def url(self, path: str, **changes: Any) -> str:
        """Add this request's owner, agent and moment to a path. None in `changes` leaves one out."""
        base, _, query = path.partition("?")
        params: dict[str, Any] = {
            name: self.params[name]
            for name in KEPT_PARAMETERS
            if name in self.params
            and (name != "as_of" or _readable_as_of(self.request, self.runner.memory().zone))
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
    """Render a page for a visitor who has not signed in."""
    return HTMLResponse(_render(template, request.cookies, **values), status, SECURITY_HEADERS)


def _render(template: str, cookies: Mapping[str, str], **values: Any) -> str:
    theme = cookies.get(_THEME) if cookies.get(_THEME) in {"light", "dark"} else None
    return _environment().get_template(template).render(theme=theme, **values)


def _flash_text(flash: Mapping[str, Any]) -> str:
    return urlsafe_b64encode(json.dumps(flash).encode()).decode()


def _read_flash(request: Request) -> dict[str, Any] | None:
    try:
        found: dict[str, Any] = json.loads(urlsafe_b64decode(request.cookies.get(_FLASH, "")))
        is_valid = isinstance(found["text"], str) and found["kind"] in {"good", "bad", "warn"}
        undo = found["undo"]
        if undo is not None:
            is_valid &= str(undo["path"]).startswith("/") and all(len(each) == 2 for each in undo["fields"])
    except (ValueError, KeyError, TypeError):
        return None
    return found if is_valid else None


def _readable_as_of(request: Request, zone: tzinfo) -> datetime | None:
    """Return the moment of the request; None if it is invalid, so that the error page can be rendered."""
    try:
        return as_of_time(request.query_params.get("as_of") or None, zone)
    except InvalidInput:
        return None


def parsed_time(given: str | None, name: str) -> datetime | None:
    if not given:
        return None
    try:
        found = datetime.fromisoformat(given)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise InvalidInput(
            f"{name}: {visible(given[:40])!r} is not a date. Write it as 2026-03-01."
        ) from None


def title_of(memory: Memory) -> str:
    """Return the title of a memory: its text, or an entity's name and first observations."""
    if memory.kind != Kind.ENTITY:
        return memory.text
    known = " · ".join(observation.content for observation in memory.in_force[:3])
    return f"{memory.name}: {known}" if known else memory.name


# Templates


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {
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
    environment.filters |= {
        "time": _time,
        "iso": lambda found: found.isoformat(),
        "date": pass_context(partial(_time, form="%Y-%m-%d")),
        "decimals": decimals,
        "span": span_text,
        "percent": lambda share: f"{100 * share:.0f} %",
        "size": file_size,
        "brief": lambda text, width=160: ellipsize(visible(text), width),
        "shown": visible,
        "as_json": _as_json,
    }
    return environment


@cache
def _static(name: str) -> str:
    """Return the address of a static file, with a hash so that browsers cache it for good."""
    return f"/static/{name}?v={sha256((STATIC / name).read_bytes()).hexdigest()[:10]}"


@pass_context
def _kept_fields(context: Context) -> Markup:
    """Return hidden fields with the owner, agent and moment, for a GET form."""
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
    """Encode data for a script element of type application/json, which no text in it can close."""
    return Markup(json.dumps(data).replace("<", "\\u003c"))  # noqa: S704  # escaped here


# Forms

_LONGEST_PATH = 1_000
# Our forms send at most as many ids as a page has rows.
MOST_SELECTED = 50


class SentForm:
    """The text fields of a form."""

    def __init__(self, fields: Iterable[tuple[str, object]]) -> None:
        self._fields = [(name, value) for name, value in fields if isinstance(value, str)]

    def get(self, name: str) -> str | None:
        """Return the last value of this name without surrounding spaces, or None."""
        return next((value.strip() for key, value in reversed(self._fields) if key == name), None)

    def text(self, name: str) -> str:
        """Return the text of a field, or an empty text. Line ends become LF, since browsers send CR LF."""
        return (self.get(name) or "").replace("\r\n", "\n")

    def ids(self, name: str) -> Sequence[int]:
        """Return ids from checked boxes or from one field separated by commas."""
        words = [word for key, value in self._fields if key == name for word in value.split(",") if word]
        found = [number for word in words if (number := row_id(word.strip())) is not None]
        if len(found) != len(words) or len(found) > MOST_SELECTED:
            raise InvalidInput(f"Select at most {MOST_SELECTED} memories by their ids. Nothing was changed.")
        return list(dict.fromkeys(found))

    def pairs(self, name: str) -> Sequence[tuple[int, int]]:
        """Return pairs of ids, written as `12:34,56:78`."""
        words = [word for word in (self.get(name) or "").split(",") if word]
        found = [(row_id(one), row_id(other)) for one, _, other in (word.partition(":") for word in words)]
        whole = [(one, other) for one, other in found if one is not None and other is not None]
        if len(whole) != len(words) or len(whole) > MOST_SELECTED:
            raise InvalidInput(f"{name}: write pairs of ids as 12:34. Nothing was changed.")
        return whole

    def back(self, usual: str) -> str:
        """Return the form's page to show next, or `usual` if that is no page of the dashboard."""
        given = self.get("back") or usual
        is_ours = given.startswith(("/browse", "/memory/", "/recall", "/why-not")) and given.isprintable()
        return given if is_ours and len(given) <= _LONGEST_PATH else usual


def joined_ids(ids: Iterable[int]) -> str:
    return ",".join(map(str, ids))
