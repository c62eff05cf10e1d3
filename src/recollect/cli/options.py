"""Options that several commands share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import click

from recollect.cli.resolve import complete_profile, complete_session
from recollect.cli.times import end_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from recollect.cli.call import Call

KINDS = ("entity", "note", "message")
_Function = TypeVar("_Function", bound="Callable[..., Any]")

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
_SEARCH = (
    click.option("-n", "--limit", type=click.IntRange(1, 1000), help="Hits at most; 10 if not given."),
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


def search_options(function: _Function) -> _Function:
    """Where and how to search; `search_arguments` reads them."""
    for option in reversed(_SEARCH):
        function = option(function)
    return function


def search_arguments(
    call: Call,
    *,
    limit: int | None,
    profile: str | None,
    kinds: tuple[str, ...],
    session: str | None,
    as_of: str | None,
    tags: tuple[str, ...],
    superseded: bool,
    rerank: bool | None,
    untuned: bool,
) -> dict[str, Any]:
    """What was typed, as the engine takes it."""
    return {
        "limit": limit,
        "profile": profile or default_profile(),
        "kinds": kinds or KINDS,
        "session": session,
        "as_of": as_of_time(call, as_of),
        "tags": tags,
        "include_superseded": superseded,
        "rerank": rerank,
        "tuned": not untuned,
    }


def as_of_time(call: Call, text: str | None) -> datetime | None:
    return None if text is None else end_of(text, call.now(), "--as-of")


def default_profile() -> str:
    from recollect.ranking.profiles import DEFAULT  # loads NumPy

    return DEFAULT
