"""Which Recollect this is."""

from __future__ import annotations


def version() -> str:
    from importlib.metadata import PackageNotFoundError  # slow, and rarely asked for
    from importlib.metadata import version as installed

    try:
        return installed("recollect-memory")
    except PackageNotFoundError:
        return "(run from its source, not installed)"
