"""The packages in `uv.lock`, with their versions and the extras that install them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
OURS = "recollect-memory"
PACKAGES = (
    "recollect",
    *(f"recollect-{name}" for name in ("importers", "integrations", "postgres", "server")),
)
"""The folders in `packages`, the core first. All have the same version."""
ALWAYS = "always"
DEVELOPMENT = "development"
FRAMEWORKS = frozenset(
    (
        *("adk", "agent-framework", "anthropic", "crewai", "haystack", "langchain", "langgraph"),
        *("llama-index", "openai-agents", "pydantic-ai", "strands"),
    )
)
"""Extras of adapters. They only state the framework's versions, because their users have it already."""


@dataclass(frozen=True, slots=True)
class Locked:
    """A package, its versions (several if Pythons or systems differ), and the extras that install it."""

    name: str
    versions: tuple[str, ...]
    folder: Path | None
    """Folder of the package, if it is one of ours."""
    used_by: tuple[str, ...]
    """`always`, or names of extras, or `development`."""


def locked(lock: Path = ROOT / "uv.lock") -> list[Locked]:
    """Return all packages by name, except the core and the dependencies of frameworks."""
    packages: dict[str, list[dict[str, Any]]] = {}
    for package in tomllib.loads(lock.read_text(encoding="utf-8"))["package"]:
        packages.setdefault(package["name"], []).append(package)
    (ours,), (workspace,) = packages[OURS], packages["recollect-workspace"]
    by_user = {
        ALWAYS: _closure(packages, ours["dependencies"]),
        **{
            name: _closure(packages, needs)
            for name, needs in ours["optional-dependencies"].items()
            if name not in FRAMEWORKS
        },
        DEVELOPMENT: _closure(packages, chain(*workspace["dev-dependencies"].values())),
    }

    def used_by(name: str) -> tuple[str, ...]:
        users = sorted(user for user, found in by_user.items() if name in {each for each, _ in found})
        if ALWAYS in users:
            return (ALWAYS,)
        return tuple(user for user in users if user != DEVELOPMENT) or (DEVELOPMENT,)

    versions: dict[str, list[str]] = {}
    for name, version in sorted(set().union(*by_user.values())):
        versions.setdefault(name, []).append(version)
    return [
        Locked(name, tuple(some), _folder(packages[name][0], lock), used_by(name))
        for name, some in versions.items()
    ]


def project(folder: Path) -> dict[str, Any]:
    read: dict[str, Any] = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return read


def core(root: Path = ROOT) -> dict[str, Any]:
    """Return the core's name, version, extras and dependencies."""
    return project(root / "packages" / PACKAGES[0])


def _closure(
    packages: dict[str, list[dict[str, Any]]], needs: Iterable[dict[str, Any]]
) -> set[tuple[str, str]]:
    """Return everything that is installed for these needs, with versions, except the core itself."""
    seen: set[tuple[str, str]] = set()
    done: set[tuple[str, str, str]] = set()
    left = [(need, extra) for need in needs for extra in ("", *need.get("extra", ()))]
    while left:
        need, extra = left.pop()
        for package in packages[need["name"]]:
            # If there are several versions, a need names one of them.
            name, version = package["name"], package["version"]
            if (
                (name == OURS and not extra)
                or version != need.get("version", version)
                or (name, version, extra) in done
            ):
                continue
            done.add((name, version, extra))
            if name != OURS:
                seen.add((name, version))
            more = (
                package.get("optional-dependencies", {}).get(extra, ())
                if extra
                else package.get("dependencies", ())
            )
            left += [(each, other) for each in more for other in ("", *each.get("extra", ()))]
    return seen


def _folder(package: dict[str, Any], lock: Path) -> Path | None:
    source = package["source"]
    place = source.get("directory") or source.get("editable")
    return None if place is None else lock.parent / place
