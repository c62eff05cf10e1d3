"""Lines of a text file with their positions, for error messages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from recollect.domain.errors import InvalidInput


def lines_of(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the position and the text of every line that is not blank."""
    try:
        with path.open("rb") as lines:
            for number, raw in enumerate(lines, 1):
                where = f"{path.name}, line {number}"
                try:
                    line = raw.decode().rstrip("\r\n")
                except UnicodeDecodeError as error:
                    raise InvalidInput(f"{where}: it is not UTF-8 text.") from error
                if line.strip():
                    yield where, line
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error}.") from error
