"""mem0's metadata, kept as tags of a note: one for each key, such as `topic="food"`.

A note's tags are stored, exported, copied and purged with it, no search reads them as words, and a tag that
is asked for narrows the search itself.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

from recollect.errors import InvalidInput
from recollect.text.limits import TYPE_LIMIT
from recollect.text.tokens import fold

MOST_KEYS = 50
LONGEST_KEY = 60
LONGEST_METADATA = 10_000
"""Characters of JSON."""
# Quoted once more, a piece takes at most twice as many characters and two marks; the key stands before it.
_PIECE_LENGTH = 60
_PIECE = re.compile(r"(\d+)/\d+=(.*)", re.DOTALL)


def metadata_tags(metadata: Mapping[str, Any]) -> tuple[str, ...]:
    """A value that is too long for one tag takes several: `key=1/3="…"`."""
    if len(metadata) > MOST_KEYS:
        raise InvalidInput(f"`metadata` has {len(metadata)} keys; at most {MOST_KEYS} are kept.")
    if len({fold(key) for key in metadata}) < len(metadata):
        raise InvalidInput("Two keys of `metadata` differ by case or accents alone; rename one of them.")
    tags = [tag for key, value in metadata.items() for tag in _tags(key, value)]
    if sum(map(len, tags)) > LONGEST_METADATA:
        raise InvalidInput(
            f"`metadata` takes more than {LONGEST_METADATA:,} characters; put long texts into the memory."
        )
    return tuple(tags)


def metadata_of(tags: Iterable[str]) -> tuple[dict[str, Any], list[str]]:
    """The metadata that tags hold, and the tags that hold none."""
    found: dict[str, Any] = {}
    plain: list[str] = []
    pieces: dict[str, dict[int, str]] = {}
    for tag in tags:
        key, _, text = tag.partition("=")
        piece = _PIECE.fullmatch(text)
        if not _is_key(key):
            plain.append(tag)
            continue
        try:
            if piece is not None:
                pieces.setdefault(key, {})[int(piece[1])] = str(_value(piece[2]))
            else:
                found.setdefault(key, _value(text))
        except (ValueError, RecursionError):
            plain.append(tag)
    for key, those in pieces.items():
        try:
            found[key] = _value("".join(those[place] for place in sorted(those)))
        except (ValueError, RecursionError):  # one of them was taken away
            plain += [tag for tag in tags if tag.startswith(f"{key}=")]
    return found, plain


def merged_tags(tags: Iterable[str], metadata: Mapping[str, Any]) -> tuple[str, ...]:
    """These tags, with metadata in the place of what its keys held."""
    before, plain = metadata_of(tags)
    keys = {fold(key) for key in metadata}
    kept = {key: value for key, value in before.items() if fold(key) not in keys}
    return (*plain, *metadata_tags({**kept, **metadata}))


def _tags(key: str, value: Any) -> list[str]:
    if not _is_key(key):
        raise InvalidInput(
            f"A key of `metadata` has 1 to {LONGEST_KEY} characters, no space around it, and no '='; "
            f"rename {key[:LONGEST_KEY]!r}."
        )
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        if not unicodedata.is_normalized("NFC", text):  # a tag is kept in that form, a value as it is
            text = json.dumps(value, separators=(",", ":"))
    except (ValueError, RecursionError):
        raise InvalidInput(f"`metadata` of {key!r} is no JSON that can be kept; simplify it.") from None
    if len(key) + 1 + len(text) <= TYPE_LIMIT:
        return [f"{key}={text}"]
    pieces = [text[start : start + _PIECE_LENGTH] for start in range(0, len(text), _PIECE_LENGTH)]
    return [
        f"{key}={place}/{len(pieces)}={json.dumps(piece, ensure_ascii=False)}"
        for place, piece in enumerate(pieces, start=1)
    ]


def _is_key(name: str) -> bool:
    is_clean = name == unicodedata.normalize("NFC", name).strip() and "=" not in name
    return is_clean and 0 < len(name) <= LONGEST_KEY


def _value(text: str) -> Any:
    return json.loads(text, parse_constant=_no_number)


def _no_number(name: str) -> NoReturn:
    raise ValueError(name)
