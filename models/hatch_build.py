"""Puts a model's fetched and checked weights into its wheel. Shared by every model beside it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

# Hatchling is only in the build environment, and carries no types: hence the two ignores.
from hatchling.builders.hooks.plugin.interface import (  # type: ignore[import-not-found,unused-ignore]
    BuildHookInterface,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

# Hatchling runs this file by its path, so its neighbours are not yet importable.
sys.path.insert(0, str(Path(__file__).parent))

from fetch import fetched, write


class ModelWeights(BuildHookInterface):  # type: ignore[misc,unused-ignore]
    """Runs once per build, before the wheel's files are listed."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        folder = Path(self.root)
        if self.target_name != "wheel":
            raise SystemExit(f"A model is published as a wheel only: uv build --wheel models/{folder.name}")
        if version == "editable":
            raise SystemExit(f"A model is data, with nothing to edit: pip install models/{folder.name}")
        (package,) = folder.glob("recollect_model_*")
        files = fetched(package / "model.json", folder / "weights")
        if (folder / "convert.py").is_file():
            files = _converted(folder, files)
        for name, path in files.items():
            build_data["force_include"][str(path)] = f"{package.name}/{name}"


def _converted(folder: Path, files: Mapping[str, Path]) -> Mapping[str, Path]:
    """What the model's own `convert.py` makes of the one fetched file."""
    sys.path.insert(0, str(folder))
    from convert import converted

    (fetched_file,) = files.values()
    made = converted(fetched_file.read_bytes())
    paths = {name: folder / "weights" / name for name in made}
    for name, content in made.items():
        write(paths[name], content)
    return paths
