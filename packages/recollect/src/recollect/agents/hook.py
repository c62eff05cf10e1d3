"""Run one hook: queue the message, ask for relevant memories, print them, and exit.

A hook never fails a prompt: it always exits with status 0. At its deadline it logs a line and exits without
output. Queueing the message may take a second more.
"""

from __future__ import annotations

import json
import os
import re
import sys
import threading
import time

from recollect.agents.hook_files import (
    HookSettings,
    address_path,
    hook_settings,
    hooks_folder,
    is_claimed,
    note_event,
    put_waiting,
)
from recollect.agents.wire import NoListener, ask, read_address
from recollect.domain.errors import InvalidInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, NoReturn

EVENTS = ("start", "prompt", "said", "turn")
"""The kinds of event.

`start`: a session starts. `prompt`: the user sent a prompt, which gets memories. `said`: the user sent a
prompt to a client that cannot add memories to it. `turn`: the agent has answered.
"""
_PROMPT_EVENTS = {"claude-code": "UserPromptSubmit", "codex": "UserPromptSubmit", "gemini": "BeforeAgent"}
_ANSWERS = ("last_assistant_message", "prompt_response", "text")
"""The fields that may contain the agent's answer: in Claude Code and Codex, in Gemini, in Cursor."""
# Commands to the client, and its notes to the model, are not stored as the user's words.
_NOT_A_MESSAGE = re.compile(
    r"\s*(?:/[A-Za-z][\w:.-]*(?:\s|$)|!|<(?:task-notification|system-reminder|command-)\b)"
)
_LONGEST_TEXT = 200_000
"""Maximum number of stored characters of a message; longer messages are pasted files."""
_LONGEST_NAME = 200


class HookEvent:
    __slots__ = ("client", "context_lost", "kind", "session", "text", "transcript")

    def __init__(
        self, client: str, kind: str, session: str, text: str, transcript: str, *, context_lost: bool
    ) -> None:
        self.client: str = client
        self.kind: str = kind
        self.session: str = session
        """The conversation's name in the memory."""
        self.text: str = text
        """The prompt, or the agent's answer; may be empty."""
        self.transcript: str = transcript
        """The client's transcript, if the event names one."""
        self.context_lost: bool = context_lost
        """Whether the model lost its context in this session."""


def hook_event(client: str, kind: str, raw_json: str) -> HookEvent:
    """Read the event that a client writes to standard input."""
    try:
        event = json.loads(raw_json)
    except ValueError as error:
        raise InvalidInput(f"{client} sent invalid JSON: {error}") from error
    if not isinstance(event, dict):
        raise InvalidInput(f"{client} sent JSON that is not an object.")
    session = _text_in(event, ("session_id", "conversation_id")) or "unnamed"
    text = _text_in(event, ("prompt",) if kind in {"prompt", "said"} else _ANSWERS) if kind != "start" else ""
    if kind in {"prompt", "said"} and _NOT_A_MESSAGE.match(text):
        text = ""
    return HookEvent(
        client,
        kind,
        f"{client} {session}"[:_LONGEST_NAME],
        text[:_LONGEST_TEXT],
        _text_in(event, ("transcript_path",)),
        context_lost=kind == "start" and event.get("source") in {"clear", "compact", "startup"},
    )


def injection(client: str, text: str) -> str:
    """Return the JSON that the client reads from standard output."""
    if client in _PROMPT_EVENTS:
        specific = {"hookEventName": _PROMPT_EVENTS[client], "additionalContext": text}
        return json.dumps({"hookSpecificOutput": specific})
    return json.dumps({"context": text})


def _text_in(event: Mapping[str, Any], names: tuple[str, ...]) -> str:
    """Return the first text in these fields, without NUL and lone surrogates, which the store refuses."""
    found = next((event[name] for name in names if isinstance(event.get(name), str)), "")
    return found.replace("\0", "").encode("utf-8", "replace").decode("utf-8")


_LONGEST_INPUT = 8_000_000
_NON_BLOCKING_SECONDS = 3.0
"""Deadline of events that do not block a prompt. It is shorter than the clients' own timeouts."""
_BETWEEN_TRIES_SECONDS = 0.02
_EXTRA_SECONDS_TO_QUEUE = 1.0
"""Seconds after its deadline in which a hook may still queue the message."""


def run_hook(words: Sequence[str], began: float) -> NoReturn:
    """Run one event; `words` are the client, the event, and options."""
    client, kind = [*words, "", ""][:2]
    folder = ""
    try:
        settings = hook_settings(words[2:], os.environ)
        folder = settings.folder
        _Hook(settings, client, kind, began).run()
    except Exception as error:  # noqa: BLE001  # no error may stop the prompt
        detail = f"{type(error).__name__}: {error}"
        note_event(folder or hooks_folder(), client, kind, "error", ms=_elapsed(began), detail=detail)
    finally:
        os._exit(0)  # even if the log cannot be written


