"""Numbers and texts as a sentence wants them."""

from __future__ import annotations


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """`1 observation`, `3 observations`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def size(count: int) -> str:
    """`3.4 MB`, in powers of a thousand as file managers count."""
    amount = float(count)
    for unit in ("bytes", "kB", "MB", "GB"):
        if amount < 1000:
            return f"{amount:,.0f} {unit}" if unit == "bytes" else f"{amount:,.1f} {unit}"
        amount /= 1000
    return f"{amount:,.1f} TB"


def shortened(text: str, width: int = 80) -> str:
    """On one line, cut where it is longer than this."""
    line = " ".join(text.split())
    return line if len(line) <= width else f"{line[: width - 1]}…"


def with_remedy(told: str) -> str:
    """What an answer tells of itself, with the command that mends it."""
    from recollect.engine.recall import WAITING  # noqa: PLC0415  # --help needs none
    from recollect.engine.whynot import MAY_WAIT  # noqa: PLC0415

    return f"{told} Run: recollect reindex" if told.endswith((WAITING, MAY_WAIT)) else told
