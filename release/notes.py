"""Print the release notes of a version from the changelog: `python release/notes.py [TAG] [FILE]`.

It exits with 1 and names the differences unless the tag, the changelog and all files with the version agree.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from locked import OURS, PACKAGES, ROOT, core, project

_HEADING = re.compile(r"^## (?P<version>\S+)(?: - (?P<date>\d{4}-\d{2}-\d{2}))?$", re.MULTILINE)
_OURS_PINNED = re.compile(r"recollect-(?:memory|importers|integrations|postgres|server)\b")
_LINK = re.compile(r"\]\((?!https?://|#)([^)]+)\)")


class NotReady(Exception):
    """Something must be written before this version can be released."""


def stated_versions(root: Path = ROOT) -> Iterator[tuple[str, str]]:
    """Yield each file that states the version, and the version in it."""
    for name in PACKAGES:
        package = project(root / "packages" / name)
        where = f"packages/{name}/pyproject.toml"
        yield where, package["version"]
        wanted = [*package["dependencies"], *chain(*package.get("optional-dependencies", {}).values())]
        yield from ((where, each.rpartition("==")[2]) for each in wanted if _OURS_PINNED.match(each))
    server = _read_json(root / "server.json")
    yield "server.json, version", server["version"]
    for package in server["packages"]:
        yield "server.json, packages", package["version"]
        for argument in package["runtimeArguments"]:
            yield f"server.json, {argument['name']}", argument["value"].rpartition("==")[2]
    client = root / "clients" / "typescript"
    yield "clients/typescript/package.json", _read_json(client / "package.json")["version"]
    lock = _read_json(client / "package-lock.json")
    yield "clients/typescript/package-lock.json", lock["version"]
    yield "clients/typescript/package-lock.json, packages", lock["packages"][""]["version"]
    locked = tomllib.loads((root / "uv.lock").read_text(encoding="utf-8"))["package"]
    ours = {OURS, *PACKAGES}
    yield from (("uv.lock", package["version"]) for package in locked if package["name"] in ours)
    images = re.findall(r"image: recollect-memory:(\S+)", (root / "compose.yaml").read_text(encoding="utf-8"))
    yield from (("compose.yaml", image) for image in images)
    pages = (root / "docs" / "guides" / "containers.md").read_text(encoding="utf-8")
    yield from (
        ("docs/guides/containers.md", image) for image in re.findall(r"recollect-memory:(\d\S+)", pages)
    )


def release_notes(tag: str | None = None, root: Path = ROOT) -> str:
    """Return the changelog's section of the core's version, if all files agree on it."""
    version = str(core(root)["version"])
    if tag is not None and tag != f"v{version}":
        raise NotReady(f"The tag is {tag}, and the packages say {version}; tag v{version}, or change it.")
    others = [f"{where} says {said}" for where, said in stated_versions(root) if said != version]
    if others:
        raise NotReady(f"packages/recollect says {version}, but {'; '.join(others)}.")
    changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = list(_HEADING.finditer(changelog))
    for place, heading in enumerate(headings):
        if heading["version"] == version:
            end = headings[place + 1].start() if place + 1 < len(headings) else len(changelog)
            section = changelog[heading.end() : end].strip()
            if heading["date"] is None or not section:
                raise NotReady(f"CHANGELOG.md's section {version} needs a date and at least one line.")
            # From a release's page, pages of the repository are two steps up, at the tag.
            return _LINK.sub(rf"](../../blob/v{version}/\1)", section) + "\n"
    raise NotReady(f"CHANGELOG.md has no section `## {version} - DATE`; rename `## Unreleased` to it.")


def _read_json(path: Path) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return read


def main(*arguments: str) -> int:
    tag, *file = arguments or (None,)
    try:
        notes = release_notes(tag)
    except NotReady as error:
        print(error, file=sys.stderr)
        return 1
    if file:
        Path(file[0]).write_text(notes, encoding="utf-8")
    else:
        print(notes, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
