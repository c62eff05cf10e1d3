"""Settings: layers, origins, and what is refused."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

import pytest

from recollect.errors import InvalidInput
from recollect.settings import AUTO, MEANINGS, Setting, Settings, config_path, load

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's folders, empty; the path of the file that is read when none is named."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("HOME", str(tmp_path))
    path = config_path({})
    assert tmp_path in path.parents
    path.parent.mkdir(parents=True)
    return path


def row(rows: tuple[Setting, ...], name: str) -> Setting:
    return next(each for each in rows if each.name == name)


def test_without_anything_there_are_defaults_and_one_file_in_the_users_folder(
    config: Path, tmp_path: Path
) -> None:
    settings, rows = load(environ={})
    assert tmp_path in settings.store.parents
    assert settings == Settings(store=settings.store)
    assert (settings.model, settings.owner, settings.agent) == (AUTO, "", "")
    assert {each.origin for each in rows} == {"default"}


def test_every_setting_is_listed_with_its_meaning(config: Path) -> None:
    _, rows = load(environ={})
    names = [field.name for field in fields(Settings)]
    assert [each.name for each in rows] == names
    assert list(MEANINGS) == names
    assert all(each.meaning for each in rows)


def test_an_option_goes_before_the_environment_and_that_before_the_file(config: Path) -> None:
    config.write_text('owner = "file"\nagent = "file"\nmodel = "potion"\nbusy_seconds = 3\n')
    environ = {"RECOLLECT_OWNER": "environment", "RECOLLECT_AGENT": "environment"}
    settings, rows = load({"owner": "option", "agent": None}, environ)
    assert (settings.owner, settings.agent, settings.model) == ("option", "environment", "potion")
    assert settings.busy_seconds == 3.0
    origins = {name: row(rows, name).origin for name in ("owner", "agent", "model", "model_url")}
    assert origins == {
        "owner": "option",
        "agent": "RECOLLECT_AGENT",
        "model": str(config),
        "model_url": "default",
    }


def test_the_file_may_be_named(config: Path, tmp_path: Path) -> None:
    config.write_text('owner = "not this one"\n')
    mine = tmp_path / "mine.toml"
    mine.write_text('owner = "me"\n')
    settings, rows = load(environ={"RECOLLECT_CONFIG": str(mine)})
    assert settings.owner == "me"
    assert row(rows, "owner").origin == str(mine)


def test_a_named_file_must_be_there_and_another_need_not(config: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"no\.toml"):
        load(environ={"RECOLLECT_CONFIG": str(tmp_path / "no.toml")})
    assert load(environ={"RECOLLECT_CONFIG": ""})[0].owner == ""


def test_text_of_the_environment_is_read_as_what_it_stands_for(config: Path) -> None:
    environ = {
        "RECOLLECT_STORE": "~/here.db",
        "RECOLLECT_BUSY_SECONDS": "2.5",
        "RECOLLECT_MODEL_THREADS": "4",
        "RECOLLECT_MODEL_DIMS": "256",
    }
    settings, _ = load(environ=environ)
    assert settings.store.name == "here.db"
    assert "~" not in str(settings.store)
    assert (settings.busy_seconds, settings.model_threads, settings.model_dims) == (2.5, 4, 256)


def test_an_empty_variable_is_as_good_as_none(config: Path) -> None:
    settings, rows = load(environ={"RECOLLECT_STORE": "", "RECOLLECT_MODEL": ""})
    assert (settings.model, row(rows, "store").origin) == (AUTO, "default")


def test_unknown_names_in_the_file_are_refused_with_those_that_exist(config: Path) -> None:
    config.write_text('stroe = "x.db"\n')
    with pytest.raises(InvalidInput, match=r"'stroe'.*store"):
        load(environ={})


@pytest.mark.parametrize("content", ["store = ", "\x00", "[store]\npath = 1\n"])
def test_a_file_that_cannot_be_read_names_itself(config: Path, content: str) -> None:
    config.write_text(content)
    with pytest.raises(InvalidInput, match=r"config\.toml"):
        load(environ={})


def test_a_file_in_another_encoding_names_itself(config: Path) -> None:
    config.write_bytes(b'owner = "caf\xe9"\n')
    with pytest.raises(InvalidInput, match=r"config\.toml"):
        load(environ={})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("busy_seconds", "soon"),
        ("busy_seconds", "0"),
        ("busy_seconds", "-1"),
        ("busy_seconds", "inf"),
        ("busy_seconds", "nan"),
        ("busy_seconds", "true"),
        ("model_threads", "0"),
        ("model_threads", "1.5"),
        ("model_threads", "two"),
        ("model_dims", "-3"),
        ("model_timeout_seconds", "0"),
    ],
)
def test_a_bad_value_is_refused_by_name_and_origin(config: Path, name: str, value: str) -> None:
    with pytest.raises(InvalidInput, match=f"{name} .*{value}"):
        load(environ={f"RECOLLECT_{name.upper()}": value})
    config.write_text(f"{name} = {value if value in {'0', '-1', 'true', 'inf', 'nan'} else repr(value)}\n")
    with pytest.raises(InvalidInput, match=name):
        load(environ={})


@pytest.mark.parametrize("line", ["owner = 5", "model = true", "store = 5", 'store = ""', "model_url = []"])
def test_a_value_of_the_wrong_kind_is_refused(config: Path, line: str) -> None:
    config.write_text(line)
    with pytest.raises(InvalidInput, match=line.split(maxsplit=1)[0]):
        load(environ={})


def test_a_key_is_used_and_never_shown(config: Path) -> None:
    settings, rows = load(environ={"RECOLLECT_MODEL_KEY": "sk-secret"})
    assert settings.model_key == "sk-secret"
    shown = row(rows, "model_key")
    assert (shown.shown, shown.origin) == ("(hidden)", "RECOLLECT_MODEL_KEY")
    assert row(load(environ={})[1], "model_key").shown == ""


def test_a_key_does_not_stand_in_a_trace(config: Path) -> None:
    settings, rows = load(environ={"RECOLLECT_MODEL_KEY": "sk-secret"})
    assert "sk-secret" not in repr(settings)
    assert "sk-secret" not in repr(rows)


def test_a_key_does_not_stand_in_an_error(config: Path) -> None:
    config.write_text("model_key = 123456789\n")
    with pytest.raises(InvalidInput) as caught:
        load(environ={})
    assert "123456789" not in str(caught.value)
