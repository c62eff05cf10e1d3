"""Stored text as a reader is shown it: nothing in it is hidden, and it cannot pass for what stands around it.

Anyone may have written what a memory says, who said it and where it comes from. So whatever shows such a text
to a language model puts it through `quoted`, and whatever shows one to a person through `visible`.
"""

from __future__ import annotations

import re

# Control and escape characters but for new lines and tabs, what ends a line, what reorders what follows it,
# and letters that nobody sees but a language model reads. Joiners stay: emoji and many scripts need them.
_HIDDEN = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u2028\u2029\u202a-\u202e\u2066-\u206f\ufff9-\ufffb\U000e0000-\U000e007f]"
)


def visible(text: str) -> str:
    """The text with control and hidden characters as JSON escapes them; new lines and tabs stay.

    Of JSON it is the same JSON.
    """
    return text if text.isprintable() else _HIDDEN.sub(lambda found: _escape(found[0]), text)


def _escape(letter: str) -> str:
    units = letter.encode("utf-16-be").hex()
    return "".join(f"\\u{units[start : start + 4]}" for start in range(0, len(units), 4))


def one_line(text: str) -> str:
    return visible(" ".join(text.split()))


def quoted(text: str) -> str:
    """The text on one line, as a JSON string: only its last character ends it, whatever it holds."""
    line = " ".join(text.split()).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{visible(line)}"'


def origin_of(speaker: str | None, session: str | None, source: str | None) -> list[str]:
    """Who said a text and where it comes from, as far as that is known: the session, else the source."""
    said = [quoted(speaker)] if speaker else []
    if session:
        return [*said, f"session {quoted(session)}"]
    return [*said, f"from {quoted(source)}"] if source else said
