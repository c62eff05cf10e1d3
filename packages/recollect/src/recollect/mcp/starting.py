"""Load the protocol's library quickly."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def quick_start() -> Iterator[None]:
    """A context for imports: without garbage collection, and with messages built at their first use.

    Loading only makes things that stay, so a collector that looks through them finds nothing; and a session
    uses one revision of the protocol, while the library builds the messages of all of them.
    """
    from pydantic import BaseModel  # noqa: PLC0415  # part of the library that this makes lighter

    gc.disable()
    BaseModel.model_config["defer_build"] = True
    try:
        yield
    finally:
        BaseModel.model_config.pop("defer_build")
        gc.enable()
        gc.freeze()
