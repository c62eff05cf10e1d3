"""Every value of a setting is accepted, or refused in one line."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import fields
from typing import TYPE_CHECKING

import pytest

from recollect.bootstrap import engine
from recollect.domain.errors import RecollectError
from recollect.settings import Settings, load

if TYPE_CHECKING:
    from pathlib import Path

NUMBERS = ("3000000", "1e300", "1e308", "-1", "0", "nan", "inf", "9" * 5_000, "1e-320")
EXTREMES = (*NUMBERS, "x" * 10_000, "://", "..")
NUMBER_SETTINGS = (
    *("busy_seconds", "model_threads", "dream_every_minutes", "dream_backups"),
    *("shadow_events", "shadow_megabytes", "shadow_days"),
)
DEEP = "[" * 50_000 + "]" * 50_000


@pytest.mark.parametrize("name", [each.name for each in fields(Settings)])
def test_an_extreme_value_of_a_setting_is_read_or_refused(name: str) -> None:
    for value in EXTREMES:
        # Anything else that is raised is a traceback to the user.
        with suppress(RecollectError):
            load(environ={"RECOLLECT_CONFIG": os.devnull, f"RECOLLECT_{name.upper()}": value})


def test_the_error_for_too_large_a_number_names_the_limit() -> None:
    with pytest.raises(RecollectError, match=r"busy_seconds \(RECOLLECT_BUSY_SECONDS\): .* at most 86,400"):
        load(environ={"RECOLLECT_CONFIG": os.devnull, "RECOLLECT_BUSY_SECONDS": "3000000"})


@pytest.mark.parametrize("name", NUMBER_SETTINGS)
def test_a_number_that_is_read_can_be_used(tmp_path: Path, name: str) -> None:
    for value in EXTREMES:
        given = {"RECOLLECT_CONFIG": os.devnull, "RECOLLECT_STORE": str(tmp_path / "memory.db")}
        given |= {"RECOLLECT_MODEL": "none", f"RECOLLECT_{name.upper()}": value}
        try:
            settings, _ = load(environ=given)
        except RecollectError:
            continue
        with engine(settings) as memory:
            memory.remember("Ana moved to Lisbon")
            assert memory.recall("Lisbon").hits


@pytest.mark.parametrize(
    "content",
    [
        f"a = {DEEP}",
        f"profiles = [{{steps = {DEEP}}}]",
        f"[dream_knobs]\nx = {DEEP}",
        'store = "a\\u0000b"',
        'owner = "a\\u0000b"',
        "busy_seconds = 1979-05-27",
        "busy_seconds = true",
        "log = 5",
    ],
)
def test_a_settings_file_of_any_shape_is_refused_in_one_line(tmp_path: Path, content: str) -> None:
    path = tmp_path / "config.toml"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(RecollectError) as caught:
        load(environ={"RECOLLECT_CONFIG": str(path)})
    assert "\n" not in str(caught.value)
