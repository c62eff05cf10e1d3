"""`recollect why-not`: why a memory was not found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from recollect.cli.command import command
from recollect.cli.memory_view import heading
from recollect.cli.options import search_arguments, search_options
from recollect.cli.phrases import ellipsize, with_remedy
from recollect.cli.resolve import memory_of
from recollect.cli.results import Block, Column, Paragraph, Result, Styled, Table, right_aligned
from recollect.cli.score_steps import highest_score, score_steps, score_text, step_fields
from recollect.cli.shapes import memory_data, picked

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import tzinfo

    from recollect.cli.call import Call
    from recollect.engine.why_not import Branch, WhyNot
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
    data = {
        **picked(why, "query", "profile", "verdict", "advice"),
        "searches": [
            {"search": branch.name, **picked(branch, "rank", "score", "taken", "reached")}
            for branch in why.branches
        ],
        "standing": None if why.standing is None else _standing_data(why.standing),
        "memory": memory_data(why.memory),
    }
    return Result(data, _view(why, call.zone), _lines(why))


def _standing_data(standing: Standing) -> dict[str, Any]:
    dropped = standing.dropped
    return {
        "place": standing.place,
        "dropped": None if dropped is None else picked(dropped, "step", "reason"),
        **picked(standing, "score", "needed", "reasons", "costs"),
    }


def _view(why: WhyNot, zone: tzinfo) -> Iterator[Block]:
    yield Paragraph(heading(why.memory, zone))
    if why.memory.text:
        yield Paragraph(ellipsize(why.memory.text, 160))
    yield Paragraph(Styled(why.verdict, "strong"))
    if why.branches:
        rows = [_branch(branch) for branch in why.branches]
        yield Table(("Search", *right_aligned("Rank"), "Score", "Taken", ""), rows)
    standing = why.standing
    if standing is not None and standing.place is not None:
        found = any(branch.reached for branch in why.branches)
        begins = "It stands" if found else "Taken in all the same, it would stand"
        last = "the list is not full"
        if standing.needed is not None:
            last = f"the last on the list has {score_text(standing.needed)}"
        yield Paragraph(f"{begins} at place {standing.place:,} with {score_text(standing.score)}; {last}.")
        full = max(highest_score([standing.reasons]), standing.needed or 0.0)
        yield from score_steps(standing.reasons, full, standing.costs, indent=2)
        yield Paragraph()
    if why.advice:
        rows = [(Styled("→", "changed"), with_remedy(advice)) for advice in why.advice]
        yield Table((Column(), Column()), rows, grid=True)


def _branch(branch: Branch) -> tuple[str | Styled, ...]:
    if branch.reached:
        outcome = Styled("✓ a candidate", "good")
    else:
        outcome = Styled("✗ not found" if branch.rank is None else "✗ too far down", "bad")
    return (
        branch.name,
        "–" if branch.rank is None else f"{branch.rank:,}",
        "–" if branch.score is None else f"{_MEASURES[branch.name]} {branch.score:.2f}",
        f"the first {branch.taken:,}",
        outcome,
    )


def _lines(why: WhyNot) -> Iterator[tuple[str, ...]]:
    yield "verdict", why.verdict
    for branch in why.branches:
        yield "search", branch.name, _if_known(branch.rank), _if_known(branch.score), str(branch.taken)
    standing = why.standing
    if standing is not None:
        yield "place", _if_known(standing.place), repr(standing.score), _if_known(standing.needed)
        yield from (("step", *step_fields(reason)) for reason in standing.reasons)
        for cost in standing.costs:
            yield "cost", cost.step, repr(cost.value), str(cost.places), str(cost.place_without)
    yield from (("advice", with_remedy(advice)) for advice in why.advice)


def _if_known(value: float | None) -> str:
    return "" if value is None else repr(value)
