"""The command line's front door: every command, by what one wants to do.

Nothing heavy is imported here or by the files of the commands: `recollect --help` answers at once, and a
command loads what it needs when it runs.
"""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING

import click

from recollect.cli.about import completion, models, settings
from recollect.cli.bench import bench
from recollect.cli.calibrate import calibrate
from recollect.cli.chat_import import chat_import
from recollect.cli.command import Group
from recollect.cli.context import context
from recollect.cli.correct import supersede, update
from recollect.cli.doctor import doctor
from recollect.cli.dream import dream
from recollect.cli.entities import add, observe, status, unobserve
from recollect.cli.evaluate import evaluate
from recollect.cli.feedback import feedback
from recollect.cli.forecast import forecast
from recollect.cli.forgetting import delete, forget, purge, restore
from recollect.cli.history import history
from recollect.cli.look import find, graph, show
from recollect.cli.mcp import mcp
from recollect.cli.moving import backup, export, import_
from recollect.cli.profiles import profile
from recollect.cli.recall import recall, search, why_not
from recollect.cli.relations import end_relation, relate, unrelate
from recollect.cli.remember import remember
from recollect.cli.serve import serve
from recollect.cli.sessions import session
from recollect.cli.tune import tune
from recollect.cli.upkeep import reindex, stats, verify
from recollect.cli.version import version

if TYPE_CHECKING:
    from recollect.cli.command import Command

SECTIONS: dict[str, tuple[Command | Group, ...]] = {
    "Remember": (remember, session, add, observe, relate, status),
    "Look": (search, recall, context, find, show, history, graph),
    "Understand the ranking": (why_not, profile, feedback, tune, evaluate, bench, calibrate),
    "Correct and forget": (
        update,
        supersede,
        end_relation,
        unobserve,
        unrelate,
        delete,
        forget,
        restore,
        purge,
    ),
    "Dream": (dream, forecast),
    "Serve": (serve, mcp),
    "Move": (chat_import, import_, export, backup),
    "Care": (doctor, stats, verify, reindex, models, settings, completion),
}


def _print_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        click.echo(f"recollect {version()}")
        ctx.exit()


@click.command(
    "recollect",
    cls=Group,
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
    epilog="`recollect COMMAND --help` tells more about a command and shows examples.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    invoke_without_command=True,
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version, help="The version."
)
@click.pass_context
def cli(ctx: click.Context) -> None:
    """A memory in one file: notes, talks and a graph, searched by words and by meaning, offline."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main() -> None:
    _speak_utf8()
    cli.main(args=[_as_text(each) for each in sys.argv[1:]], prog_name="recollect")


def _speak_utf8() -> None:
    """What is remembered may be in any language, whatever the locale thinks."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="surrogateescape")


def _as_text(argument: str) -> str:
    """An argument that the locale could not read, such as C with any accent, read as the UTF-8 that it is."""
    try:
        argument.encode()
    except UnicodeEncodeError:
        return os.fsencode(argument).decode("utf-8", "surrogateescape")
    return argument


if __name__ == "__main__":
    main()
