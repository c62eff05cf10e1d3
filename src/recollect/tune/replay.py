"""Ranking logged answers again, many at once, to see where their feedback would stand.

Ranking ten thousand answers one by one with each of many sets of numbers takes minutes, and nearly all of it
is the cost of small arrays. So the candidates of all answers are laid end to end. What a step adds or
multiplies by is asked of the step itself, once for each answer and each value of the step, and is then used
in all combinations; only the sums run over all rows. Nothing is sorted: a place is one more than the number
of candidates that stand above. Steps that are not known here run as they are, answer by answer.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from recollect.rank.finish import Cut, Order
from recollect.tune.stack import ALONE, DROPS, TOGETHER, Stack

if TYPE_CHECKING:
    from recollect.factors.candidates import Ints
    from recollect.rank.pipeline import Profile, Step
    from recollect.tune.judged import Judged

_STACKS = 3
"""So many beginnings of profiles are kept in mind."""


class Replay:
    """Where the feedback of these events stands, for any profile. It remembers what it has worked out."""

    def __init__(self, data: Judged) -> None:
        self._data = data
        self._stacks: dict[tuple[Step, ...], Stack] = {}
        self._first: Stack | None = None

    def places(self, profile: Profile) -> Ints:
        """For each row of feedback, its place among all candidates, from 1; 0 where a step took it out.

        Where another memory stands in for it that says the same, the place of that one.
        """
        beginning, middle, drops = _parts(profile.steps)
        stack = self._stack(beginning)
        return stack.places(stack.scores(middle), drops)

    def prepare(self, steps: tuple[Step, ...]) -> None:
        """Keep in mind what these steps make of the events: profiles that begin so start from there."""
        self._stack(steps)

    def _stack(self, steps: tuple[Step, ...]) -> Stack:
        if steps in self._stacks:
            self._stacks[steps] = self._stacks.pop(steps)  # used last
            return self._stacks[steps]
        known = max((done for done in self._stacks if done == steps[: len(done)]), key=len, default=None)
        if known is None:
            ranked = [(event.candidates, event.moment) for event in self._data.events]
        else:
            ranked = list(self._stacks[known].answers)
            self._stacks[known] = self._stacks.pop(known)
        for step in steps[len(known or ()) :]:
            ranked = [(step(candidates, moment), moment) for candidates, moment in ranked]
        # Changes and removals are for people; dropping them keeps the rows light.
        bare = tuple(
            (replace(candidates, score_changes=(), removals=()), moment) for candidates, moment in ranked
        )
        while len(self._stacks) >= _STACKS:
            del self._stacks[next(iter(self._stacks))]
        self._first = self._first or Stack.of(self._data, bare)
        self._stacks[steps] = Stack.of(self._data, bare, like=self._first)
        return self._stacks[steps]


def _parts(steps: tuple[Step, ...]) -> tuple[tuple[Step, ...], tuple[Step, ...], tuple[Step, ...]]:
    """What must run answer by answer, what runs on all at once, and what drops rows at the end."""
    if steps[-2:] != (Order(), Cut()):
        raise ValueError("a profile ends with order and cut")
    end = len(steps) - 2
    drops = end
    while drops and isinstance(steps[drops - 1], DROPS):
        drops -= 1
    middle = drops
    while middle and isinstance(steps[middle - 1], ALONE + TOGETHER):
        middle -= 1
    return steps[:middle], steps[middle:drops], steps[drops:end]
