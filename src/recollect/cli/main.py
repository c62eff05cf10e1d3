"""The entry point: every command by what one wants to do, each loaded only when it is needed."""

from __future__ import annotations

import io
import os
import sys
from collections import UserDict
from importlib import import_module

import click

from recollect.cli.command import Group
from recollect.cli.version import version

SECTIONS: dict[str, dict[str, str]] = {
    "Remember": {
        "remember": "remember:remember_command",
        "session": "sessions:session_group",
        "add": "graph:add_command",
        "observe": "graph:observe_command",
        "relate": "graph:relate_command",
        "status": "graph:status_command",
    },
    "Look": {
        "search": "recall:search_command",
        "recall": "recall:recall_command",
        "context": "context:context_command",
        "find": "browse:find_command",
        "show": "browse:show_command",
        "history": "browse:history_command",
        "graph": "browse:graph_command",
    },
    "Understand the ranking": {
        "why-not": "why_not:why_not_command",
        "profile": "profiles:profile_group",
        "feedback": "tuning:feedback_command",
        "tune": "tuning:tune_group",
        "eval": "evaluate:eval_group",
        "bench": "bench:bench",
        "calibrate": "evaluate:calibrate_command",
    },
    "Correct and forget": {
        "update": "correct:update_command",
        "supersede": "correct:supersede_command",
        "end-relation": "graph:end_relation_command",
        "unobserve": "graph:unobserve_command",
        "unrelate": "graph:unrelate_command",
        "delete": "forget:delete_command",
        "forget": "forget:forget_command",
        "restore": "forget:restore_command",
        "purge": "forget:purge_command",
    },
    "Dream": {"dream": "dreams:dream_group", "forecast": "forecast:forecast_command"},
    "Serve": {"serve": "serve:serve_command", "mcp": "mcp:mcp_group"},
    "Move": {
        "chat-import": "import_export:chat_import_command",
        "import": "import_export:import_command",
        "export": "import_export:export_command",
        "backup": "import_export:backup_command",
    },
    "Care": {
        "doctor": "doctor:doctor_command",
        "stats": "upkeep:stats_command",
        "verify": "upkeep:verify_command",
        "reindex": "upkeep:reindex_command",
        "models": "upkeep:models_command",
        "settings": "upkeep:settings_command",
        "completion": "upkeep:completion_command",
    },
}
"""Each command's file in `commands`, and its name there."""


class _LazyCommands(UserDict[str, click.Command]):
    """Commands by name; a command's file is imported when it is looked up."""

    def __init__(self, places: dict[str, str]) -> None:
        super().__init__()
        self.data = places  # type: ignore[assignment]  # `__getitem__` gives commands

    def __getitem__(self, name: str) -> click.Command:
        module, _, attribute = str(self.data[name]).partition(":")
        found: click.Command = getattr(import_module(f"recollect.cli.commands.{module}"), attribute)
        return found


def _print_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        click.echo(f"recollect {version()}")
        ctx.exit()


@click.command(
    "recollect",
    cls=Group,
    commands=_LazyCommands({name: place for places in SECTIONS.values() for name, place in places.items()}),
    sections={title: tuple(places) for title, places in SECTIONS.items()},
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
