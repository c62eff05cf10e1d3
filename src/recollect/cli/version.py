"""Which Recollect this is."""

from __future__ import annotations


def version() -> str:
    from importlib.metadata import PackageNotFoundError  # noqa: PLC0415  # slow, and rarely asked for
    from importlib.metadata import version as installed  # noqa: PLC0415

    try:
        return installed("recollect-memory")
    except PackageNotFoundError:
        return "(run from its source, not installed)"
