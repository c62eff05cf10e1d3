"""The frozen files are those that commit e6f1f72 gave: nobody made them fit."""

from __future__ import annotations

from hashlib import sha256

import pytest
from compare import HERE

DIGESTS = {
    "imports.json": "1931c5f12de83ddc",
    "reads.json": "cc432de3d51dda1f",
    "store.json": "ffc98fb51a8074f9",
    "tool-definitions.json": "b07eb665e7080b93",
    "tools.json": "1fed63467fc69242",
    "bench.jsonl": "9e2a153ace151239",
    "commands.jsonl": "5b6dd5d477200797",
    "contexts.jsonl": "3de952708fe9c05a",
    "export-full.jsonl": "0a7798c07b972f02",
    "export-official.jsonl": "3bc74352f87fa98d",
    "rankings-corners.jsonl": "4c3fe18ae54f81e4",
    "rankings.jsonl": "119d28e4f3be19b3",
    "why_not.jsonl": "d2cf20a9c08e466d",
    "store-v5.db.gz": "24b14d6bc1db66a6",
}


@pytest.mark.parametrize("name", DIGESTS)
def test_a_frozen_file_is_as_it_was(name: str) -> None:
    assert sha256((HERE / name).read_bytes()).hexdigest()[:16] == DIGESTS[name]


def test_every_frozen_file_is_known() -> None:
    found = {path.name for path in HERE.iterdir() if path.suffix in {".json", ".jsonl", ".gz"}}
    assert found == set(DIGESTS)
