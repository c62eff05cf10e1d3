"""How our server is started, and the entry that says so to a client."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import PurePath, PureWindowsPath
from typing import TYPE_CHECKING, Any

from recollect.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME = "recollect"
MODULE = "recollect.cli.main"
_ALLOWED = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True)
class Launch:
    """A command that works wherever it is run from: absolute paths, and nothing from the shell."""

    command: str
    arguments: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def line(self) -> str:
        """For a person to read; words with blanks stand in quotes."""
        words = (self.command, *self.arguments)
        return " ".join(f'"{word}"' if " " in word else word for word in words)

    @property
    def may_vanish(self) -> bool:
        """Whether it lies in the cache of uv, where `uvx` keeps what it runs until that is swept."""
        parts = PureWindowsPath(self.command).parts
        return any(part.startswith(("archive-v", "environments-v", "builds-v")) for part in parts)


def named(name: str) -> str:
    """A name that every client takes."""
    if not _ALLOWED.fullmatch(name):
        raise InvalidInput(
            f"{name!r} is no name for a server: up to 64 letters, digits, hyphens and underscores."
        )
    return name


def entry(launch: Launch, *, typed: bool) -> dict[str, Any]:
    made: dict[str, Any] = {"type": "stdio"} if typed else {}
    made |= {"command": launch.command, "args": list(launch.arguments)}
    if launch.variables:
        made["env"] = dict(launch.variables)
    return made


def is_ours(found: Any) -> bool:
    """Whether an entry starts Recollect, whatever else it says."""
    if not isinstance(found, dict):
        return False
    arguments = found.get("args")
    words = [found.get("command"), *(arguments if isinstance(arguments, list) else ())]
    texts = [word for word in words if isinstance(word, str)]
    return "serve" in texts and any(_names_us(word) for word in texts)


def _names_us(word: str) -> bool:
    # Windows paths part at both slashes, so this reads any system's.
    stem = PurePath(PureWindowsPath(word).name).stem.casefold()
    return stem in {NAME, f"{NAME}-memory"} or word == MODULE
