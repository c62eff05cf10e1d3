"""`recollect context`: what an agent should read before it answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from recollect.cli.asking import AS_OF, PROFILE, default_profile
from recollect.cli.command import command
from recollect.cli.given import STDIN, content_of, text_of, turns_in
from recollect.cli.replies import Done
from recollect.cli.when import end_of
from recollect.cli.which import sessions_begun
from recollect.cli.wording import counted, with_remedy
from recollect.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.changes import Turn
    from recollect.cli.call import Call
    from recollect.engine.results import Context, Item


@command(
    "context",
    "recollect context 'what does Marisol drink?' --budget 500",
    "recollect context 'where were we?' --session harbour | pbcopy",
    "tail -n 5 talk.jsonl | recollect context --messages - --json",
)
@click.argument("query", metavar="[QUERY...]", nargs=-1)
@click.option(
    "--budget", type=click.IntRange(1), default=1000, show_default=True, help="Tokens at most, estimated."
)
@click.option(
    "--session",
    metavar="NAME",
    shell_complete=sessions_begun,
    help="The conversation at hand, whose last turns are shown; memories come from all.",
)
@AS_OF
@PROFILE
@click.option(
    "--messages",
    metavar="FILE|-",
    help="Instead of QUERY: the last messages, as JSON objects with role, speaker, content and at.",
)
def context(
    call: Call,
    query: tuple[str, ...],
    budget: int,
    session: str | None,
    as_of: str | None,
    profile: str | None,
    messages: str | None,
) -> None:
    """Print what to read before answering, within a budget.

    Memories that bear on QUERY, and the last turns of the session, oldest first and nothing twice: text to
    paste into a prompt. Nothing else goes to standard output. Asking leaves no trace.
    """
    if query and messages is not None:
        raise click.UsageError("Give either QUERY or --messages.")
    asked = _messages(messages) if messages is not None else text_of(query, "query")
    moment = None if as_of is None else end_of(as_of, call.now(), "--as-of")
    with call.memory() as memory:
        found = memory.context(
            asked,
            budget_tokens=budget,
            session=session,
            profile=profile or default_profile(),
            as_of=moment,
        )
    if call.json:
        call.show(Done("", context_data(found)))
        return
    if found.text:
        from recollect.cli.visible import visible  # noqa: PLC0415  # --help needs none

        click.echo(visible(found.text))
    call.whisper(_summary(found))
    if found.note:
        call.tell(with_remedy(found.note))


def context_data(found: Context) -> dict[str, Any]:
    return {
        "query": found.query,
        "text": found.text,
        "tokens": found.tokens,
        "budget_tokens": found.budget_tokens,
        "left_out": found.left_out,
        "note": found.note,
        "memories": [_item(item) for item in found.memories],
        "turns": [_item(item) for item in found.turns],
    }


def _messages(file: str) -> Sequence[Turn]:
    turns, wrong = turns_in(content_of(file))
    where = "standard input" if file == STDIN else file
    if wrong:
        raise InvalidInput(f"The messages in {where} cannot all be read; {wrong[0]}")
    if not turns:
        raise InvalidInput(f"There are no messages in {where}.")
    return turns


def _item(item: Item) -> dict[str, Any]:
    return {
        "id": item.id,
        "kind": item.kind,
        "text": item.text,
        "at": None if item.at is None else item.at.isoformat(),
        "source": item.source,
        "line": item.line,
        "score": item.score,
    }


def _summary(found: Context) -> str:
    memories = counted(len(found.memories), "memory", "memories")
    turns = f" and {counted(len(found.turns), 'turn')}" if found.turns else ""
    left = f"; {counted(found.left_out, 'memory', 'memories')} did not fit" if found.left_out else ""
    if not found.text and not found.left_out:
        return "Nothing is known that bears on it."
    return f"{found.tokens:,} of {found.budget_tokens:,} tokens: {memories}{turns}{left}."
