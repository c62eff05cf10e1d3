"""How a score came about: a row for each ranking step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.cli.phrases import decimals, quantity
from recollect.cli.rendering import PIPE_ONLY, Cell, Column, Styled, Table, Words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.ranking.explain import Reason
    from recollect.ranking.why_not import Cost


def steps_table(
    reasons: Sequence[Reason], first: Sequence[str] = (), costs: Sequence[Cost] = (), indent: int = 0
) -> Table:
    """A pipe gets every digit: whoever recombines the steps gets the score exactly.

    `first` begins each line in a pipe; `costs` say how many places a step cost or won.
    """
    columns = (
        *[PIPE_ONLY] * len(first),
        Column(wrap="whole"),
        *[PIPE_ONLY] * 3,
        Column(role="name", wrap="whole", only="terminal"),
        Column(wrap="whole", right=True),
        Column(wrap="whole", only="terminal"),
    )
    left = list(costs)
    rows: list[Sequence[Cell]] = []
    for reason in reasons:
        numbers = " ".join(map(repr, reason.numbers))
        exact: tuple[Cell, ...] = (reason.step, reason.effect, reason.value, numbers)
        rows.append((*first, *exact, _effect(reason), reason.score, _places(left, reason)))
    return Table(columns, rows, grid=True, indent=indent)


def _effect(reason: Reason) -> str:
    match reason.effect:
        case "plus":
            return f"{'−' if reason.value < 0 else '+'}{decimals(abs(reason.value))}"
        case "times":
            return f"×{decimals(reason.value)}"
        case "set":
            return f"→{decimals(reason.value)}"
        case "rescale":
            low, high = reason.numbers
            return f"from {decimals(low)}…{decimals(high)}"
        case "mix":
            (weight,) = reason.numbers
            return f"{100 * (1 - weight):.0f}/{100 * weight:.0f} with {decimals(reason.value)}"
        case "note":
            return decimals(reason.value)


def _places(left: list[Cost], reason: Reason) -> Words:
    """What the step cost; that is taken from the list, since a profile may hold the same step twice."""
    cost = next((each for each in left if (each.step, each.value) == (reason.step, reason.value)), None)
    if cost is None:
        return ""
    left.remove(cost)
    places = quantity(abs(cost.places), "place")
    if not cost.places:
        return ""
    return Styled(f"−{places}", "bad") if cost.places > 0 else Styled(f"+{places}", "good")
