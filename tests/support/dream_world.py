"""A memory with a past: what was noted last year, and what people ask for these days.

The command line lives by the wall clock, so the past is counted back from now.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from recollect.bootstrap import engine
from recollect.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

    from command_line import CommandLine

    from recollect.engine import Engine

ASKED = "what is Marisol allergic to"
ALLERGY, MEETING, FERRY = 2, 3, 5
"""Ids: asked for in every session; merged with its twin; forgotten by everyone."""


@dataclass
class Past:
    """A clock that is set to a number of days before now."""

    days: float = 0.0

    def __call__(self) -> datetime:
        return datetime.now(UTC) - timedelta(days=self.days)


def opened(store: Path, days_ago: float, session: str = "then") -> Engine:
    return engine(Settings(store, model="hashing", time_zone="UTC"), Past(days_ago), session)


def fill_store(store: Path) -> None:
    """Before its first dream: #4 repeats #3, and what was asked was asked in four sessions."""
    with opened(store, 300) as memory:
        memory.create_entities([{"name": "Marisol Vega", "type": "person", "observations": ["Likes oolong"]}])
    with opened(store, 10) as memory:
        memory.remember("Marisol is allergic to nuts")
    with opened(store, 300) as memory:
        memory.remember("The harbour team meets on Thursdays at nine")
        memory.remember("Harbour team meets on Thursdays at nine")
        memory.remember("The last ferry leaves at 21:40")
    for days in (6, 4, 2, 0.01):
        with opened(store, days, f"session {days}") as memory:
            memory.recall(ASKED, limit=2)


def knobs(recollect: CommandLine, **turned: float) -> None:
    """Turn knobs in the settings file of this test."""
    settings = recollect.store.with_name("config.toml")
    settings.write_text("\n".join(["[dream]", *(f"{name} = {value}" for name, value in turned.items())]))
