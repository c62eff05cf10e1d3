"""The adapters' pages in `docs/integrations`: their code runs, with the release that they name."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

PAGES = Path(__file__).parents[2] / "docs" / "integrations"


def run_page(name: str, package: str, folder: Path) -> str:
    """What the code of a page prints, as one script in a folder of its own."""
    text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    assert f"Tested with {package} {version(package)}" in text
    script = "\n".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL))
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=folder, check=False, capture_output=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
