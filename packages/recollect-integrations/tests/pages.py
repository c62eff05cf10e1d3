"""The pages under docs/guides/integrations: their examples run, and they name what was tested."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def check_page(name: str, *packages: str, folder: Path, locked: str = "requirements.txt") -> None:
    """Run a page's Python blocks as one program, and find its output in the page's text blocks."""
    page = (ROOT / f"docs/guides/integrations/{name}.md").read_text(encoding="utf-8")
    lock = (ROOT / "packages/recollect-integrations/tests" / locked).read_text(encoding="utf-8")
    for package in packages:
        (release,) = re.findall(rf"^{package}==([^\s;]+)", lock, re.MULTILINE)
        assert f"{package} {release}" in page, f"The page does not name the tested {package} {release}"
    blocks = {
        kind: [text for found, text in _BLOCK.findall(page) if found == kind] for kind in ("python", "text")
    }
    program = [sys.executable, "-c", "\n".join(blocks["python"])]
    done = subprocess.run(program, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "".join(blocks["text"]), done.stdout
