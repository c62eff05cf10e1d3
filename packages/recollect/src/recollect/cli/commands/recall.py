"""The commands `recall` and `why-not`."""

from __future__ import annotations

from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

import click

from recollect.cli.command import Call, command, option
from recollect.cli.options import (
    complete_entity,
    memory_of,
    other_owners,
    search_arguments,
    search_options,
    span_text,
)
from recollect.cli.rendering import Column, Paragraph, Result, Styled, Table, muted, picked, stacked, titled
from recollect.cli.views import heading, memory_data, with_remedy
from recollect.text.phrases import decimals, ellipsize, one_line, quantity

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import tzinfo

    from recollect.cli.rendering import Block, Cell, Words
    from recollect.domain.results import Answer, Hit
    from recollect.ranking.candidates import Reason
    from recollect.ranking.why_not import Cost
    from recollect.search.why_not import WhyNot


@command(
    "recall",
    "recollect recall 'who is allergic to something?'",
    "recollect recall tide tables --limit 3 --kind entity",
    "recollect recall 'what did Ana say last week?' --kind message --budget 500",
    "recollect recall 'release date' --as-of 2026-02-01 --superseded",
    "recollect recall 'release date' --profile limbic --explain --no-record",
    "recollect recall 'release date' --json | jq -r '.hits[].memory | .name + .text'",
)
@click.argument("text", metavar="QUERY...", nargs=-1, required=True)
@search_options()
@option(
    "--min-confidence SHARE",
    "Only hits at least this likely to answer, from 0 to 1.",
    type=click.FloatRange(0, 1),
)
@option("--budget N", "Only as many hits as fit N tokens.", to="budget_tokens", type=click.IntRange(1))
@option("-e --explain", "Show the steps of each score.")
@option("--record/--no-record", "Record the hits, for later rankings.", default=True)
def recall_command(call: Call, text: tuple[str, ...], **options: Any) -> Result:
    """Search by words and by meaning, best first.

    Each hit shows the passage that matched, its rank by words and by meaning, its score, and how likely it is
    to answer the query. If nothing seems to answer, no hits are shown; --limit shows the nearest anyway.
    A hit that another memory contradicts says which of the two is newer.

    A query may name a time, such as `last week` or `in May`: memories of that time come first.

    The hits are recorded as used: some profiles rank them higher from then on. --no-record prevents that.

    --explain shows each step that changed the score: it added (+), subtracted (−), multiplied (×) or set it
    (→); `30/70 with 0.6` mixes 30 % of the score with 70 % of 0.6. The last column is the resulting score.
    """
    memory = call.memory(records=options["record"])
    abstain = options["limit"] is None
    answer = memory.recall(" ".join(text), **search_arguments(**options, abstain=abstain))
    time = answer.time
    data = {
        **picked(answer, "query", "profile", "strategy", "mode", "note"),
        "time": None if time is None else picked(time, "words", "start", "stop", "confidence"),
        **picked(answer, "left_out", "confidence", "doubtful", "abstained", "withheld"),
        "hits": [
            {
                "rank": rank,
                **picked(hit, "score", "confidence"),
                "found_by": hit.places,
                **picked(hit, "scores", "reasons", "passage", "piece", "conflicts_with"),
                "memory": memory_data(hit.memory),
            }
            for rank, hit in enumerate(answer.hits, start=1)
        ],
    }
    doubt = "Nothing here seems to answer that; these are the nearest."
    hints = []
    if not answer.hits:
        doubt = "Nothing here seems to answer that."
        hints = ["--limit 3 shows the nearest memories."] if answer.withheld else [other_owners(memory)]
    warnings = [with_remedy(answer.note)] if answer.note else []
    return Result(data, _view(answer, doubt, call.zone), warnings=warnings, hints=hints)


def _view(answer: Answer, doubt: str, zone: tzinfo) -> Iterator[Block]:
    if answer.time is not None:
        yield from muted(f"{one_line(answer.time.words)}: {span_text(answer.time)}")
    if answer.doubtful and (answer.hits or answer.withheld):
        yield titled(doubt, "changed")
    elif not answer.hits and answer.withheld:
        are = "is" if answer.withheld == 1 else "are"
        yield Paragraph(f"{quantity(answer.withheld, 'hit')} below --min-confidence {are} not shown.")
    elif not answer.hits:
        yield titled(f"Nothing found for “{one_line(answer.query)}”.", "changed")
    for rank, hit in enumerate(answer.hits, start=1):
        if rank > 1:
            yield Paragraph()
        yield _hit(rank, hit, answer, zone)
        if hit.reasons:
            yield from _steps(hit.reasons, indent=5)
    if any(hit.reasons for hit in answer.hits):
        yield from muted(f"\nProfile: {answer.profile}")
    if answer.left_out:
        yield from muted(f"\n{quantity(answer.left_out, 'more hit')} did not fit the budget.")


