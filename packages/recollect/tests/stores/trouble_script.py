"""The first lines of scripts that provoke errors in a process of their own."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING

from durable_world import (
    apply,
    entities,
    entity,
    found_by_meaning,
    found_by_words,
    lost_writes,
    thing_name,
    write_things,
)
from store_worker import SHARED_FROM

from recollect.domain.errors import RecollectError
from recollect.stores.sqlite import connection
from recollect.stores.sqlite.store import SqliteStore
from recollect.stores.vectors import cache as vector_cache
from recollect.write.repository import Repository

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Repository", "SqliteStore", "apply", "attempt", "become_nobody", "entities", "entity"]
__all__ += ["found_by_meaning", "found_by_words", "lost_writes", "thing_name", "write_things"]

NOBODY = 65534

vector_cache.WORTH_SHARING = SHARED_FROM


def attempt(act: Callable[[], object]) -> None:
    """Call the function, and print the result or the error in one line."""
    try:
        act()
        print("fine")  # noqa: T201
    except RecollectError as error:
        print(type(error).__name__, error)  # noqa: T201


def become_nobody() -> None:
    """If we are root, which may do anything, switch to the user `nobody`.

    First load the modules that `nobody` may not read.
    """
    if os.getuid() != 0:
        return
    with tempfile.TemporaryDirectory() as folder:
        store = Repository(SqliteStore(f"{folder}/store.db"))
        write_things(store, "a", 0, 2)
        store.verify()
        store.close()
    steps = connection.migrations()
    connection.migrations = lambda: steps
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)
