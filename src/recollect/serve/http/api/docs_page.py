"""The page to read about the API and to try it, at `/docs`."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.responses import HTMLResponse, Response

from recollect.serve.http.api.openapi import openapi

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.requests import Request

_FOLDER = Path(__file__).with_name("page")
_KINDS = {"try.js": "text/javascript", "docs.css": "text/css"}
_POLICY = "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"


async def docs_page(request: Request) -> Response:  # noqa: ARG001  # the same for all
    return HTMLResponse(_page(), headers={"content-security-policy": _POLICY, "cache-control": "no-cache"})


async def docs_file(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _KINDS:
        return Response(status_code=404)
    return Response((_FOLDER / name).read_bytes(), media_type=_KINDS[name])


@cache
def _page() -> str:
    from jinja2 import Environment, FileSystemLoader  # noqa: PLC0415  # for those who look at it

    templates = Environment(loader=FileSystemLoader(_FOLDER), autoescape=True)
    document = openapi()
    tags: dict[str, list[dict[str, Any]]] = {tag["name"]: [] for tag in document["tags"]}
    for each in _operations(document):
        tags[each["tag"]].append(each)
    return templates.get_template("docs.html").render(info=document["info"], tags=tags)


def _operations(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What the page shows of each endpoint."""
    for path, methods in document["paths"].items():
        for method, made in methods.items():
            body = _resolved(document, _schema(made.get("requestBody")))
            yield {
                "id": made["operationId"],
                "tag": made["tags"][0],
                "method": method.upper(),
                "path": path,
                "title": made["summary"],
                "text": made.get("description", ""),
                "parameters": [
                    {**each, "kind": _kind(each["schema"]), "is_list": each["schema"].get("type") == "array"}
                    for each in (_resolved(document, one) for one in made["parameters"])
                ],
                "fields": [
                    {
                        "name": name,
                        "kind": _kind(field),
                        "required": name in body.get("required", ()),
                        "words": field.get("description", ""),
                    }
                    for name, field in body.get("properties", {}).items()
                ],
                "example": json.dumps(body.get("examples", [{}])[0], indent=2, ensure_ascii=False),
            }


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


def _kind(schema: dict[str, Any]) -> str:
    """A type in a word or two."""
    match schema:
        case {"anyOf": list(forms)}:
            return " or ".join(dict.fromkeys(_kind(form) for form in forms if form != {"type": "null"}))
        case {"$ref": str(name)}:
            return name.rpartition("/")[2]
        case {"type": "array", "items": dict(items)}:
            return f"list of {_kind(items)}"
        case _:
            return str(schema.get("type", "any"))
