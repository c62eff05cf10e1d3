"""Arguments and options that several commands share, and what they stand for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeVar

import click

from recollect.cli.command import Call
from recollect.cli.times import end_of
from recollect.errors import NotFound, RecollectError
from recollect.ranking.default_profile import DEFAULT_PROFILE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from click.shell_completion import CompletionItem

    from recollect.engine.engine import Engine
    from recollect.ranking.pipeline import Profile
    from recollect.records import Memory

_Function = TypeVar("_Function", bound="Callable[..., Any]")
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


def combined(*options: Callable[[_Function], _Function]) -> Callable[[_Function], _Function]:
    """Several options and arguments as one decorator."""

    def decorate(function: _Function) -> _Function:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


KINDS = ("entity", "note", "message")

PROFILE = click.option(
    "-p",
    "--profile",
    metavar="NAME",
    shell_complete=complete_profile,
    help="How to rank; see `recollect profile list`.",
)
AS_OF = click.option(
    "--as-of",
    metavar="WHEN",
    help="As the memory was then: an ISO date or time, or words; a day means its end.",
)
DRY_RUN = click.option("--dry-run", is_flag=True, help="Only say what it would do.")
YES = click.option("-y", "--yes", is_flag=True, help="Do not ask.")
KEEP_GOING = click.option(
    "--keep-going/--stop-at-bad-line",
    default=True,
    show_default=True,
    help="Leave out what cannot be read or stored and name it, or store nothing.",
)
search_options = combined(
    click.option(
        "-n",
        "--limit",
        type=click.IntRange(1, 1000),
        help="So many hits; without it, those worth reading, at most 10.",
    ),
    PROFILE,
    click.option(
        "-k", "--kind", "kinds", type=click.Choice(KINDS), multiple=True, help="Only these; repeatable."
    ),
    click.option(
        "--session",
        metavar="NAME",
        shell_complete=complete_session,
        help="Of messages, search only those of this session.",
    ),
    AS_OF,
    click.option("--tag", "tags", multiple=True, metavar="TAG", help="Only what has this tag; repeatable."),
    click.option("--superseded", is_flag=True, help="Also what was superseded."),
    click.option(
        "--rerank/--no-rerank",
        default=None,
        help="Let a model read the first hits again; if not given, as the setting `rerank` says.",
    ),
    click.option("--untuned", is_flag=True, help="Rank by the profile's published numbers."),
)


def limit_option(default: int, help_: str, least: int = 1) -> Callable[[_Function], _Function]:
    return click.option(
        "-n", "--limit", type=click.IntRange(least, 1000), default=default, show_default=True, help=help_
    )


def search_arguments(
    call: Call,
    *,
    profile: str | None,
    kinds: tuple[str, ...],
    as_of: str | None,
    superseded: bool,
    untuned: bool,
    **rest: Any,
) -> dict[str, Any]:
    """What was typed, as the engine takes it."""
    return {
        **rest,
        "profile": profile or DEFAULT_PROFILE,
        "kinds": kinds or KINDS,
        "as_of": as_of_time(call, as_of),
        "include_superseded": superseded,
        "tuned": not untuned,
    }


def as_of_time(call: Call, text: str | None) -> datetime | None:
    return None if text is None else end_of(text, call.now(), "--as-of")
