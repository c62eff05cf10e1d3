"""The profiles: four published systems as they describe themselves, and our own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from recollect.errors import InvalidInput
from recollect.lazy_dataclass import dataclass
from recollect.ranking.default_profile import DEFAULT_PROFILE
from recollect.ranking.factors.content import Importance, NamedSpeaker
from recollect.ranking.factors.dream_traces import DepthWeight, Spread, Stability, Strength
from recollect.ranking.factors.limbic import Cooccurrence, Forgetting, MetadataWeight, Salience, StatusWeight
from recollect.ranking.factors.recency import CognisRecency, MnemosyneRecency, ReverieRecency
from recollect.ranking.pipeline import ByContext, ByLinks, ByMeaning, ByWords, Profile
from recollect.ranking.steps.adjust import BaseRelevance, Keep, Plus, TemporalBlend, Times
from recollect.ranking.steps.contradictions import NewestWins
from recollect.ranking.steps.evidence import (
    ConversationScore,
    DrawnNotes,
    MeaningScore,
    OriginScore,
    TokenScore,
    WordScore,
)
from recollect.ranking.steps.finish import Cut, DropEcho, DropRepeats, Order, Threshold
from recollect.ranking.steps.fuse import RRF_K, Linear, Rrf, WeightedRrf
from recollect.ranking.steps.limbic import EXPANSION_FACTOR
from recollect.ranking.steps.links import LinkScore
from recollect.ranking.steps.route import Route
from recollect.ranking.steps.time import TimeFirst, TimeScore
from recollect.ranking.weights import learned_weights

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
    retrieve=(ByMeaning(least=20), ByWords("plain", least=20)),
    steps=(
        Linear(meaning=0.5, words=0.3),
        Plus(Importance(), weight=0.2),
        Times(MnemosyneRecency()),
        DropRepeats(ignore_marks=True),
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
    retrieve=(ByMeaning(least=30, shortlist_size=200), ByWords("stemmed", least=30)),
    steps=(
        Threshold(similarity_threshold=0.3),
        WeightedRrf(vector_weight=0.70, bm25_weight=0.30, rrf_k=10),
        TemporalBlend(),
        Plus(CognisRecency()),
        DropEcho(),
        DropRepeats(ignore_marks=True),
        Order(),
        Cut(),
    ),
)


def recollect_profile(weights: Mapping[str, Mapping[str, float]]) -> Profile:
    """Our own profile with these weights, by step and number."""
    return Profile(
        name=DEFAULT_PROFILE,
        about="our own: meaning, words and tokens, what is said around a message and by whom, the time that "
        "a query speaks of, the newer of two facts, and what the user set aside; its weights are learned",
        retrieve=(
            ByMeaning(times=5, least=100, then=True, tokens=True),
            ByWords("stemmed", times=5, least=100, then=True, held=True),
            ByContext(times=5, least=100),
            ByLinks(),
        ),
        steps=(
            DropEcho(),
            DrawnNotes(**weights["drawn_notes"]),
            MeaningScore(**weights["meaning"]),
            WordScore(**weights["words"]),
            TokenScore(**weights["tokens"]),
            ConversationScore(**weights["conversation"]),
            LinkScore(weight=0.6),
            Plus(NamedSpeaker(), weights["named"]["weight"]),
            TimeScore(**weights["time_score"]),
            Times(StatusWeight()),
            # Behind what multiplies: what its kind is worth does not depend on its status.
            OriginScore(**weights["origin"]),
            NewestWins(),
            TimeFirst(),
            DropRepeats(),
            Order(),
            Cut(),
        ),
    )


def learned_steps() -> dict[str, type[Any]]:
    """The steps of our own profile whose numbers are learned; `named` is the weight of the factor's step."""
    return {
        "drawn_notes": DrawnNotes,
        "meaning": MeaningScore,
        "words": WordScore,
        "tokens": TokenScore,
        "conversation": ConversationScore,
        "named": _NamedWeight,
        "time_score": TimeScore,
        "origin": OriginScore,
    }


@dataclass(frozen=True, slots=True)
class _NamedWeight:
    weight: float = 0.0


RECOLLECT = recollect_profile(learned_weights())

PROFILES = {profile.name: profile for profile in (RECOLLECT, LIMBIC, MNEMOSYNE, REVERIE, COGNIS)}
DEFAULT = DEFAULT_PROFILE


def profile_named(name: str, known: Mapping[str, Profile] = PROFILES) -> Profile:
    if name not in known:
        raise InvalidInput(f"No profile named {name[:40]!r}; there are: {', '.join(known)}.")
    return known[name]
