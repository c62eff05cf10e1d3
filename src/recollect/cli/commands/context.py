"""`recollect context`: what an agent should read before it answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from recollect.cli.command import Call, command
from recollect.cli.input import STDIN, read_bytes, read_text, read_turns
from recollect.cli.options import AS_OF, PROFILE, as_of_time, complete_session, default_profile
from recollect.cli.phrases import quantity, with_remedy
from recollect.cli.rendering import Result, Verbatim, picked
from recollect.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.changes import Turn
    from recollect.engine.results import Context


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
    shell_complete=complete_session,
    help="The current conversation, whose last turns are shown; memories come from all.",
)
@AS_OF
@PROFILE
@click.option(
    "--messages",
    metavar="FILE|-",
    help="Instead of QUERY: the last messages, as JSON objects with role, speaker, content and at.",
)
def context_command(
    call: Call,
    query: tuple[str, ...],
    budget: int,
    session: str | None,
    as_of: str | None,
    profile: str | None,
    messages: str | None,
) -> Result:
    """Print what to read before answering, within a budget.

    Memories that bear on QUERY, and the last turns of the session, oldest first and nothing twice: text to
    paste into a prompt. Nothing else goes to standard output. Asking leaves no trace.
    """
    if query and messages is not None:
        raise click.UsageError("Give either QUERY or --messages.")
    asked = _messages(messages) if messages is not None else read_text(query, "query")
    at = as_of_time(call, as_of)
    found = call.memory().context(
        asked,
        budget_tokens=budget,
        session=session,
        profile=profile or default_profile(),
        as_of=at,
    )
    fields = ("query", "text", "tokens", "budget_tokens", "left_out", "note", "memories", "turns")
    return Result(
        picked(found, *fields),
        [Verbatim(found.text)] if found.text else [],
        hints=[_summary(found)],
        warnings=[with_remedy(found.note)] if found.note else [],
    )


def _messages(file: str) -> Sequence[Turn]:
    turns, wrong = read_turns(read_bytes(file))
    where = "standard input" if file == STDIN else file
    if wrong:
        raise InvalidInput(f"The messages in {where} cannot all be read; {wrong[0]}")
    if not turns:
        raise InvalidInput(f"There are no messages in {where}.")
    return turns


def _summary(found: Context) -> str:
    if not found.text and not found.left_out:
        return "Nothing is known that bears on it."
    memories = quantity(len(found.memories), "memory", "memories")
    turns = f" and {quantity(len(found.turns), 'turn')}" if found.turns else ""
    left = f"; {quantity(found.left_out, 'memory', 'memories')} did not fit" if found.left_out else ""
    return f"{found.tokens:,} of {found.budget_tokens:,} tokens: {memories}{turns}{left}."
