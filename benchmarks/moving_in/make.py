"""Run one maker in its peer's own environment: `python make.py NAME FOLDER` prints a last line of JSON."""

from __future__ import annotations

import json
import re
import sys
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

maker = import_module(f"makers.{sys.argv[1]}")
stores = maker.make(Path(sys.argv[2]))
names = [re.split(r"[\[=]", each)[0] for each in getattr(maker, "PEERS", maker.PACKAGES[:1])]
versions = {name: version(name) for name in names}
print("\n" + json.dumps({"versions": versions, "stores": stores}))
