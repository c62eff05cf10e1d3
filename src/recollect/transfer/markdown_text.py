"""How Markdown files carry memories exactly: data in comments, which readers do not show, beside plain text.

A text stands between `<!-- recollect {…} -->` and `<!-- /recollect -->`; an observation or a relation is an
item of a list that ends with such a comment. The comments hold what has no other place, as JSON.
"""

from __future__ import annotations

import json
import re
from typing import Any

from recollect.errors import InvalidInput

START = "<!-- recollect "
END = "<!-- /recollect -->"
_MARK = re.compile(r"<!-- (\\*/?recollect)")
_ESCAPED = re.compile(r"<!-- \\(\\*/?recollect)")
# In comments: what would end them. In YAML and in text files: what some take for the end of a line.
_AS_ESCAPES = {">": "\\u003e", "\u2028": "\\u2028", "\u2029": "\\u2029", "\x85": "\\u0085"}


def escaped(text: str) -> str:
    """The text with nothing in it that looks like one of our comments."""
    return _MARK.sub(r"<!-- \\\1", text)


def unescaped(text: str) -> str:
    return _ESCAPED.sub(r"<!-- \1", text)


def json_value(value: object) -> str:
    """On one line, as JSON and as YAML."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    for letter, escape in _AS_ESCAPES.items():
        text = text.replace(letter, escape)
    return text


def comment(plain: dict[str, Any]) -> str:
    return f"{START}{json_value(plain)} -->"


def read_comment(text: str) -> dict[str, Any]:
    """The object in a comment of ours."""
    inner = text.strip().removeprefix(START.rstrip()).removesuffix("-->").strip()
    try:
        plain = json.loads(inner)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"The comment that begins {text[:40]!a} cannot be read: {error}.") from None
    if not isinstance(plain, dict):
        raise InvalidInput(f"The comment that begins {text[:40]!a} contains no JSON object.")
    return plain


def list_item(text: str, plain: dict[str, Any]) -> str:
    """An item of a list; further lines of its text are indented."""
    lines = escaped(text).replace("\n", "\n  ")
    return f"- {lines} {comment(plain)}\n"


def front_matter(plain: dict[str, Any]) -> str:
    lines = "".join(f"{key}: {json_value(value)}\n" for key, value in plain.items())
    return f"---\n{lines}---\n"


def read_front_matter(lines: list[str]) -> tuple[dict[str, Any], int]:
    """What stands between the first two lines of dashes, and how many lines that is.

    As we write it, and as editors rewrite it: words without quotes, and lists with an item to a line.
    """
    if not lines or lines[0].rstrip() != "---":
        raise InvalidInput("The file does not begin with `---`, so it is not a file of an export.")
    plain: dict[str, Any] = {}
    key = ""
    for number, line in enumerate(lines[1:], start=2):
        if line.rstrip() == "---":
            return plain, number
        name, colon, value = line.partition(":")
        if line.lstrip().startswith("- ") and key:
            items = plain[key] if isinstance(plain[key], list) else []
            plain[key] = [*items, _value(line.lstrip()[2:])]
        elif colon and not line[:1].isspace():
            key = name.strip()
            plain[key] = _value(value)
        elif line.strip():
            raise InvalidInput(f"Line {number} of the file is not `name: value`.")
    raise InvalidInput("The properties at the beginning of the file have no end; close them with `---`.")


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text.strip().strip("'")
