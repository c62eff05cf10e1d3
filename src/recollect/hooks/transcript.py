"""The last answer in a client's own file of a conversation, for clients whose event only names that file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_TAIL_BYTES = 1_000_000
"""The end of the file that is read: a long session has hundreds of megabytes."""


def last_answer(path: str) -> str:
    """What the agent said after the last prompt; empty where the file has none, or cannot be read.

    Lines of Claude Code, `{"type": "assistant", "message": {"content": […]}}`, and of Codex,
    `{"type": "response_item", "payload": {"role": "assistant", "content": […]}}`. Others are passed over.
    """
    try:
        with Path(path).open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - _TAIL_BYTES))
            lines = file.read(_TAIL_BYTES).splitlines()
    except OSError:
        return ""
    for line in reversed(lines):
        try:
            row = json.loads(line)
        except ValueError:
            continue  # cut off at its beginning, or not yet written to its end
        if not isinstance(row, dict) or row.get("isMeta") or row.get("isSidechain"):
            continue
        message = row.get("message") if row.get("type") in {"user", "assistant"} else row.get("payload")
        if not isinstance(message, dict):
            continue
        text = _words(message.get("content"))
        if message.get("role") == "assistant" and text:
            return text
        if message.get("role") == "user" and text:
            return ""
    return ""


def _words(content: Any) -> str:
    """Without thoughts, tools and what tools answered, ours among them."""
    if isinstance(content, str):
        return content.strip()
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    texts = [
        block.get("text") for block in blocks if block.get("type") in {"text", "output_text", "input_text"}
    ]
    return "\n".join(text for text in texts if isinstance(text, str)).strip()
