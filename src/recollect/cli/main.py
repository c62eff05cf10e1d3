"""The entry point: every command by what one wants to do, each loaded only when it is needed."""

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
from recollect.cli.summaries import SUMMARIES

_SECTIONS: dict[str, tuple[tuple[str, ...], ...]] = {
    "Remember": (
        ("remember", "remember"),
        ("sessions", "session"),
        ("remember", "add", "observe", "relate", "status"),
    ),
    "Look": (
        ("recall", "search", "recall"),
        ("sessions", "context"),
        ("browse", "list", "find", "show", "history", "graph", "neighbours", "paths"),
    ),
    "Understand the ranking": (
        ("recall", "why-not"),
        ("profiles", "profile"),
        ("tuning", "feedback", "tune"),
        ("evaluate", "eval", "bench"),
    ),
    "Correct and forget": (
        ("correct", "update", "supersede"),
        ("remember", "end-relation", "unobserve", "unrelate"),
        ("correct", "delete", "forget", "restore", "purge"),
    ),
    "Dream": (("dreams", "dream", "forecast"),),
    "Serve": (("serve", "serve", "ui"), ("token", "token"), ("mcp", "mcp"), ("hooks", "hooks")),
    "Move": (("imports", "chat-import", "import"), ("import_export", "export", "backup", "copy")),
    "Care": (("upkeep", "doctor", "stats", "verify", "reindex", "models", "settings", "completion"),),
}
"""Commands by what one wants to do: the file in `commands`, then its commands."""
_FILES = {name: file for files in _SECTIONS.values() for file, *names in files for name in names}


class _LazyCommands(UserDict[str, click.Command]):
    """Commands by name; a command's file is imported when it is looked up."""

    def __init__(self, files: dict[str, str]) -> None:
        super().__init__()
        self.data = files  # type: ignore[assignment]  # `__getitem__` gives commands

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
    examples=(
        "recollect remember 'Marisol Vega is allergic to nuts'",
        "recollect add 'Marisol Vega' --type person -o 'Leads the harbour team'",
        "recollect observe 'Marisol Vega' 'Drinks oolong after lunch'",
        "recollect search 'who likes tea?' --explain",
        "recollect context 'what may I cook for Marisol?' --budget 500",
        "recollect chat-import chatgpt-export.zip",
        "recollect doctor",
    ),
    epilog="`recollect COMMAND --help` says more about a command and shows examples.",
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
