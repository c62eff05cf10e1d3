"""What `uv.lock` names: every package with its versions, and for whom it is installed."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
OURS = "recollect-memory"
ALWAYS = "always"
DEVELOPMENT = "development"


@dataclass(frozen=True, slots=True)
class Locked:
    """A package, its versions (several where Pythons or systems differ), and who gets it."""

    name: str
    versions: tuple[str, ...]
    folder: Path | None
    """Where it is one of our own."""
    used_by: tuple[str, ...]
    """`always`, or names of extras, or `development`."""


def locked(lock: Path = ROOT / "uv.lock") -> list[Locked]:
    """All but ourselves, by name."""
    packages: dict[str, list[dict[str, Any]]] = {}
    for package in tomllib.loads(lock.read_text(encoding="utf-8"))["package"]:
        packages.setdefault(package["name"], []).append(package)
    (ours,) = packages[OURS]
    always = _closure(packages, ours["dependencies"])
    extras = {name: _closure(packages, needs) for name, needs in ours["optional-dependencies"].items()}

    def used_by(name: str) -> tuple[str, ...]:
        if name in always:
            return (ALWAYS,)
        found = tuple(sorted(extra for extra, names in extras.items() if name in names))
        return found or (DEVELOPMENT,)

    return [
        Locked(name, tuple(sorted(one["version"] for one in some)), _folder(some[0], lock), used_by(name))
        for name, some in sorted(packages.items())
        if name != OURS
    ]


def _closure(packages: dict[str, list[dict[str, Any]]], needs: list[dict[str, Any]]) -> set[str]:
    """All that comes along; we ourselves, of whom our own packages ask, are left out."""
    seen: set[tuple[str, str]] = set()
    left = [(need["name"], extra) for need in needs for extra in ("", *need.get("extra", ()))]
    while left:
        name, extra = left.pop()
        if name == OURS or (name, extra) in seen:
            continue
        seen.add((name, extra))
        for package in packages[name]:
            more = (
                package.get("optional-dependencies", {}).get(extra, ())
                if extra
                else package.get("dependencies", ())
            )
            left += [(need["name"], other) for need in more for other in ("", *need.get("extra", ()))]
    return {name for name, _ in seen}


def _folder(package: dict[str, Any], lock: Path) -> Path | None:
    source = package["source"]
    place = source.get("directory") or source.get("editable")
    return None if place is None else lock.parent / place
