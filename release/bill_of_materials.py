"""The software bill of materials of a release: `bill_of_materials.py [FILE]`, as CycloneDX JSON.

uv makes it from the lock, with where each file comes from and its hash; we add the licences.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

from licences import UNKNOWN, licence_of
from locked import FRAMEWORKS, OURS, ROOT, locked
from uv import find_uv_bin


def bill_of_materials() -> dict[str, Any]:
    """What users get, with every extra; nothing of development."""
    exported = subprocess.run(
        [
            find_uv_bin(),
            "export",
            "--frozen",
            "--offline",
            "--no-dev",
            "--all-extras",
            *(word for name in sorted(FRAMEWORKS) for word in ("--no-extra", name)),
            "--format",
            "cyclonedx1.5",
            "--quiet",
        ],
        check=True,
        capture_output=True,
        cwd=ROOT,
    )
    bill: dict[str, Any] = json.loads(exported.stdout)
    licences = {package.name: licence_of(package) for package in locked()}
    bill["metadata"]["component"]["licenses"] = _licences("MIT")
    for component in bill["components"]:
        licence = licences.get(component["name"], UNKNOWN)
        if licence != UNKNOWN:
            component["licenses"] = _licences(licence)
    return bill


def _licences(licence: str) -> list[dict[str, Any]]:
    if " " in licence:
        return [{"expression": licence}]
    return [{"license": {"name": licence} if licence.startswith("LicenseRef-") else {"id": licence}}]


def main(*arguments: str) -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    path = Path(arguments[0]) if arguments else ROOT / "dist" / f"{OURS}-{version}.cdx.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    bill = bill_of_materials()
    path.write_text(json.dumps(bill, indent=1) + "\n", encoding="utf-8")
    print(f"{path}: {len(bill['components'])} components")


if __name__ == "__main__":
    main(*sys.argv[1:])
