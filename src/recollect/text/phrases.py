"""Numbers and texts as people read them."""

from __future__ import annotations


def quantity(number: int, noun: str, plural: str | None = None) -> str:
    """`1 observation`, `3 observations`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def memories_text(number: int) -> str:
    return quantity(number, "memory", "memories")


def entities_text(number: int) -> str:
    return quantity(number, "entity", "entities")


def decimals(number: float) -> str:
    """Four decimals, or three digits where those would show nothing."""
    return f"{number:.4f}" if number == 0 or 0.00005 <= abs(number) < 10_000 else f"{number:.3g}"


def file_size(count: int) -> str:
    """`3.4 MB`, in powers of a thousand as file managers count."""
    if count < 1000:
        return f"{count} bytes"
    amount = count / 1000
    for unit in ("kB", "MB", "GB"):
        if amount < 1000:
            return f"{amount:,.1f} {unit}"
        amount /= 1000
    return f"{amount:,.1f} TB"


def ellipsize(text: str, width: int = 80) -> str:
    """The text on one line, cut where it is longer than this."""
    line = " ".join(text.split())
    return line if len(line) <= width else f"{line[: width - 1]}…"
