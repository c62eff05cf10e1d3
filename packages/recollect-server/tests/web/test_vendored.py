"""The dashboard's libraries are those that npm has, as the page beside them says."""

from __future__ import annotations

import re
from hashlib import sha256

from recollect_server.web.templating import STATIC

VENDOR = STATIC / "vendor"
ROW = re.compile(r"\| `([^`]+)` \| (\S+) \| (\S+) \| \S+ \| `([0-9a-f]{64})` \|")


def test_every_library_is_listed_with_its_hash_and_licence() -> None:
    rows = ROW.findall((VENDOR / "README.md").read_text(encoding="utf-8"))
    files = {path.name for path in VENDOR.iterdir()} - {"README.md", "LICENCES.txt"}
    assert {name for name, *_ in rows} == files
    licences = (VENDOR / "LICENCES.txt").read_text(encoding="utf-8")
    for name, package, version, digest in rows:
        assert sha256((VENDOR / name).read_bytes()).hexdigest() == digest, name
        assert f"== {package} {version} ==" in licences
