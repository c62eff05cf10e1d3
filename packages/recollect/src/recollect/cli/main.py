"""The entry point: all commands by task, each loaded only when it runs."""

from __future__ import annotations

import atexit
import io
import os
import sys
import threading
from collections import UserDict
from contextlib import suppress
from importlib import import_module

import click

from recollect.cli.command import Group, program_version

SUMMARIES = {
    "remember": "Store a note, in your own words.",
    "recall": "Search by words and by meaning, best first.",
    "list": "List notes, the newest first.",
    "import": "Import another program's memory, chats, or an export.",
    "mcp": "Connect Claude, Cursor, VS Code and others, or disconnect.",
    "add": "Create an entity, or add to an existing one.",
    "observe": "Add observations to an entity, or remove some.",
    "relate": "Connect two entities, or end their relation.",
    "session": "Keep conversations: list, read, add turns.",
    "show": "Show a memory in full, by name or by id.",
    "context": "Print what an agent should read before it answers.",
    "graph": "List entities, neighbours of one, or paths between two.",
    "update": "Change a memory; what you leave out stays.",
    "supersede": "Replace an outdated note or message by another.",
    "forget": "Forget memories, a conversation, or everything.",
    "restore": "Bring back a forgotten or replaced memory, or a backup.",
    "purge": "Delete forgotten memories for good.",
    "why-not": "Explain why a memory was not found.",
    "profile": "List, show and compare ranking profiles.",
    "feedback": "Say whether memories were what you looked for.",
    "tune": "Fit a profile's numbers to how you use this memory.",
    "eval": "Test how well searches find what is stored.",
    "dream": "Strengthen what is used, fade the rest, merge repeats.",
    "serve": "Serve the memory to AI clients over MCP, or over HTTP.",
    "ui": "Open the dashboard in the browser, signed in.",
    "token": "Create, list and revoke tokens for `serve --http`.",
    "hooks": "Let an agent recall and remember by itself.",
    "export": "Write the memory to a file or a folder.",
    "backup": "Copy the store to a new file, even while it is in use.",
    "doctor": "Check the installation and the store; say what to do.",
    "stats": "Count what the store holds.",
    "reindex": "Embed texts without a vector, or all with another model.",
    "settings": "Show the settings, and where each value came from.",
}
"""One line for each command in `recollect --help`; kept here so that the help loads no command."""

_SECTIONS: dict[str, tuple[tuple[str, ...], ...]] = {
    "Start here": (
        ("remember", "remember"),
        ("recall", "recall"),
        ("browse", "list"),
        ("move", "import"),
        ("agents", "mcp"),
    ),
    "Store": (("remember", "add", "observe", "relate", "session"),),
    "Look up": (("browse", "show"), ("remember", "context"), ("browse", "graph")),
    "Correct and forget": (("correct", "update", "supersede", "forget", "restore", "purge"),),
    "Rank": (("recall", "why-not"), ("tuning", "profile", "feedback", "tune", "eval"), ("dreams", "dream")),
    "Serve": (("serve", "serve", "ui", "token"), ("agents", "hooks")),
    "Maintain": (("move", "export", "backup"), ("upkeep", "doctor", "stats", "reindex", "settings")),
}
"""The commands by task: a module in `commands`, then its commands."""
_HIDDEN = (("remember", "status"), ("tuning", "bench"), ("move", "copy"), ("upkeep", "completion"))
"""Commands that the help leaves out, because few people need them."""
_FORMER = {
    "search": ("recall", "--no-record"),
    "find": ("graph", "--find"),
    "neighbours": ("graph",),
    "paths": ("graph",),
    "history": ("show", "--events"),
    "delete": ("forget", "--names"),
    "chat-import": ("import",),
    "unobserve": ("observe", "--remove"),
    "unrelate": ("relate", "--remove"),
    "verify": ("doctor", "--full"),
    "models": ("reindex", "--list"),
    "end-relation": ("relate", "--ended", "now"),
    "session list": ("session", "show"),
    "session forget": ("forget", "--session"),
    "dream show": ("dream", "history"),
    "profile list": ("profile",),
    "profile show": ("profile",),
    "profile diff": ("profile",),
}
"""Former names of commands, and their replacements."""
_FILES = {name: file for files in (*_SECTIONS.values(), _HIDDEN) for file, *names in files for name in names}


class _LazyCommands(UserDict[str, click.Command]):
    """Commands by name. A command's module is imported when the command is looked up."""

    def __init__(self, files: dict[str, str]) -> None:
        super().__init__()
        self.data = files  # type: ignore[assignment]  # `__getitem__` returns commands

    def __getitem__(self, name: str) -> click.Command:
        module = import_module(f"recollect.cli.commands.{self.data[name]}")
        found: click.Command = getattr(module, f"{name.replace('-', '_')}_command")
        return found


def _print_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        click.echo(f"recollect {program_version()}")
        ctx.exit()


@click.command(
    "recollect",
    cls=Group,
    commands=_LazyCommands(_FILES),
    sections={title: [name for _, *names in files for name in names] for title, files in _SECTIONS.items()},
    summaries=SUMMARIES,
    aliases=_FORMER,
    examples=(
        "recollect remember 'Marisol Vega is allergic to nuts'",
        "recollect recall 'what may I cook for Marisol?'",
        "recollect add 'Marisol Vega' --type person -o 'Leads the harbour team'",
        "recollect mcp install claude-code",
    ),
    epilog="`recollect COMMAND --help` explains a command and shows examples. "
    "`recollect completion bash` prints a script for the tab key (also zsh, fish).",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Print the version.",
)
def cli() -> None:
    """A memory for you and your AI agents, in one file on your machine.

    It holds notes, conversations and a graph of entities, and searches them by words and by meaning, offline.
    """


def main() -> None:
    _use_utf8()
    try:
        cli.main(args=[_decoded(each) for each in sys.argv[1:]], prog_name="recollect")
    finally:
        _end_at_once()


def _end_at_once() -> None:
    """End the process without the interpreter's clean-up, which takes a tenth of the time of a recall.

    The normal exit is used if a thread still runs, an error must be shown, or the output cannot be written.
    """
    ended = sys.exception()
    if not isinstance(ended, SystemExit) or not isinstance(ended.code, int) or threading.active_count() > 1:
        return
    atexit._run_exitfuncs()  # noqa: SLF001  # as `multiprocessing` ends its processes
    with suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(ended.code)


def _use_utf8() -> None:
    """Read and write UTF-8 in every locale: memories may be in any language."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="surrogateescape")


def _decoded(argument: str) -> str:
    """Decode an argument as UTF-8 if the locale could not, such as an accent in the locale C."""
    try:
        argument.encode()
    except UnicodeEncodeError:
        return os.fsencode(argument).decode("utf-8", "surrogateescape")
    return argument


if __name__ == "__main__":
    main()
