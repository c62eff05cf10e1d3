"""Settings: from a file and the environment into one frozen value, read once."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from recollect.dream.knobs import Knobs, Phase
from recollect.dream.plain import from_plain, turned
from recollect.errors import InvalidInput

if TYPE_CHECKING:
    from recollect.rank.pipeline import Profile

AUTO = "auto"
"""The model's name for: the best one that is installed."""

OFFICIAL_VARIABLE = "MEMORY_FILE_PATH"
"""The official memory server's name for its file."""


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
    allow_hosts: tuple[str, ...] = ()
    import_from: Path | None = None
    time_zone: str = ""
    extractor: str = "rules"
    extractor_url: str | None = None
    extractor_key: str | None = field(default=None, repr=False)
    extractor_timeout_seconds: float = 60.0
    dream: bool = False
    dream_every_minutes: float = 360.0
    dream_backups: int = 3
    dream_without: tuple[Phase, ...] = ()
    dream_knobs: Knobs = field(default_factory=Knobs)
    shadow: bool = True
    shadow_events: int = 10_000
    shadow_megabytes: float = 64.0
    shadow_days: float = 90.0
    ab: Literal["off", "split", "interleave"] = "off"
    ab_share: float = 0.5
    ab_against: str = "similarity"
    profiles: tuple[Profile, ...] = ()
    rerank: str = "off"


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
        if isinstance(self.value, bool):
            return "on" if self.value else "off"
        if self.name in _LISTS and isinstance(self.value, tuple):
            return ",".join(self.value)
        if isinstance(self.value, Knobs):
            return ", ".join(turned(self.value))
        return "(hidden)" if self.is_secret else str(self.value)

    @property
    def is_secret(self) -> bool:
        return self.name in _SECRET


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
    "allow_hosts": "names by which other machines reach `recollect serve --http`, with commas between",
    "import_from": "a file of the official memory server to bring in when `recollect serve` first starts; "
    "MEMORY_FILE_PATH stands for the one that this variable names",
    "time_zone": "where your days begin, such as Europe/Madrid; empty: this machine's",
    "extractor": "what draws notes out of messages: rules, none, openai:MODEL",
    "extractor_url": "address of the server of a hosted extractor",
    "extractor_key": "key of a hosted extractor",
    "extractor_timeout_seconds": "how long to wait for a hosted extractor",
    "dream": "on: `recollect serve` and the Python library dream by themselves, after an answer; off: only "
    "`recollect dream` does",
    "dream_every_minutes": "how long to wait from one such dream to the next, 30 at least",
    "dream_backups": "how many of the backups to keep that precede the first such dream of a day; 0: none",
    "dream_without": f"phases that dreams leave out, with commas between: {', '.join(Phase)}",
    "dream_knobs": "numbers of a dream, in a table [dream_knobs]; docs/dreams.md names them all",
    "shadow": "on: the store keeps each answer with both rankings and what became of it, for "
    "`recollect tune`; off: it does not",
    "shadow_events": "how many answers that log holds at most",
    "shadow_megabytes": "how large that log is at most",
    "shadow_days": "for how many days that log keeps an answer",
    "ab": "who is shown the profile's ranking: off, everyone; split, some queries, and others what it is "
    "compared with; interleave, everyone both, drafted into one list",
    "ab_share": "of all queries, the share that gets the profile where they are split, from 0 to 1",
    "ab_against": "what a profile is compared with: similarity, or another profile",
    "profiles": "rankings of your own, one [[profiles]] for each; `profile show NAME --toml` prints one",
    "rerank": "what reads the first hits again and orders them anew: off, on (minilm), or a model's name",
}
_HOST_NAME = re.compile(r"[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?")
_SECRET = frozenset({"model_key", "extractor_key", "token"})
_LISTS = frozenset({"allow_hosts", "dream_without"})
_ON, _OFF = frozenset({"on", "true", "yes", "1"}), frozenset({"off", "false", "no", "0"})
_SHORTEST_MINUTES = 30.0
_DESIGNS = ("off", "split", "interleave")


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
        value = values.get(each.name, _usual(each))
        rows.append(Setting(each.name, value, shown, MEANINGS[each.name]))
    return Settings(**values), tuple(rows)


def _usual(of: Field[Any]) -> object:
    return of.default if of.default_factory is MISSING else of.default_factory()


def config_path(environ: Mapping[str, str] | None = None) -> Path:
    """The settings file: RECOLLECT_CONFIG, or config.toml in the user's configuration folder."""
    environ = os.environ if environ is None else environ
    named = environ.get("RECOLLECT_CONFIG")
    if named:
        return Path(named).expanduser()
    import platformdirs  # noqa: PLC0415  # only where no path is given

    return platformdirs.user_config_path("recollect") / "config.toml"


