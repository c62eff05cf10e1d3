"""Finds the memory that an id or a name stands for, and completes names for the tab key."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from recollect.cli.call import Call
from recollect.errors import NotFound, RecollectError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from click.shell_completion import CompletionItem

    from recollect.engine.engine import Engine
    from recollect.ranking.pipeline import Profile
    from recollect.records import Memory

_ID = re.compile(r"#?([0-9]{1,18})")


def id_in(text: str) -> int | None:
    """`12` or `#12`."""
    number = _ID.fullmatch(text.strip())
    return None if number is None else int(number[1])


def memory_id(text: str) -> int:
    """The same, as the type of an option or an argument."""
    number = id_in(text)
    if number is None:
        raise click.BadParameter(f"{text!r} is no id; ids are numbers, as in 12 or #12.")
    return number


def memory_of(memory: Engine, text: str) -> Memory:
    """By an entity's name or by an id; `#12` is always an id, since an entity may be named 12."""
    found = memory_if_any(memory, text)
    if found is None:
        raise NotFound(not_found(text))
    return found


def memory_if_any(memory: Engine, text: str) -> Memory | None:
    if not text.startswith("#"):
        entities = memory.graph.open_nodes([text], record=False).entities
        if entities:
            return entities[0]
    number = id_in(text)
    return None if number is None else memory.get(number)


def not_found(*asked: str) -> str:
    """The message for memories that are not there."""
    ids = [each for each in asked if _ID.fullmatch(each)]
    names = [each for each in asked if each not in ids]
    missing = [f"no memory {' or '.join(each.lstrip('#') for each in ids)}"] if ids else []
    if names:
        missing.append(f"no entity named {' or '.join(map(repr, names))}")
    remedy = " Look for one with: recollect find TEXT" if names else ""
    return f"There is {' and '.join(missing)}.{remedy}"


def all_profiles(call: Call) -> Mapping[str, Profile]:
    """The built-in profiles, and the user's own, which may replace one."""
    from recollect.ranking.profiles import PROFILES  # loads NumPy

    return {**PROFILES, **{each.name: each for each in call.settings()[0].profiles}}


def complete_profile(ctx: click.Context, _: click.Parameter, begun: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem  # only the tab key needs it

    try:
        known = all_profiles(ctx.ensure_object(Call))
    except RecollectError:  # settings that cannot be read: the command itself will say so
        return []
    return [
        CompletionItem(each.name, help=each.about) for each in known.values() if each.name.startswith(begun)
    ]


def complete_session(ctx: click.Context, _: click.Parameter, begun: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem  # only the tab key needs it

    try:
        with ctx.ensure_object(Call).open_memory() as memory:
            known = memory.sessions.list()
    except RecollectError:  # no memory, or none that opens: the command itself will say so
        return []
    return [CompletionItem(each.name) for each in known if each.name.startswith(begun)]
