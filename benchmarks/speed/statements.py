"""Count the SQL statements of a block, on every connection that the store opens."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import apsw


class Count:
    def __init__(self) -> None:
        self.statements = 0

    def __call__(self, _cursor: Any, _sql: str, _bindings: Any) -> bool:
        self.statements += 1
        return True


@contextmanager
def counting() -> Iterator[Count]:
    """Connections that are opened within the block count; the hook costs time, so nothing is timed in it."""
    count = Count()

    def watch(connection: apsw.Connection) -> None:
        connection.exec_trace = count

    apsw.connection_hooks.append(watch)
    try:
        yield count
    finally:
        apsw.connection_hooks.remove(watch)
