"""Format numbers and texts for people."""

from __future__ import annotations

import re


def quantity(number: int, noun: str, plural: str | None = None) -> str:
    """Write a number with its noun: `1 observation`, `3 observations`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def memories_text(number: int) -> str:
    return quantity(number, "memory", "memories")


def entities_text(number: int) -> str:
    return quantity(number, "entity", "entities")


def decimals(number: float) -> str:
    """Format with four decimals; with three significant digits if they would show 0, or from 10,000 on."""
    sign, size = "−" * (number < 0), abs(number)
    return sign + (f"{size:.4f}" if size == 0 or 0.00005 <= size < 10_000 else f"{size:.3g}")


def signed(number: float) -> str:
    """Format with four decimals and a sign."""
    return f"{'' if number < 0 else '+'}{decimals(number)}"


def file_size(count: int) -> str:
    """Write a file size such as `3.4 MB`, in powers of 1,000."""
    if count < 1000:
        return f"{count} bytes"
    amount = count / 1000
    for unit in ("kB", "MB", "GB"):
        if amount < 1000:
            return f"{amount:,.1f} {unit}"
        amount /= 1000
    return f"{amount:,.1f} TB"


def ellipsize(text: str, width: int = 80) -> str:
    """Put the text on one line, and shorten it to this width."""
    line = " ".join(text.split())
    return line if len(line) <= width else f"{line[: width - 1]}…"


# Stored text for display: hidden characters become visible, and quotes separate it from other text.

# Control characters except new lines and tabs; line separators; direction marks; invisible characters
# that language models read. Joiners are not hidden: emoji and many scripts need them.
_HIDDEN = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u2028\u2029\u202a-\u202e\u2066-\u206f\ufff9-\ufffb\U000e0000-\U000e007f]"
)


def visible(text: str) -> str:
    """Escape control and hidden characters as JSON does, except new lines and tabs.

    A JSON document keeps its meaning.
    """
    return text if text.isprintable() else _HIDDEN.sub(lambda found: _escape(found[0]), text)


def _escape(char: str) -> str:
    units = char.encode("utf-16-be").hex()
    return "".join(f"\\u{units[start : start + 4]}" for start in range(0, len(units), 4))


def one_line(text: str) -> str:
    return visible(" ".join(text.split()))


def quoted(text: str) -> str:
    """Write the text on one line as a JSON string, so that no quote in it ends the string."""
    line = " ".join(text.split()).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{visible(line)}"'


def origin_of(speaker: str | None, session: str | None, source: str | None) -> list[str]:
    """Return the known origin of a text: the speaker, and the session or else the source."""
    said = [quoted(speaker)] if speaker else []
    if session:
        return [*said, f"session {quoted(session)}"]
    return [*said, f"from {quoted(source)}"] if source else said
