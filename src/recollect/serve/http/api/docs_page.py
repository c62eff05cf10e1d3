"""The page to read about the API and to try it, at `/docs`."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

from recollect.serve.http.api.openapi import openapi

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.requests import Request
    from starlette.responses import Response

    from recollect.serve.http.face import Face


async def docs_page(face: Face, request: Request) -> Response:
    from recollect.serve.web.templating import page  # noqa: PLC0415  # for those who look at it

    info, tags = _contents()
    return await page(face, request, "docs.html", info=info, tags=tags)


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
                        "kind": _kind(each["schema"]),
                        "is_list": each["schema"].get("type") == "array",
                    }
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
