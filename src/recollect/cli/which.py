"""Which memory is meant: an id, or an entity's name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from recollect.errors import NotFound, RecollectError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from recollect.engine.engine import Engine
    from recollect.records import Memory

_ID = re.compile(r"#?([0-9]{1,18})")


def memory_id(text: str) -> int:
    """`12` or `#12`, as an option or an argument of a command."""
    number = _ID.fullmatch(text.strip())
    if number is None:
        raise click.BadParameter(f"{text!r} is no id; ids are numbers, as in 12 or #12.")
    return int(number[1])


def id_in(text: str) -> int | None:
    number = _ID.fullmatch(text.strip())
    return None if number is None else int(number[1])


def memory_of(engine: Engine, text: str) -> Memory:
    """By an entity's name or by an id; `#12` is always an id, since an entity may be named 12."""
    found = memory_if_any(engine, text)
    if found is None:
        raise NotFound(no_such(text))
    return found


def memory_if_any(engine: Engine, text: str) -> Memory | None:
    if not text.startswith("#"):
        entities = engine.graph.open_nodes([text], record=False).entities
        if entities:
            return entities[0]
    number = id_in(text)
    return None if number is None else engine.get(number)


def no_such(*asked: str) -> str:
    """What to say of what is not there."""
    ids = [each for each in asked if _ID.fullmatch(each)]
    names = [each for each in asked if each not in ids]
    said = [f"no memory {' or '.join(each.lstrip('#') for each in ids)}"] if ids else []
    if names:
        said.append(f"no entity named {' or '.join(map(repr, names))}")
    ending = " Look for one with: recollect find TEXT" if names else ""
    return f"There is {' and '.join(said)}.{ending}"


def sessions_begun(ctx: click.Context, _: click.Parameter, begun: str) -> list[CompletionItem]:
    """For the tab key: the sessions whose name begins so."""
    from click.shell_completion import CompletionItem  # noqa: PLC0415  # only the tab key needs it

    from recollect.cli.call import Call  # noqa: PLC0415

    try:
        with ctx.ensure_object(Call).memory() as memory:
            known = memory.sessions.list()
    except RecollectError:  # no memory, or none that opens: the command itself will say so
        return []
    return [CompletionItem(each.name) for each in known if each.name.startswith(begun)]
