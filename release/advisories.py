"""List known vulnerabilities of the locked packages: `python release/advisories.py`. It runs pip-audit.

Exit status: 0 if none is known, 1 if some are, 3 if a service could not be reached for some.
pip-audit alone prints "No known vulnerabilities found" even if it could not look up any package.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from locked import locked
from uv import find_uv_bin

AUDITOR = "pip-audit>=2.10,<3"
FOUND, NOT_KNOWN = 1, 3
_SERVICES = ("pypi", "osv")


@dataclass(slots=True)
class Audit:
    """Packages as `name==version`: all, those that were looked up, and their vulnerabilities."""

    asked: set[str]
    known: set[str] = field(default_factory=set)
    vulnerable: dict[str, list[str]] = field(default_factory=dict)
    trouble: str = ""

    @property
    def open(self) -> set[str]:
        return self.asked - self.known

    @property
    def status(self) -> int:
        return FOUND if self.vulnerable else NOT_KNOWN if self.open else 0

    def read(self, report: dict[str, Any]) -> None:
        """Add a report of pip-audit; packages that it skipped stay open."""
        for found in report["dependencies"]:
            if "skip_reason" in found:
                self.trouble = found["skip_reason"]
                continue
            name = f"{found['name']}=={found['version']}"
            self.known.add(name)
            if found["vulns"]:
                self.vulnerable[name] = [
                    f"{each['id']}, fixed in {', '.join(each['fix_versions']) or 'no version yet'}"
                    for each in found["vulns"]
                ]

    def text(self) -> str:
        lines = [f"{name}: {each}" for name, some in sorted(self.vulnerable.items()) for each in some]
        seen = f"{len(self.known)} of {len(self.asked)} locked packages were looked up"
        lines.append(f"{seen}; of these, {len(self.vulnerable)} have known vulnerabilities.")
        if self.open:
            why = self.trouble or "no reason given"
            lines.append(f"NOT looked up: {len(self.open)}. The advisory service did not answer: {why}")
            lines.append("Run it again where pypi.org or api.osv.dev can be reached.")
        return "\n".join(lines)


def audit() -> Audit:
    """Look up all locked packages in PyPI's advisories, and those that stay open in OSV's."""
    versions = [
        [f"{each.name}=={version}" for version in each.versions] for each in locked() if each.folder is None
    ]
    result = Audit({one for some in versions for one in some})
    for service in _SERVICES:
        # pip-audit takes one version of a package at a time.
        for round_ in zip_longest(*(sorted(set(some) & result.open) for some in versions)):
            _ask(service, filter(None, round_), result)
    return result


def _ask(service: str, packages: Iterable[str], result: Audit) -> None:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "locked.txt"
        file.write_text("\n".join(packages), encoding="utf-8")
        done = subprocess.run(
            [
                *(find_uv_bin(), "tool", "run", "--from", AUDITOR, "pip-audit", "--requirement", str(file)),
                *("--no-deps", "--disable-pip", "--vulnerability-service", service, "--format", "json"),
            ],
            check=False,
            capture_output=True,
            text=True,
        )
    try:
        result.read(json.loads(done.stdout))
    except ValueError:  # pip-audit failed before it wrote a report
        result.trouble = (done.stderr.strip().splitlines() or ["pip-audit gave no reason"])[-1][:300]


def main() -> int:
    result = audit()
    print(result.text())
    return result.status


if __name__ == "__main__":
    sys.exit(main())
