"""Reads the forms that pages send."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.requests import Request

_MOST_FIELDS = 200


async def form_fields(request: Request) -> dict[str, str]:
    """The texts of a form without files, by name; of several under one name, the last."""
    async with request.form(max_files=0, max_fields=_MOST_FIELDS) as form:
        return {name: value.strip() for name, value in form.items() if isinstance(value, str)}