class _Hook:
    def __init__(self, settings: HookSettings, client: str, kind: str, began: float) -> None:
        self.settings = settings
        self.client = client
        self.kind = kind
        self.began = began
        seconds = settings.deadline_ms / 1000 if kind in {"prompt", "said"} else _NON_BLOCKING_SECONDS
        self.deadline = began + seconds
        self.stored = threading.Event()
        self.ending = threading.Lock()
        self.starting = threading.Lock()
        self.started = False

    def run(self) -> None:
        if self.kind not in EVENTS:
            raise InvalidInput(f"There is no hook event {self.kind!r}; use one of: {', '.join(EVENTS)}.")
        threading.Thread(target=self._end_at_the_deadline, daemon=True).start()
        raw_json = sys.stdin.buffer.read(_LONGEST_INPUT).decode("utf-8-sig", "replace")
        event = hook_event(self.client, self.kind, raw_json)
        more = self._queue_message(event)
        self.stored.set()
        outcome, found, answer = self._handle_event(event)
        self.ending.acquire()  # from here on, the deadline cannot end the process
        if answer:
            sys.stdout.write(f"{injection(self.client, answer)}\n")
            sys.stdout.flush()
        self._note(outcome, {**more, **found})

    def _end_at_the_deadline(self) -> None:
        time.sleep(max(0.0, self.deadline - time.monotonic()))
        self.stored.wait(_EXTRA_SECONDS_TO_QUEUE)
        self.ending.acquire()
        if not is_claimed(self.settings.folder, self.settings.key):
            self._start_listener()  # otherwise a slow machine would never start one
        self._note("late", {})
        os._exit(0)

    def _note(self, outcome: str, more: dict[str, Any]) -> None:
        note_event(self.settings.folder, self.client, self.kind, outcome, ms=_elapsed(self.began), **more)

    def _queue_message(self, event: HookEvent) -> dict[str, Any]:
        """Queue the message. Return additional fields for the log."""
        transcript = event.transcript if event.kind == "turn" and not event.text else ""
        if not event.text and not transcript:
            return {}
        row = {
            "client": event.client,
            "session": event.session,
            "role": "assistant" if event.kind == "turn" else "user",
            "text": event.text,
            "transcript": transcript,
            "at": time.time(),
            "owner": self.settings.owner,
            "agent": self.settings.agent,
            "allows_secrets": self.settings.allows_secrets,
        }
        dropped = put_waiting(self.settings.folder, self.settings.key, json.dumps(row))
        return {"detail": f"dropped {dropped} older messages: the queue is full"} if dropped else {}

    def _handle_event(self, event: HookEvent) -> tuple[str, dict[str, Any], str]:
        """Send the event to the listener. Return the outcome, fields for the log, and the text to inject."""
        asks = event.kind == "prompt" and bool(event.text)
        request = {
            "do": "prompt" if asks else "capture",
            "owner": self.settings.owner,
            "agent": self.settings.agent,
            "session": event.session,
            "text": event.text if asks else "",
            "forget_shown": event.context_lost,
            "budget_tokens": self.settings.budget_tokens,
        }
        try:
            reply = self._ask_listener(request, waits=asks)
        except TimeoutError:
            return "late", {}, ""
        if not asks:
            return ("skipped" if event.kind == "prompt" else "noted"), {}, ""
        if reply is None:
            return "starting", {}, ""
        if "error" in reply:
            return "error", {"detail": str(reply["error"])}, ""
        answer = str(reply.get("answer") or "")
        return ("answered", {"memories": reply.get("memories", 0)}, answer) if answer else ("silent", {}, "")

    def _ask_listener(self, request: dict[str, Any], *, waits: bool) -> dict[str, Any] | None:
        """Return the listener's answer; None while the listener starts."""
        place = self.settings.folder, self.settings.key
        while True:
            left = self.deadline - time.monotonic()
            if is_claimed(*place):
                address = read_address(address_path(*place))
                if address is not None:
                    try:
                        return ask(address, request, max(left, 0.001))
                    except NoListener:
                        pass
            else:
                self._start_listener()
            if not waits or left < _BETWEEN_TRIES_SECONDS:
                return None
            time.sleep(_BETWEEN_TRIES_SECONDS)

    def _start_listener(self) -> None:
        """Start a listener as a detached process without the hook's pipes, so that it outlives the client."""
        import subprocess  # noqa: PLC0415  # slow to load, and few hooks need it

        detached: dict[str, Any] = {"start_new_session": True}
        if sys.platform == "win32":
            detached = {"creationflags": subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP}
        path = os.path.join(self.settings.folder, "resident-errors.txt")
        with self.starting:  # the deadline must not interrupt this
            if self.started:
                return
            errors = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                subprocess.Popen(  # noqa: S603  # our own program
                    [sys.executable, "-P", "-m", "recollect.agents.listener", *self.settings.resident],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=errors,
                    **detached,
                )
            finally:
                os.close(errors)
            self.started = True


def _elapsed(began: float) -> int:
    return round(1000 * (time.monotonic() - began))
