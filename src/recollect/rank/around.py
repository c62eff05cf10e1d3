"""What stands around a memory: a message's neighbours, its conversation, the question that it answers, and
the relations of an entity.

A message is a piece of a talk. "Yes, last spring, in Rome!" says little by itself, and all it means stands
around it. What is part of no talk, a note or an entity, is its own surroundings: its own score stands for
them, so that among such the order stays as it is, and none falls behind for having no neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recollect.factors.candidates import Mark
from recollect.rank.fuse import stretched, words_share

if TYPE_CHECKING:
    from recollect.factors.candidates import Candidates, Floats, Moment


@dataclass(frozen=True, slots=True)
class Around:
    """Add how much of the query is said near a message, and in its whole conversation.

    nearby * what the neighbours hold / the most that any candidate's neighbours hold
    conversation * what the conversation holds / the most that any candidate's conversation holds

    Where no candidate has anything of the kind around it, nothing is added to any.
    """

    nearby: float = 0.35
    conversation: float = 0.2

    def __call__(self, candidates: Candidates, moment: Moment) -> Candidates:  # noqa: ARG002  # every step's form
        own = candidates.score
        spoken = candidates.facts.session != 0
        for name, weight in (("nearby", self.nearby), ("conversation", self.conversation)):
            told = told_around(candidates, name)
            if told is not None:
                share = np.where(spoken, told, own)
                candidates = candidates.marked(Mark(f"around: {name}", "plus", weight * share))
        return candidates


def told_around(candidates: Candidates, name: str) -> Floats | None:
    """What stands `nearby`, or in the whole `conversation`, over the most of it; None where nothing does."""
    told = words_share(candidates.source(name))
    return told if told.any() and (candidates.facts.session != 0).any() else None


@dataclass(frozen=True, slots=True)
class Linked:
    """Add weight * how much of its relation to somebody whom the query names the query says.

    "Who worked with Ada?" asks for whom the graph ties to her, who may not say so.
    """

    weight: float = 0.6

    def __call__(self, candidates: Candidates, moment: Moment) -> Candidates:  # noqa: ARG002  # every step's form
        linked = candidates.source("linked")
        if not linked.found.any():
            return candidates
        return candidates.marked(Mark("linked", "plus", self.weight * np.nan_to_num(linked.score, nan=0.0)))


@dataclass(frozen=True, slots=True)
class Reply:
    """Add weight * how near in meaning the question is that the message before it ends with."""

    weight: float = 0.2

    def __call__(self, candidates: Candidates, moment: Moment) -> Candidates:  # noqa: ARG002  # every step's form
        facts = candidates.facts
        # In the order of the talks: who stands right behind a question answers it.
        order = np.lexsort((facts.position, facts.session))
        before, after = order[:-1], order[1:]
        answers = (
            (facts.session[after] != 0)
            & (facts.session[before] == facts.session[after])
            & (facts.position[before] + 1 == facts.position[after])
            & facts.asks[before]
        )
        if not answers.any():
            return candidates
        near = np.zeros(len(candidates))
        near[after[answers]] = stretched(candidates.source("meaning").score)[before[answers]]
        return candidates.marked(Mark("reply", "plus", self.weight * near))
