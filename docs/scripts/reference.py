"""What the reference pages say, read from the code by `cog`."""

from __future__ import annotations

import json
from dataclasses import Field, fields
from inspect import cleandoc
from pathlib import Path
from typing import Any

import click

from recollect.cli.command import ExtraCommand
from recollect.cli.main import cli
from recollect.mcp.server import tool_of
from recollect.operations.catalogue import SETS, definitions
from recollect.settings import Setting, Settings
from recollect.text.tokens import count_tokens

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
    """Every set of tools: what it adds to the one before, and how many tokens its definitions take."""
    rows = [
        "",
        "| set | tools | tokens of the definitions that a model reads | with output schemas and hints |",
    ]
    rows.append("|---|---|---|---|")
    before: tuple[str, ...] = ()
    for name, tools in SETS.items():
        shown = [
            tool_of(each, definitions()[each]).model_dump(by_alias=True, exclude_none=True, mode="json")
            for each in tools
        ]
        read = [{field: one[field] for field in ("name", "description", "inputSchema")} for one in shown]
        prices = [f"{count_tokens(json.dumps(each, ensure_ascii=False)):,}" for each in (read, shown)]
        added = [f"`{each}`" for each in tools if each not in before]
        rows.append(
            f"| `{name}` | {', '.join(['these', *added] if before else added)} | {' | '.join(prices)} |"
        )
        before = tools
    return "\n".join(rows) + "\n\n"


def settings_table() -> str:
    rows = ["", "| setting | environment | default | meaning |", "|---|---|---|---|"]
    for field in fields(Settings):
        default = "in the user's data folder" if field.name == "store" else _shown(field)
        variable = (
            "only in the file"
            if field.name in {"profiles", "dream_knobs"}
            else f"`RECOLLECT_{field.name.upper()}`"
        )
        rows.append(f"| `{field.name}` | {variable} | {default} | {field.type.__metadata__[1]} |")
    return "\n".join(rows) + "\n"


def _page(command: click.Command, prefix: str = "recollect") -> str:
    if isinstance(command, ExtraCommand):
        command = command.load()
    name = f"{prefix} {command.name}"
    lines = [f"\n### {name}\n", cleandoc(command.help or "").replace("\b\n", "") + "\n"]
    arguments = [param for param in command.params if isinstance(param, click.Argument)]
    options = [param for param in command.params if isinstance(param, click.Option) and _is_shown(param)]
    if arguments:
        shown = " ".join(param.make_metavar(click.Context(command)) for param in arguments)
        lines.append(f"`{name} {shown}`\n")
    if options:
        lines.append(
            "\n".join(f"- `{', '.join(param.opts)}`: {param.help or ''}" for param in options) + "\n"
        )
    examples = getattr(command, "examples", ())
    if examples:
        lines.append("```sh\n" + "\n".join(examples) + "\n```\n")
    if isinstance(command, click.Group):
        lines.extend(_page(each, name) for each in command.commands.values() if not each.hidden)
    return "\n".join(lines)


def _is_shown(option: click.Option) -> bool:
    """Not those that every command has, nor hidden ones."""
    shared = {"store", "owner", "agent", "model", "json", "as_json", "color", "help"}
    return option.name not in shared and not option.hidden


def _shown(field: Field[Any]) -> str:
    shown = Setting(field.name, field.default, "default", "").shown
    return f"`{shown}`" if shown else ""
