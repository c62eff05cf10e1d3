"""Write the software bill of materials of a release as CycloneDX JSON: `bill_of_materials.py [FILE]`.

uv makes it from the lock file, with the source and hash of each file; this script adds the licences.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from licences import UNKNOWN, licence_of
from locked import FRAMEWORKS, OURS, PACKAGES, ROOT, core, locked
from uv import find_uv_bin

# The adapters depend only on frameworks, which their users already have.
_PUBLISHED = (OURS, *(name for name in PACKAGES[1:] if name != "recollect-integrations"))


def bill_of_materials() -> dict[str, Any]:
    """Return the bill of all packages that users install, with every extra but without development tools."""
    exported = subprocess.run(
        [
            find_uv_bin(),
            "export",
            "--frozen",
            "--offline",
            "--no-dev",
            *(word for name in _PUBLISHED for word in ("--package", name)),
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
    _name_the_core(bill)
    bill["metadata"]["component"]["licenses"] = _licences("MIT")
    for component in bill["components"]:
        licence = licences.get(component["name"], UNKNOWN)
        if licence != UNKNOWN:
            component["licenses"] = _licences(licence)
    return bill


def _name_the_core(bill: dict[str, Any]) -> None:
    """Put the core in place of the workspace, which uv exports and which is never published."""
    workspace = bill["metadata"]["component"]
    (core,) = [component for component in bill["components"] if component["name"] == OURS]
    bill["metadata"]["component"] = core
    bill["components"].remove(core)
    bill["dependencies"] = [each for each in bill["dependencies"] if each["ref"] != workspace["bom-ref"]]


def _licences(licence: str) -> list[dict[str, Any]]:
    if " " in licence:
        return [{"expression": licence}]
    return [{"license": {"name": licence} if licence.startswith("LicenseRef-") else {"id": licence}}]


def main(*arguments: str) -> None:
    path = Path(arguments[0]) if arguments else ROOT / "dist" / f"{OURS}-{core()['version']}.cdx.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    bill = bill_of_materials()
    path.write_text(json.dumps(bill, indent=1) + "\n", encoding="utf-8")
    print(f"{path}: {len(bill['components'])} components")


if __name__ == "__main__":
    main(*sys.argv[1:])
