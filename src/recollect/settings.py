"""Settings: from a file and the environment into one frozen value, read once."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from recollect.errors import InvalidInput

if TYPE_CHECKING:
    from recollect.rank.pipeline import Profile

AUTO = "auto"
"""The model's name for: the best one that is installed."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a user may choose. Names in the file are these; in the environment, RECOLLECT_ and capitals."""

    store: Path
    model: str = AUTO
    owner: str = ""
    agent: str = ""
    busy_seconds: float = 10.0
    model_threads: int = 1
    model_url: str | None = None
    model_key: str | None = field(default=None, repr=False)
    model_dims: int | None = None
    model_timeout_seconds: float = 30.0
    tools: str = "default"
    token: str | None = field(default=None, repr=False)
    import_from: Path | None = None
    time_zone: str = ""
    extractor: str = "rules"
    extractor_url: str | None = None
    extractor_key: str | None = field(default=None, repr=False)
    extractor_timeout_seconds: float = 60.0
    profiles: tuple[Profile, ...] = ()


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting as it stands."""

    name: str
    value: object = field(repr=False)
    origin: str
    """`default`, the file, or the variable that set it."""
    meaning: str

    @property
    def shown(self) -> str:
        """The value, but never a key."""
        if self.value is None:
            return ""
        return "(hidden)" if self.name in _SECRET else str(self.value)


MEANINGS = {
    "store": "the file that holds the memory",
    "model": "what turns text into vectors: auto, none, arctic-s, e5-small, potion, openai:NAME, …",
    "owner": "whose memory it is",
    "agent": "which agent of the owner",
    "busy_seconds": "how long to wait while another program writes",
    "model_threads": "threads of a model that runs on this machine",
    "model_url": "address of the server of a hosted model",
    "model_key": "key of a hosted model",
    "model_dims": "width of the vectors to ask a hosted model for",
    "model_timeout_seconds": "how long to wait for a hosted model",
    "tools": "what `recollect serve` offers: default, recall-only, all, or names with commas between",
    "token": "what clients of `recollect serve --http` must show; without it, one is made and kept",
    "import_from": "a file of the official memory server to bring in when `recollect serve` first starts",
    "time_zone": "where your days begin, such as Europe/Madrid; empty: this machine's",
    "extractor": "what draws notes out of messages: rules, none, openai:MODEL",
    "extractor_url": "address of the server of a hosted extractor",
    "extractor_key": "key of a hosted extractor",
    "extractor_timeout_seconds": "how long to wait for a hosted extractor",
    "profiles": "rankings of your own, one [[profiles]] for each; `profile show NAME --toml` prints one",
}
_SECRET = frozenset({"model_key", "extractor_key", "token"})


def load(
    overrides: Mapping[str, object] | None = None, environ: Mapping[str, str] | None = None
) -> tuple[Settings, tuple[Setting, ...]]:
    """The settings, and where each came from: an option before the environment, that before the file."""
    environ = os.environ if environ is None else environ
    path = config_path(environ)
    layers: list[tuple[str, Mapping[str, object]]] = [
        ("option", {name: value for name, value in (overrides or {}).items() if value is not None}),
        ("environment", _from_environment(environ)),
        (str(path), _from_file(path, required=bool(environ.get("RECOLLECT_CONFIG")))),
    ]
    values: dict[str, Any] = {}
    rows = []
    for each in fields(Settings):
        origin, given = next(
            ((where, layer[each.name]) for where, layer in layers if each.name in layer), ("", None)
        )
        if origin:
            values[each.name] = _parsed(each.name, given, origin)
        elif each.name == "store":
            values["store"] = _default_store()
        shown = f"RECOLLECT_{each.name.upper()}" if origin == "environment" else origin or "default"
        value = values.get(each.name, each.default)
        rows.append(Setting(each.name, value, shown, MEANINGS[each.name]))
    return Settings(**values), tuple(rows)


def config_path(environ: Mapping[str, str] | None = None) -> Path:
    """The settings file: RECOLLECT_CONFIG, or config.toml in the user's configuration folder."""
    environ = os.environ if environ is None else environ
    named = environ.get("RECOLLECT_CONFIG")
    if named:
        return Path(named).expanduser()
    import platformdirs  # noqa: PLC0415  # only where no path is given

    return platformdirs.user_config_path("recollect") / "config.toml"


def _default_store() -> Path:
    import platformdirs  # noqa: PLC0415  # only where no path is given

    return platformdirs.user_data_path("recollect") / "memory.db"


def _from_environment(environ: Mapping[str, str]) -> dict[str, object]:
    names = {f"RECOLLECT_{each.name.upper()}": each.name for each in fields(Settings)}
    return {name: environ[variable] for variable, name in names.items() if environ.get(variable)}


def _from_file(path: Path, *, required: bool) -> dict[str, object]:
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        if required:
            raise InvalidInput(f"RECOLLECT_CONFIG names {path}, which does not exist.") from None
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise InvalidInput(f"The settings file {path} cannot be read: {error}.") from error
    known = {each.name for each in fields(Settings)}
    unknown = sorted(set(content) - known)
    if unknown:
        raise InvalidInput(
            f"{path} has unknown settings: {', '.join(map(repr, unknown))}. "
            f"There are: {', '.join(sorted(known))}."
        )
    return content


def _parsed(name: str, given: object, origin: str) -> object:
    parse, wanted = _PARSERS.get(name, (_text, "text"))
    try:
        return parse(given)
    except InvalidInput as error:
        raise InvalidInput(f"In {origin}: {error}") from error
    except (TypeError, ValueError):
        shown = "what it is" if name in _SECRET else repr(given)
        raise InvalidInput(f"The setting {name} ({origin}) must be {wanted}, not {shown}.") from None


def _path(given: object) -> Path:
    if not isinstance(given, str | Path) or not str(given):
        raise TypeError
    return Path(given).expanduser()


def _text(given: object) -> str:
    if not isinstance(given, str):
        raise TypeError
    return given


def _zone(given: object) -> str:
    name = _text(given)
    if name:
        try:
            ZoneInfo(name)
        except (ZoneInfoNotFoundError, OSError) as error:
            raise ValueError from error
    return name


def _profiles(given: object) -> tuple[Profile, ...]:
    if not isinstance(given, list) or not all(isinstance(plain, dict) for plain in given):
        raise TypeError
    from recollect.rank.plain import from_plain  # noqa: PLC0415  # loads NumPy, which few settings need

    profiles = tuple(from_plain(plain) for plain in given)
    names = [profile.name for profile in profiles]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InvalidInput(
            f"There are several profiles named {', '.join(map(repr, twice))}; rename all but one."
        )
    return profiles


def _positive_int(given: object) -> int:
    number = int(str(given))
    if number < 1:
        raise ValueError
    return number


def _positive(given: object) -> float:
    number = float(str(given))
    if not 0 < number < float("inf"):
        raise ValueError
    return number


_PARSERS: dict[str, tuple[Callable[[object], object], str]] = {
    "store": (_path, "the path of a file"),
    "busy_seconds": (_positive, "a number above 0"),
    "model_threads": (_positive_int, "a whole number above 0"),
    "model_dims": (_positive_int, "a whole number above 0"),
    "model_timeout_seconds": (_positive, "a number above 0"),
    "import_from": (_path, "the path of a file"),
    "time_zone": (_zone, "a time zone such as Europe/Madrid"),
    "extractor_timeout_seconds": (_positive, "a number above 0"),
    "profiles": (_profiles, "a list of profiles"),
}
