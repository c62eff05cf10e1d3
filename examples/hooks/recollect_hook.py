"""A hook for Claude Code and Codex: it recalls before the agent answers, and saves what was said.

Run it as `python3 recollect_hook.py`, with the event on standard input, as both clients give it. It answers
SessionStart and UserPromptSubmit with memories, and stores the talk at PreCompact, SessionEnd or Stop (Claude
Code; Codex writes its transcripts in another way). Words after the script's name are the command to run
instead of `recollect`. Whatever goes wrong, it says nothing and ends well: a memory must not be in the way.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

PROGRAM = tuple(sys.argv[1:]) or ("recollect",)
AT_START = "preferences, decisions, plans and open work"
BUDGET_TOKENS = 600
SECONDS = 15
IMPORT = "--import"


def main() -> None:
    event: dict[str, Any] = json.load(sys.stdin)
    match event.get("hook_event_name"):
        case "SessionStart":
            answer(event, recalled(AT_START))
        case "UserPromptSubmit":
            answer(event, recalled(str(event.get("prompt", ""))))
        case "PreCompact" | "SessionEnd" | "Stop" if event.get("transcript_path"):
            save(str(event["session_id"]), Path(event["transcript_path"]))


def recalled(query: str) -> str:
    """On standard input, since a prompt may look like an option."""
    command = [*PROGRAM, "context", "--budget", str(BUDGET_TOKENS), "-"]
    done = subprocess.run(  # noqa: S603  # the user's own command
        command, input=query.encode(), capture_output=True, timeout=SECONDS, check=False
    )
    return done.stdout.decode("utf-8", "replace").strip()


def answer(event: dict[str, Any], memories: str) -> None:
    if memories:
        text = f"From the user's memory (Recollect), which may bear on this:\n{memories}"
        specific = {"hookEventName": event["hook_event_name"], "additionalContext": text}
        print(json.dumps({"hookSpecificOutput": specific}))


def save(session: str, transcript: Path) -> None:
    """In a process that lives on: a client that is closing does not wait for its hooks."""
    rows = [
        {"session": f"claude-code {session}", **turn}
        for turn in turns(transcript.read_text(encoding="utf-8"))
    ]
    if rows:
        handle, name = tempfile.mkstemp(suffix=".jsonl")
        with open(handle, "w", encoding="utf-8") as file:  # noqa: PTH123  # made by handle, for us alone to read
            file.writelines(f"{json.dumps(row)}\n" for row in rows)
        subprocess.Popen(  # noqa: S603  # this script again
            [sys.executable, __file__, IMPORT, name, *PROGRAM],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )


def import_turns(file: str, program: list[str]) -> None:
    """Turns that are known are passed over, so a talk may be saved again and again as it grows."""
    try:
        command = [*program, "chat-import", file, "--format", "turns", "--extract"]
        subprocess.run(command, capture_output=True, check=False)  # noqa: S603  # the user's own command
    finally:
        Path(file).unlink()


def turns(transcript: str) -> Iterator[dict[str, str]]:
    """What the user and the agent said to each other."""
    for line in transcript.splitlines():
        row = json.loads(line)
        if row.get("type") not in {"user", "assistant"} or row.get("isMeta") or row.get("isSidechain"):
            continue
        text = said(row["message"].get("content"))
        if text and not text.startswith(("<command-", "<local-command-")):
            yield {"role": row["type"], "content": text, "at": row["timestamp"]}


def said(content: Any) -> str:
    """The words, without thoughts, tools and what tools answered."""
    if isinstance(content, str):
        return content.strip()
    blocks = content if isinstance(content, list) else []
    return "\n".join(block["text"] for block in blocks if block.get("type") == "text").strip()


if __name__ == "__main__":
    try:
        if sys.argv[1:2] == [IMPORT]:
            import_turns(sys.argv[2], sys.argv[3:])
        else:
            main()
    except (OSError, ValueError, KeyError, TypeError, AttributeError, subprocess.SubprocessError):
        sys.exit(0)
