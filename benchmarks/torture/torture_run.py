"""The saved progress of a run, in a folder from which the run can be resumed."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

_STATE = ".state.json"
MOST_FINDINGS = 100
"""Maximum findings stored per part: an error in every call need not be stored ten thousand times."""


@dataclass(slots=True)
class Part:
    """The progress of one part, its figures, and its findings."""

    unit: str
    planned: int
    done: int = 0
    seconds: float = 0.0
    figures: dict[str, Any] = field(default_factory=dict)
    findings: list[dict[str, Any]] = field(default_factory=list)

    @property
    def is_over(self) -> bool:
        return self.done >= self.planned

    @property
    def left(self) -> int:
        return self.planned - self.done

    def count(self, name: str, by: int = 1) -> None:
        self.figures[name] = self.figures.get(name, 0) + by

    def count_in(self, table: str, name: str, by: int = 1) -> None:
        counts = self.figures.setdefault(table, {})
        counts[name] = counts.get(name, 0) + by

    def highest(self, name: str, value: float) -> None:
        self.figures[name] = max(self.figures.get(name, value), value)

    def report_finding(self, what: str, **where: Any) -> None:
        """Store a finding; `where` has enough details to reproduce it."""
        self.count("findings")
        if len(self.findings) < MOST_FINDINGS:
            self.findings.append({"what": what, **where})


class Run:
    """The parts of a run. Each has its own file in the folder, so that several can run at the same time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.parts: dict[str, Part] = {}
        folder.mkdir(parents=True, exist_ok=True)
        self.read()

    def read(self) -> None:
        for path in sorted(self.folder.glob(f"*{_STATE}")):
            kept = json.loads(path.read_text(encoding="utf-8"))
            self.parts[path.name.removesuffix(_STATE)] = Part(**kept)

    def save(self, name: str) -> None:
        """Save a part atomically: after a kill, the run resumes from the previous step."""
        path = self.folder / f"{name}{_STATE}"
        new = path.with_suffix(".new")
        new.write_text(json.dumps(asdict(self.parts[name]), indent=1) + "\n", encoding="utf-8")
        new.replace(path)

    def as_json(self) -> dict[str, Any]:
        return {name: asdict(part) for name, part in self.parts.items()}
