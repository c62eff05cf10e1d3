"""The commands of operations that declare one: arguments, options and help follow from the operation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from recollect.cli.command import Call, Command
from recollect.cli.options import memory_id
from recollect.cli.rendering import Result, Verbatim
from recollect.operations.catalogue import http_operations, interfaces

if TYPE_CHECKING:
    from recollect.operations.catalogue import CommandDefinition

_TYPES: dict[object, Any] = {"integer": click.INT, "number": click.FLOAT, "boolean": click.BOOL}


def derived_command(name: str) -> Command:
    return command_of(name, interfaces()["commands"][name])


def command_of(name: str, made: CommandDefinition) -> Command:
    """Required arguments are positional, a list of them comes last; the others are options."""
    arguments = made["arguments"]
    required = arguments.get("required", ())
    fields = sorted(arguments["properties"].items(), key=lambda each: each[1].get("type") == "array")

    @click.pass_obj
    def run(call: Call, /, **given: Any) -> Result:
        passed = {key: list(value) if isinstance(value, tuple) else value for key, value in given.items()}
        answered = http_operations()[made["operation"]].call(
            call.memory(), {key: value for key, value in passed.items() if value not in (None, [])}
        )
        text, *remarks = answered.texts()
        return Result(answered.result, [Verbatim(text)], hints=remarks)

    return Command(
        name,
        callback=run,
        help=made["description"],
        examples=[made["example"]],
        params=[_parameter(key, schema, key in required) for key, schema in fields],
    )


def _parameter(name: str, schema: dict[str, Any], required: bool) -> click.Parameter:
    repeated = schema.get("type") == "array"
    kind = (schema["items"] if repeated else schema).get("type")
    if required:
        type_ = memory_id if name in {"id", "ids"} else _TYPES.get(kind, click.STRING)
        return click.Argument([name], type=type_, nargs=-1 if repeated else 1, required=True)
    option = f"--{name.replace('_', '-')}"
    if kind == "boolean":
        option += f"/--no-{name.replace('_', '-')}"
    about, type_ = schema.get("description"), _TYPES.get(kind, click.STRING)
    return click.Option([option, name], type=type_, multiple=repeated, default=None, help=about)