def official_file(environ: Mapping[str, str] | None = None) -> Path | None:
    """The file that the official memory server would use here, if its variable names one."""
    environ = os.environ if environ is None else environ
    named = environ.get(OFFICIAL_VARIABLE)
    return Path(named).expanduser() if named else None


def checked_token(given: object) -> str:
    """A token that fits into a header: signs of ASCII, no blanks."""
    if not isinstance(given, str) or not given or not all("!" <= sign <= "~" for sign in given):
        raise InvalidInput(
            "A token is one word of ASCII letters, digits and signs, without blanks; "
            "leave it out, and one is made and kept."
        )
    return given


def checked_hosts(given: object) -> tuple[str, ...]:
    """Names or addresses of this machine as a client writes them: no scheme, no port, no path."""
    if isinstance(given, str):
        given = [name for name in given.split(",") if name.strip()]
    if not isinstance(given, list | tuple) or not all(isinstance(name, str) for name in given):
        raise TypeError
    return tuple(_host(name.strip()) for name in given)


def _host(name: str) -> str:
    from ipaddress import ip_address  # noqa: PLC0415  # few settings name a host

    bare = name.removeprefix("[").removesuffix("]").lower()
    try:
        return str(ip_address(bare))
    except ValueError:
        if not _HOST_NAME.fullmatch(bare):
            raise InvalidInput(
                f"{name!r} is no host; name it as in the address, without scheme and port: box.local"
            ) from None
        return bare


def _default_store() -> Path:
    import platformdirs  # noqa: PLC0415  # only where no path is given

    return platformdirs.user_data_path("recollect") / "memory.db"


def cache_folder() -> Path:
    """Where what can be made anew is kept."""
    import platformdirs  # noqa: PLC0415  # few commands keep such a thing

    return platformdirs.user_cache_path("recollect")


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
        raise InvalidInput(f"The setting {name} ({origin}): {error}") from error
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


def _switch(given: object) -> bool:
    if isinstance(given, bool):
        return given
    word = str(given).strip().lower()
    if word not in _ON | _OFF:
        raise ValueError
    return word in _ON


def _reranker(given: object) -> str:
    if isinstance(given, bool) or str(given).strip().lower() in _ON | _OFF:
        return "on" if _switch(given) else "off"
    return _text(given).strip()


def _minutes(given: object) -> float:
    number = _positive(given)
    if number < _SHORTEST_MINUTES:
        raise ValueError
    return number


def _count(given: object) -> int:
    number = int(str(given))
    if number < 0:
        raise ValueError
    return number


def _phases(given: object) -> tuple[Phase, ...]:
    if isinstance(given, str):
        given = [name.strip() for name in given.split(",") if name.strip()]
    if not isinstance(given, list | tuple) or not all(isinstance(name, str) for name in given):
        raise TypeError
    unknown = [name for name in given if name not in set(Phase)]
    if unknown:
        raise InvalidInput(f"there is no phase {unknown[0]!r}; there are: {', '.join(Phase)}.")
    return tuple(phase for phase in Phase if phase in given)


def _knobs(given: object) -> Knobs:
    if not isinstance(given, dict):
        raise TypeError
    return from_plain(given)


def _design(given: object) -> str:
    word = "off" if given is False else str(given).strip().lower()
    if word not in _DESIGNS:
        raise ValueError
    return word


def _share(given: object) -> float:
    number = float(str(given))
    if not 0 <= number <= 1:
        raise ValueError
    return number


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
    "token": (checked_token, "a word"),
    "allow_hosts": (checked_hosts, "a list of names"),
    "import_from": (_path, "the path of a file"),
    "time_zone": (_zone, "a time zone such as Europe/Madrid"),
    "extractor_timeout_seconds": (_positive, "a number above 0"),
    "dream": (_switch, "on or off"),
    "dream_every_minutes": (_minutes, f"a number of at least {_SHORTEST_MINUTES:g}"),
    "dream_backups": (_count, "a whole number of at least 0"),
    "dream_without": (_phases, "a list of phases"),
    "dream_knobs": (_knobs, "a table [dream_knobs] in the settings file"),
    "shadow": (_switch, "on or off"),
    "shadow_events": (_positive_int, "a whole number above 0"),
    "shadow_megabytes": (_positive, "a number above 0"),
    "shadow_days": (_positive, "a number above 0"),
    "ab": (_design, "off, split or interleave"),
    "ab_share": (_share, "a number from 0 to 1"),
    "profiles": (_profiles, "a list of profiles"),
    "rerank": (_reranker, "on, off or the name of a re-ranker"),
}
