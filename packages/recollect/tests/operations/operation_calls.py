"""Calls of operations by name, as the HTTP API makes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recollect.operations.catalogue import http_operations

if TYPE_CHECKING:
    from recollect.engine import Engine


def called(engine: Engine, name: str, /, **given: Any) -> Any:
    """Call an operation and return its result."""
    return http_operations()[name].call(engine, given).result


def every_page(engine: Engine, name: str, rows: str, /, **given: Any) -> list[Any]:
    """Return the rows of all pages."""
    found: list[Any] = []
    cursor = None
    for _ in range(1_000):
        page = called(engine, name, cursor=cursor, **given)
        found += page[rows]
        cursor = page.get("cursor")
        if cursor is None:
            return found
    raise AssertionError(f"{name} never ends")
