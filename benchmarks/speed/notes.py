"""Notes and conversations: remembering, finding names in texts, and asking for a context.

    python benchmarks/speed/notes.py --sizes 1k,10k,100k --json results.json

Peers, each skipped where it is missing: pip install chromadb pyahocorasick flashtext. What is measured, and
how, is told in `remembering.py`, `linking.py` and `asking.py`. All texts are made with a fixed seed.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from asking import asking
from facts import facts, write_json
from linking import linking
from remembering import MODEL, remembering
from timing import number

PARTS = ("remembering", "linking", "asking")


def main() -> None:
    options = _options()
    results: list[dict[str, Any]] = []
    for row in _rows(options):
        results.append(row)
        print(json.dumps(row))
        if options.json:  # after each row: a run of hours may be stopped
            plain = {
                "facts": facts("onnxruntime", "chromadb", "pyahocorasick", "flashtext") | {"model": MODEL},
                "results": results,
            }
            write_json(Path(options.json), plain)


def _rows(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    by_size: dict[str, Callable[[int, Path], Iterator[dict[str, Any]]]] = {
        "remembering": remembering,
        "asking": asking,
    }
    for part in options.parts.split(","):
        if part == "linking":
            with tempfile.TemporaryDirectory(prefix="recollect-bench-", dir=options.folder) as folder:
                yield from linking(options.sizes, Path(folder))
            continue
        for size in map(number, options.sizes.split(",")):
            with tempfile.TemporaryDirectory(prefix="recollect-bench-", dir=options.folder) as folder:
                yield from by_size[part](size, Path(folder))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sizes", default="1k,10k,100k", help="how many notes, names and memories")
    parser.add_argument("--parts", default=",".join(PARTS), help=f"some of: {', '.join(PARTS)}")
    parser.add_argument("--json", help="where to write the results")
    parser.add_argument("--folder", help="where to put the stores; the disk that is measured")
    return parser.parse_args()


if __name__ == "__main__":
    main()
