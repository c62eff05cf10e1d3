"""Languages through the front doors: what a user sees of the model that a memory takes or should take."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import anyio
import pytest
from conftest import PATIENCE_SECONDS
from mcp_world import done, said

import recollect as library
from recollect.models import embedders as choose
from recollect.models.embedders import DefaultModel
from recollect.models.registry import availability

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from command_line import CommandLine
    from mcp_world import Served

pytest_plugins = ["command_line", "mcp_fixtures"]

SPANISH = "Mi hermana Lucía es alérgica a los frutos secos"
INSTALL = "pip install recollect-model-potion"
E5 = availability("e5-small")
needs_e5 = pytest.mark.skipif(not E5.ready, reason=E5.reason)


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> Callable[[str | None], None]:
    """The usual model is `hashing`, said to read only English, and the multilingual one is `potion`."""

    def stand_in(install: str | None) -> None:
        monkeypatch.setattr(choose, "default_choice", lambda: DefaultModel("hashing", "the default model"))
        monkeypatch.setattr(choose, "MULTILINGUAL", "potion")
        monkeypatch.setattr(choose, "multilingual_install_command", lambda: install)
        monkeypatch.setattr(choose, "reads_only_english", lambda name: name.startswith("hashing"))

    return stand_in


@pytest.fixture
def automatic(recollect: CommandLine) -> CommandLine:
    return replace(recollect, environment={**recollect.environment, "RECOLLECT_MODEL": "auto"})


def test_a_spanish_note_takes_the_multilingual_model_and_the_command_line_says_so(
    automatic: CommandLine, models: Callable[[str | None], None]
) -> None:
    models(None)
    first = automatic("remember", SPANISH)
    assert first.stdout == "Remembered as #1.\n"
    assert first.stderr == (
        "recollect: Texts are not in English, so this memory uses the model potion. For English alone, run: "
        "recollect reindex --model hashing\n"
    )
    assert automatic("remember", "El dentista es el lunes a las nueve").stderr == ""
    assert automatic.json("stats")["model"].startswith("potion@")
    listed = automatic.json("models")
    assert (listed["preferred"], listed["for_other_languages"]) == ("hashing", "potion")
    assert automatic.json("models", "--model", "hashing")["for_other_languages"] is None


def test_a_model_that_is_missing_is_named_with_the_command_that_installs_it(
    automatic: CommandLine, models: Callable[[str | None], None]
) -> None:
    models(INSTALL)
    remedy = f"{INSTALL}, then: recollect reindex --model potion"
    first = automatic("remember", SPANISH)
    assert remedy in first.stderr
    checks = automatic.json("doctor")["checks"]
    (check,) = [each for each in checks if each["what"] == "language"]
    assert (check["mark"], check["remedy"]) == ("note", remedy)
    assert automatic("remember", "El dentista es el lunes a las nueve").stderr == ""


def test_the_model_that_an_option_names_stands(
    automatic: CommandLine, models: Callable[[str | None], None]
) -> None:
    models(None)
    told = automatic.json("remember", SPANISH, "--model", "hashing")
    assert told["model_note"].endswith("Run: recollect reindex --model potion")
    assert automatic.json("stats")["model"] == "hashing@1"
    automatic("remember", "El dentista es el lunes a las nueve")
    assert automatic.json("stats")["model"] == "hashing@1"
    assert "language" in {each["what"] for each in automatic.json("doctor")["checks"]}
    automatic("reindex", "--model", "potion")
    assert "language" not in {each["what"] for each in automatic.json("doctor")["checks"]}


def test_imports_choose_by_what_they_bring(
    automatic: CommandLine, models: Callable[[str | None], None], tmp_path: Path
) -> None:
    models(None)
    turns = tmp_path / "talk.jsonl"
    turns.write_text(json.dumps({"role": "user", "content": SPANISH}) + "\n")
    report = automatic.json("import", str(turns))
    assert "this memory uses the model potion" in report["model_note"]
    assert automatic.json("stats")["model"].startswith("potion@")


@pytest.mark.anyio
async def test_an_agent_is_told_as_well(served: Served, models: Callable[[str | None], None]) -> None:
    models(INSTALL)
    async with served.inside("all") as client:
        with anyio.fail_after(PATIENCE_SECONDS):
            first = await client.call_tool("remember", {"text": SPANISH})
        assert first.structured_content is not None
        assert first.structured_content["note"].endswith("recollect reindex --model potion")
        assert INSTALL in " ".join(said(first))
        assert "note" not in await done(client, "remember", text="El dentista es el lunes a las nueve")


@needs_e5
def test_spanish_notes_are_found_by_an_english_question_with_nothing_set(tmp_path: Path) -> None:
    with library.open(tmp_path / "memory.db", model="auto") as memory:
        first = memory.remember(SPANISH)
        assert first.model_note is not None
        assert "e5-small" in first.model_note
        for text in ("El dentista es el lunes a las nueve", "Aparco el coche en la planta tres"):
            assert memory.remember(text).similar is None
        hits = memory.recall("What is my sister allergic to?").hits
        assert hits[0].memory.id == first.id


@needs_e5
def test_english_notes_are_found_by_a_spanish_question_with_nothing_set(tmp_path: Path) -> None:
    with library.open(tmp_path / "memory.db", model="auto") as memory:
        memory.remember_many(["The dentist is on Monday at nine", "We park on level three"])
        nuts = memory.remember("My sister Lucy is allergic to nuts")
        answer = memory.recall("¿A qué es alérgica mi hermana?")
        assert answer.hits[0].memory.id == nuts.id
        assert memory.model is not None
        assert memory.model.name.startswith("e5-small@")
        assert "now uses the model e5-small" in (answer.note or "")
