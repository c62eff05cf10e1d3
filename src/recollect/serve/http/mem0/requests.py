"""What mem0's clients may send: each request read once, with its limits."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from recollect.engine.limits import DEFAULT_LIMIT, MOST_HITS
from recollect.errors import InvalidInput
from recollect.serve.http.mem0.filters import needed, row_filter
from recollect.text.limits import NAME_LIMIT

MOST_MESSAGES = 1_000
MOST_IN_BATCH = 1_000
MOST_ROWS_PER_PAGE = 1_000
MOST_LISTED = 10_000
"""Notes that a list goes through."""
# What clients send along, and has no meaning here: the form of answers, and the platform's accounts.
_WITHOUT_MEANING = frozenset(
    (
        "version",
        "api_version",
        "output_format",
        "async_mode",
        "org_id",
        "project_id",
        "source",
        "keyword_search",
    )
)

_Given = TypeVar("_Given", bound="_Request")


def _text_of_number(value: object) -> object:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _list_of_text(value: object) -> object:
    return [value] if isinstance(value, str) else value


Id = Annotated[str, BeforeValidator(_text_of_number), Field(min_length=1, max_length=NAME_LIMIT)]


class _Request(BaseModel):
    model_config = ConfigDict(extra="allow")

    @property
    def ignored(self) -> list[str]:
        """Options that were given, and that nothing here heeds."""
        extra = self.model_extra or {}
        return sorted(
            name for name, value in extra.items() if value is not None and name not in _WITHOUT_MEANING
        )


class _OfSomebody(_Request):
    user_id: Id | None = None
    agent_id: Id | None = None
    app_id: Id | None = None
    run_id: Id | None = None
    filters: dict[str, Any] | None = None

    @property
    def filter(self) -> dict[str, Any]:
        """The filters, with the ids that stand beside them."""
        ids = {name: getattr(self, name) for name in ("user_id", "agent_id", "app_id", "run_id")}
        beside = {name: value for name, value in ids.items() if value is not None}
        return {"AND": [beside, self.filters or {}]}


class Mem0Message(_Request):
    role: str = Field(default="user", max_length=NAME_LIMIT)
    name: str | None = Field(default=None, max_length=NAME_LIMIT)
    content: str | list[dict[str, Any]] | dict[str, Any]

    @property
    def text(self) -> str:
        """Of a message in several parts, those that are text."""
        if isinstance(self.content, str):
            return self.content
        parts = self.content if isinstance(self.content, list) else [self.content]
        texts = [part["text"] for part in parts if isinstance(part.get("text"), str)]
        if not texts:
            raise InvalidInput("A message without text cannot be remembered; describe its pictures in words.")
        return "\n".join(texts)


class AddRequest(_OfSomebody):
    messages: list[Mem0Message] = Field(min_length=1, max_length=MOST_MESSAGES)
    metadata: dict[str, Any] | None = None
    infer: bool | None = None
    timestamp: int | float | str | None = None
    expiration_date: str | None = None

    def id_of(self, name: str) -> str | None:
        """The typed options of newer clients have the ids among the filters."""
        beside: str | None = getattr(self, name)
        return beside or needed(row_filter(self.filters or {}), name)


class SearchRequest(_OfSomebody):
    query: str
    metadata: dict[str, Any] | None = None
    top_k: int | None = Field(default=None, ge=1, le=MOST_HITS)
    limit: int | None = Field(default=None, ge=1, le=MOST_HITS)
    threshold: float | None = Field(default=None, ge=0, le=1)
    rerank: bool | None = None
    fields: list[str] | None = None
    categories: Annotated[list[str], BeforeValidator(_list_of_text)] | None = None

    @property
    def most(self) -> int:
        return self.top_k or self.limit or DEFAULT_LIMIT


class ListRequest(_OfSomebody):
    page: int = Field(default=1, ge=1)
    page_size: int | None = Field(default=None, ge=1, le=MOST_ROWS_PER_PAGE)
    limit: int | None = Field(default=None, ge=1, le=MOST_ROWS_PER_PAGE)
    top_k: int | None = Field(default=None, ge=1, le=MOST_ROWS_PER_PAGE)
    start_date: str | None = None
    end_date: str | None = None
    metadata: dict[str, Any] | None = None
    fields: list[str] | None = None
    categories: Annotated[list[str], BeforeValidator(_list_of_text)] | None = None

    @property
    def size(self) -> int:
        return self.page_size or self.top_k or self.limit or 100


class DeleteAllRequest(_OfSomebody):
    metadata: dict[str, Any] | None = None


class UpdateRequest(_Request):
    text: str | None = None
    memory: str | None = None
    data: str | None = None
    metadata: dict[str, Any] | None = None
    timestamp: int | float | str | None = None
    expiration_date: str | None = None

    @property
    def new_text(self) -> str | None:
        """By the name that each version of mem0 has for it."""
        return self.text or self.memory or self.data


class BatchRow(UpdateRequest):
    memory_id: Id


class BatchRequest(_Request):
    memories: list[BatchRow] = Field(min_length=1, max_length=MOST_IN_BATCH)


class FeedbackRequest(_Request):
    memory_id: Id
    feedback: str | None = None


def request_of(form: type[_Given], given: Mapping[str, Any]) -> _Given:
    try:
        return form.model_validate(given)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InvalidInput(f"`{place}`: {first['msg']}. Nothing was done.") from None


def body_of(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body) if body else {}
    except (ValueError, RecursionError):
        raise InvalidInput("The body is no JSON; send an object.") from None
    if not isinstance(found, dict):
        raise InvalidInput(f"The body is a {type(found).__name__}; send an object.")
    if isinstance(messages := found.get("messages"), str | dict):
        message = {"role": "user", "content": messages} if isinstance(messages, str) else messages
        found["messages"] = [message]
    return found


def parameters_of(given: Mapping[str, str]) -> dict[str, Any]:
    """The parameters of a URL. mem0's client puts filters there as Python writes them."""
    found: dict[str, Any] = dict(given)
    for name in ("filters", "metadata"):
        if name in found:
            found[name] = _object(name, found[name])
    return found


def _object(name: str, text: str) -> Any:
    for read in (json.loads, ast.literal_eval):
        try:
            found = read(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        if isinstance(found, dict):
            return found
    raise InvalidInput(f"`{name}` is no JSON object.")
