"""Commands that ask the ranking: search, recall, why-not."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeVar

import click

from recollect.cli.command import command
from recollect.cli.replies import Found, Missed
from recollect.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Callable

    from click.shell_completion import CompletionItem

    from recollect.cli.call import Call
    from recollect.engine.engine import Engine

KINDS = ("entity", "note", "message")
_ID = re.compile(r"#?([0-9]{1,18})")
_Function = TypeVar("_Function", bound="Callable[..., Any]")


def _completed(ctx: click.Context, _: click.Parameter, begun: str) -> list[CompletionItem]:
    from recollect.cli.profiles import completed  # noqa: PLC0415  # loads NumPy, and only the tab key needs it

    return completed(ctx, begun)


_LIMIT = click.option(
    "-n", "--limit", type=click.IntRange(1, 1000), help="Hits at most; 10 where it is not given."
)
_PROFILE = click.option(
    "-p",
    "--profile",
    metavar="NAME",
    shell_complete=_completed,
    help="How to rank; see `recollect profile list`.",
)
_KIND = click.option(
    "-k", "--kind", "kinds", type=click.Choice(KINDS), multiple=True, help="Only these; repeatable."
)
_EXPLAIN = click.option("-e", "--explain", is_flag=True, help="Show how each score came about, step by step.")


def _asking(function: _Function) -> _Function:
    """What both ways to search take."""
    for option in (_EXPLAIN, _KIND, _PROFILE, _LIMIT, click.argument("text", nargs=-1, required=True)):
        function = option(function)
    return function


@command(
    "search",
    "recollect search 'who is allergic to something?'",
    "recollect search tide tables --limit 3 --kind entity",
    "recollect search 'release date' --profile limbic --explain",
    "recollect search 'release date' --json | jq -r '.hits[].memory.name'",
)
@_asking
def search(call: Call, text: tuple[str, ...], **asked: Any) -> None:
    """Search by words and by meaning at once, best first.

    Each hit shows the passage that matched and why it stands there: its place among the hits by words, its
    place by meaning with the cosine, and its score. Searching leaves no trace; `recollect recall` is the same
    and learns from what it showed.

    With --explain, every step that made the score: what it added (+), multiplied by (×) or set it to (→);
    `30/70 with 0.6` is 30 % of the score so far and 70 % of 0.6. The bar is the score after the step, on one
    scale for all hits.

    In a pipe, the fields of a line are: rank, id, kind, name, passage, why, score. With --explain, a line for
    each step follows: rank, id, `step`, name, effect, value, numbers, score.
    """
    _ask(call, text, record=False, **asked)


@command(
    "recall",
    "recollect recall 'who is allergic to something?'",
    "recollect recall 'release date' --profile limbic --explain",
    "recollect recall tide tables --no-record   # as `recollect search`",
)
@_asking
@click.option(
    "--record/--no-record",
    default=True,
    show_default=True,
    help="Note what was shown, for later rankings.",
)
def recall(call: Call, text: tuple[str, ...], record: bool, **asked: Any) -> None:
    """Search, and note what was shown for later rankings.

    As `recollect search`, with the same answer and the same options. What is shown counts as used: profiles
    such as limbic rank it higher from then on, and with it what was shown together with it.
    """
    _ask(call, text, record=record, **asked)


@command(
    "why-not",
    "recollect why-not 'who is allergic to something?' 'Marisol Vega'",
    "recollect why-not 'release date' 12 --profile limbic --limit 5",
)
@click.argument("query")
@click.argument("memory")
@_LIMIT
@_PROFILE
@_KIND
def why_not(
    call: Call, query: str, memory: str, limit: int | None, profile: str | None, kinds: tuple[str, ...]
) -> None:
    """Say why a memory was not found, and what would lift it.

    MEMORY is an id, or an entity's name. Shown are what each search made of it, where it stands among all
    candidates, how its score came about, and which step cost or won it how many places. Nothing is noted.

    In a pipe, each line begins with what it is: verdict, search (name, rank, score, taken), place (place,
    score, score needed), step (name, effect, value, numbers, score), cost (step, value, places, place
    without it), advice.
    """
    with call.memory() as engine:
        why = engine.why_not(
            query,
            _id_of(engine, memory),
            limit=limit,
            profile=profile or _default(),
            kinds=kinds or KINDS,
        )
    call.show(Missed(why))


def _ask(
    call: Call,
    text: tuple[str, ...],
    *,
    limit: int | None,
    profile: str | None,
    kinds: tuple[str, ...],
    explain: bool,
    record: bool,
) -> None:
    with call.memory() as memory:
        answer = memory.recall(
            " ".join(text),
            limit=limit,
            profile=profile or _default(),
            kinds=kinds or KINDS,
            explain=explain,
            record=record,
        )
        # Before the memory is closed, which waits for the answer to be noted.
        call.show(Found(answer))
        if answer.note:
            call.tell(answer.note)


def _default() -> str:
    from recollect.rank.profiles import DEFAULT  # noqa: PLC0415  # loads NumPy

    return DEFAULT


def _id_of(engine: Engine, memory: str) -> int:
    number = _ID.fullmatch(memory)
    if number:
        return int(number[1])
    found = engine.open_nodes([memory], record=False).entities
    if not found:
        raise NotFound(f"There is no entity named {memory!r}. Look for one with: recollect find TEXT")
    return found[0].id
