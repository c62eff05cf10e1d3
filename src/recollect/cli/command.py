"""How our commands are made and how they end: options, examples, results shown, errors told, exit codes."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, NoReturn

import click

from recollect.cli.call import Call
from recollect.cli.rendering import Result, warn
from recollect.errors import ModelUnavailable, NotAStore, RecollectError, StoreDamaged, StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence


REFUSED = 1
"""It cannot be done, `verify` or `doctor` found a problem, or a dream was not written."""
MISUSED = 2
STORE_FAILED = 3
MODEL_FAILED = 4
INTERRUPTED = 130
"""As shells report it: 128 and the number of SIGINT."""
OUTPUT_CLOSED = 141
"""128 and the number of SIGPIPE: the reader of our output left."""


class Command(click.Command):
    """A command with examples, which takes the shared options after its name too."""

    def __init__(self, *args: Any, examples: Sequence[str] = (), **rest: Any) -> None:
        super().__init__(*args, **rest)
        self.examples = tuple(examples)
        self.params.extend(shared_options())

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        _write_options(self, ctx, formatter)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_epilog(ctx, formatter)
        _write_lines(formatter, "Examples", self.examples)

    def invoke(self, ctx: click.Context) -> int | None:
        return _shown(ctx, super().invoke(ctx))


class Group(click.Group):
    """Commands by section, in the order in which a new user needs them; alone, it shows its help."""

    def __init__(
        self,
        *args: Any,
        commands: MutableMapping[str, click.Command],
        sections: Mapping[str, Sequence[str]] | None = None,
        examples: Sequence[str] = (),
        **rest: Any,
    ) -> None:
        super().__init__(*args, **{"invoke_without_command": True, **rest})
        self.commands = commands
        self.sections = {"Commands": tuple(commands)} if sections is None else sections
        self.examples = tuple(examples)
        self.params.extend(shared_options())

    def by_section(self) -> dict[str, list[click.Command]]:
        return {title: [self.commands[name] for name in names] for title, names in self.sections.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # click's signature
        return [name for names in self.sections.values() for name in names]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        # What one can do comes before how: a newcomer reads from the top.
        self.format_commands(ctx, formatter)
        _write_options(self, ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        widest = max(map(len, self.list_commands(ctx)))
        for title, commands in self.by_section().items():
            with formatter.section(title):
                formatter.write_dl(
                    [(str(each.name).ljust(widest), each.get_short_help_str(limit=90)) for each in commands]
                )

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        _write_lines(formatter, "Examples", self.examples)
        super().format_epilog(ctx, formatter)

    def invoke(self, ctx: click.Context) -> int | None:
        try:
            with ctx:
                returned = super().invoke(ctx)
                if returned is None and ctx.invoked_subcommand is None:
                    click.echo(ctx.get_help())
                status = _shown(ctx, returned)
            # Here, where a reader that left can still be noticed; at exit Python would only complain.
            sys.stdout.flush()
        except BrokenPipeError:
            _discard_output()
            return OUTPUT_CLOSED
        return status

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,  # noqa: ARG002  # click's signature
        **rest: Any,
    ) -> NoReturn:
        def run() -> int | None:
            status: int | None = click.Group.main(
                self, args, prog_name, complete_var, standalone_mode=False, **rest
            )
            return status

        sys.exit(_exit_code_of(run))


def command(name: str, *examples: str) -> Callable[[Callable[..., Result | None]], Command]:
    """Make a function that takes a `Call` first into a command; its docstring is the help."""

    def made(function: Callable[..., Result | None]) -> Command:
        return click.command(name, cls=Command, examples=examples)(click.pass_obj(function))

    return made


def group(
    name: str, commands: Iterable[Command], *examples: str
) -> Callable[[Callable[..., Result | None]], Group]:
    """The same for a function that speaks for several commands."""
    named: dict[str, click.Command] = {str(each.name): each for each in commands}

    def made(function: Callable[..., Result | None]) -> Group:
        return click.command(name, cls=Group, commands=named, examples=examples)(click.pass_obj(function))

    return made


def shared_options() -> list[click.Option]:
    return [
        _shared("--store", metavar="PATH", help="The memory's file. [RECOLLECT_STORE]"),
        _shared("--owner", metavar="NAME", help="Whose memory it is. [RECOLLECT_OWNER]"),
        _shared("--agent", metavar="NAME", help="Which agent of the owner. [RECOLLECT_AGENT]"),
        _shared("--model", metavar="NAME", help="The embedding model; see `recollect models`."),
        _shared("--json", is_flag=True, default=None, help="Answer with one JSON document."),
        _shared(
            "--color/--no-color",
            default=None,
            help="Force the look of a terminal, or tables without colour. [NO_COLOR]",
        ),
    ]


def _shared(*names: str, **rest: Any) -> click.Option:
    option = click.Option(names, expose_value=False, callback=_keep_option, **rest)
    option.is_shared = True  # type: ignore[attr-defined]  # a mark of ours, for the help
    return option


def _keep_option(ctx: click.Context, option: click.Parameter, value: object) -> None:
    """Keep what was given. What stands after the command's name is read later, and so wins."""
    call = ctx.ensure_object(Call)
    if value is not None:
        setattr(call, str(option.name), value)


def _shown(ctx: click.Context, returned: Result | int | None) -> int | None:
    """Show what a command returned; a group gets back the exit code of its command."""
    return ctx.ensure_object(Call).show(returned) if isinstance(returned, Result) else returned


def _write_options(of: click.Command, ctx: click.Context, formatter: click.HelpFormatter) -> None:
    """The command's own options, then those that every command takes."""
    own: list[tuple[str, str]] = []
    shared: list[tuple[str, str]] = []
    for param in of.get_params(ctx):
        record = param.get_help_record(ctx)
        if record is not None and isinstance(param, click.Option):
            (shared if hasattr(param, "is_shared") else own).append(record)
    for title, records in (("Options", own), ("Options of every command", shared)):
        if records:
            with formatter.section(title):
                formatter.write_dl(records)


def _write_lines(formatter: click.HelpFormatter, title: str, lines: Sequence[str]) -> None:
    if lines:
        with formatter.section(title):
            for line in lines:
                # Not `write_text`, which would fold a command into the next line.
                formatter.write(f"{'':>{formatter.current_indent}}{line}\n")


def _discard_output() -> None:
    """Let the interpreter's last flush succeed: the reader of our output has gone."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())


def _exit_code_of(run: Callable[[], int | None]) -> int:
    """Run a command; errors of the user and of the world are told in one line, without a stack trace."""
    try:
        return run() or 0
    except RecollectError as error:
        return _failed(str(error), _code_of(error))
    except click.UsageError as error:
        help_ = f"Try: {error.ctx.command_path} --help" if error.ctx is not None else ""
        return _failed(f"{error.format_message()} {help_}", MISUSED)
    except click.ClickException as error:
        return _failed(error.format_message(), REFUSED)
    except (click.Abort, KeyboardInterrupt):
        return _failed("stopped; what was finished is kept.", INTERRUPTED)
    except OSError as error:
        return _failed(f"{error.filename or 'the file'}: {error.strerror or error}.", REFUSED)


def _code_of(error: RecollectError) -> int:
    match error:
        case NotAStore() | StoreDamaged() | StoreUnavailable():
            return STORE_FAILED
        case ModelUnavailable():
            return MODEL_FAILED
        case _:
            return REFUSED


def _failed(message: str, code: int) -> int:
    warn(message)
    return code
