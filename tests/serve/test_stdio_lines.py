"""Lines out of chunks, wherever they were cut."""

from __future__ import annotations

import pytest

from recollect.serve.mcp.stdio import whole_lines


@pytest.mark.parametrize(
    ("chunks", "lines"),
    [
        ([], []),
        ([b"one\ntwo\n"], [b"one", b"two"]),
        ([b"o", b"n", b"e\nt", b"wo\n"], [b"one", b"two"]),
        ([b"one\n", b"\n", b"two"], [b"one", b"", b"two"]),
        # Half of a letter in each chunk.
        (["é".encode()[:1], "é".encode()[1:], b"\n"], ["é".encode()]),
    ],
)
def test_a_line_is_whole_however_it_arrives(chunks: list[bytes], lines: list[bytes]) -> None:
    assert list(whole_lines(chunks)) == lines
