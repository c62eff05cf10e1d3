"""`recollect settings` and `recollect models`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from command_line import CommandLine

pytest_plugins = ["command_line"]


def _settings(recollect: CommandLine, *typed: str, key: str = "") -> dict[str, tuple[str | None, str]]:
    rows = recollect.json("settings", *typed, RECOLLECT_MODEL_KEY=key)["settings"]
    return {row["name"]: (row["value"], row["origin"]) for row in rows}


def test_each_setting_says_where_it_came_from(recollect: CommandLine) -> None:
    config = Path(str(recollect.environment["RECOLLECT_CONFIG"]))
    config.write_text('agent = "scribe"\nmodel = "potion"\n', encoding="utf-8")
    rows = _settings(recollect, "--owner", "ana")
    assert rows["owner"] == ("ana", "option")
    assert rows["model"] == ("hashing", "RECOLLECT_MODEL")
    assert rows["agent"] == ("scribe", str(config))
    assert rows["busy_seconds"] == ("10.0", "default")


def test_the_settings_file_is_named(recollect: CommandLine) -> None:
    data = recollect.json("settings")
    assert data["file"] == recollect.environment["RECOLLECT_CONFIG"]
    assert data["file_exists"] is True


def test_a_key_is_never_shown(recollect: CommandLine) -> None:
    assert _settings(recollect, key="sesame")["model_key"][0] == "(hidden)"
    assert "sesame" not in recollect("settings", RECOLLECT_MODEL_KEY="sesame").stdout


def test_a_wrong_setting_is_refused_by_name(recollect: CommandLine) -> None:
    said = recollect.refused("settings", status=1, RECOLLECT_BUSY_SECONDS="soon")
    assert "busy_seconds" in said


def test_models_are_listed_with_what_installs_them(recollect: CommandLine) -> None:
    data = recollect.json("models")
    assert data["preferred"] == "hashing"
    by_name = {each["name"]: each for each in data["models"]}
    assert {"arctic-s", "e5-small", "potion", "hashing", "ollama:…"} <= set(by_name)
    for each in by_name.values():
        assert each["ready"] or each["command"].startswith("pip install")
    assert "hashing\tready\t" in recollect("models").stdout
