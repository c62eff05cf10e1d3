"""Pin the weights that an adapter makes: their sha256 and the model's revision, in `model.json`.

python models/train/pin.py models/arctic-memory
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))

from fetch import converted_files, fetched
from merge import merge_adapter, read_adapter


def pin(folder: Path) -> str:
    """Write the hash of the merged weights, and return it."""
    (package,) = folder.glob("recollect_model_*")
    descriptor = package / "model.json"
    model = json.loads(descriptor.read_text(encoding="utf-8"))
    plan = model["merged"]
    base = converted_files(descriptor, fetched(descriptor, folder / "weights"))[plan["base"]]
    found = hashlib.sha256(
        merge_adapter(base.read_bytes(), read_adapter(folder / plan["adapter"]))
    ).hexdigest()
    text = descriptor.read_text(encoding="utf-8")
    text = text.replace(plan["sha256"], found).replace(f'"{model["revision"]}"', f'"{found[:8]}"')
    descriptor.write_text(text, encoding="utf-8")
    return found


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(f"{name}: {pin(Path(name))}")
