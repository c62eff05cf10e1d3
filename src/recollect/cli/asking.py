"""Options that every way to ask the memory shares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from recollect.cli.when import end_of
from recollect.cli.which import sessions_begun

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from recollect.cli.call import Call

KINDS = ("entity", "note", "message")


def profiles_begun(ctx: click.Context, _: click.Parameter, begun: str) -> list[CompletionItem]:
    from recollect.cli.profiles import completed  # noqa: PLC0415  # loads NumPy, and only the tab key needs it

    return completed(ctx, begun)


LIMIT = click.option(
    "-n", "--limit", type=click.IntRange(1, 1000), help="Hits at most; 10 where it is not given."
)
PROFILE = click.option(
    "-p",
    "--profile",
    metavar="NAME",
    shell_complete=profiles_begun,
    help="How to rank; see `recollect profile list`.",
)
KIND = click.option(
    "-k", "--kind", "kinds", type=click.Choice(KINDS), multiple=True, help="Only these; repeatable."
)
SESSION = click.option(
    "--session",
    metavar="NAME",
    shell_complete=sessions_begun,
    help="The conversation at hand: of messages, only its own.",
)
AS_OF = click.option(
    "--as-of",
    metavar="WHEN",
    help="As the memory stood then: an ISO date or time, or words; a day means its end.",
)
TAG = click.option("--tag", "tags", multiple=True, metavar="TAG", help="Only what has this tag; repeatable.")
RERANK = click.option(
    "--rerank/--no-rerank",
    default=None,
    help="Let a model read the first hits again; without it, as the setting `rerank` says.",
)
UNTUNED = click.option("--untuned", is_flag=True, help="Rank by the profile's published numbers.")
SUPERSEDED = click.option("--superseded", is_flag=True, help="Also what was superseded.")


def default_profile() -> str:
    from recollect.rank.profiles import DEFAULT  # noqa: PLC0415  # loads NumPy

    return DEFAULT


def asked_of(
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
        "as_of": None if as_of is None else end_of(as_of, call.now(), "--as-of"),
        "tags": tags,
        "include_superseded": superseded,
        "rerank": rerank,
        "tuned": not untuned,
    }
