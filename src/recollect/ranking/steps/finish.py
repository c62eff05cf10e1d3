"""Finishing: dropping what should not be shown, sorting, and cutting to the limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recollect.lazy_dataclass import dataclass
from recollect.ranking.steps.fuse import positive_cosine
from recollect.vectors import distinct

if TYPE_CHECKING:
    from recollect.query import Query
    from recollect.ranking.candidates import Candidates, Ints
    from recollect.ranking.pipeline import Profile, Step


@dataclass(frozen=True, slots=True)
class Threshold:
    """Drop what words did not find and whose cosine is below the threshold."""

    similarity_threshold: float = 0.3

    def __call__(self, candidates: Candidates, query: Query) -> Candidates:
        cosine = positive_cosine(candidates)
        gone = ~candidates.source("words").found & (cosine < self.similarity_threshold)

        def why() -> list[str]:
            return [f"cosine {value:.3f} is below {self.similarity_threshold}" for value in cosine[gone]]

        # A note: what the step looked at stays on those that passed, and moves no score.
        return candidates.with_change("threshold", "note", cosine).without(gone, "threshold", why)


@dataclass(frozen=True, slots=True)
class DropEcho:
    """Drop messages of the current session that are equal to the query; never a note or an entity."""

    def __call__(self, candidates: Candidates, query: Query) -> Candidates:
        gone = candidates.facts.echo
        return candidates.without(gone, "echo", lambda: ["it is the query itself"] * int(gone.sum()))


@dataclass(frozen=True, slots=True)
class DropRepeats:
    """Of candidates that say the same, keep the best; of equally good ones, the lowest id.

    Texts say the same where only case, accents, spaces or outer marks differ; with `ignore_marks`, also where
    marks between the words do. A message says all that its notes say: where it is better than each of them
    they go, else it does.
    """

    ignore_marks: bool = False

    def __call__(self, candidates: Candidates, query: Query) -> Candidates:
        gone = np.zeros(len(candidates), bool)
        if len(distinct(candidates.facts.content)) < len(candidates):
            rows = best_first(candidates)
            _, first_places = np.unique(candidates.facts.content[rows], return_index=True)
            gone[:] = True
            gone[rows[first_places]] = False

        def why() -> list[str]:
            content, ids = candidates.facts.content, candidates.ids
            keepers = dict(zip(content[~gone].tolist(), ids[~gone].tolist(), strict=True))
            return [f"it repeats memory {keepers[key]}" for key in content[gone].tolist()]

        return _without_extracted(candidates.without(gone, "repeats", why))


def drawn_rows(candidates: Candidates) -> Ints:
    """The notes that were drawn from a message that is a candidate as well."""
    drawn = np.flatnonzero(candidates.facts.origin != candidates.ids)
    return drawn[np.isin(candidates.facts.origin[drawn], candidates.ids)] if len(drawn) else drawn


def _without_extracted(candidates: Candidates) -> Candidates:
    """Without messages that stand below a note drawn from them, and without notes that stand below theirs."""
    drawn = drawn_rows(candidates)
    if not len(drawn):
        return candidates
    ids, origin = candidates.ids, candidates.facts.origin
    place = np.empty(len(candidates), np.int64)
    place[best_first(candidates)] = np.arange(len(candidates))
    row_of = {id_: row for row, id_ in enumerate(ids.tolist())}
    notes_of: dict[int, list[int]] = {}
    for row in drawn.tolist():
        notes_of.setdefault(row_of[int(origin[row])], []).append(row)
    told_by: dict[int, int] = {}
    for message, notes in notes_of.items():
        best = min(notes, key=lambda row: place[row])
        told_by |= dict.fromkeys(notes, message) if place[message] < place[best] else {message: best}
    gone = np.zeros(len(candidates), bool)
    gone[list(told_by)] = True

    def why() -> list[str]:
        return [f"memory {ids[told_by[row]]} says it" for row in np.flatnonzero(gone).tolist()]

    return candidates.without(gone, "repeats", why)


@dataclass(frozen=True, slots=True)
class Order:
    """Best score first; ties by id, so that equal inputs give equal orders."""

    def __call__(self, candidates: Candidates, query: Query) -> Candidates:
        return candidates.at(best_first(candidates))


@dataclass(frozen=True, slots=True)
class Cut:
    """Keep the first `limit`."""

    def __call__(self, candidates: Candidates, query: Query) -> Candidates:
        limit, count = query.limit, len(candidates)
        if count <= limit:
            return candidates

        def why() -> list[str]:
            return [f"it stands at place {place + 1}" for place in range(limit, count)]

        return candidates.split(slice(limit), slice(limit, None), "cut", why)


def best_first(candidates: Candidates) -> Ints:
    """The rows in order; of several queries, one query after the other."""
    keys = (candidates.ids, -candidates.score)
    return np.lexsort(keys if candidates.query is None else (*keys, candidates.query))


def uncut(profile: Profile) -> list[Step]:
    """A profile's steps without the cut."""
    return [step for step in profile.steps if not isinstance(step, Cut)]
