"""The OpenAPI 3.1 document, generated from the endpoints and the operations' types."""

from __future__ import annotations

import json
from collections.abc import Iterable
from copy import deepcopy
from functools import cache
from importlib.metadata import version
from inspect import cleandoc
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter
from starlette.requests import Request
from starlette.responses import Response

from recollect.domain.results import RejectedRow
from recollect.operations.catalogue import http_operations
from recollect.operations.operation import Endpoint, Operation
from recollect.operations.schema import Schema, class_schema, with_limits
from recollect_server.api.endpoints import ENDPOINTS, ROOT
from recollect_server.api.handler import KEEP_GOING, SCOPE_PARAMETERS
from recollect_server.runner import Right, right_for

_SCHEMAS = "#/components/schemas/"
_IF_MATCH = r'^(\*|(W/)?"[^"]*"(, *(W/)?"[^"]*")*)$'
_EVERY_PROBLEM = (400, 401, 403, 404, 409, 413, 422, 503)


@cache
def fixed_parts() -> dict[str, Any]:
    """Load the hand-written parts: title, problems, probes, and examples by endpoint id."""
    found: dict[str, Any] = json.loads(Path(__file__).with_name("openapi.json").read_text(encoding="utf-8"))
    return found


async def openapi_response(request: Request) -> Response:  # noqa: ARG001  # the same for all requests
    return Response(openapi_bytes(), media_type="application/json", headers={"cache-control": "no-cache"})


@cache
def openapi_bytes() -> bytes:
    return json.dumps(openapi(), ensure_ascii=False).encode()


def openapi() -> dict[str, Any]:
    schemas = _Schemas()
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in ENDPOINTS:
        made = _operation(endpoint, schemas)
        paths.setdefault(f"{ROOT}{endpoint.path}", {})[endpoint.method.lower()] = made
    fixed = deepcopy(fixed_parts())
    fixed["info"]["version"] = version("recollect-memory")
    fixed["components"]["schemas"] = {**schemas.collect_used(), **fixed["components"]["schemas"]}
    return {
        **{name: fixed[name] for name in ("openapi", "info", "servers", "security")},
        "tags": [{"name": tag} for tag in (*dict.fromkeys(each.tag for each in ENDPOINTS), "Server")],
        "paths": {**paths, **fixed["paths"]},
        "components": fixed["components"],
    }


def _operation(endpoint: Endpoint, schemas: _Schemas) -> dict[str, Any]:
    operation = http_operations()[endpoint.operation]
    fields, required = schemas.arguments(operation)
    in_path = {argument: name for name, argument in endpoint.arguments.items()}
    rest = {name: field for name, field in fields.items() if name not in in_path}
    if operation.keeps_going:
        rest[KEEP_GOING] = fixed_parts()["keep_going"]
    parameters: list[dict[str, Any]] = [
        _parameter(name, "path", _single(fields[argument]), required=True)
        for argument, name in in_path.items()
    ]
    if endpoint.takes_query:
        parameters += [
            _parameter(name, "query", _without_null(field), required=name in required)
            for name, field in rest.items()
        ]
    parameters += [{"$ref": f"#/components/parameters/{name}"} for name in SCOPE_PARAMETERS]
    parameters += _header_parameters(endpoint, operation)
    made: dict[str, Any] = {
        "operationId": endpoint.operation_id,
        "tags": [endpoint.tag],
        "summary": operation.title,
        "description": _description(endpoint, operation),
        # Generated clients may retry an operation only if this is true.
        "x-idempotent": operation.read_only or operation.idempotent,
        "parameters": parameters,
        "responses": _responses(endpoint, operation, schemas),
    }
    if endpoint.takes_body:
        made["requestBody"] = _body(endpoint, rest, required, schemas)
    return made


def _parameter(name: str, place: str, schema: Schema, *, required: bool) -> dict[str, Any]:
    described = dict(schema)
    description = described.pop("description", None)
    made: dict[str, Any] = {"name": name, "in": place, "schema": described}
    if required:
        made["required"] = True
    return {**made, "description": description} if description else made


