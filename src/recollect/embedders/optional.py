"""Libraries that only some models need: imported when first used, and missed with advice."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from recollect.errors import ModelUnavailable


def imported(module: str, *, command: str) -> Any:
    """The module, or an error that names the command which installs it."""
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
