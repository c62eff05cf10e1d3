"""The hooks of each client: its events, where it lists them, and how it wants a command."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from recollect.clients.catalogue import Machine
from recollect.clients.entry import SAFE_MODULE_OPTIONS
from recollect.clients.hook_lists import HOOKS_MODULE, HookList
from recollect.errors import InvalidInput
from recollect.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class HookClient:
    name: str
    title: str
    events: Mapping[str, str]
    """What the client calls an event, and what we call it."""
    user: Callable[[Machine], PurePath]
    project: str
    next: str
    """What to do before it runs the hooks."""
    list: HookList | None = None
    """None: its hooks are a program, a plugin."""
    timeout: int = 5
    """In the client's own unit. We are much quicker; this is for a machine that hangs."""
    grouped: bool = True
    """Whether an entry is a group of hooks."""

    def file(self, machine: Machine, project: PurePath | None = None) -> PurePath:
        return self.user(machine) if project is None else project.joinpath(*self.project.split("/"))

    def entries(self, python: str, options: Sequence[str], system: str) -> dict[str, dict[str, Any]]:
        """What to list, by the client's event."""
        return {
            event: self._entry(_line([*_words(python, self.name), ours, *options], system))
            for event, ours in self.events.items()
        }

    def _entry(self, line: str) -> dict[str, Any]:
        hook: dict[str, Any] = {"command": line, "timeout": self.timeout}
        if not self.grouped:
            return hook
        named = {"name": "recollect"} if self.name == "gemini" else {}
        return {"hooks": [{"type": "command", **named, **hook}]}


def _words(python: str, client: str) -> list[str]:
    return [python, *SAFE_MODULE_OPTIONS, HOOKS_MODULE, client]


def _line(words: Sequence[str], system: str) -> str:
    """As a shell reads it."""
    if system != "win32":
        return shlex.join(words)
    return " ".join(f'"{word}"' if any(sign in word for sign in " &()^") else word for word in words)


_ALL = (
    HookClient(
        "claude-code",
        "Claude Code",
        {"SessionStart": "start", "UserPromptSubmit": "prompt", "Stop": "turn"},
        lambda machine: (
            (machine.folder_in("CLAUDE_CONFIG_DIR") or machine.home / ".claude") / "settings.json"
        ),
        ".claude/settings.local.json",
        "Start a new session; `/hooks` shows them.",
        HookList(),
    ),
    HookClient(
        "codex",
        "Codex",
        {"SessionStart": "start", "UserPromptSubmit": "prompt", "Stop": "turn"},
        lambda machine: (machine.folder_in("CODEX_HOME") or machine.home / ".codex") / "hooks.json",
        ".codex/hooks.json",
        "Start a new session and trust them in `/hooks`: Codex runs no hook that you have not reviewed.",
        HookList(),
    ),
    HookClient(
        "gemini",
        "Gemini CLI",
        {"SessionStart": "start", "BeforeAgent": "prompt", "AfterAgent": "turn"},
        lambda machine: machine.home / ".gemini" / "settings.json",
        ".gemini/settings.json",
        "Start a new session; `/hooks` shows them.",
        HookList(comments=True),
        timeout=5000,
    ),
    HookClient(
        "opencode",
        "opencode",
        {"session.created": "start", "chat.message": "prompt", "session.idle": "turn"},
        lambda machine: (
            (machine.folder_in("XDG_CONFIG_HOME") or machine.home / ".config")
            / "opencode"
            / "plugin"
            / "recollect.js"
        ),
        ".opencode/plugin/recollect.js",
        "Start opencode again.",
        timeout=5000,
    ),
    HookClient(
        "cursor",
        "Cursor",
        {"sessionStart": "start", "beforeSubmitPrompt": "said", "afterAgentResponse": "turn"},
        lambda machine: machine.home / ".cursor" / "hooks.json",
        ".cursor/hooks.json",
        "Restart Cursor. What is said is kept. Its hooks cannot put anything before a prompt: for recalling "
        "there is the server, recollect mcp install cursor.",
        HookList(comments=True, version=1),
        grouped=False,
    ),
)
HOOK_CLIENTS = {client.name: client for client in _ALL}


def hook_client_named(name: str) -> HookClient:
    try:
        return HOOK_CLIENTS[name]
    except KeyError:
        raise InvalidInput(
            f"No hooks are known for {name!r}; there are: {', '.join(HOOK_CLIENTS)}."
        ) from None


PLUGIN_MARK = f"// Written by `recollect hooks install opencode`; it runs {HOOKS_MODULE}."


def opencode_plugin(client: HookClient, python: str, options: Sequence[str]) -> str:
    """The plugin, whole: opencode has no list of hooks."""
    words = json.dumps(_words(python, client.name))
    return _PLUGIN.format(
        mark=PLUGIN_MARK, words=words, options=json.dumps(list(options)), milliseconds=client.timeout
    )


_PLUGIN = """\
{mark}
import {{ spawn }} from "node:child_process"

const COMMAND = {words}
const OPTIONS = {options}

/** What the hook prints; empty where it has nothing to say, fails or takes too long. */
function run(event, given) {{
  return new Promise((resolve) => {{
    try {{
      const [program, ...words] = [...COMMAND, event, ...OPTIONS]
      const child = spawn(program, words, {{ stdio: ["pipe", "pipe", "ignore"], windowsHide: true }})
      const timer = setTimeout(() => child.kill(), {milliseconds})
      let printed = ""
      child.stdout.on("data", (piece) => (printed += piece))
      child.on("error", () => resolve(""))
      child.on("close", () => {{
        clearTimeout(timer)
        resolve(printed)
      }})
      child.stdin.on("error", () => {{}})
      child.stdin.end(JSON.stringify(given))
    }} catch {{
      resolve("")
    }}
  }})
}}

const isSaid = (part) => part.type === "text" && !part.synthetic && !part.ignored
const said = (parts) => (parts ?? []).filter(isSaid).map((part) => part.text).join("\\n")

export const Recollect = async ({{ client }}) => {{
  await run("start", {{ session_id: "opencode", source: "resume" }})
  const told = new Map()
  return {{
    "chat.message": async (input, output) => {{
      const printed = await run("prompt", {{ session_id: input.sessionID, prompt: said(output.parts) }})
      if (!printed) return
      try {{
        const text = JSON.parse(printed).context
        const id = "prt_" + output.message.id.replace(/^[a-z]+_/, "") + "z"
        const place = {{ id, sessionID: input.sessionID, messageID: output.message.id }}
        output.parts.push({{ ...place, type: "text", text, synthetic: true }})
      }} catch {{}}
    }},
    event: async ({{ event }}) => {{
      if (event.type !== "session.idle") return
      try {{
        const id = event.properties.sessionID
        const found = await client.session.messages({{ path: {{ id }} }})
        const last = (found.data ?? []).filter((each) => each.info.role === "assistant").at(-1)
        if (!last || told.get(id) === last.info.id) return
        told.set(id, last.info.id)
        await run("turn", {{ session_id: id, last_assistant_message: said(last.parts) }})
      }} catch {{}}
    }},
  }}
}}
"""
