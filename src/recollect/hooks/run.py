"""What a hook does: leave what was said for capturing, ask what bears on a prompt, print it, and be gone.

It never fails a prompt and never delays one: whatever happens, it ends with 0, and at its deadline at the
latest, with nothing printed and a line in the log.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from recollect.errors import InvalidInput, RecollectError
from recollect.hooks.events import EVENTS, HookEvent, hook_event, injection
from recollect.hooks.log import note_event
from recollect.hooks.places import address_path, put_waiting
from recollect.hooks.wire import NobodyListens, ask, read_address
from recollect.settings import Settings, load

_LONGEST_INPUT = 8_000_000
_NO_HURRY_SECONDS = 5.0
"""For an event that no prompt waits for."""
_BETWEEN_TRIES_SECONDS = 0.02
_OPTIONS = ("store", "owner", "agent", "model")
_ALLOW_SECRETS = "--allow-secrets"


def main(words: Sequence[str], began: float) -> NoReturn:
    """Run one event; `words` are the client, the event, and options as `recollect` takes them."""
    client, kind = [*words, "", ""][:2]
    printing = threading.Lock()
    try:
        settings, allows_secrets = _settings_of(words[2:])
        if kind not in EVENTS:
            raise InvalidInput(f"There is no event {kind!r}; there are: {', '.join(EVENTS)}.")
        deadline = began + (settings.hook_deadline_ms / 1000 if kind == "prompt" else _NO_HURRY_SECONDS)
        _end_at(deadline, printing, client, kind, began)
        event = hook_event(client, kind, sys.stdin.buffer.read(_LONGEST_INPUT).decode("utf-8", "replace"))
        outcome, more, answer = _done(settings, event, words[2:], deadline, allows_secrets=allows_secrets)
        printing.acquire()  # from here on the deadline lets us finish
        if answer:
            sys.stdout.write(f"{injection(client, answer)}\n")
            sys.stdout.flush()
        note_event(client, kind, outcome, ms=_elapsed(began), **more)
    except (RecollectError, OSError, ValueError, TypeError, KeyError, RuntimeError) as error:
        note_event(client, kind, "error", ms=_elapsed(began), detail=f"{type(error).__name__}: {error}")
    os._exit(0)


def _done(
    settings: Settings, event: HookEvent, options: Sequence[str], deadline: float, *, allows_secrets: bool
) -> tuple[str, dict[str, Any], str]:
    """What became of the event, what else to log, and the text for the model."""
    lost = 0
    if event.text or (event.kind == "turn" and event.transcript):
        lost = put_waiting(settings, json.dumps(_waiting(settings, event, allows_secrets=allows_secrets)))
    more: dict[str, Any] = {"detail": f"{lost} older messages gave way"} if lost else {}
    if event.kind == "prompt" and not event.text:
        return "skipped", more, ""
    request = {
        "do": "prompt" if event.kind == "prompt" else "capture",
        "owner": settings.owner,
        "agent": settings.agent,
        "session": event.session,
        "text": event.text if event.kind == "prompt" else "",
        "forget_shown": event.begins_anew,
        "budget_tokens": settings.hook_budget_tokens,
    }
    reply = _asked(settings, request, options, deadline, waits=event.kind == "prompt")
    if event.kind != "prompt":
        return "noted", more, ""
    if reply is None:
        return "starting", more, ""
    answer = reply.get("answer")
    if not isinstance(answer, str) or not answer:
        return ("error" if "error" in reply else "silent"), {**more, **_detail(reply)}, ""
    return "answered", {**more, "memories": reply.get("memories", 0)}, answer


def _asked(
    settings: Settings, request: dict[str, Any], options: Sequence[str], deadline: float, *, waits: bool
) -> dict[str, Any] | None:
    """The answer of whoever has the store open; None where nobody has, and somebody is on the way."""
    path, started = address_path(settings), False
    while True:
        address = read_address(path)
        left = deadline - time.monotonic()
        if address is not None:
            try:
                return ask(address, request, max(left, 0.001))
            except NobodyListens:
                pass
        if not started:
            _start_resident(options)
            started = True
            if not waits:
                return None
        if left < _BETWEEN_TRIES_SECONDS:
            return None
        time.sleep(_BETWEEN_TRIES_SECONDS)


def _start_resident(options: Sequence[str]) -> None:
    """A process that stays: it must not hold the hook's pipes, nor end with the client."""
    import subprocess  # noqa: PLC0415  # seldom needed, and slow to load

    detached: dict[str, Any] = {"start_new_session": True}
    if sys.platform == "win32":
        detached = {"creationflags": subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP}
    words = [word for word in options if word != _ALLOW_SECRETS]
    subprocess.Popen(  # noqa: S603  # ourselves
        [sys.executable, "-m", "recollect.hooks.resident", *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=Path.home(),
        **detached,
    )


def _waiting(settings: Settings, event: HookEvent, *, allows_secrets: bool) -> dict[str, Any]:
    return {
        "client": event.client,
        "session": event.session,
        "role": "assistant" if event.kind == "turn" else "user",
        "text": event.text,
        "transcript": event.transcript if event.kind == "turn" and not event.text else "",
        "at": time.time(),
        "owner": settings.owner,
        "agent": settings.agent,
        "allows_secrets": allows_secrets or settings.hook_secrets,
    }


def _settings_of(options: Sequence[str]) -> tuple[Settings, bool]:
    given: dict[str, object] = {}
    words = [word for word in options if word != _ALLOW_SECRETS]
    if len(words) % 2:
        raise InvalidInput(f"{words[-1]!r} stands alone; options are {', '.join(f'--{name}' for name in _OPTIONS)}.")
    for option, value in zip(words[::2], words[1::2], strict=True):
        if option.removeprefix("--") not in _OPTIONS:
            raise InvalidInput(f"There is no option {option!r} for a hook.")
        given[option.removeprefix("--")] = value
    return load(given)[0], _ALLOW_SECRETS in options


def hook_settings(options: Sequence[str]) -> Settings:
    """The settings that a hook's options and its environment stand for."""
    return _settings_of(options)[0]


def _end_at(deadline: float, printing: threading.Lock, client: str, kind: str, began: float) -> None:
    """End this process at the deadline, wherever it stands, unless it prints already."""

    def end() -> None:
        time.sleep(max(0.0, deadline - time.monotonic()))
        printing.acquire()
        note_event(client, kind, "late", ms=_elapsed(began))
        os._exit(0)

    threading.Thread(target=end, daemon=True).start()


def _elapsed(began: float) -> int:
    return round(1000 * (time.monotonic() - began))


def _detail(reply: Mapping[str, Any]) -> dict[str, Any]:
    return {"detail": str(reply["error"])} if "error" in reply else {}