def _hit(rank: int, hit: Hit, answer: Answer, zone: tzinfo) -> Table:
    from recollect.cli.views import highlighted, hit_excerpt  # loads the grammar of words

    memory, passage, score = hit.memory, hit_excerpt(hit, answer.query), decimals(hit.score)
    words, meaning = hit.places.get("words"), hit.places.get("meaning")
    by_words = "" if words is None else f"words #{words.rank}"
    by_meaning = "" if meaning is None else f"meaning #{meaning.rank} (cosine {meaning.score:.2f})"
    found_by = ", ".join(filter(None, (by_words, by_meaning)))
    likely = "" if hit.confidence is None else f"{100 * hit.confidence:.0f} % likely"
    conflicts = [
        (f"{'older' if other.is_newer else 'newer'} than #{other.id}", other) for other in hit.conflicts_with
    ]
    text = highlighted(passage, answer.query) if passage else ""
    columns = (
        Column(role="muted", right=True, width=3),
        Column(fill=True, role="muted" if answer.doubtful else ""),  # guesses are dimmed
        Column(role="muted", wrap="whole", right=True),
    )
    others = [
        Styled(f"{than}: “{ellipsize(other.text)}”", "changed" if other.is_newer else "muted")
        for than, other in conflicts
    ]
    shown = stacked(heading(memory, zone), text, *others, Styled(found_by, "muted"))
    return Table(columns, [(str(rank), shown, stacked(f"score {score}", likely))], grid=True)


_DESCRIBED_FROM = 80
"""Width of a terminal from which `--explain` describes each step."""
# The unit of each search's score.
_UNITS = {"meaning": "cosine", "words": "BM25", "nearby": "weight", "linked": "share"}


@command(
    "why-not",
    "recollect why-not 'who is allergic to something?' 'Marisol Vega'",
    "recollect why-not 'release date' 12 --profile limbic --limit 5",
)
@click.argument("query")
@click.argument("memory", shell_complete=complete_entity)
@search_options("--kind", "--session", "--tag", "--superseded")
def why_not_command(call: Call, query: str, memory: str, **where: Any) -> Result:
    """Explain why a memory was not found.

    MEMORY is an id or an entity's name. The answer shows its rank in each search and its place among the
    candidates. It lists the steps of its score, with the places that each step lost or gained, and says what
    would move it up. The question is not recorded.
    """
    engine = call.memory()
    why = engine.why_not(query, memory_of(engine, memory).id, **search_arguments(**where))
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
    return Result(data, _why_not_view(why, call.zone))


def _why_not_view(why: WhyNot, zone: tzinfo) -> Iterator[Block]:
    yield Paragraph(heading(why.memory, zone))
    if why.memory.text:
        yield Paragraph(ellipsize(why.memory.text, 160))
    yield titled(why.verdict)
    if why.branches:
        searches = []
        for branch in why.branches:
            outcome = Styled("✗ not found" if branch.rank is None else "✗ too far down", "bad")
            if branch.reached:
                outcome = Styled("✓ a candidate", "good")
            score = None if branch.score is None else f"{_UNITS[branch.name]} {branch.score:.2f}"
            rank = None if branch.rank is None else str(branch.rank)
            searches.append((branch.name, rank, score, str(branch.taken), outcome))
        columns = ("Search", Column("Rank", right=True), "Score", Column("Considered", right=True), "")
        yield Table(columns, searches)
    standing = why.standing
    if standing is not None:
        if standing.place is not None:
            found = any(branch.reached for branch in why.branches)
            begins = "It is" if found else "If a search had found it, it would be"
            last = "the list has room"
            if standing.needed is not None:
                last = f"the last hit has {decimals(standing.needed)}"
            yield Paragraph(f"{begins} at place {standing.place:,} with {decimals(standing.score)}; {last}.")
        yield from _steps(standing.reasons, standing.costs, indent=2)
        yield Paragraph()
    if why.advice:
        rows = [(Styled("→", "changed"), with_remedy(advice)) for advice in why.advice]
        yield Table(("", Column()), rows, grid=True)


def _steps(reasons: Sequence[Reason], costs: Sequence[Cost] | None = None, *, indent: int) -> Iterator[Block]:
    """Yield the steps that changed a score, with the places that each lost or gained. Count the others.

    Without `costs`, each step has its description instead, if the terminal is wide enough.
    """
    from recollect.ranking.candidates import effect_text, step_text  # loads the arithmetic

    described = costs is None and get_terminal_size().columns >= _DESCRIBED_FROM
    first = (Column(wrap="whole"), Column(role="name", wrap="whole"), Column(wrap="whole", right=True))
    columns = (*first, Column(role="muted", wrap="fold" if described else "whole"))
    remaining = list(costs or ())
    rows: list[Sequence[Cell]] = []
    unchanged, before = 0, decimals(0.0)
    for reason in reasons:
        places, score = _places(remaining, reason), decimals(reason.score)
        if score == before and not places:
            unchanged += 1
        else:
            about = step_text(reason.step) if described else places
            rows.append((reason.step, effect_text(reason), score, about))
        before = score
    yield Table(columns, rows, grid=True, indent=indent)
    if unchanged:
        yield Paragraph(Styled(f"{quantity(unchanged, 'step')} changed nothing", "muted"), indent)


def _places(remaining: list[Cost], reason: Reason) -> Words:
    """Return the places that a step lost or gained. Remove its cost from the list: a step may occur twice."""
    cost = next((each for each in remaining if (each.step, each.value) == (reason.step, reason.value)), None)
    if cost is None:
        return ""
    remaining.remove(cost)
    places = quantity(abs(cost.places), "place")
    if not cost.places:
        return ""
    return Styled(f"−{places}", "bad") if cost.places > 0 else Styled(f"+{places}", "good")
