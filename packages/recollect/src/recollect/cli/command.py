"""The base of all commands: shared options, examples, results, errors and exit codes."""

from __future__ import annotations

import os
import re
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click

from recollect.domain.errors import (
    ModelUnavailable,
    NotAStore,
    RecollectError,
    StoreDamaged,
    StoreUnavailable,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
    from datetime import datetime, tzinfo

    from recollect.cli.rendering import Result
    from recollect.engine import Engine
    from recollect.settings import Setting, Settings

_Function = TypeVar("_Function", bound="Callable[..., Any]")
REFUSED = 1
"""The command was refused, `doctor` found a problem, or a dream was not written."""
MISUSED = 2
STORE_FAILED = 3
MODEL_FAILED = 4
INTERRUPTED = 130
"""The convention of shells: 128 plus the number of SIGINT."""
OUTPUT_CLOSED = 141
"""128 plus the number of SIGPIPE: the program that read the output has ended."""
_COMMANDS = {
    "`search_nodes`": "`recollect graph`",
    "`open_nodes`": "`recollect show`",
    "`add_observations`": "`recollect observe`",
}
"""Methods that errors of the engine name, and the commands that do the same."""
_HABITS = {"undo": "restore", "rm": "forget", "remove": "forget", "edit": "update"}
"""Commands of other programs, and ours that do the same."""


@dataclass
class Call:
    """The values of the options that every command takes; None if an option was not given."""

    store: str | None = None
    owner: str | None = None
    agent: str | None = None
    model: str | None = None
    json: bool | None = None
    color: bool | None = None
    _loaded: tuple[Settings, tuple[Setting, ...]] | None = field(default=None, init=False)

    def settings(self) -> tuple[Settings, tuple[Setting, ...]]:
        from recollect.settings import load  # --help needs no settings

        if self._loaded is None:
            given = {"store": self.store, "owner": self.owner, "agent": self.agent, "model": self.model}
            self._loaded = load(given)
        return self._loaded

    @property
    def zone(self) -> tzinfo:
        """Return the user's time zone, in which days begin and end."""
        from recollect.bootstrap import zone  # loads the engine

        return zone(self.settings()[0])

    def now(self) -> datetime:
        from recollect.bootstrap import now

        return now().astimezone(self.zone)

    def memory(self, *, create: bool = False, records: bool = False) -> Engine:
        """Open the store, and close it after the result is shown. With `records`, say if uses cannot be."""
        memory = click.get_current_context().with_resource(self.open_memory(create=create))
        store = self.settings()[0].store
        if records and not self.json and isinstance(store, Path):
            from recollect.cli.rendering import tell
            from recollect.stores.sqlite.access import why_unwritable  # loaded with the store

            if why := why_unwritable(store):
                tell(f"Usage is not recorded: {why}.", self.color, dim=True)
        return memory

    def open_memory(self, *, create: bool = False, dreams: bool = False) -> Engine:
        """Open the store; the caller closes it.

        Only commands that store something may create the store: a mistyped path must not leave an empty file.
        Only a long-lived process, such as a server, dreams automatically.
        """
        settings, _ = self.settings()
        if not create and not self._store_exists():
            raise StoreUnavailable(
                f"There is no memory at {settings.store} yet. `recollect remember`, `recollect add` or "
                "`recollect import` creates one; --store names another file."
            )
        from recollect.bootstrap import engine  # loads the engine, SQLite and NumPy
        from recollect.cli.rendering import progress

        # Opening upgrades a store of an older version, which takes a while if it is large.
        with progress("Indexing words") as (indexing,):
            return engine(settings, dreams=dreams, progress=indexing)

    def _store_exists(self) -> bool:
        store = self.settings()[0].store
        try:
            return store.exists()
        except PermissionError as error:
            from recollect.stores.sqlite.access import why_unreadable

            raise StoreUnavailable(
                f"{store} cannot be reached: {why_unreadable(Path(str(store)))}."
            ) from error

    def open_served_memory(self, official: Path | None = None) -> Engine:
        """Open the store for a server: import the official server's file, and embed in the background."""
        from recollect.admin import Internals
        from recollect.bootstrap import beside
        from recollect.cli.rendering import warn
        from recollect.mcp.stdio import import_official_file

        settings, _ = self.settings()
        memory = self.open_memory(create=True, dreams=True)
        import_official_file(memory, beside(settings, "-importing"), official or settings.import_from, warn)
        Internals(memory).embed_in_background()
        return memory

    def show(self, returned: Result | int | None) -> int | None:
        """Print what a command returned; return its exit code (a group returns that of its command)."""
        if returned is None or isinstance(returned, int):
            return returned
        from recollect.cli.rendering import render  # not needed by --help

        render(returned, as_json=bool(self.json), color=self.color)
        return returned.exit_code


class _WithExamples(click.Command):
    """A command with examples, which takes the shared options after its name too."""

    def __init__(
        self,
        *args: Any,
        examples: Sequence[str] = (),
        former_options: Mapping[str, Sequence[str]] | None = None,
        if_stopped: str = "",
        **rest: Any,
    ) -> None:
        """`former_options` are options of earlier versions, each with its replacement.

        `if_stopped` is the message after Ctrl-C: what is stored, and how to continue.
        """
        super().__init__(*args, **rest)
        self.examples: tuple[str, ...] = tuple(examples)
        self.former_options: Mapping[str, Sequence[str]] | dict[str, Sequence[str]] = former_options or {}
        self.if_stopped = if_stopped
        self.params.extend(_SharedOption(names, **rest) for names, rest in _SHARED.items())

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(
            ctx, [word for each in args for word in self.former_options.get(each, (each,))]
        )

    @contextmanager
    def explaining_interrupts(self) -> Iterator[None]:
        try:
            yield
        except KeyboardInterrupt as error:
            raise KeyboardInterrupt(str(error) or self.if_stopped) from None

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the command's own options, then the options of every command."""
        own: list[tuple[str, str]] = []
        shared: list[tuple[str, str]] = []
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None and isinstance(param, click.Option):
                name, about = record
                (shared if isinstance(param, _SharedOption) else own).append((name, _ranges_in_words(about)))
        for title, records in (("Options", own), ("Options of every command", shared)):
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if self.examples:
            with formatter.section("Examples"):
                for line in self.examples:
                    # Not `write_text`, which would fold a command into the next line.
                    formatter.write(f"{'':>{formatter.current_indent}}{line}\n")
        super().format_epilog(ctx, formatter)


class Command(_WithExamples):
    def invoke(self, ctx: click.Context) -> int | None:
        with self.explaining_interrupts():
            return ctx.ensure_object(Call).show(super().invoke(ctx))


class ExtraCommand(Command):
    """A command of another package, loaded by its entry point in `recollect.commands`.

    Its summary is written here, so that `recollect --help` loads nothing.
    """

    def __init__(self, name: str, help_: str, extra: str, *, hidden: bool = False) -> None:
        super().__init__(name, help=help_, hidden=hidden)
        self.extra = extra

    def load(self) -> Command | Group:
        from recollect.domain.errors import load_registered

        loaded: Command | Group = load_registered(
            "recollect.commands", str(self.name), what=f"`recollect {self.name}`", extra=self.extra
        )
        return loaded

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Return the loaded command's context, with which click parses and runs that command."""
        return self.load().make_context(info_name, args, parent, **extra)


class Group(_WithExamples, click.Group):
    """A group of commands in sections. Without a command, the group shows its help."""

    def __init__(
        self,
        *args: Any,
        commands: MutableMapping[str, click.Command],
        sections: Mapping[str, Sequence[str]] | None = None,
        summaries: Mapping[str, str] | None = None,
        aliases: Mapping[str, Sequence[str]] | None = None,
        **rest: Any,
    ) -> None:
        """With `summaries`, the group's help imports no command.

        `aliases` map former names of commands, of one word or two, to their replacements.
        """
        super().__init__(*args, **{"invoke_without_command": True, **rest})
        self.commands = commands
        if sections is None:
            sections = {"Commands": [name for name, each in commands.items() if not each.hidden]}
        self.sections = sections
        self.summaries: Mapping[str, str] = {} if summaries is None else summaries
        self.aliases: Mapping[str, Sequence[str]] = aliases or {}

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        for count in (2, 1):
            former = " ".join(args[:count])
            if former in self.aliases:
                args = [*self.aliases[former], *args[count:]]
                break
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # click's signature
        return [name for names in self.sections.values() for name in names]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        # Commands come before options: a newcomer reads from the top.
        self.format_commands(ctx, formatter)
        super().format_options(ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        widest = max(map(len, self.list_commands(ctx)))
        for title, names in self.sections.items():
            summaries = [
                self.summaries.get(name) or self.commands[name].get_short_help_str(limit=90) for name in names
            ]
            with formatter.section(title):
                formatter.write_dl(
                    [(name.ljust(widest), each) for name, each in zip(names, summaries, strict=True)]
                )

    def invoke(self, ctx: click.Context) -> int | None:
        try:
            with ctx, self.explaining_interrupts():
                returned = super().invoke(ctx)
                if returned is None and ctx.invoked_subcommand is None:
                    click.echo(ctx.get_help())
                status = ctx.ensure_object(Call).show(returned)
            # Detect a closed pipe here; at exit, Python would print a warning.
            sys.stdout.flush()
        except BrokenPipeError:
            # The interpreter flushes the output again, which must succeed.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return OUTPUT_CLOSED
        return status

    def main(self, *args: Any, **rest: Any) -> NoReturn:
        """Run a command; print an error in a sentence or as JSON, without a stack trace."""
        given: Any = rest.get("args") or (args and args[0]) or sys.argv[1:]
        hint = ""
        try:
            sys.exit(super().main(*args, **{**rest, "standalone_mode": False}) or 0)
        except RecollectError as error:
            of_store = isinstance(error, NotAStore | StoreDamaged | StoreUnavailable)
            other = MODEL_FAILED if isinstance(error, ModelUnavailable) else REFUSED
            code, kind = STORE_FAILED if of_store else other, _error_kind(error)
            message = re.sub("|".join(_COMMANDS), lambda found: _COMMANDS[found[0]], str(error))
        except click.UsageError as error:
            message, code, kind = _usage_message(error), MISUSED, "usage"
            if error.ctx is not None and ": recollect " not in message:
                hint = f"Try: {error.ctx.command_path} --help"
        except click.ClickException as error:
            message, code, kind = error.format_message(), REFUSED, "refused"
        except (click.Abort, KeyboardInterrupt) as error:
            stopped = str(error.__cause__ or error) or "Finished work is kept."
            message, code, kind = f"Stopped. {stopped}", INTERRUPTED, "interrupted"
        except OSError as error:
            message = f"{error.filename or 'the file'}: {error.strerror or error}."
            code, kind = REFUSED, "system"
        from recollect.cli.rendering import fail  # not needed by --help

        fail(kind, message, hint, as_json="--json" in given)
        sys.exit(code)


def _error_kind(error: Exception) -> str:
    """Return the name that the HTTP API uses for an error: `not-found` for `NotFound`."""
    return re.sub(r"\B(?=[A-Z])", "-", type(error).__name__).lower()


def _usage_message(error: click.UsageError) -> str:
    """Return click's message, with ranges in words and close names, the nearest first."""
    kind = getattr(getattr(error, "param", None), "type", None)
    known = kind.choices if isinstance(kind, click.Choice) else getattr(error, "possibilities", None) or ()
    message = error.message if hasattr(error, "possibilities") else error.format_message()
    if isinstance(kind, click.IntRange | click.FloatRange):
        allowed = f"a {'whole ' * isinstance(kind, click.IntRange)}number ({kind._describe_range()})."  # noqa: SLF001
        return _ranges_in_words(re.sub(r"a valid \w+ range\.", allowed, message))
    from difflib import get_close_matches  # only errors need it

    typed = error.message.partition("'")[2].partition("'")[0]
    habit = _HABITS.get(typed) if error.ctx is not None and error.ctx.parent is None else None
    names = [habit] if habit else get_close_matches(typed, known, cutoff=0.7)
    return f"{message} Did you mean {' or '.join(map(repr, names))}?" if names else message


def _ranges_in_words(text: str) -> str:
    """Write click's `1<=x<=9` as `1 to 9`, and `x>=1` as `at least 1`."""
    text = re.sub(r"([\d.]+)<=x<=([\d.]+)", r"\1 to \2", text)
    return re.sub(r"(in the range )?x>=([\d.]+)", r"at least \2", text)


def command(name: str, *examples: str, **options: Any) -> Callable[[Callable[..., Result | None]], Command]:
    """Turn a function into a command: its first argument is a `Call`, its docstring is the help."""
    return lambda function: click.command(name, cls=Command, examples=examples, **options)(
        click.pass_obj(function)
    )


def group(
    name: str, commands: Iterable[Command], *examples: str, **options: Any
) -> Callable[[Callable[..., Result | None]], Group]:
    """Turn a function into a command that has subcommands."""
    options |= {"commands": {str(each.name): each for each in commands}, "examples": examples}
    return lambda function: click.command(name, cls=Group, **options)(click.pass_obj(function))


def option(
    spec: str, help_: str = "", *, to: str | None = None, **rest: Any
) -> Callable[[_Function], _Function]:
    """Declare an option as its help shows it: `-n --limit N`, or `--tag TAG...` where it is repeatable.

    Without a value or a type, it is a flag; without a help text, it is hidden. `to` is its parameter's name.
    """
    words = spec.split()
    names = [word for word in words if word.startswith("-")]
    for metavar in words[len(names) :]:
        rest |= {"metavar": metavar.removesuffix("..."), "multiple": metavar.endswith("...")}
    if "metavar" not in rest and "type" not in rest and "/" not in spec:
        rest["is_flag"] = True
    if isinstance(rest.get("type"), click.IntRange):
        rest.setdefault("metavar", "N")
    shown = {"help": help_, "hidden": not help_, "show_default": bool(rest.get("default"))}
    return click.option(*names, *([to] if to else []), **{**shown, **rest})


_SHARED: dict[str, dict[str, Any]] = {
    "--store": {"metavar": "PATH|URL", "help": "File, or postgresql://… [RECOLLECT_STORE]"},
    "--owner": {"metavar": "NAME", "help": "Owner of the memories. [RECOLLECT_OWNER]"},
    "--agent": {"metavar": "NAME", "help": "Agent (default: all). [RECOLLECT_AGENT]"},
    "--model": {"metavar": "NAME", "help": "Embedding model; see `recollect reindex --list`."},
    "--json": {"is_flag": True, "help": "Print JSON, errors too."},
    "--color/--no-color": {"help": "Force or forbid colours. [FORCE_COLOR, NO_COLOR]"},
}


class _SharedOption(click.Option):
    """Declare an option of every command. It is read first: other options depend on the settings."""

    def __init__(self, names: str, **rest: Any) -> None:
        kept: dict[str, Any] = {"expose_value": False, "callback": _keep_option}
        super().__init__((names,), default=None, is_eager=True, **kept, **rest)


def _keep_option(ctx: click.Context, option: click.Parameter, value: object) -> None:
    """Store a given value. An option after the command's name is read later, so it takes precedence."""
    call = ctx.ensure_object(Call)
    if value is not None:
        setattr(call, str(option.name), value)


def program_version() -> str:
    from importlib.metadata import PackageNotFoundError, version  # slow, and rarely asked for

    try:
        return version("recollect-memory")
    except PackageNotFoundError:
        return "(run from source, not installed)"
