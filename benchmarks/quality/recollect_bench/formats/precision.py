"""PrecisionMemBench's fixtures: beliefs with scope, aliases and status; cases that say what may come back.

Beside `relevantBeliefs`, cases expect things of what is handed over without a search: pinned facts and open
questions, which are listed from the fixture, and a persona, which is the harness's own and not judged here.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field

from recollect.domain.errors import InvalidInput
from recollect_bench.formats.parsing import Row, Text, Time, parse

BELIEFS, CASES = "beliefs.seed.json", "retrieval.cases.json"
USER = "test-user"
"""User of a case that names none."""
_MOST_BELIEFS = 20


class Belief(Row):
    id: Text = Field(alias="_id")
    user: Text = Field(alias="user_id")
    type: str = ""
    canonical_name: str = ""
    aliases: tuple[str, ...] = ()
    content: str = ""
    why_it_matters: str = ""
    scope: tuple[str, ...] = ()
    pinned: bool = False
    superseded_by: str | None = None
    resolved_at: Time | None = None
    created_at: Time | None = None
    participants: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Return the text as the benchmark does: name, aliases, content, and why it matters."""
        parts = (self.canonical_name, *self.aliases, self.content, self.why_it_matters)
        return " ".join(filter(None, parts))

    @property
    def is_question(self) -> bool:
        return self.type == "open_question"


class Expected(Row):
    must_include: tuple[str, ...] = Field(default=(), alias="mustInclude")
    must_exclude: tuple[str, ...] = Field(default=(), alias="mustExclude")
    should_include: tuple[str, ...] = Field(default=(), alias="shouldInclude")
    only: tuple[str, ...] | None = Field(default=None, alias="shouldOnlyInclude")
    ordered: tuple[tuple[str, str], ...] = Field(default=(), alias="orderedBefore")
    most: int | None = Field(default=None, alias="maxCount")
    fewest: int | None = Field(default=None, alias="minCount")


class Expectations(Row):
    relevant: Expected = Field(default=Expected(), alias="relevantBeliefs")
    pinned: Expected = Field(default=Expected(), alias="pinnedFacts")
    questions: Expected = Field(default=Expected(), alias="openQuestions")


class Budget(Row):
    most_beliefs: int = Field(default=_MOST_BELIEFS, alias="maxBeliefs")


class Case(Row):
    id: Text = Field(alias="caseId")
    category: str = ""
    user: str = Field(default=USER, alias="userId")
    scope: tuple[str, ...] = ()
    query: str
    budget: Budget = Budget()
    expect: Expectations


@dataclass(frozen=True, slots=True)
class PrecisionFixtures:
    beliefs: tuple[Belief, ...]
    cases: tuple[Case, ...]
    files: tuple[Path, ...]


def load_precision(folder: Path) -> PrecisionFixtures:
    """Load the fixtures of a folder, or of `fixtures` in it."""
    places = [folder, folder / "fixtures"]
    place = next((each for each in places if (each / BELIEFS).is_file() and (each / CASES).is_file()), None)
    if place is None:
        raise InvalidInput(f"{folder} does not hold {BELIEFS} and {CASES}; name the folder that does.")
    beliefs, cases = _read_json(place / BELIEFS), _read_json(place / CASES)
    return PrecisionFixtures(
        parse(tuple[Belief, ...], beliefs, BELIEFS),
        parse(tuple[Case, ...], cases, CASES),
        (place / BELIEFS, place / CASES),
    )


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{path} cannot be read as JSON: {error}.") from error
