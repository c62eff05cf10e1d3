"""Settings: layers, origins, and what is refused."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from recollect.domain.errors import InvalidInput
from recollect.dreams.knobs import ByKind, Knobs, Phase
from recollect.settings import AUTO, Setting, Settings, config_path, load, official_file


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
    assert isinstance(settings.store, Path)
    assert tmp_path in settings.store.parents
    assert settings == Settings(store=settings.store)
    assert (settings.model, settings.owner, settings.agent) == (AUTO, "", "")
    assert {each.origin for each in rows} == {"default"}
    # Every setting is listed with its meaning; an empty variable is as good as none.
    assert [each.name for each in rows] == [field.name for field in fields(Settings)]
    assert all(each.meaning for each in rows)
    assert load(environ={"RECOLLECT_STORE": "", "RECOLLECT_MODEL": ""}) == (settings, rows)


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
    assert isinstance(settings.store, Path)
    assert settings.store.name == "here.db"
    assert "~" not in str(settings.store)
    assert (settings.busy_seconds, settings.model_threads, settings.model_dims) == (2.5, 4, 256)


def test_unknown_names_in_the_file_are_refused_with_those_that_exist(config: Path) -> None:
    config.write_text('stroe = "x.db"\n')
    with pytest.raises(InvalidInput, match=r"'stroe'.*store"):
        load(environ={})


@pytest.mark.parametrize("content", [b"store = ", b"\0", b"[store]\npath = 1\n", b'owner = "caf\xe9"\n'])
def test_a_file_that_cannot_be_read_names_itself(config: Path, content: bytes) -> None:
    config.write_bytes(content)
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


def test_a_key_is_used_and_never_shown_nor_told_in_a_trace_or_an_error(config: Path) -> None:
    settings, rows = load(environ={"RECOLLECT_MODEL_KEY": "sk-secret"})
    assert settings.model_key == "sk-secret"
    shown = row(rows, "model_key")
    assert (shown.shown, shown.origin) == ("(hidden)", "RECOLLECT_MODEL_KEY")
    assert "sk-secret" not in f"{settings!r} {rows!r}"
    assert row(load(environ={})[1], "model_key").shown == ""
    config.write_text("model_key = 123456789\n")
    with pytest.raises(InvalidInput) as caught:
        load(environ={})
    assert "123456789" not in str(caught.value)


def test_a_secret_may_stand_in_a_file(config: Path, tmp_path: Path) -> None:
    secret = tmp_path / "token"
    secret.write_text("open-sesame-please\n")
    settings, rows = load(environ={"RECOLLECT_TOKEN_FILE": str(secret)})
    assert settings.token == "open-sesame-please"  # noqa: S105  # of this test
    assert (row(rows, "token").origin, row(rows, "token").shown) == ("RECOLLECT_TOKEN_FILE", "(hidden)")
    settings, _ = load(environ={"RECOLLECT_TOKEN_FILE": str(secret), "RECOLLECT_TOKEN": "nearer"})
    assert settings.token == "nearer"  # noqa: S105
    # Only secrets can be in a file named by the environment.
    assert load(environ={"RECOLLECT_OWNER_FILE": str(secret)})[0].owner == ""


@pytest.mark.parametrize("content", [None, "", "  \n", "x" * 5_000, "two words"])
def test_a_file_without_a_secret_is_refused_and_not_shown(
    config: Path, tmp_path: Path, content: str | None
) -> None:
    secret = tmp_path / "token"
    if content is not None:
        secret.write_text(content)
    with pytest.raises(InvalidInput, match="RECOLLECT_TOKEN_FILE") as refused:
        load(environ={"RECOLLECT_TOKEN_FILE": str(secret)})
    assert "two words" not in str(refused.value)


def test_hosts_are_a_list_in_the_file_and_words_with_commas_in_the_environment(config: Path) -> None:
    config.write_text('allow_hosts = ["Box.local", "[2001:DB8::7]"]\n')
    assert load(environ={})[0].allow_hosts == ("box.local", "2001:db8::7")
    settings, rows = load(environ={"RECOLLECT_ALLOW_HOSTS": "tea.example, 192.0.2.7,"})
    assert settings.allow_hosts == ("tea.example", "192.0.2.7")
    assert row(rows, "allow_hosts").shown == "tea.example,192.0.2.7"


@pytest.mark.parametrize("given", ['"http://box"', '["box:80"]', "[1]", "true"])
def test_what_is_no_host_is_refused(config: Path, given: str) -> None:
    config.write_text(f"allow_hosts = {given}\n")
    with pytest.raises(InvalidInput, match=r"host"):
        load(environ={})


def test_the_official_servers_file_is_what_its_variable_names() -> None:
    assert official_file({}) is None
    assert official_file({"MEMORY_FILE_PATH": ""}) is None
    assert str(official_file({"MEMORY_FILE_PATH": "/m/memory.jsonl"})) == str(Path("/m/memory.jsonl"))


# Dreams


@pytest.mark.parametrize("word", ["on", "ON", "true", "yes", "1"])
def test_dreams_are_off_until_they_are_switched_on(config: Path, word: str) -> None:
    settings, rows = load(environ={})
    assert settings.dream is False
    assert row(rows, "dream").shown == "off"
    settings, rows = load(environ={"RECOLLECT_DREAM": word})
    assert settings.dream is True
    assert row(rows, "dream").shown == "on"
    config.write_text("dream = true\n")
    assert load(environ={})[0].dream is True
    assert load(environ={"RECOLLECT_DREAM": "off"})[0].dream is False


def test_how_often_and_with_how_many_backups_is_read(config: Path) -> None:
    config.write_text('dream = "on"\ndream_every_minutes = 45.5\ndream_backups = 0\n')
    settings, _ = load(environ={})
    assert (settings.dream, settings.dream_every_minutes, settings.dream_backups) == (True, 45.5, 0)
    settings, _ = load(environ={"RECOLLECT_DREAM_EVERY_MINUTES": "30", "RECOLLECT_DREAM_BACKUPS": "7"})
    assert (settings.dream_every_minutes, settings.dream_backups) == (30, 7)


def test_phases_to_leave_out_are_a_list_or_names_with_commas(config: Path) -> None:
    config.write_text('dream_without = ["link", "prune"]\n')
    settings, rows = load(environ={})
    assert settings.dream_without == (Phase.PRUNE, Phase.LINK)
    assert row(rows, "dream_without").shown == "prune,link"
    settings, _ = load(environ={"RECOLLECT_DREAM_WITHOUT": " merge , report,"})
    assert settings.dream_without == (Phase.MERGE, Phase.REPORT)


def test_knobs_of_the_file_replace_the_usual_ones(config: Path) -> None:
    config.write_text(
        "[dream]\ndaily = 0.9\npromote_spread = 5\ndecay = { note = 0.25 }\nprune_most = 10.0\n"
    )
    settings, rows = load(environ={})
    assert settings.dream_knobs == Knobs(
        daily=0.9, promote_spread=5, decay=ByKind(entity=0.25, note=0.25, message=1.0), prune_most=10
    )
    assert isinstance(settings.dream_knobs.prune_most, int)
    shown = row(rows, "dream_knobs").shown
    assert (
        shown == "daily = 0.9, decay = entity 0.25, note 0.25, message 1, prune_most = 10, promote_spread = 5"
    )


@pytest.mark.parametrize(
    "content",
    [
        '[dream]\non = true\nevery_minutes = 60\nbackups = 1\nwithout = ["prune"]\ndaily = 0.9\n',
        (
            'dream = true\ndream_every_minutes = 60\ndream_backups = 1\ndream_without = ["prune"]\n'
            "[dream_knobs]\ndaily = 0.9\n"
        ),
    ],
)
def test_one_table_or_the_names_of_0_2_0_set_all_that_dreams_do(config: Path, content: str) -> None:
    config.write_text(content)
    found, _ = load(environ={})
    assert (found.dream, found.dream_every_minutes, found.dream_backups) == (True, 60, 1)
    assert (found.dream_without, found.dream_knobs) == ((Phase.PRUNE,), Knobs(daily=0.9))
    assert load(environ={"RECOLLECT_DREAM": "off"})[0].dream is False


def test_every_knob_can_be_turned(config: Path) -> None:
    for knob in fields(Knobs):
        value = "{ entity = 0.5, note = 0.5, message = 0.5 }" if isinstance(knob.default, ByKind) else "1"
        config.write_text(f"[dream]\n{knob.name} = {value}\n")
        settings, _ = load(environ={})
        expected = ByKind(0.5, 0.5, 0.5) if isinstance(knob.default, ByKind) else 1
        assert getattr(settings.dream_knobs, knob.name) == expected


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("dream = 3", "must be on or off, not 3"),
        ('dream = "sometimes"', "must be on or off"),
        ("dream_every_minutes = 29", "must be a number of at least 30, not 29"),
        ("dream_backups = -1", "must be a whole number of at least 0"),
        ('dream_without = "nap"', "there is no phase 'nap'; the phases are: consolidate, downscale, merge"),
        ("dream_without = 3", "must be a list of phases"),
        ("dream_knobs = 3", r"must be parameters in the table \[dream\]"),
        ("[dream]\nnightly = 1", "there is no knob named 'nightly'; there are: max_delta, floor, daily"),
        ("[dream]\ndaily = 'much'", "daily is a number, not 'much'"),
        ("[dream]\ndaily = true", "daily is a number, not True"),
        ("[dream]\ndaily = nan", "daily is a number, not nan"),
        ("[dream]\ndaily = 2", "daily is 2; it must be between 0 and 1"),
        ("[dream]\nfloor = -1", "floor is -1; it must be a number of at least 0"),
        ("[dream]\nprune_most = 1.5", "prune_most is a whole number, not 1.5"),
        ("[dream]\ndecay = 1", "decay is a table with a number for each kind"),
        ("[dream]\ndecay = { rumour = 1 }", "there is no kind in decay named 'rumour'; there are: entity"),
        ("[dream]\nweight = { note = 'x' }", r"weight\.note is a number, not 'x'"),
    ],
)
def test_what_cannot_be_meant_of_dreams_is_refused(config: Path, content: str, says: str) -> None:
    config.write_text(content + "\n")
    with pytest.raises(InvalidInput, match=says):
        load(environ={})


def test_knobs_are_not_for_the_environment(config: Path) -> None:
    with pytest.raises(InvalidInput, match=r"table \[dream\] of the settings file"):
        load(environ={"RECOLLECT_DREAM_KNOBS": "daily=1"})
