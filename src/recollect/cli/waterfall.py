"""A score as a waterfall: a line for each step, with what it did and a bar as long as the score after it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Group
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from recollect.cli.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console, ConsoleOptions, RenderableType

    from recollect.rank.explain import Reason
    from recollect.rank.whynot import Cost

_NARROWEST, _WIDEST = 8, 32
_EIGHTHS = " ▏▎▍▌▋▊▉"
_KEPT, _GAINED, _LOST = "blue", "green", "red"
# From here on a score is on another scale, so that its bar neither gained nor lost.
_AFRESH = frozenset({"set", "rescale"})
_HARDLY = 0.00005
"""Less than this does not show in four decimals."""


def waterfall(reasons: Sequence[Reason], full: float, costs: Sequence[Cost] = ()) -> RenderableType:
    """`full` is the score of the longest bar; `costs` go beside their steps, in places."""
    left = list(costs)
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(no_wrap=True)
    grid.add_column()
    grid.add_column(no_wrap=True, justify="right")
    if costs:
        grid.add_column(no_wrap=True)
    before = 0.0
    unchanged, hardly = [], []
    last = _last_that_counts(reasons)
    for index, reason in enumerate(reasons):
        cost = _taken(left, reason)
        if _is_neutral(reason):
            unchanged.append(reason.step)
        elif _is_small(reason) and not (cost and cost.places):
            hardly.append(reason.step)
        else:
            start = reason.score if reason.effect in _AFRESH else before
            style = "bold" if index == last else ""
            grid.add_row(
                Text(reason.step),
                Text(did(reason), "cyan"),
                Bar(start, reason.score, full),
                Text(figure(reason.score), style),
                *([_places(cost)] if costs else []),
            )
        before = reason.score
    return Group(grid, *_folded(unchanged, hardly))


def longest(explained: Sequence[Sequence[Reason]]) -> float:
    """The highest score on the way, of all that are to share one scale."""
    return max((reason.score for reasons in explained for reason in reasons), default=0.0)


def did(reason: Reason) -> str:
    """What a step did to the score, as short as it can be said."""
    match reason.effect:
        case "plus":
            return f"{'−' if reason.value < 0 else '+'}{figure(abs(reason.value))}"
        case "times":
            return f"×{figure(reason.value)}"
        case "set":
            return f"→{figure(reason.value)}"
        case "rescale":
            low, high = reason.numbers
            return f"from {figure(low)}…{figure(high)}"
        case "mix":
            (weight,) = reason.numbers
            return f"{100 * (1 - weight):.0f}/{100 * weight:.0f} with {figure(reason.value)}"
        case "note":
            return figure(reason.value)


def figure(number: float) -> str:
    """Four decimals, or as many digits where those would show nothing."""
    return f"{number:.4f}" if number == 0 or _HARDLY <= abs(number) < 10_000 else f"{number:.3g}"


@dataclass(frozen=True, slots=True)
class Bar:
    """As long as the score after a step; what the step added is green, what it took is red."""

    before: float
    after: float
    full: float

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        yield Text.assemble(*self.drawn(min(options.max_width, _WIDEST)))

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(_NARROWEST, _WIDEST).with_maximum(options.max_width)

    def drawn(self, width: int) -> list[tuple[str, str]]:
        before, after = self._eighths(self.before, width), self._eighths(self.after, width)
        if after >= before:
            whole = before // 8
            return [("█" * whole, _KEPT), (_blocks(after - 8 * whole), _GAINED if after > before else _KEPT)]
        kept = _blocks(after)
        return [(kept, _KEPT), ("░" * (round(before / 8) - len(kept)), _LOST)]

    def _eighths(self, score: float, width: int) -> int:
        if score <= 0 or self.full <= 0:
            return 0
        return max(1, round(8 * width * score / self.full))


def _blocks(eighths: int) -> str:
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()


def _is_neutral(reason: Reason) -> bool:
    """To the last bit."""
    effect, value = reason.effect, reason.value
    return effect == "note" or (effect == "plus" and value == 0) or (effect == "times" and value == 1)


def _is_small(reason: Reason) -> bool:
    neutral = {"plus": 0.0, "times": 1.0}.get(reason.effect)
    return neutral is not None and abs(reason.value - neutral) < _HARDLY


def _last_that_counts(reasons: Sequence[Reason]) -> int:
    shown = [index for index, each in enumerate(reasons) if not (_is_neutral(each) or _is_small(each))]
    return shown[-1] if shown else -1


def _taken(left: list[Cost], reason: Reason) -> Cost | None:
    """The step's cost, out of the list: a profile may hold the same step twice."""
    for cost in left:
        if (cost.step, cost.value) == (reason.step, reason.value):
            left.remove(cost)
            return cost
    return None


def _places(cost: Cost | None) -> Text:
    if cost is None or not cost.places:
        return Text("")
    places = counted(abs(cost.places), "place")
    return Text(f"−{places}", _LOST) if cost.places > 0 else Text(f"+{places}", _GAINED)


def _folded(unchanged: Sequence[str], hardly: Sequence[str]) -> Iterator[Text]:
    said = [f"unchanged by: {', '.join(unchanged)}"] if unchanged else []
    if hardly:
        said.append(f"hardly changed by: {', '.join(hardly)}")
    if said:
        yield Text("; ".join(said), "dim")
