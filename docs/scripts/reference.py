"""Make the generated parts of the reference pages from the code, for `cog`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import Field, fields
from inspect import cleandoc
from pathlib import Path
from typing import Any

import click
from figure_runs import markdown_table

from recollect.cli.command import ExtraCommand
from recollect.cli.main import cli
from recollect.domain.errors import (
    ModelUnavailable,
    NotAStore,
    RecollectError,
    StoreDamaged,
    StoreUnavailable,
)
from recollect.mcp.server import tool_of
from recollect.operations.catalogue import SETS, definitions
from recollect.settings import Setting, Settings
from recollect.text.tokens import count_tokens
from recollect_server.api.openapi import openapi_bytes
from recollect_server.problems import problem_of

_DECISIONS = Path(__file__).parents[1] / "internals" / "decisions"


def command_pages() -> str:
    """Every command by section: what it does, its arguments, its own options, its examples."""
    parts = []
    for section, names in cli.sections.items():
        parts.append(f"\n## {section}\n")
        parts.extend(_page(cli.commands[name]) for name in names)
    return "".join(parts) + "\n"


def decision_list() -> str:
    """Every record by number, with its title."""
    rows = []
    for path in sorted(_DECISIONS.glob("0*.md")):
        number, _, title = (
            path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ").partition(". ")
        )
        rows.append(f"- {number}: [{title}]({path.name})\n")
    return "\n" + "".join(rows)


def tool_sets() -> str:
    """Every set of tools, with the tokens that its definitions take."""
    rows = []
    for name, chosen in SETS.items():
        shown = [
            tool_of(each, definitions()[each]).model_dump(by_alias=True, exclude_none=True, mode="json")
            for each in chosen
        ]
        read = [{field: one[field] for field in ("name", "description", "inputSchema")} for one in shown]
        prices = [f"{count_tokens(json.dumps(each, ensure_ascii=False)):,}" for each in (read, shown)]
        rows.append([f"`{name}`", str(len(chosen)), *prices])
    heads = ("set", "tools", "tokens that a model reads", "with output schemas and hints")
    return markdown_table(heads, rows)


def tools() -> str:
    """Every tool, with the smallest set that has it and the first sentence of its description."""
    rows = [
        [f"`{name}`", next(each for each in SETS if name in SETS[each]), _first_sentence(definitions()[name])]
        for name in SETS["all"]
    ]
    return markdown_table(("tool", "set", "does"), rows)


def _first_sentence(definition: Mapping[str, Any]) -> str:
    return re.split(r"(?<=[.:;]) ", definition["description"])[0].rstrip(".:;")


def endpoints() -> str:
    """Every endpoint of the REST API by topic, with the right that it needs."""
    topics: dict[str, list[tuple[str, str, str]]] = {}
    for path, methods in json.loads(openapi_bytes())["paths"].items():
        for method, operation in methods.items() if path.startswith("/v1/") else ():
            (right,) = re.findall(r"Needs the right to (\w+)", operation["description"])
            if "bound to no owner" in operation["description"]:
                right += " all"
            row = (f"`{method.upper()} {path.removeprefix('/v1')}`", right, operation["summary"])
            topics.setdefault(operation["tags"][0], []).append(row)
    return "".join(
        markdown_table((topic, "right", "does"), sorted(rows, key=_path_then_method))
        for topic, rows in topics.items()
    )


def _path_then_method(row: tuple[str, str, str]) -> tuple[str, str]:
    method, _, path = row[0].strip("`").partition(" ")
    return path, method


def errors() -> str:
    """Every exception: when it is raised, what to do, and how commands and servers report it."""
    rows = []
    for error in _subclasses(RecollectError):
        when, _, todo = cleandoc(error.__doc__ or "").replace("|", "\\|").partition("\n\n")
        instance = error("")
        of_store = isinstance(instance, NotAStore | StoreDamaged | StoreUnavailable)
        code = 3 if of_store else 4 if isinstance(instance, ModelUnavailable) else 1
        texts = (" ".join(text.split()) for text in (when, todo))
        rows.append([f"`{error.__name__}`", *texts, str(code), str(problem_of(instance).status)])
    return markdown_table(("exception", "when", "what to do", "exit code", "HTTP"), rows)


def _subclasses(error: type[RecollectError]) -> Iterator[type[RecollectError]]:
    for each in error.__subclasses__():
        if each.__module__ == error.__module__:
            yield each
            yield from _subclasses(each)


def settings_table() -> str:
    rows = []
    for field in fields(Settings):
        default = "in the user's data folder" if field.name == "store" else _default(field)
        rows.append([f"`{field.name}`", default, field.type.__metadata__[1]])
    return markdown_table(("setting", "default", "meaning"), rows)


def _page(command: click.Command, prefix: str = "recollect") -> str:
    """The summary of a command, its usage, its own options, and two examples."""
    if isinstance(command, ExtraCommand):
        command = command.load()
    name = f"{prefix} {command.name}"
    arguments = [param for param in command.params if isinstance(param, click.Argument)]
    options = [param for param in command.params if isinstance(param, click.Option) and _is_shown(param)]
    usage = " ".join(param.make_metavar(click.Context(command)) for param in arguments)
    summary = " ".join(cleandoc(command.help or "").partition("\n\n")[0].split())
    lines = [f"\n### {name}\n", f"{summary} `{name} {usage}`\n" if usage else f"{summary}\n"]
    if options:
        lines.append("\n".join(f"- `{_spelling(param)}`: {param.help or ''}" for param in options) + "\n")
    examples = getattr(command, "examples", ())[:2]
    if isinstance(command, click.Group):
        lines.extend(_page(each, name) for each in command.commands.values() if not each.hidden)
    elif examples:
        lines.append("```sh\n" + "\n".join(examples) + "\n```\n")
    return "\n".join(lines)


def _spelling(option: click.Option) -> str:
    """Return an option's names, with its value (`--limit=N`) or with the name that switches it off."""
    names = ", ".join(option.opts)
    if option.is_flag or option.count:
        return "/".join((names, *option.secondary_opts))
    value = option.make_metavar(click.Context(click.Command("")))
    return f"{names}={value.replace('INTEGER RANGE', 'N').replace('FLOAT RANGE', 'X').strip('[]')}"


def _is_shown(option: click.Option) -> bool:
    """Return the options of a command, without hidden ones and those of every command."""
    shared = {"store", "owner", "agent", "model", "json", "as_json", "color", "help"}
    return option.name not in shared and not option.hidden


def _default(field: Field[Any]) -> str:
    shown = Setting(field.name, field.default, "default", "").shown
    return f"`{shown}`" if shown else ""
