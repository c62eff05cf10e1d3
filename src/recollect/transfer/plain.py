"""A line of JSON into a mapping, and why it is none."""

from __future__ import annotations

import json
from typing import Any

from recollect.errors import InvalidInput


def object_of(content: bytes | None) -> dict[str, Any]:
    """The object on this line; `InvalidInput` says what is there instead."""
    if content is None:
        raise InvalidInput("The line is too long to be read.")
    try:
        plain = json.loads(content.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise InvalidInput(f"The line is not UTF-8 text: byte {error.start + 1} is wrong.") from None
    except json.JSONDecodeError as error:
        raise InvalidInput(f"The line is not JSON: {error.msg} at character {error.colno}.") from None
    except (ValueError, RecursionError) as error:  # a number of thousands of digits; brackets without end
        raise InvalidInput(f"The line cannot be read as JSON: {error}.") from None
    if not isinstance(plain, dict):
        raise InvalidInput(f"The line holds {_shown(plain)}, where an object was expected.")
    return plain


def line_of(plain: dict[str, object]) -> str:
    """One line, as the official server writes it: no spaces, and text as it is."""
    return json.dumps(plain, ensure_ascii=False, separators=(",", ":"), allow_nan=False) + "\n"


def _shown(plain: object) -> str:
    names = {list: "a list", str: "a text", bool: "a truth value", int: "a number", float: "a number"}
    return names.get(type(plain), "null")
