"""What a profile is compared with where the settings name no other: likeness alone."""

from __future__ import annotations

from functools import lru_cache

from recollect.rank.adjust import BaseRelevance, Keep
from recollect.rank.finish import Cut, DropEcho, DropRepeats, Order
from recollect.rank.fuse import Rrf
from recollect.rank.pipeline import Profile

SIMILARITY = "similarity"


@lru_cache(maxsize=64)
def likeness(profile: Profile) -> Profile:
    """The cosine, and for what only words found the published stand-in; without what may not be shown."""
    hidden = tuple(step for step in profile.steps if isinstance(step, DropEcho | DropRepeats))
    return Profile(
        name=SIMILARITY,
        about="likeness alone, as the published pipeline had it before it was re-ranked",
        retrieve=profile.retrieve,
        steps=(Rrf(), Keep("rrf_score"), BaseRelevance(), *hidden, Order(), Cut()),
    )
