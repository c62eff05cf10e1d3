"""Import the library of the protocol faster."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def quick_start() -> Iterator[None]:
    """Return a context for imports without garbage collection, in which messages are built at first use.

    Imports create only objects that stay, so a garbage collection finds nothing. The library builds the
    messages of all revisions of the protocol, but a session uses one revision.
    """
    from pydantic import BaseModel  # noqa: PLC0415  # part of the library that is to load faster

    gc.disable()
    BaseModel.model_config["defer_build"] = True
    try:
        yield
    finally:
        BaseModel.model_config.pop("defer_build")
        gc.enable()
        gc.freeze()
