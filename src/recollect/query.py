"""A question: what is asked, which memories may answer it, and how the answer is to be made."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from recollect.lazy_dataclass import dataclass
from recollect.records import Kind

if TYPE_CHECKING:
    from datetime import datetime

    import numpy as np
    from numpy.typing import NDArray

    from recollect.text.time_phrases import TimePhrase


@dataclass(frozen=True, slots=True)
class Filter:
    """Which memories a search may see. Applied inside the search, so that `k` hits are `k` allowed ones."""

    owner: str = ""
    agent: str | None = ""
    """None: any agent of the owner."""
    kinds: frozenset[Kind] = frozenset(Kind)
    session: str | None = None
    """None: any session, and what belongs to none."""
    current: str | None = None
    """Of messages, only those of this session; notes and entities of any. None: messages of any."""
    tags: frozenset[str] = frozenset()
    """Only what has all of these."""
    refs: frozenset[str] | None = None
    """Only notes that programs know by one of these names. None: any."""
    category: str | None = None
    """Only texts of this sort. None: any, and entities."""
    speaker: str | None = None
    """Only texts of whoever this is, letter for letter."""
    about: int | None = None
    """Only texts that speak of this entity."""
    span: tuple[int, int] | None = None
    """Only texts of this stretch of time, in microseconds since 1970: when they happened, else when made."""
    as_of: datetime | None = None
    """As the store stood then: what was known, and what held."""
    superseded: bool = False
    """Also what was superseded."""
    deleted: bool = False
    """Also what was forgotten. Only for `page`: no search finds it."""
    expired_by: int | None = None
    """Without what has expired by then, in microseconds since 1970. None: expired or not."""


@dataclass(frozen=True, slots=True)
class Query:
    """One question, made at the edge of the engine and handed down to the searches and the ranking."""

    text: str
    now: int
    """When it is asked, or as of when: microseconds since 1970, UTC."""
    limit: int
    limit_given: bool = False
    """The caller chose the limit; the default says nothing about the question."""
    span: tuple[int, int] | None = None
    """The time that the query speaks of, if it does: from NEVER or until ALWAYS where it is open."""
    next_span: tuple[int, int] | None = None
    """Of a month or a weekday, read as the last that began: the one to come, which may be meant as well."""
    time_words: tuple[str, ...] = ()
    """The words of that time that are searched for, as a text may contain them: `September`, `1944`."""
    # What the searches look for
    where: Filter = field(default_factory=Filter)
    search_text: str = ""
    """What of the text is searched for: a profile that heeds time leaves out the words that speak of it."""
    vector: NDArray[np.float32] | None = field(default=None, compare=False, repr=False)
    """Of what is searched for. None: meaning is not searched."""
    tokens: NDArray[np.float32] | None = field(default=None, compare=False, repr=False)
    """The vectors of its tokens, by row. None: tokens are not compared."""
    session: str | None = None
    """The current session, whose echoes of the query are known by it."""
    time: TimePhrase | None = None
    """The words that speak of a time, and what they say."""
    only_time: bool = False
    """It asks for nothing else than what was then."""
    # How the answer is made
    explain: bool = False
    record: bool = True
    """False: the answer leaves no trace in the store."""
    noted_later: bool = False
    """Whoever asks notes what of it was shown, so that it may be part of a trial."""
    budget_tokens: int | None = None
    rerank: bool | None = False
    """Let a model read the first places again; None: as the settings say."""
    tuned: bool = True
    """With the numbers that the profile was given since; False: as published, and in no trial."""
    min_confidence: float | None = None
    """Leave out hits that are less likely to be what was asked for."""
    abstain: bool = False
    """Give no hits where nothing seems to answer."""
    judge: bool = True
    """Tell how sure the answer is; False where nobody is shown it, and it need not be paid for."""
    parts: tuple[Query, ...] = ()
    """Of several queries that the tuner ranks at once, each of them."""

    @property
    def queries(self) -> tuple[Query, ...]:
        return self.parts or (self,)
