"""The commands `recall` and `why-not`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from recollect.cli.command import Call, command, option
from recollect.cli.options import memory_of, search_arguments, search_options, span_text
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
    "recollect recall 'where is the spare key?' --abstain",
    "recollect recall 'release date' --json | jq -r '.hits[].memory.name'",
)
@click.argument("text", metavar="QUERY...", nargs=-1, required=True)
@search_options()
@option(
    "--min-confidence SHARE",
    "Only hits that are at least this likely to be what was asked for, from 0 to 1.",
    type=click.FloatRange(0, 1),
)
@option("--abstain", "Show no guesses where nothing seems to answer.")
@option(
    "--budget N",
    "Only hits whose texts fit this many tokens together.",
    to="budget_tokens",
    type=click.IntRange(1),
)
@option("-e --explain", "Show how each score came about, step by step.")
@option("--record/--no-record", "Record what was shown, for later rankings.", default=True)
def recall_command(call: Call, text: tuple[str, ...], **asked: Any) -> Result:
    """Search by words and by meaning at once, best first.

    Each hit shows the passage that matched and why it is there: its rank by words, its rank by meaning with
    the cosine, its score, and how likely it is to be what was asked for. Where nothing seems to answer, that
    is said first; --abstain then shows no guesses. A hit that another memory contradicts says whether it is
    the older or the newer of the two.

    Shown memories count as used: profiles such as limbic rank them higher from then on, and link those that
    were shown together. With --no-record, searching leaves no trace.

    --explain shows every step that made the score: what it added (+), took off (−), multiplied by (×) or set
    it to (→); `30/70 with 0.6` is 30 % of the score so far and 70 % of 0.6. Then comes the score after it.

    A query may name a time, such as `last week` or `in May`: what happened or was said then comes first.
    """
    answer = call.memory().recall(" ".join(text), **search_arguments(**asked))
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
    if not answer.hits:
        withheld = f" {quantity(answer.withheld, 'guess', 'guesses')} not shown." if answer.withheld else ""
        doubt = f"Nothing here seems to answer that.{withheld}"
    warnings = [with_remedy(answer.note)] if answer.note else []
    return Result(data, _view(answer, doubt, call.zone), warnings=warnings)


def _view(answer: Answer, doubt: str, zone: tzinfo) -> Iterator[Block]:
    if answer.time is not None:
        yield from muted(f"{one_line(answer.time.words)}: {span_text(answer.time)}")
    if answer.doubtful and (answer.hits or answer.withheld):
        yield titled(doubt, "changed")
    elif not answer.hits and answer.withheld:
        are = "is" if answer.withheld == 1 else "are"
        yield Paragraph(f"{quantity(answer.withheld, 'hit')} less likely than that {are} not shown.")
    elif not answer.hits:
        yield titled(f"Nothing found for “{one_line(answer.query)}”.", "changed")
    for rank, hit in enumerate(answer.hits, start=1):
        if rank > 1:
            yield Paragraph()
        yield _hit(rank, hit, answer, zone)
        if hit.reasons:
            yield from _steps(hit.reasons, indent=5)
    if any(hit.reasons for hit in answer.hits):
        yield from muted(f"\nRanked by {answer.profile}.")
    if answer.left_out:
        yield from muted(f"\n{quantity(answer.left_out, 'more hit')} did not fit the budget.")


def _hit(rank: int, hit: Hit, answer: Answer, zone: tzinfo) -> Table:
    from recollect.cli.views import highlighted, hit_excerpt  # loads the grammar of words

    memory, passage, score = hit.memory, hit_excerpt(hit, answer.query), f"{hit.score:.4f}"
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
        Column(fill=True, role="muted" if answer.doubtful else ""),  # a guess is dimmed
        Column(role="muted", wrap="whole", right=True),
    )
    others = [
        Styled(f"{than}: “{ellipsize(other.text)}”", "changed" if other.is_newer else "muted")
        for than, other in conflicts
    ]
    shown = stacked(heading(memory, zone), text, *others, Styled(found_by, "muted"))
    return Table(columns, [(str(rank), shown, stacked(f"score {score}", likely))], grid=True)


# The measure behind each search's score.
_MEASURES = {"meaning": "cosine", "words": "BM25", "nearby": "weight", "linked": "share"}


@command(
    "why-not",
    "recollect why-not 'who is allergic to something?' 'Marisol Vega'",
    "recollect why-not 'release date' 12 --profile limbic --limit 5",
)
@click.argument("query")
@click.argument("memory")
@search_options("--kind", "--session", "--tag", "--superseded")
def why_not_command(call: Call, query: str, memory: str, **where: Any) -> Result:
    """Say why a memory was not found, and what would lift it.

    MEMORY is an id, or an entity's name. It shows what each search made of it, its place among all
    candidates, the steps of its score, and how many places each step cost or won. Nothing is recorded.
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
            score = None if branch.score is None else f"{_MEASURES[branch.name]} {branch.score:.2f}"
            rank = None if branch.rank is None else str(branch.rank)
            searches.append((branch.name, rank, score, str(branch.taken), outcome))
        columns = ("Search", Column("Rank", right=True), "Score", Column("Of the first", right=True), "")
        yield Table(columns, searches)
    standing = why.standing
    if standing is not None:
        if standing.place is not None:
            found = any(branch.reached for branch in why.branches)
            begins = "It stands" if found else "Taken in all the same, it would stand"
            last = "the list is not full"
            if standing.needed is not None:
                last = f"the last on the list has {decimals(standing.needed)}"
            yield Paragraph(f"{begins} at place {standing.place:,} with {decimals(standing.score)}; {last}.")
        yield from _steps(standing.reasons, standing.costs, indent=2)
        yield Paragraph()
    if why.advice:
        rows = [(Styled("→", "changed"), with_remedy(advice)) for advice in why.advice]
        yield Table(("", Column()), rows, grid=True)


def _steps(reasons: Sequence[Reason], costs: Sequence[Cost] = (), *, indent: int) -> Iterator[Block]:
    """The steps of a score that changed it, with the places that each cost or won; the others are counted."""
    from recollect.ranking.candidates import effect_text  # loads the arithmetic

    columns = (
        *(Column(wrap="whole"), Column(role="name", wrap="whole")),
        *(Column(wrap="whole", right=True), Column(wrap="whole")),
    )
    left = list(costs)
    rows: list[Sequence[Cell]] = []
    idle, before = 0, ""
    for reason in reasons:
        places, score = _places(left, reason), decimals(reason.score)
        if score == before and not places:
            idle += 1
        else:
            rows.append((reason.step, effect_text(reason), score, places))
        before = score
    yield Table(columns, rows, grid=True, indent=indent)
    if idle:
        yield Paragraph(Styled(f"{quantity(idle, 'step')} changed nothing", "muted"), indent)


def _places(left: list[Cost], reason: Reason) -> Words:
    """The places that a step cost. Remove it from the list, since a profile may hold a step twice."""
    cost = next((each for each in left if (each.step, each.value) == (reason.step, reason.value)), None)
    if cost is None:
        return ""
    left.remove(cost)
    places = quantity(abs(cost.places), "place")
    if not cost.places:
        return ""
    return Styled(f"−{places}", "bad") if cost.places > 0 else Styled(f"+{places}", "good")
