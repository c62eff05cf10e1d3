"""Libraries that only some models need: imported when first used, and missed with advice."""

from __future__ import annotations

import os
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from recollect.errors import ModelUnavailable


def imported(module: str, *, command: str) -> Any:
    """The module, or an error that names the command which installs it."""
    # onnxruntime reports its use over the network unless it is told not to before it is imported, here or by
    # a library that brings it along. What is remembered is nobody else's business.
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # noqa: TID251  # its only switch
    try:
        return import_module(module)
    except ImportError as error:
        missing = f"This model needs the library {module!r}, which cannot be imported ({error})"
        raise ModelUnavailable(f"{missing}; run: {command}") from error


def is_there(module: str) -> bool:
    """Whether the module could be imported, without importing it."""
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):
        return False