def _body(
    endpoint: Endpoint, fields: dict[str, Schema], required: Iterable[str], schemas: _Schemas
) -> dict[str, Any]:
    needed = [name for name in required if name in fields]
    schema: Schema = {
        "type": "object",
        "properties": {
            name: field if name in needed else _with_null(field) for name, field in fields.items()
        },
        "additionalProperties": False,
    }
    if needed:
        schema["required"] = needed
    if example := fixed_parts()["examples"].get(endpoint.operation_id):
        schema["examples"] = [example]
    name = f"{endpoint.operation_id.title().replace('_', '')}Request"
    schemas.own[name] = schema
    return {"required": bool(needed), "content": _json_content({"$ref": f"{_SCHEMAS}{name}"})}


def _header_parameters(endpoint: Endpoint, operation: Operation) -> list[dict[str, Any]]:
    made = []
    text: Schema = {"type": "string", "minLength": 1, "maxLength": 200}
    if endpoint.takes_key and not operation.idempotent:
        words = "For 30 days, a request with the same key gets the first answer again and writes nothing"
        made.append(_parameter("Idempotency-Key", "header", {**text, "description": words}, required=False))
    if endpoint.resource is not None and operation.read_only:
        words = "The ETag of an earlier answer; 304 if nothing has changed"
        made.append(_parameter("If-None-Match", "header", {**text, "description": words}, required=False))
    elif endpoint.resource is not None:
        words = "The ETag of what you read; if it has changed since, 412 and nothing is written"
        tags: Schema = {**text, "pattern": _IF_MATCH, "description": words}
        made.append(_parameter("If-Match", "header", tags, required=False))
    return made


def _description(endpoint: Endpoint, operation: Operation) -> str:
    sentences = [" ".join(cleandoc(operation.run.__doc__ or "").split())]
    right = right_for(operation)
    bound = " and a token that is bound to no owner" if right is Right.STORE else ""
    sentences.append(f"Needs the right to {min(right, Right.ADMIN).word}{bound}.")
    if not (operation.idempotent or endpoint.takes_key):
        sentences.append("It takes no `Idempotency-Key`.")
    return " ".join(sentences)


def _responses(endpoint: Endpoint, operation: Operation, schemas: _Schemas) -> dict[str, Any]:
    schema = schemas.result(operation)
    answer: dict[str, Any] = {
        "description": operation.title,
        # Omit the event stream: with it, generated clients type every answer as this or a string.
        "content": _json_content(schema),
    }
    if endpoint.resource is not None and operation.read_only:
        answer["headers"] = {"ETag": _header("Its version, for `If-Match` and `If-None-Match`")}
    elif endpoint.takes_query and operation.pages is not None:
        answer["headers"] = {"Link": {**_header("The next page, with rel=next"), "required": False}}
    made: dict[str, Any] = {"200": answer}
    if endpoint.location is not None:
        created = {**answer, "headers": {"Location": _header("Where it is")}}
        made = {"200": {**answer, "description": "It was known already"}, "201": created}
    if endpoint.resource is not None and operation.read_only:
        made["304"] = {"description": "Nothing has changed"}
    statuses = list(_EVERY_PROBLEM)
    if endpoint.resource is not None and not operation.read_only:
        statuses.append(412)
    if endpoint.takes_body:
        statuses.append(415)
    if operation.read_only:
        statuses.append(504)
    made.update({str(status): {"$ref": f"#/components/responses/{status}"} for status in sorted(statuses)})
    return made


def _json_content(schema: Schema) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


def _header(words: str) -> dict[str, Any]:
    return {"description": words, "schema": {"type": "string"}}


# Schemas


