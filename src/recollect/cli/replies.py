"""What commands answer with, before it is known whether a person, a pipe or a program reads it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from datetime import datetime, tzinfo

    from recollect.cli.dream_story import Story
    from recollect.cli.outlook import Outlook
    from recollect.cli.recipe import Difference
    from recollect.engine.results import Answer, Graph, History
    from recollect.engine.tuning import Numbers
    from recollect.engine.whynot import WhyNot
    from recollect.rank.pipeline import Profile
    from recollect.records import Memory

Mark = Literal["ok", "note", "problem"]
Links: TypeAlias = "tuple[tuple[Memory, int], ...]"
"""What keeps coming up together with a memory, and in how many answers it did."""


@dataclass(frozen=True)
class Done:
    """Something was done: a sentence, and what to know about it."""

    message: str
    data: Mapping[str, Any]
    details: Sequence[str] = ()
    mark: Mark = "ok"


@dataclass(frozen=True)
class Found:
    """The hits of a search."""

    answer: Answer
    zone: tzinfo | None = None
    """Where the reader's days begin; None: as on this machine. So for each reply that has times."""


@dataclass(frozen=True)
class Missed:
    """Why a memory was not among the hits."""

    why: WhyNot
    zone: tzinfo | None = None


@dataclass(frozen=True)
class Listed:
    """Part of the graph, at a glance."""

    graph: Graph
    next_page: str | None = None
    """The command that shows what follows."""
    query: str = ""
    """What was sought, if something was."""


@dataclass(frozen=True)
class OpenedText:
    """A note or a message in full."""

    memory: Memory
    mentions: tuple[Memory, ...] = ()
    """The entities that it speaks of."""
    around: tuple[Memory, ...] = ()
    """A message among its neighbours."""
    links: Links = ()


@dataclass(frozen=True)
class Opened:
    """Memories in full."""

    graph: Graph
    history: bool = False
    """Also observations that were replaced."""
    texts: tuple[OpenedText, ...] = ()
    zone: tzinfo | None = None
    links: Mapping[int, Links] = field(default_factory=dict)
    """Of the entities, by id."""


@dataclass(frozen=True)
class Talk:
    """Turns of a conversation, in order."""

    session: str
    turns: tuple[Memory, ...]
    zone: tzinfo | None = None


@dataclass(frozen=True)
class Timeline:
    """What happened to a memory."""

    history: History
    zone: tzinfo | None = None


@dataclass(frozen=True)
class Profiled:
    """A profile in full."""

    profile: Profile
    numbers: Numbers | None = None
    """Published and tuned; None where the profile was never tuned."""


@dataclass(frozen=True)
class Compared:
    """What differs between two profiles."""

    first: Profile
    second: Profile
    differences: tuple[Difference, ...]


@dataclass(frozen=True)
class Dreamed:
    """A dream: what it did, or would do."""

    story: Story
    data: Mapping[str, Any]
    zone: tzinfo | None = None


@dataclass(frozen=True)
class Foretold:
    """How memories fade if nobody uses them."""

    outlook: Outlook
    at: datetime
    zone: tzinfo | None = None


@dataclass(frozen=True)
class Rows:
    """A small table."""

    data: Any
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    title: str = ""
    footer: str = ""
    right: tuple[int, ...] = ()
    """Columns of numbers."""


@dataclass(frozen=True)
class Sheets:
    """Several small tables that belong together."""

    title: str
    data: Any
    sheets: tuple[tuple[str, Rows], ...]
    """Each with the word that its lines begin with in a pipe."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Check:
    """One thing that `doctor` looked at."""

    mark: Mark
    what: str
    said: str
    remedy: str = ""
    """What to do about it."""


@dataclass(frozen=True)
class Checkup:
    checks: tuple[Check, ...]

    @property
    def problems(self) -> int:
        return sum(check.mark == "problem" for check in self.checks)


Reply: TypeAlias = (
    Done
    | Found
    | Missed
    | Listed
    | Opened
    | Talk
    | Timeline
    | Profiled
    | Compared
    | Dreamed
    | Foretold
    | Rows
    | Sheets
    | Checkup
)
