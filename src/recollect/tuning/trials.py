"""Who is shown which ranking: the profile's, the baseline's, or both drafted into one list, by a hash.

Team-draft interleaving (Radlinski, Kurup & Joachims, CIKM 2008): the rankings pick in turns, as captains
pick teams; a coin says who picks first in each round. Whose picks are used more has the better ranking.
Every coin is a hash, so the same call gives the same list, and who picked what can be worked out again.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Literal

from recollect.errors import InvalidInput
from recollect.ranking.pipeline import Profile
from recollect.ranking.steps.adjust import BaseRelevance, Keep
from recollect.ranking.steps.finish import Cut, DropEcho, DropRepeats, Order
from recollect.ranking.steps.fuse import Rrf
from recollect.tuning.events import normalized_query

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.ranking.candidates import QueryContext
    from recollect.tuning.events import Arm, Event

SIMILARITY = "similarity"
"""The baseline, where the settings name no other."""
Team = Literal["ours", "baseline"]


@lru_cache(maxsize=64)
def similarity_baseline(profile: Profile) -> Profile:
    """The cosine, and for what only words found the published stand-in; without what may not be shown."""
    hidden = tuple(step for step in profile.steps if isinstance(step, DropEcho | DropRepeats))
    return Profile(
        name=SIMILARITY,
        about="likeness alone, as the published pipeline had it before it was re-ranked",
        retrieve=profile.retrieve,
        steps=(Rrf(), Keep("rrf_score"), BaseRelevance(), *hidden, Order(), Cut()),
    )


def arm_of(query: str, seed: str, share: float = 0.5) -> Arm:
    """`ours` for a share of all queries; the same words get the same, whatever their case or accents."""
    if not 0 <= share <= 1:
        raise InvalidInput(f"The share of treated queries must be from 0 to 1, not {share!r}.")
    return "ours" if _chance(f"{seed}\0{normalized_query(query)}") < share else "baseline"


def coin_text(context: QueryContext) -> str:
    """What an answer's coins are drawn from: with the time, so that a question asked again is redrawn."""
    return f"{context.now}\0{context.query}"


def draft(
    ours: Sequence[int], baseline: Sequence[int], limit: int, seed_text: str
) -> tuple[tuple[int, ...], tuple[Team, ...]]:
    """One list of at most `limit`, and who picked each. Where one ranking ends, the other goes on alone."""
    left: dict[Team, list[int]] = {"ours": list(ours), "baseline": list(baseline)}
    shown: dict[int, Team] = {}
    turn = 0
    while len(shown) < limit and any(left.values()):
        first: Team = "ours" if _chance(f"{seed_text}\0{turn}") < 0.5 else "baseline"
        second: Team = "baseline" if first == "ours" else "ours"
        for team in (first, second):
            left[team] = [id_ for id_ in left[team] if id_ not in shown]
            if left[team] and len(shown) < limit:
                shown[left[team].pop(0)] = team
        turn += 1
        left = {team: [id_ for id_ in ids if id_ not in shown] for team, ids in left.items()}
    return tuple(shown), tuple(shown.values())


def credit(event: Event) -> float | None:
    """Feedback for what ours picked, less feedback for what the baseline did.

    None where the answer was not drafted, or where it was not drafted like this. A budget or doubt may have
    taken some of the draft out before it was shown; the others are still who picked them.
    """
    if event.arm != "interleaved":
        return None
    drafted, teams = draft(event.ranked, event.baseline, event.context.limit, coin_text(event.context))
    shown = set(event.shown)
    if tuple(id_ for id_ in drafted if id_ in shown) != event.shown:
        return None
    team_of = dict(zip(drafted, teams, strict=True))
    signs = {"ours": 1.0, "baseline": -1.0}
    return sum(signs[team_of[id_]] * grade for id_, grade in event.feedback.items() if id_ in shown)


def _chance(text: str) -> float:
    """A number in [0, 1) from a text."""
    digest = blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest()
    return (int.from_bytes(digest, "big") >> 11) / 2**53
