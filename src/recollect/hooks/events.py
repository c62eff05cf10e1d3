"""A client's event as we need it, whichever client it is, and the answer in the form that it takes."""

from __future__ import annotations

import json
import re

from recollect.errors import InvalidInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

EVENTS = ("start", "prompt", "said", "turn")
"""A session began; a prompt, which wants an answer; a prompt, which does not; the agent has answered."""
_PROMPT_EVENTS = {"claude-code": "UserPromptSubmit", "codex": "UserPromptSubmit", "gemini": "BeforeAgent"}
_ANSWERS = ("last_assistant_message", "prompt_response", "text")
"""Claude Code and Codex, Gemini, Cursor."""
# What the user never said: commands of the client, and what it tells the model by itself.
_NOT_SAID = re.compile(
    r"\s*(?:/[A-Za-z][\w:.-]*(?:\s|$)|!|<(?:task-notification|system-reminder|command-)\b)"
)
_LONGEST_TEXT = 200_000
"""Letters of a message that are kept; what is longer is a file that somebody pasted."""
_LONGEST_NAME = 200


class HookEvent:
    __slots__ = ("begins_anew", "client", "kind", "session", "text", "transcript")

    def __init__(
        self, client: str, kind: str, session: str, text: str, transcript: str, *, begins_anew: bool
    ) -> None:
        self.client = client
        self.kind = kind
        self.session = session
        """The conversation's name in the memory."""
        self.text = text
        """The prompt, or what the agent answered; empty where there is nothing."""
        self.transcript = transcript
        """The client's own file of the conversation, where the event names one."""
        self.begins_anew = begins_anew
        """Whether the model has lost what it was given before in this session."""


def hook_event(client: str, kind: str, given: str) -> HookEvent:
    """Read what a client writes to standard input."""
    try:
        event = json.loads(given)
    except ValueError as error:
        raise InvalidInput(f"What {client} sent is no JSON: {error}") from error
    if not isinstance(event, dict):
        raise InvalidInput(f"What {client} sent is no JSON object.")
    session = _first(event, ("session_id", "conversation_id")) or "unnamed"
    text = _first(event, ("prompt",) if kind in {"prompt", "said"} else _ANSWERS) if kind != "start" else ""
    if kind in {"prompt", "said"} and _NOT_SAID.match(text):
        text = ""
    return HookEvent(
        client,
        kind,
        f"{client} {session}"[:_LONGEST_NAME],
        text[:_LONGEST_TEXT],
        _first(event, ("transcript_path",)),
        begins_anew=kind == "start" and event.get("source") in {"clear", "compact", "startup"},
    )


def injection(client: str, text: str) -> str:
    """What the client reads from standard output and gives to the model."""
    if client in _PROMPT_EVENTS:
        specific = {"hookEventName": _PROMPT_EVENTS[client], "additionalContext": text}
        return json.dumps({"hookSpecificOutput": specific})
    return json.dumps({"context": text})


def _first(event: Mapping[str, Any], names: tuple[str, ...]) -> str:
    """Without what no text may hold: a NUL, or half of a letter that somebody cut in two."""
    found = next((event[name] for name in names if isinstance(event.get(name), str)), "")
    return found.replace("\0", "").encode("utf-8", "replace").decode("utf-8")
