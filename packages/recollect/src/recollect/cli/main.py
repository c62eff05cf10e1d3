"""The entry point: every command by what one wants to do, each loaded only when it is needed."""

from __future__ import annotations

import atexit
import io
import os
import sys
import threading
from collections import UserDict
from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, TypeVar

import click

from recollect.cli.command import Group, program_version

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_Value = TypeVar("_Value")

# The summary of each command

SUMMARIES = {
    "remember": "Remember something: a note, in your own words.",
    "session": "Keep conversations: list, read, add turns.",
    "add": "Create an entity, or add to the one of that name.",
    "observe": "Add observations to an entity, or remove some.",
    "relate": "Connect two entities, or end that: SOURCE TYPE TARGET.",
    "recall": "Search by words and by meaning at once, best first.",
    "context": "Print what to read before answering, within a budget.",
    "list": "List notes, or memories of other kinds, the newest first.",
    "show": "Show entities, notes and messages in full.",
    "graph": "List entities, those around one, or the ways between two.",
    "why-not": "Say why a memory was not found, and what would lift it.",
    "profile": "List, show and compare the ways to rank.",
    "feedback": "Say whether memories were what you looked for.",
    "tune": "Fit a profile's numbers to how this memory is used.",
    "eval": "Test how well this memory is found.",
    "update": "Change what is given of a memory, and leave the rest.",
    "supersede": "Retire a note or message in favour of another.",
    "forget": "Forget memories by id or name, a conversation, or all.",
    "restore": "Bring back what was forgotten or superseded, or a backup.",
    "purge": "Destroy for good what was forgotten before a time.",
    "dream": "Sleep on it: strengthen, fade, tidy up, report.",
    "serve": "Serve the memory to AI clients, by the Model Context Protocol.",
    "ui": "Open the dashboard in the browser, signed in.",
    "token": "Create, list and revoke tokens for `serve --http`.",
    "mcp": "Add the server to Claude, Cursor, VS Code, Codex; take it back.",
    "hooks": "Let an agent recall and remember by itself; take it back.",
    "import": "Import another program's memory, conversations, or an export.",
    "export": "Write the memory to a file or a folder.",
    "backup": "Copy the store to a new file, even while it is in use.",
    "doctor": "Say what is installed, what is wrong and what to do.",
    "stats": "Count what the memory holds, in every scope.",
    "reindex": "Embed what waits for a vector, or all with another model.",
    "settings": "Show the settings, and where each came from.",
}


_SECTIONS: dict[str, tuple[tuple[str, ...], ...]] = {
    "Remember": (("remember", "remember", "session", "add", "observe", "relate"),),
    "Look": (("recall", "recall"), ("remember", "context"), ("browse", "list", "show", "graph")),
    "Understand the ranking": (("recall", "why-not"), ("tuning", "profile", "feedback", "tune", "eval")),
    "Correct and forget": (("correct", "update", "supersede", "forget", "restore", "purge"),),
    "Dream": (("dreams", "dream"),),
    "Serve": (("serve", "serve", "ui", "token"), ("agents", "mcp", "hooks")),
    "Move": (("move", "import", "export", "backup"),),
    "Care": (("upkeep", "doctor", "stats", "reindex", "settings"),),
}
"""Commands by what one wants to do: the file in `commands`, then its commands."""
_HIDDEN = (("remember", "status"), ("tuning", "bench"), ("move", "copy"), ("upkeep", "completion"))
"""Commands that work, but that few people need."""
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


@cache
def derived_commands() -> dict[str, tuple[str, str]]:
    """The section and the summary of each command that an operation declares; `make docs` lists them."""
    folder = import_module("recollect.operations").__path__[0]
    with open(f"{folder}/commands.tsv", encoding="utf-8") as file:  # noqa: PTH123  # pathlib loads slowly
        rows = [line.rstrip("\n").split("\t") for line in file]
    return {name: (section, summary) for name, section, summary in rows}


class _LazyCommands(UserDict[str, click.Command]):
    """Commands by name; a command's file is imported when it is looked up."""

    def __init__(self, files: dict[str, str]) -> None:
        super().__init__()
        self.data = files  # type: ignore[assignment]  # `__getitem__` gives commands

    def __contains__(self, name: object) -> bool:
        return name in self.data or name in derived_commands()

    def __iter__(self) -> Iterator[str]:
        return iter((*self.data, *derived_commands()))

    def __getitem__(self, name: str) -> click.Command:
        if name not in self.data:
            from recollect.cli.commands.derived import derived_command

            return derived_command(name)
        module = import_module(f"recollect.cli.commands.{self.data[name]}")
        found: click.Command = getattr(module, f"{name.replace('-', '_')}_command")
        return found


class _LazyMapping(UserDict[str, _Value]):
    """A mapping that is made when it is read."""

    def __init__(self, make: Callable[[], dict[str, _Value]]) -> None:
        self._make = make

    @property
    def data(self) -> dict[str, _Value]:  # type: ignore[override]  # read alone
        return self._make()


def _sections() -> dict[str, list[str]]:
    found = {title: [name for _, *names in files for name in names] for title, files in _SECTIONS.items()}
    for name, (section, _) in derived_commands().items():
        found.setdefault(section, []).append(name)
    return found


def _summaries() -> dict[str, str]:
    return SUMMARIES | {name: summary for name, (_, summary) in derived_commands().items()}


def _print_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        click.echo(f"recollect {program_version()}")
        ctx.exit()


@click.command(
    "recollect",
    cls=Group,
    commands=_LazyCommands(_FILES),
    sections=_LazyMapping(_sections),
    summaries=_LazyMapping(_summaries),
    aliases=_FORMER,
    examples=(
        "recollect remember 'Marisol Vega is allergic to nuts'",
        "recollect add 'Marisol Vega' --type person -o 'Leads the harbour team'",
        "recollect observe 'Marisol Vega' 'Drinks oolong after lunch'",
        "recollect recall 'who likes tea?' --explain",
        "recollect context 'what may I cook for Marisol?' --budget 500",
        "recollect import chatgpt-export.zip",
        "recollect doctor",
    ),
    epilog="`recollect COMMAND --help` says more about a command and shows examples. "
    "`recollect completion SHELL` prints a script for the tab key.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version, help="The version."
)
def cli() -> None:
    """A memory in one file: notes, talks and a graph, searched by words and by meaning, offline."""


def main() -> None:
    _use_utf8()
    try:
        cli.main(args=[_decoded(each) for each in sys.argv[1:]], prog_name="recollect")
    finally:
        _end_at_once()


def _end_at_once() -> None:
    """End the process without freeing piece by piece what the system takes back whole, a tenth of a recall.

    Only where all is done: a thread that still runs, an error that is still to be shown, and an output that
    cannot be written are left to the interpreter.
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
    """Memories may be in any language, whatever the locale says."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="surrogateescape")


def _decoded(argument: str) -> str:
    """Read an argument as UTF-8 where the locale could not, such as C with any accent."""
    try:
        argument.encode()
    except UnicodeEncodeError:
        return os.fsencode(argument).decode("utf-8", "surrogateescape")
    return argument


if __name__ == "__main__":
    main()