class _Schemas:
    """The schemas of all operations by name. It records which ones the document uses."""

    def __init__(self) -> None:
        inputs: list[tuple[str, Any, Any]] = [
            (name, "validation", TypeAdapter(operation.arguments))
            for name, operation in http_operations().items()
        ]
        self._roots, document = TypeAdapter.json_schemas(inputs, ref_template=f"{_SCHEMAS}{{model}}")
        self._shared = {name: _closed(_tidy(schema)) for name, schema in document["$defs"].items()}
        self.own: dict[str, Schema] = {}
        self._results: list[Schema] = []

    def arguments(self, operation: Operation) -> tuple[dict[str, Schema], list[str]]:
        """Return the schemas of the arguments with their limits, and the required names."""
        root: str = self._roots[operation.name, "validation"]["$ref"]
        schema = with_limits(self._shared[root.removeprefix(_SCHEMAS)])
        fields = {name: _describe_default(field) for name, field in schema["properties"].items()}
        return fields, schema.get("required", [])

    def result(self, operation: Operation) -> Schema:
        made = self._reference(operation.result)
        name = operation.result.__name__
        if operation.keeps_going:
            rejected = {"type": "array", "items": {"$ref": f"{_SCHEMAS}{RejectedRow.__name__}"}}
            rejected["description"] = f"With `{KEEP_GOING}`: the rows that were left out"
            self._shared[name]["properties"]["rejected"] = rejected
            self._reference(RejectedRow)
        self._results.append(made)
        return made

    def _reference(self, form: type) -> Schema:
        name = form.__name__
        if name not in self._shared:
            self._shared[name] = {}
            self._shared[name] = class_schema(form, self._reference)
        return {"$ref": f"{_SCHEMAS}{name}"}

    def collect_used(self) -> dict[str, Schema]:
        """Return the schemas that bodies and results refer to, directly or indirectly."""
        given = {name: with_limits(schema) for name, schema in self._reachable(self.own).items()}
        return dict(sorted({**self._reachable(self._results), **given, **self.own}.items()))

    def _reachable(self, start: object) -> dict[str, Schema]:
        found: dict[str, Schema] = {}
        waiting = list(_references(start))
        while waiting:
            name = waiting.pop()
            if name not in found:
                found[name] = self._shared[name]
                waiting += _references(found[name])
        return found


def _references(schema: object) -> Iterable[str]:
    match schema:
        case {"$ref": str(name)}:
            yield name.removeprefix(_SCHEMAS)
        case dict():
            for value in schema.values():
                yield from _references(value)
        case list():
            for value in schema:
                yield from _references(value)


def _tidy(schema: Any) -> Any:
    """Remove generated titles and defaults of null."""
    match schema:
        case {"properties": dict(fields)}:
            plain = {name: value for name, value in schema.items() if name != "title"}
            return {**plain, "properties": {name: _tidy(field) for name, field in fields.items()}}
        case dict():
            return {
                name: _tidy(value)
                for name, value in schema.items()
                if name != "title" and not (name == "default" and value is None)
            }
        case list():
            return list(map(_tidy, schema))
        case _:
            return schema


def _closed(schema: Schema) -> Schema:
    """Forbid other fields, and remove the description: a docstring is for maintainers."""
    closed = {name: value for name, value in schema.items() if name != "description"}
    return {**closed, "additionalProperties": False} if schema.get("type") == "object" else closed


def _describe_default(field: Schema) -> Schema:
    """Move the default to the description: client generators treat fields with a default as required."""
    if "default" not in field:
        return field
    plain = {name: value for name, value in field.items() if name != "default"}
    words, default = plain.get("description", ""), field["default"]
    if default in ([], "") or "if not given" in words:
        return plain
    default_text = f"{json.dumps(default, ensure_ascii=False)} if not given"
    return {**plain, "description": f"{words}; {default_text}" if words else default_text}


def _with_null(field: Schema) -> Schema:
    """Allow null for an optional field."""
    if {"type": "null"} in field.get("anyOf", ()):
        return field
    words = {name: value for name, value in field.items() if name == "description"}
    inner = {name: value for name, value in field.items() if name not in words}
    return {**words, "anyOf": [inner, {"type": "null"}]}


def _without_null(field: Schema) -> Schema:
    match field:
        case {"anyOf": [inner, {"type": "null"}]}:
            return {**inner, **{name: value for name, value in field.items() if name != "anyOf"}}
        case _:
            return field


def _single(field: Schema) -> Schema:
    """Return the schema of a path parameter: for a list, the schema of one entry."""
    plain = _without_null(field)
    schema = plain["items"] if plain.get("type") == "array" else plain
    return schema if schema.get("type") == "integer" else {"minLength": 1, **schema}
