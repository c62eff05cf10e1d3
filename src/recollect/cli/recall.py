"""Commands that ask the ranking: search, recall, why-not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import click

from recollect.cli.asking import (
    AS_OF,
    KIND,
    LIMIT,
    PROFILE,
    RERANK,
    SESSION,
    SUPERSEDED,
    TAG,
    UNTUNED,
    asked_of,
)
from recollect.cli.command import command
from recollect.cli.replies import Found, Missed
from recollect.cli.which import memory_of
from recollect.cli.wording import with_remedy

if TYPE_CHECKING:
    from collections.abc import Callable

    from recollect.cli.call import Call

_Function = TypeVar("_Function", bound="Callable[..., Any]")

_EXPLAIN = click.option("-e", "--explain", is_flag=True, help="Show how each score came about, step by step.")
_BUDGET = click.option(
    "--budget",
    type=click.IntRange(1),
    metavar="N",
    help="Only hits whose texts fit this many tokens together.",
)
_LEAST = click.option(
    "--min-confidence",
    type=click.FloatRange(0, 1),
    metavar="SHARE",
    help="Only hits at least as likely to be what was asked for, from 0 to 1.",
)
_ABSTAIN = click.option("--abstain", is_flag=True, help="Show no guesses where nothing seems to answer.")
_WHERE = (LIMIT, PROFILE, KIND, SESSION, AS_OF, TAG, SUPERSEDED, RERANK, UNTUNED)


def _asking(function: _Function) -> _Function:
    """What both ways to search take."""
    words = click.argument("text", metavar="QUERY...", nargs=-1, required=True)
    for option in (_EXPLAIN, _BUDGET, _ABSTAIN, _LEAST, *reversed(_WHERE), words):
        function = option(function)
    return function


def _placed(function: _Function) -> _Function:
    """What also `why-not` takes: where to look."""
    for option in reversed(_WHERE):
        function = option(function)
    return function


@command(
    "search",
    "recollect search 'who is allergic to something?'",
    "recollect search tide tables --limit 3 --kind entity",
    "recollect search 'what did Ana say last week?' --kind message",
    "recollect search 'release date' --as-of 2026-02-01 --superseded",
    "recollect search 'release date' --profile limbic --explain",
    "recollect search 'where is the spare key?' --abstain",
    "recollect search 'release date' --json | jq -r '.hits[].memory.name'",
)
@_asking
def search(call: Call, text: tuple[str, ...], **asked: Any) -> None:
    """Search by words and by meaning at once, best first.

    Each hit shows the passage that matched and why it stands there: its place among the hits by words, its
    place by meaning with the cosine, its score, and how likely it is to be what was asked for. Where nothing
    seems to answer, that is said first; --abstain then shows no guesses. Searching leaves no trace;
    `recollect recall` is the same and learns from what it showed.

    With --explain, every step that made the score: what it added (+), multiplied by (×) or set it to (→);
    `30/70 with 0.6` is 30 % of the score so far and 70 % of 0.6. The bar is the score after the step, on one
    scale for all hits.

    A query may speak of a time, such as `last week` or `in May`: what happened or was said then comes first.

    In a pipe, the fields of a line are: rank, id, kind, name or speaker, passage, why, score; for notes and
    messages also the time, and where they belong. With --explain, a line for each step follows: rank, id,
    `step`, name, effect, value, numbers, score.
    """
    _ask(call, text, record=False, **asked)


@command(
    "recall",
    "recollect recall 'who is allergic to something?'",
    "recollect recall 'release date' --profile limbic --explain",
    "recollect recall 'what did we decide last week?' --session harbour --budget 500",
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
@_placed
def why_not(call: Call, query: str, memory: str, **where: Any) -> None:
    """Say why a memory was not found, and what would lift it.

    MEMORY is an id, or an entity's name. Shown are what each search made of it, where it stands among all
    candidates, how its score came about, and which step cost or won it how many places. Nothing is noted.

    In a pipe, each line begins with what it is: verdict, search (name, rank, score, taken), place (place,
    score, score needed), step (name, effect, value, numbers, score), cost (step, value, places, place
    without it), advice.
    """
    asked = asked_of(call, **where)
    with call.memory() as engine:
        why = engine.why_not(query, memory_of(engine, memory).id, **asked)
        call.show(Missed(why, engine.parts.zone))


def _ask(
    call: Call,
    text: tuple[str, ...],
    *,
    explain: bool,
    record: bool,
    budget: int | None,
    min_confidence: float | None,
    abstain: bool,
    **where: Any,
) -> None:
    asked = asked_of(call, **where)
    with call.memory() as memory:
        answer = memory.recall(
            " ".join(text),
            explain=explain,
            record=record,
            budget_tokens=budget,
            min_confidence=min_confidence,
            abstain=abstain,
            **asked,
        )
        # Before the memory is closed, which waits for the answer to be noted.
        call.show(Found(answer, memory.parts.zone))
        if answer.doubtful and not call.json and not call.is_terminal:
            from recollect.cli.matched import doubt  # noqa: PLC0415  # --help needs none

            call.tell(doubt(answer))
        if answer.note:
            call.tell(with_remedy(answer.note))
