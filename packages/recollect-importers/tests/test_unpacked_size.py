"""Files that hold far more than they weigh."""

from __future__ import annotations

import gzip
import json
import zipfile
from typing import TYPE_CHECKING

import pytest

from recollect.domain.errors import InvalidInput
from recollect.transfer import preview_path
from recollect.transfer.files import open_lines

if TYPE_CHECKING:
    from pathlib import Path

MUCH = 40 * 1024**2
TURN = {"role": "user", "content": "Ana moved to Lisbon"}


def test_a_zip_that_holds_far_more_than_it_weighs_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("conversations.json", "w") as member,
    ):
        member.write(b'[{"mapping": {"a": "')
        for _ in range(MUCH // 2**20):
            member.write(b"x" * 2**20)
        member.write(b'"}}]')
    assert path.stat().st_size < 100_000
    with pytest.raises(InvalidInput, match="over 100 times as many"):
        preview_path(path)


@pytest.mark.parametrize("name", ["conversations.json", "turns.jsonl"])
def test_a_gzip_file_that_grows_beyond_measure_is_read_no_further(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(json.dumps(TURN | {"x": "x" * MUCH}).encode()))
    assert path.stat().st_size < 100_000
    with pytest.raises(InvalidInput, match="over 100 times as many"):
        preview_path(path)


def test_what_repeats_itself_is_no_bomb_while_it_is_small(tmp_path: Path) -> None:
    path = tmp_path / "turns.jsonl.gz"
    path.write_bytes(gzip.compress((json.dumps(TURN) + "\n").encode() * 50_000))
    with open_lines(path) as source:
        assert sum(1 for _ in source.lines()) == 50_000
