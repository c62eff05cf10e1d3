"""The examples in the docstrings of the public API give what they show."""

from __future__ import annotations

import doctest
import inspect
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect import Engine
from recollect.admin import Upkeep
from recollect.aio import AsyncEngine
from recollect.dreams.dreaming import Dreams
from recollect.memories.browse import Browse
from recollect.memories.graph import KnowledgeGraph
from recollect.memories.sessions import Sessions
from recollect.review.settling import Settling
from recollect.tuning.answers import AnswerLog
from recollect.tuning.tuning import Tuning

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
GROUPS = (KnowledgeGraph, Sessions, Browse, Dreams, AnswerLog, Tuning, Upkeep, Settling)
VALUES = [getattr(recollect, name) for name in recollect.__all__ if name != "Engine"]


def small_team(store: Path) -> Engine:
    memory = recollect.open(store, model="none", clock=lambda: NOON)
    memory.remember("Marisol Vega is allergic to nuts", tags="health")
    memory.remember("The release is on 12 March")
    leader = {"name": "Marisol Vega", "type": "person", "observations": ["Leads the harbour team"]}
    memory.create_entities([leader, {"name": "Tidebook", "type": "project"}])
    memory.graph.create_relations([("Marisol Vega", "leads", "Tidebook")])
    said = [{"role": "user", "speaker": "Ana", "content": "We moved the stand-up to ten.", "at": NOON}]
    memory.add_messages("monday", said, extract=False)
    return memory


def documented() -> dict[str, Any]:
    """Every public class and function, and every public method and property of the engine and its groups."""
    found = {value.__name__: value for value in VALUES}
    for group in (Engine, AsyncEngine, *GROUPS):
        found[group.__name__] = group
        for name, member in vars(group).items():
            if not name.startswith("_") and (isinstance(member, property) or inspect.isfunction(member)):
                found[f"{group.__name__}.{name}"] = member
    return found


def test_every_public_class_and_method_says_what_it_does() -> None:
    assert [name for name, each in documented().items() if not (each.__doc__ or "").strip()] == []


def test_completing_a_name_of_a_group_offers_only_what_is_documented() -> None:
    offered = {f"{group.__name__}.{name}" for group in GROUPS for name in dir(group) if name[0] != "_"}
    assert offered <= documented().keys()


def test_every_type_of_a_result_is_in_the_reference() -> None:
    page = (Path(recollect.__file__).parents[4] / "docs/reference/python/results.md").read_text("utf-8")
    members = [each for name, each in documented().items() if "." in name]
    calls = [each.fget if isinstance(each, property) else each for each in members]
    named = {
        name for call in calls for name in re.findall(r"\b[A-Z]\w+", str(call.__annotations__["return"]))
    }
    elsewhere = {"Engine", "Mapping", "None", "Profile", "Sequence", *(group.__name__ for group in GROUPS)}
    assert named - elsewhere - set(re.findall(r"\w+", page)) == set()


def test_every_call_has_an_example() -> None:
    without = [
        name
        for name, each in documented().items()
        if "." in name and inspect.isfunction(each) and ">>>" not in (each.__doc__ or "")
    ]
    assert without == ["Engine.close", "AsyncEngine.run", "AsyncEngine.close"]


@pytest.mark.parametrize(
    "name", [name for name, each in documented().items() if ">>>" in (each.__doc__ or "")]
)
def test_an_example_gives_what_it_shows(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "HOME"):
        monkeypatch.setenv(variable, str(tmp_path))
    monkeypatch.setenv("RECOLLECT_TIME_ZONE", "UTC")
    monkeypatch.chdir(tmp_path)
    said: list[str] = []
    with small_team(tmp_path / "memory.db") as memory:
        names = {"memory": memory, "recollect": recollect, "datetime": datetime, "UTC": UTC}
        example = doctest.DocTestParser().get_doctest(
            inspect.getdoc(documented()[name]) or "", names, name, None, None
        )
        doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(example, out=said.append)
    assert "".join(said) == ""
