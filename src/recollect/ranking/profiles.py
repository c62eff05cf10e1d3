"""The profiles: four published systems as they describe themselves, and our own."""

from __future__ import annotations

from collections.abc import Mapping

from recollect.errors import InvalidInput
from recollect.ranking.factors.content import EndsWithQuestion, Importance, NamedSpeaker
from recollect.ranking.factors.dream_traces import DepthWeight, Spread, Stability, Strength
from recollect.ranking.factors.limbic import Cooccurrence, Forgetting, MetadataWeight, Salience, StatusWeight
from recollect.ranking.factors.recency import CognisRecency, MnemosyneRecency, ReverieRecency
from recollect.ranking.pipeline import ByContext, ByLinks, ByMeaning, ByWords, Profile
from recollect.ranking.steps.adjust import BaseRelevance, Keep, Plus, TemporalBlend, Times
from recollect.ranking.steps.conversation import LinkScore, NeighbourScore, ReplyScore
from recollect.ranking.steps.finish import Cut, DropEcho, DropRepeats, Order, Threshold
from recollect.ranking.steps.fuse import RRF_K, Blend, Linear, MatchedShare, Rrf, WeightedRrf
from recollect.ranking.steps.limbic import EXPANSION_FACTOR
from recollect.ranking.steps.route import Route

LIMBIC = Profile(
    name="limbic",
    about="MCP Memory v2: similarity, salience, forgetting, co-occurrence, blended by the kind of question",
    retrieve=(ByMeaning(times=EXPANSION_FACTOR), ByWords("plain", times=EXPANSION_FACTOR)),
    steps=(
        Rrf(k=RRF_K),
        Keep("rrf_score"),
        BaseRelevance(),
        Times(Salience()),
        Times(Forgetting()),
        Times(Cooccurrence()),
        Times(StatusWeight()),
        Times(MetadataWeight()),
        Keep("limbic_score"),
        Route(),
        Order(),
        Cut(),
    ),
)

MNEMOSYNE = Profile(
    name="mnemosyne",
    about="Mnemosyne: similarity, words and importance in fixed shares, and what is new",
    retrieve=(ByMeaning(), ByWords("plain")),
    steps=(
        Linear(meaning=0.5, words=0.3),
        Plus(Importance(), weight=0.2),
        Times(MnemosyneRecency()),
        DropRepeats(),
        Order(),
        Cut(),
    ),
)

REVERIE = Profile(
    name="reverie",
    about="Reverie: rank fusion, what is new, and four traces that dreams leave",
    retrieve=(ByMeaning(times=1, least=100), ByWords("plain", times=1, least=100)),
    steps=(
        Rrf(k=30),
        Times(ReverieRecency()),
        Times(Strength()),
        Times(DepthWeight()),
        Times(Spread()),
        Times(Stability()),
        Order(),
        Cut(),
    ),
)

COGNIS = Profile(
    name="cognis",
    about="Cognis: two-stage similarity and stemmed words, the last minutes, and the time a query speaks of",
    retrieve=(ByMeaning(shortlist=200), ByWords("stemmed")),
    steps=(
        Threshold(similarity_threshold=0.3),
        WeightedRrf(vector_weight=0.70, bm25_weight=0.30, rrf_k=10),
        TemporalBlend(),
        Plus(CognisRecency()),
        DropEcho(),
        DropRepeats(),
        Order(),
        Cut(),
    ),
)

RECOLLECT = Profile(
    name="recollect",
    about="our own: similarity and stemmed words by score rather than by rank, what is said around a "
    "message, who said it, the time a query speaks of, and what the user set aside",
    retrieve=(
        ByMeaning(times=5, least=100, then=True),
        ByWords("stemmed", times=5, least=100, then=True, held=True),
        ByContext(times=5, least=100),
        ByLinks(),
    ),
    steps=(
        Blend(meaning=0.6, words=0.4),
        # Right after the blend, which of a note stands for its surroundings; what follows is no part of them.
        NeighbourScore(nearby=0.35, conversation=0.2),
        ReplyScore(weight=0.2),
        LinkScore(weight=0.6),
        MatchedShare(weight=0.4, above=0.6),
        Plus(NamedSpeaker(), weight=0.25),
        TemporalBlend(share=0.4),
        Times(StatusWeight()),
        # Behind all that multiplies: a score below 0 would rise by it.
        Plus(EndsWithQuestion(), weight=-0.1),
        DropEcho(),
        DropRepeats(),
        Order(),
        Cut(),
    ),
)

PROFILES = {profile.name: profile for profile in (RECOLLECT, LIMBIC, MNEMOSYNE, REVERIE, COGNIS)}
DEFAULT = RECOLLECT.name


def profile_named(name: str, known: Mapping[str, Profile] = PROFILES) -> Profile:
    if name not in known:
        raise InvalidInput(f"No profile named {name[:40]!r}; there are: {', '.join(known)}.")
    return known[name]
