"""`recollect why-not`: why a memory was not found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from recollect.cli.command import command
from recollect.cli.memory_view import heading, memory_data
from recollect.cli.options import search_arguments, search_options
from recollect.cli.phrases import decimals, ellipsize, with_remedy
from recollect.cli.rendering import (
    PIPE_ONLY,
    Block,
    Column,
    Paragraph,
    Result,
    Styled,
    Table,
    picked,
    titled,
)
from recollect.cli.resolve import memory_of
from recollect.cli.score_steps import steps_table

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import tzinfo

    from recollect.cli.call import Call
    from recollect.engine.why_not import WhyNot
    from recollect.ranking.why_not import Standing

# What the score of each search is.
_MEASURES = {"meaning": "cosine", "words": "BM25", "nearby": "weight", "linked": "share"}


@command(
    "why-not",
    "recollect why-not 'who is allergic to something?' 'Marisol Vega'",
    "recollect why-not 'release date' 12 --profile limbic --limit 5",
)
@click.argument("query")
@click.argument("memory")
@search_options
def why_not_command(call: Call, query: str, memory: str, **where: Any) -> Result:
    """Say why a memory was not found, and what would lift it.

    MEMORY is an id, or an entity's name. It shows what each search made of it, its place among all
    candidates, how its score came about, and how many places each step cost or won. Nothing is recorded.

    In a pipe, each line begins with what it is: verdict, search (name, rank, score, taken), place (place,
    score, score needed), step (name, effect, value, numbers, score), cost (step, value, places, place
    without it), advice.
    """
    asked = search_arguments(call, **where)
    engine = call.memory()
    why = engine.why_not(query, memory_of(engine, memory).id, **asked)
    standing = why.standing
    data = {
        **picked(why, "query", "profile", "verdict", "advice"),
        "searches": [
            {"search": branch.name, **picked(branch, "rank", "score", "taken", "reached")}
            for branch in why.branches
        ],
        "standing": None,
        "memory": memory_data(why.memory),
    }
    if standing is not None:
        dropped = standing.dropped and picked(standing.dropped, "step", "reason")
        standing_data = picked(standing, "place", "dropped", "score", "needed", "reasons", "costs")
        data["standing"] = {**standing_data, "dropped": dropped}
    return Result(data, _view(why, call.zone))


def _view(why: WhyNot, zone: tzinfo) -> Iterator[Block]:
    yield Paragraph(heading(why.memory, zone))
    if why.memory.text:
        yield Paragraph(ellipsize(why.memory.text, 160))
    yield titled(why.verdict)
    yield Table(("",), [(why.verdict,)], "verdict", only="pipe")
    if why.branches:
        yield _searches(why)
    if why.standing is not None:
        yield from _standing(why, why.standing)
    if why.advice:
        rows = [(Styled("→", "changed"), with_remedy(advice)) for advice in why.advice]
        yield Table((Column(only="terminal"), ""), rows, "advice", grid=True)


def _searches(why: WhyNot) -> Table:
    rows = []
    for branch in why.branches:
        outcome = Styled("✗ not found" if branch.rank is None else "✗ too far down", "bad")
        if branch.reached:
            outcome = Styled("✓ a candidate", "good")
        score = None if branch.score is None else f"{_MEASURES[branch.name]} {branch.score:.2f}"
        rank = None if branch.rank is None else str(branch.rank)
        rows.append((branch.name, rank, branch.score, score, str(branch.taken), outcome))
    columns = (
        "Search",
        Column("Rank", right=True),
        PIPE_ONLY,
        Column("Score", only="terminal"),
        Column("Of the first", right=True),
        Column(only="terminal"),
    )
    return Table(columns, rows, "search")


def _standing(why: WhyNot, standing: Standing) -> Iterator[Block]:
    place = None if standing.place is None else str(standing.place)
    yield Table(("", "", ""), [(place, standing.score, standing.needed)], "place", only="pipe")
    if standing.place is not None:
        found = any(branch.reached for branch in why.branches)
        begins = "It stands" if found else "Taken in all the same, it would stand"
        last = "the list is not full"
        if standing.needed is not None:
            last = f"the last on the list has {decimals(standing.needed)}"
        yield Paragraph(f"{begins} at place {standing.place:,} with {decimals(standing.score)}; {last}.")
    yield steps_table(standing.reasons, ("step",), standing.costs, indent=2)
    costs = [(cost.step, cost.value, str(cost.places), str(cost.place_without)) for cost in standing.costs]
    yield Table(("", "", "", ""), costs, "cost", only="pipe")
    yield Paragraph()
