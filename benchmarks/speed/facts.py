"""Facts that every benchmark result includes, and writing results to a file."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

from recollect_bench.environment import facts as environment_facts


def facts(*packages: str) -> dict[str, str]:
    """Return facts of this machine and commit, and the versions of Recollect and these packages."""
    return environment_facts(datetime.now(UTC), ("apsw", "numpy", *packages))


def write_json(path: Path, results: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
