"""What `recollect eval self` has to say, as tables and as data."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from recollect.cli.replies import Done, Rows, Sheets
from recollect.cli.visible import one_line
from recollect.cli.wording import counted, shortened

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recollect.engine.self_results import Miss, SelfTest, Share

_SIDE_BY_SIDE = 5
"""Profiles that fit a terminal of 80 columns."""
_MOST_SHOWN = 3
"""Misses of each cause."""
_WIDTH = 52
_MEANS = {
    "phrase": "some of its words in a row",
    "gaps": "a sentence of it without the rarest words",
    "entity": "a name and what is known of it",
    "what is": "a name alone",
    "relation": "what an entity is related to",
    "mention": "what was said about an entity",
    "day": "what happened on a day",
    "said": "what somebody said on a day",
}


def tested(result: SelfTest) -> Done | Sheets:
    data = self_test_data(result)
    if not result.questions:
        remedy = "recollect remember, recollect add or recollect import brings something in."
        return Done("This memory is empty, so there is nothing to ask for.", data, [remedy], "note")
    sheets = [("profile", _profiles(result)), *(("kind", sheet) for sheet in _kinds(result))]
    if result.missed:
        sheets += [("missed", _missed(result))]
    if result.advice:
        sheets += [("advice", _advice(result))]
    asked = counted(sum(result.questions.values()), "question")
    of = f"{result.sampled:,} of {counted(result.memories, 'memory', 'memories')}"
    model = result.model or "no model"
    counts = "the first hit counts" if result.limit == 1 else f"the first {result.limit:,} hits count"
    title = f"{asked} made of {of}; {counts}; {model}"
    return Sheets(title, data, tuple(sheets), tuple(_notes(result)))


def self_test_data(result: SelfTest) -> dict[str, Any]:
    """Latency, which no two runs share, under a key of its own."""
    return {
        "seed": result.seed,
        "at": result.at.isoformat(),
        "limit": result.limit,
        "model": result.model,
        "note": result.note,
        "memories": result.memories,
        "sampled": result.sampled,
        "questions": {str(asks): count for asks, count in result.questions.items()},
        "default": result.default,
        "profiles": {
            each.name: {
                "overall": _share_data(each.overall),
                "by_kind": {str(asks): _share_data(share) for asks, share in each.by_kind.items()},
            }
            for each in result.profiles
        },
        "compared": [{**asdict(each), "is_better": each.is_better} for each in result.compared],
        "causes": {str(cause): count for cause, count in result.causes.items()},
        "missed": [asdict(miss) for miss in result.missed],
        "advice": [asdict(each) for each in result.advice],
        "latency": {name: asdict(each) for name, each in result.latency.items()},
    }


def _share_data(share: Share) -> dict[str, Any]:
    return {**asdict(share), "recall": share.recall}


def _profiles(result: SelfTest) -> Rows:
    beside = {each.name: each for each in result.compared}
    rows = []
    for each in result.profiles:
        other = beside.get(each.name)
        share, latency = each.overall, result.latency[each.name]
        rows.append(
            (
                each.name,
                f"{share.recall:.1%}",
                f"{share.low:.0%}–{share.high:.0%}",
                f"{share.mrr:.3f}",
                "" if other is None else f"+{other.better} −{other.worse}",
                "" if other is None else f"{other.p:.2g}",
                f"{latency.p50_ms:.0f}",
                f"{latency.p95_ms:.0f}",
            )
        )
    found = f"Found in {result.limit}"
    columns = ("Profile", found, "95 %", "MRR", "vs default", "p", "ms", "p95")
    return Rows(None, columns, rows, right=(1, 2, 3, 4, 5, 6, 7))


def _kinds(result: SelfTest) -> Iterator[Rows]:
    """A column for each profile, as many as fit side by side."""
    for start in range(0, len(result.profiles), _SIDE_BY_SIDE):
        shown = result.profiles[start : start + _SIDE_BY_SIDE]
        rows = [
            (str(asks), f"{count:,}", *(_percent(each.by_kind[asks]) for each in shown))
            for asks, count in result.questions.items()
        ]
        columns = ("In %", "Asked", *(each.name for each in shown))
        yield Rows(None, columns, rows, right=tuple(range(1, len(columns))))


def _percent(share: Share) -> str:
    """`93 88–96`; of all or none, only the end that is open: `100 ≥87`."""
    low, high = f"{100 * share.low:.0f}", f"{100 * share.high:.0f}"
    if share.found in {0, share.asked}:
        return f"100 ≥{low}" if share.found else f"0 ≤{high}"
    return f"{100 * share.recall:.0f} {low}–{high}"


def _missed(result: SelfTest) -> Rows:
    rows = []
    for cause, count in result.causes.items():
        misses = [miss for miss in result.missed if miss.cause is cause][:_MOST_SHOWN]
        more = [f"and {count - len(misses):,} more"] if count > len(misses) else []
        rows.append((str(cause), f"{count:,}", "\n".join([*map(_miss, misses), *more])))
    return Rows(None, ("Not found, why", "", f"By {result.default}"), rows, right=(1,))


def _miss(miss: Miss) -> str:
    first = "nothing" if miss.first is None else f"#{miss.first} {miss.first_text}"
    return "\n".join(
        (
            shortened(f"#{miss.id} {one_line(miss.text)}", _WIDTH),
            shortened(f"asked: {one_line(miss.query)}", _WIDTH),
            shortened(f"first: {one_line(first)}", _WIDTH),
            f"→ {miss.why}",
        )
    )


def _advice(result: SelfTest) -> Rows:
    rows = [
        (str(number), f"{each.said}\n{each.command}" if each.command else each.said)
        for number, each in enumerate(result.advice, start=1)
    ]
    return Rows(None, ("", "What to do"), rows)


def _notes(result: SelfTest) -> Iterator[str]:
    yield "; ".join(f"{asks}: {_MEANS[asks]}" for asks in result.questions) + "."
    if not result.missed:
        yield "Every memory that was asked for was found by its own words."
    if result.note:
        yield result.note
    if any(count > _MOST_SHOWN for count in result.causes.values()):
        yield "All that were not found: recollect eval self --json"
