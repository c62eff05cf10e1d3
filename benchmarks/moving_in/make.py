"""Runs one maker in its peer's own environment: `python make.py NAME FOLDER` ends with a line of JSON."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

maker = import_module(f"makers.{sys.argv[1]}")
made = maker.make(Path(sys.argv[2]))
versions = {name: version(name) for name in maker.PACKAGES[:1]}
print("\n" + json.dumps({"versions": versions, "stores": made}))
