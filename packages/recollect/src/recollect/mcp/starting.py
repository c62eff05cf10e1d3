"""Import the MCP library faster."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def quick_start() -> Iterator[None]:
    """Speed up the imports in the block: collect no garbage, and build each message class at its first use.

    Objects that imports create stay, so a garbage collection would find nothing. The library has message
    classes for all revisions of the protocol, but a session uses one revision.
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
