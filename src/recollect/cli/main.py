"""The entry point: every command by what one wants to do, each loaded only when it is needed."""

from __future__ import annotations

import io
import os
import sys
from collections import UserDict
from importlib import import_module

import click

from recollect.cli.command import Group, program_version

SECTIONS: dict[str, tuple[str, ...]] = {
    "Remember": ("remember", "session", "add", "observe", "relate", "status"),
    "Look": ("search", "recall", "context", "find", "show", "history", "graph"),
    "Understand the ranking": ("why-not", "profile", "feedback", "tune", "eval", "bench", "calibrate"),
    "Correct and forget": (
        *("update", "supersede", "end-relation", "unobserve", "unrelate"),
        *("delete", "forget", "restore", "purge"),
    ),
    "Dream": ("dream", "forecast"),
    "Serve": ("serve", "mcp"),
    "Move": ("chat-import", "import", "export", "backup"),
    "Care": ("doctor", "stats", "verify", "reindex", "models", "settings", "completion"),
}
"""Commands by what one wants to do."""
_FILES: dict[str, tuple[str, ...]] = {
    "browse": ("find", "show", "history", "graph"),
    "context": ("context",),
    "correct": ("update", "supersede", "delete", "forget", "restore", "purge"),
    "dreams": ("dream", "forecast"),
    "evaluate": ("eval", "calibrate", "bench"),
    "graph": ("add", "observe", "relate", "status", "end-relation", "unobserve", "unrelate"),
    "import_export": ("chat-import", "import", "export", "backup"),
    "mcp": ("mcp",),
    "profiles": ("profile",),
    "recall": ("search", "recall", "why-not"),
    "remember": ("remember",),
    "serve": ("serve",),
    "sessions": ("session",),
    "tuning": ("feedback", "tune"),
    "upkeep": ("doctor", "stats", "verify", "reindex", "models", "settings", "completion"),
}
"""The files in `commands`, each with its commands."""


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
    commands=_LazyCommands({name: file for file, names in _FILES.items() for name in names}),
    sections=SECTIONS,
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
    cli.main(args=[_decoded(each) for each in sys.argv[1:]], prog_name="recollect")


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
