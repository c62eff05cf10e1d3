"""Help: quick, complete, and true."""

from __future__ import annotations

import shlex
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from recollect.cli.command import Command, ExtraCommand, Group
from recollect.cli.commands.remember import session_command
from recollect.cli.commands.tuning import tune_command
from recollect.cli.commands.upkeep import SHELLS
from recollect.cli.main import SUMMARIES, cli
from recollect.cli.options import KINDS
from recollect.domain.records import Kind

if TYPE_CHECKING:
    import click
    from command_line import CommandLine

pytest_plugins = ["command_line"]


def _ours(command: click.Command) -> Command | Group:
    loaded = command.load() if isinstance(command, ExtraCommand) else command
    assert isinstance(loaded, Command | Group)
    return loaded


COMMANDS = [_ours(cli.commands[name]) for names in cli.sections.values() for name in names]
FAMILIES = {str(family.name): family for family in (tune_command, session_command)}
INNER = [(name, _ours(command)) for name, family in FAMILIES.items() for command in family.commands.values()]
EXAMPLES = [
    *cli.examples,
    *(example for command in (*COMMANDS, *(inner for _, inner in INNER)) for example in command.examples),
]
HEAVY = (
    "numpy",
    "apsw",
    "rich",
    "onnxruntime",
    "platformdirs",
    "recollect.engine",
)


def test_help_lists_every_command_with_its_whole_summary(recollect: CommandLine) -> None:
    lines = recollect("--help").stdout.splitlines()
    assert {str(command.name) for command in COMMANDS} == {
        name for name, command in cli.commands.items() if not command.hidden
    }
    for command in COMMANDS:
        (line,) = (line for line in lines if line.split()[:1] == [command.name])
        assert line.endswith("."), "the summary does not fit on its line"
    told = {str(command.name): command.get_short_help_str(limit=90) for command in COMMANDS}
    assert told == SUMMARIES
    assert set(KINDS) == set(Kind)


def test_help_is_shown_without_a_command_and_a_mistake_names_it(recollect: CommandLine) -> None:
    assert recollect().stdout == recollect("--help").stdout
    assert recollect("--version").stdout.startswith("recollect ")
    assert "Did you mean 'recall'?" in recollect.refused("recalll", "tea", status=2)
    assert "recollect recall --help" in recollect.refused("search", "tea", "--loud", status=2)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_command_has_help_with_examples(recollect: CommandLine, command: Command | Group) -> None:
    _check_help(command, recollect(str(command.name), "--help").stdout)


@pytest.mark.parametrize(("family", "command"), INNER, ids=[f"{name} {inner.name}" for name, inner in INNER])
def test_every_command_of_a_family_has_help_with_examples(
    recollect: CommandLine, family: str, command: Command | Group
) -> None:
    _check_help(command, recollect(family, str(command.name), "--help").stdout)


def _check_help(command: Command | Group, shown: str) -> None:
    assert "--json" in shown
    assert command.examples
    for example in command.examples:
        assert f"  {example}\n" in shown, "an example was folded"


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_can_be_typed(example: str) -> None:
    words = shlex.split(example, comments=True)
    end = next((place for place, word in enumerate(words) if word in {"|", ">", ">>"}), len(words))
    start = words.index("recollect") + 1
    if start < end:  # the part before a pipe may be another program's
        name, *arguments = words[start:end]
    else:
        name, *arguments = words[start:]
    context = cli.commands[name].make_context(name, arguments)
    if name in FAMILIES:  # what follows its name is one of its commands
        inner, *rest = arguments
        FAMILIES[name].commands[inner].make_context(inner, rest, parent=context)


@pytest.mark.parametrize(
    "typed",
    [
        ["--help"],
        ["recall", "--help"],
        ["search", "--help"],
        ["tune"],
        ["session"],
        ["--version"],
        ["completion", "fish"],
    ],
)
def test_help_loads_nothing_heavy(typed: list[str]) -> None:
    program = (
        "import sys\nfrom recollect.cli.main import cli\n"
        f"try: cli.main({typed!r}, 'recollect')\n"
        "except SystemExit as end: assert not end.code, end.code\n"
        f"print('LOADED', [name for name in {HEAVY!r} if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.endswith("LOADED []\n"), result.stdout[-200:]


@pytest.mark.parametrize("shell", SHELLS)
def test_a_completion_script_is_printed_for_each_shell(recollect: CommandLine, shell: str) -> None:
    script = recollect("completion", shell).stdout
    assert "_RECOLLECT_COMPLETE" in script
    assert recollect.json("completion", shell)["script"] == script.removesuffix("\n")


def test_completion_completes_commands_and_options(recollect: CommandLine) -> None:
    recollect("session", "add", "harbour", "--speaker", "Ana", "Hello there")
    for typed, whole in (
        ("rei", "reindex"),
        ("observe --sup", "--supersedes"),
        ("search tea --profile lim", "limbic"),
        ("profile show mn", "mnemosyne"),
        ("session show har", "harbour"),
        ("recall tea --session har", "harbour"),
    ):
        environment = {**recollect.environment, **_completing(typed)}
        result = CliRunner().invoke(cli, [], env=environment, prog_name="recollect")
        assert whole in result.stdout, typed
    assert b"reindex" in recollect.process(**_completing("rei")).stdout


def _completing(typed: str) -> dict[str, str]:
    """What fish sets when somebody has typed so much after `recollect`."""
    last = typed.rsplit(maxsplit=1)[-1]
    return {
        "_RECOLLECT_COMPLETE": "fish_complete",
        "COMP_WORDS": f"recollect {typed}",
        "COMP_CWORD": last,
    }
