"""Answers to messages that cannot be parsed."""

from __future__ import annotations

import mcp_types as types
import pytest

from recollect.mcp.stdio import error_answers


def unread(line: str) -> Exception:
    """The SDK's error of a line that it cannot read."""
    with pytest.raises(ValueError, match="validation error") as caught:
        types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    return caught.value


def test_a_request_gets_an_answer_by_its_id() -> None:
    for line, id_ in (
        (r'{"jsonrpc": "2.0", "id": 3, "method": "ping", "params": {"text": "half \ud83d"}}', 3),
        (r'{"jsonrpc": "2.0", "id": "a", "method": "ping", "params": {"text": "\udc00"}}', "a"),
        ('{"id": 6, "method": "ping"}', 6),
    ):
        (answer,) = error_answers(unread(line))
        assert (answer.id, answer.error.code) == (id_, types.PARSE_ERROR)
        assert answer.error.message.startswith("The message cannot be read: ")


def test_each_request_of_a_batch_gets_an_answer() -> None:
    batch = (
        '[{"jsonrpc": "2.0", "id": 1, "method": "ping"}, {"jsonrpc": "2.0", "method": "notifications/x"}, '
        '{"jsonrpc": "2.0", "id": "b", "method": "tools/list"}, {"jsonrpc": "2.0", "id": 3, "result": {}}]'
    )
    answers = error_answers(unread(batch))
    assert [answer.id for answer in answers] == [1, "b"]
    assert {answer.error.code for answer in answers} == {types.INVALID_REQUEST}
    assert "send each message on its own line" in answers[0].error.message
    half = r'[{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"text": "\ud83d"}}]'
    assert [answer.error.code for answer in error_answers(unread(half))] == [types.INVALID_REQUEST]


@pytest.mark.parametrize(
    "line",
    [
        "",
        "this is no message",
        "[" * 10_000,
        '{"method": "ping"}',
        r'{"jsonrpc": "2.0", "method": "notifications/progress", "params": {"text": "\ud83d"}}',
        r'{"jsonrpc": "2.0", "id": 3, "result": {"text": "\ud83d"}}',
        r'{"jsonrpc": "2.0", "id": true, "method": "ping", "params": {"text": "\ud83d"}}',
        r'["\ud83d"]',
        "[]",
        '[{"jsonrpc": "2.0", "method": "notifications/initialized"}, 5, null, [{"id": 1, "method": "ping"}]]',
    ],
    ids=lambda line: line[:30],
)
def test_nobody_waits_for_an_answer_to_anything_else(line: str) -> None:
    assert error_answers(unread(line)) == []
    assert error_answers(OSError("the pipe broke")) == []
