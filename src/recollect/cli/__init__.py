"""The command line."""

from __future__ import annotations


def program_version() -> str:
    from importlib.metadata import (
        PackageNotFoundError,  # slow, and rarely asked for
        version,
    )

    try:
        return version("recollect-memory")
    except PackageNotFoundError:
        return "(run from its source, not installed)"
