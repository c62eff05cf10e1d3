"""The page to read about the API and to try it, at `/docs`."""

from __future__ import annotations

import json
import re
import shlex
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from recollect.serve.http.api.arguments import SCOPE_PARAMETERS
from recollect.serve.http.api.openapi import openapi

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markupsafe import Markup
    from starlette.requests import Request
    from starlette.responses import Response

    from recollect.serve.http.face import Face


async def docs_page(face: Face, request: Request) -> Response:
    from recollect.serve.web.templating import page  # noqa: PLC0415  # for those who look at it

    info, tags = _contents()
    base = str(request.base_url).rstrip("/")
    return await page(
        face,
        request,
        "docs.html",
        info=info,
        tags=tags,
        scopes=SCOPE_PARAMETERS,
        base=base,
        code=_with_code,
    )


def _with_code(text: str) -> Markup:
    """What stands between backticks, as code."""
    from markupsafe import Markup, escape  # noqa: PLC0415  # the same

    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))  # noqa: S704  # it was escaped


@cache
def _contents() -> tuple[dict[str, str], dict[str, list[dict[str, Any]]]]:
    """What the document says of itself, and its operations by tag."""
    document = openapi()
    tags: dict[str, list[dict[str, Any]]] = {tag["name"]: [] for tag in document["tags"]}
    for each in _operations(document):
        tags[each["tag"]].append(each)
    return document["info"], tags


def _operations(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What the page shows of each endpoint."""
    for path, methods in document["paths"].items():
        for method, made in methods.items():
            body = _resolved(document, _schema(made.get("requestBody")))
            example = body.get("examples", [{}])[0]
            yield {
                "id": made["operationId"],
                "tag": made["tags"][0],
                "method": method.upper(),
                "path": path,
                "title": made["summary"],
                "text": made.get("description", ""),
                "parameters": [
                    {
                        "required": False,
                        "description": "",
                        **each,
                        "kind": _kind(document, each["schema"]),
                        "is_list": each["schema"].get("type") == "array",
                    }
                    for each in (_resolved(document, one) for one in made["parameters"])
                ],
                "fields": [
                    {
                        "name": name,
                        "kind": _kind(document, field),
                        "required": name in body.get("required", ()),
                        "words": field.get("description", ""),
                    }
                    for name, field in body.get("properties", {}).items()
                ],
                "example": json.dumps(example, indent=2, ensure_ascii=False),
                "command": partial(_command, method.upper(), path, example if body else None),
            }


def _command(method: str, path: str, body: Any, base: str) -> str:
    """The example as a line for a shell."""
    parts = ["curl", "-s"] + (["-X", method] if method not in {"GET", "POST"} else [])
    parts += [shlex.quote(f"{base}{path}"), '-H "Authorization: Bearer $TOKEN"']
    if body is not None:
        parts += ["--json", shlex.quote(json.dumps(body, ensure_ascii=False))]
    return " ".join(parts)


def _schema(body: dict[str, Any] | None) -> dict[str, Any]:
    if body is None:
        return {}
    schema: dict[str, Any] = body["content"]["application/json"]["schema"]
    return schema


def _resolved(document: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in schema:
        return schema
    found: Any = document
    for part in schema["$ref"].split("/")[1:]:
        found = found[part]
    return dict(found)


def _kind(document: dict[str, Any], schema: dict[str, Any]) -> str:
    """A type in a few words."""
    match _resolved(document, schema):
        case {"enum": list(words)}:
            return " or ".join(map(str, words))
        case {"anyOf": list(forms)}:
            kinds = (_kind(document, form) for form in forms if form != {"type": "null"})
            return " or ".join(dict.fromkeys(kinds))
        case {"type": "array", "items": dict(items)}:
            return f"list of {_kind(document, items)}"
        case {"type": "object", "properties": dict(fields)}:
            return f"object of {', '.join(fields)}"
        case {"format": "date-time"}:
            return "time"
        case found:
            return str(found.get("type", "any"))
