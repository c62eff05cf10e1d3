"""Steps that add what is said around a memory: in its conversation, by what it replies to, in its relations.

A message is a piece of a conversation. "Yes, last spring, in Rome!" says little by itself: its neighbours say
what it means. A note or an entity is part of no conversation: its own score counts in place of theirs, so
that among such the order stays as it is, and none falls behind for having no neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recollect.ranking.steps.fuse import stretched_cosine, words_share

if TYPE_CHECKING:
    from recollect.query import Query
    from recollect.ranking.candidates import Candidates


@dataclass(frozen=True, slots=True)
class NeighbourScore:
    """Add how much of the query is said near a message, and in its whole conversation.

    nearby * what the neighbours say / the most that any candidate's neighbours say
    conversation * what the conversation says / the most that any candidate's conversation says

    Where no candidate has any such neighbours, nothing is added to any.
    """

    nearby: float = 0.35
    conversation: float = 0.2

    def __call__(self, candidates: Candidates, query: Query) -> Candidates:
        own = candidates.score
        is_message = candidates.facts.session != 0
        for name, weight in (("nearby", self.nearby), ("conversation", self.conversation)):
            share = words_share(candidates, name)
            applies = candidates.any_of(share > 0) & candidates.any_of(is_message)
            if np.any(applies):
                values = np.where(applies, weight * np.where(is_message, share, own), 0.0)
                candidates = candidates.with_change(f"around: {name}", "plus", values)
        return candidates


@dataclass(frozen=True, slots=True)
class LinkScore:
    """Add weight * how much of its relation to somebody whom the query names the query says.

    "Who worked with Ada?" asks for whom the graph ties to her, who may not say so.
    """

    weight: float = 0.6

    def __call__(self, candidates: Candidates, query: Query) -> Candidates:
        links = candidates.source("linked")
        if not links.found.any():
            return candidates
        return candidates.with_change("linked", "plus", self.weight * np.nan_to_num(links.score, nan=0.0))


@dataclass(frozen=True, slots=True)
class ReplyScore:
    """Add weight * how near in meaning the question is that the message before it ends with."""

    weight: float = 0.2

    def __call__(self, candidates: Candidates, query: Query) -> Candidates:
        facts = candidates.facts
        # In the order of the conversations: who stands right behind a question answers it.
        order = np.lexsort((facts.position, facts.session))
        before, after = order[:-1], order[1:]
        replies = (
            (facts.session[after] != 0)
            & (facts.session[before] == facts.session[after])
            & (facts.position[before] + 1 == facts.position[after])
            & facts.asks[before]
        )
        if not replies.any():
            return candidates
        near = np.zeros(len(candidates))
        near[after[replies]] = stretched_cosine(candidates)[before[replies]]
        return candidates.with_change("reply", "plus", self.weight * near)
