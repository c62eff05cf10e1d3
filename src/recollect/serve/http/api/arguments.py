"""The arguments of an operation: from a request's path, query and body."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NoReturn

from recollect.serve.http.problems import ProblemDetails, ProblemFound

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request

    from recollect.serve.http.api.endpoints import Endpoint
    from recollect.serve.operations.schema import Schema

KEEP_GOING = "keep_going"
"""In the body of a batch: whether to leave out what cannot be stored."""
SCOPE_PARAMETERS = ("owner", "agent")
"""Query parameters of every endpoint: whose memory it is about."""
# A number that is longer is none of ours, and is told like any other wrong text.
_LONGEST_NUMBER = 40


async def given_arguments(
    request: Request, endpoint: Endpoint, schema: Schema, path: Mapping[str, str]
) -> dict[str, Any]:
    """What a caller gave, to be checked by the operation."""
    fields = schema["properties"]
    given = _from_query(request, endpoint, fields)
    if takes_body(endpoint):
        given.update(await _from_body(request))
    for parameter, text in path.items():
        name = endpoint.argument(parameter)
        if name in given:
            raise _bad(f"The path says what `{name}` is; leave it out of the body and the query.")
        field = fields[name]
        is_list = field.get("type") == "array"
        value = _value(text, field["items"] if is_list else field)
        given[name] = [value] if is_list else value
    return given


def keeps_going(given: dict[str, Any]) -> bool:
    """Takes it out of the arguments: the operation gets it with the call."""
    asked = given.pop(KEEP_GOING, None)
    if asked is not None and not isinstance(asked, bool):
        raise ProblemFound(
            ProblemDetails(
                422,
                "invalid-input",
                f"`{KEEP_GOING}` is true or false; nothing was done.",
                ({"detail": "true or false", "pointer": f"#/{KEEP_GOING}"},),
            )
        )
    return bool(asked)


def takes_body(endpoint: Endpoint) -> bool:
    return endpoint.method in {"POST", "PUT", "PATCH"}


def takes_query(endpoint: Endpoint) -> bool:
    """Whether its arguments are in the query. A DELETE has those of its path alone."""
    return endpoint.method == "GET"


def _from_query(request: Request, endpoint: Endpoint, fields: Mapping[str, Schema]) -> dict[str, Any]:
    query = request.query_params
    for name in SCOPE_PARAMETERS:
        if len(query.getlist(name)) > 1:
            raise _bad(f"`{name}` is given twice; give it once.")
    names = [name for name in dict.fromkeys(query) if name not in SCOPE_PARAMETERS]
    if names and not takes_query(endpoint):
        where = "in the JSON body" if takes_body(endpoint) else "in the path"
        raise _bad(
            f"There is no query parameter {names[0][:80]!r}; the query takes owner and agent, and the "
            f"arguments stand {where}."
        )
    given: dict[str, Any] = {}
    for name in names:
        field, texts = fields.get(name, {}), query.getlist(name)
        if field.get("type") == "array":
            given[name] = [_value(text, field["items"]) for text in texts]
        elif len(texts) > 1:
            raise _bad(f"`{name[:80]}` is given {len(texts)} times; give it once.")
        else:
            given[name] = _value(texts[0], field)
    return given


def _value(text: str, field: Schema) -> Any:
    """A value of the type that the schema names; a text that is none is left for the operation to refuse."""
    match field.get("type"):
        case "boolean":
            return {"true": True, "false": False}.get(text, text)
        case "integer" | "number" as kind if len(text) <= _LONGEST_NUMBER:
            try:
                return int(text) if kind == "integer" else float(text)
            except ValueError:
                return text
        case _:
            return text


async def _from_body(request: Request) -> dict[str, Any]:
    body = await request.body()
    if not body.strip():
        return {}
    kind = request.headers.get("content-type", "application/json").partition(";")[0].strip().lower()
    if kind != "application/json" and not kind.endswith("+json"):
        raise ProblemFound(
            ProblemDetails(
                415,
                "unsupported-media-type",
                "The body must be JSON; send the header `Content-Type: application/json`.",
            )
        )
    try:
        given = json.loads(body, parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise _bad("The body is no valid JSON, in UTF-8; nothing was done.") from None
    if not isinstance(given, dict):
        raise _bad("The body must be a JSON object with the arguments as its fields; nothing was done.")
    return given


def _no_number(name: str) -> NoReturn:
    raise ValueError(name)


def _bad(detail: str) -> ProblemFound:
    return ProblemFound(ProblemDetails(400, "bad-request", detail))
