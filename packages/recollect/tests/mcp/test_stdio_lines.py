"""Lines out of chunks, wherever they were cut."""

from __future__ import annotations

import json

import mcp_types as types
import pytest

from recollect.mcp.stdio import error_answers, whole_lines


def test_a_line_is_whole_however_it_arrives() -> None:
    # In the last case, each chunk has half of a character.
    cases: list[tuple[list[bytes], list[bytes]]] = [
        ([], []),
        ([b"one\ntwo\n"], [b"one", b"two"]),
        ([b"o", b"n", b"e\nt", b"wo\n"], [b"one", b"two"]),
        ([b"one\n", b"\n", b"two"], [b"one", b"", b"two"]),
        (["é".encode()[:1], "é".encode()[1:], b"\n"], ["é".encode()]),
    ]
    assert [list(whole_lines(chunks)) for chunks, _ in cases] == [lines for _, lines in cases]


@pytest.mark.parametrize(
    "line",
    [
        {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"text": "x" * 5_000}},
        {"method": "tools/call", "params": {"text": "x" * 5_000}, "jsonrpc": "2.0", "id": 7},
        {"params": {"id": 1, "text": "x" * 5_000}, "id": 7, "jsonrpc": "2.0"},
    ],
)
@pytest.mark.parametrize("chunk", [1, 700, 10_000])
def test_a_line_that_is_too_long_is_answered_by_its_id_and_the_next_is_read(line: object, chunk: int) -> None:
    raw = json.dumps(line).encode() + b"\nnext\n"
    chunks = [raw[start : start + chunk] for start in range(0, len(raw), chunk)]
    stand_in, following = whole_lines(chunks, longest=4_000)
    assert following == b"next"
    assert len(stand_in) < 100
    with pytest.raises(ValueError, match="validation error") as caught:
        types.jsonrpc_message_adapter.validate_json(stand_in, by_name=False)
    (answer,) = error_answers(caught.value)
    assert answer.id == 7
    assert "at most 4 MiB are read" in answer.error.message
