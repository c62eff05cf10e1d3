"""How a score came about: a row for each ranking step, with its effect and a bar for the score after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.cli.phrases import quantity
from recollect.cli.results import Bar, Block, Cell, Column, Paragraph, Styled, Table, Words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from recollect.ranking.explain import Reason
    from recollect.ranking.why_not import Cost

# From here on a score is on another scale, so that its bar neither gained nor lost.
_NEW_SCALE = frozenset({"set", "rescale"})
_SMALL = 0.00005
"""Less than this does not show in four decimals."""
_NO_CHANGE = {"plus": 0.0, "times": 1.0}
_COLUMNS = (
    Column(wrap="whole"),
    Column(role="name", wrap="whole"),
    Column(),
    Column(wrap="whole", right=True),
)


def score_steps(
    reasons: Sequence[Reason], full: float, costs: Sequence[Cost] = (), indent: int = 0
) -> Iterator[Block]:
    """`full` is the score of the longest bar; `costs` say how many places a step cost or won."""
    left = list(costs)
    rows: list[list[Cell]] = []
    unchanged, hardly = [], []
    before = 0.0
    for reason in reasons:
        cost = _take_cost(left, reason)
        if _is_neutral(reason):
            unchanged.append(reason.step)
        elif _is_small(reason) and not (cost and cost.places):
            hardly.append(reason.step)
        else:
            bar = Bar(reason.score if reason.effect in _NEW_SCALE else before, reason.score, full)
            rows.append([reason.step, _effect(reason), bar, score_text(reason.score)])
            rows[-1] += [_places(cost)] if costs else []
        before = reason.score
    if rows:
        rows[-1][3] = Styled(score_text(before), "strong")
        yield Table([*_COLUMNS, *([Column(wrap="whole")] if costs else [])], rows, grid=True, indent=indent)
    folded = [f"unchanged by: {', '.join(unchanged)}"] if unchanged else []
    folded += [f"hardly changed by: {', '.join(hardly)}"] if hardly else []
    if folded:
        yield Paragraph(Styled("; ".join(folded), "muted"), indent)


def highest_score(explained: Sequence[Sequence[Reason]]) -> float:
    """The highest score on the way, of all that share one scale of bars."""
    return max((reason.score for reasons in explained for reason in reasons), default=0.0)


def step_fields(reason: Reason) -> tuple[str, ...]:
    """For a pipe, with every digit: whoever recombines the steps gets the score exactly."""
    numbers = " ".join(map(repr, reason.numbers))
    return reason.step, reason.effect, repr(reason.value), numbers, repr(reason.score)


def score_text(number: float) -> str:
    """Four decimals, or as many digits where those would show nothing."""
    return f"{number:.4f}" if number == 0 or _SMALL <= abs(number) < 10_000 else f"{number:.3g}"


def _effect(reason: Reason) -> str:
    match reason.effect:
        case "plus":
            return f"{'−' if reason.value < 0 else '+'}{score_text(abs(reason.value))}"
        case "times":
            return f"×{score_text(reason.value)}"
        case "set":
            return f"→{score_text(reason.value)}"
        case "rescale":
            low, high = reason.numbers
            return f"from {score_text(low)}…{score_text(high)}"
        case "mix":
            (weight,) = reason.numbers
            return f"{100 * (1 - weight):.0f}/{100 * weight:.0f} with {score_text(reason.value)}"
        case "note":
            return score_text(reason.value)


def _is_neutral(reason: Reason) -> bool:
    """To the last bit."""
    return reason.effect == "note" or reason.value == _NO_CHANGE.get(reason.effect)


def _is_small(reason: Reason) -> bool:
    neutral = _NO_CHANGE.get(reason.effect)
    return neutral is not None and abs(reason.value - neutral) < _SMALL


def _take_cost(left: list[Cost], reason: Reason) -> Cost | None:
    """The step's cost, out of the list: a profile may hold the same step twice."""
    for cost in left:
        if (cost.step, cost.value) == (reason.step, reason.value):
            left.remove(cost)
            return cost
    return None


def _places(cost: Cost | None) -> Words:
    if cost is None or not cost.places:
        return ""
    places = quantity(abs(cost.places), "place")
    return Styled(f"−{places}", "bad") if cost.places > 0 else Styled(f"+{places}", "good")
