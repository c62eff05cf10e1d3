"""Settings: read once, from options, the environment and a file, into one frozen value."""

import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import Field, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from recollect.domain.errors import InvalidInput
from recollect.domain.lazy_dataclass import dataclass
from recollect.dreams.knobs import Knobs, Phase, changed_knobs, knobs_from_mapping

if TYPE_CHECKING:
    from recollect.ranking.candidates import Profile
    from recollect.stores.url import StoreUrl

AUTO = "auto"
"""The setting `model` that chooses the installed model that suits the first texts best."""

OFFICIAL_VARIABLE = "MEMORY_FILE_PATH"
"""The variable in which the official MCP memory server names its file."""

_DREAM_KEYS = {
    "on": "dream",
    "every_minutes": "dream_every_minutes",
    "backups": "dream_backups",
    "without": "dream_without",
}
"""Keys of the table `[dream]` that set a setting, with its name. All others are parameters of dreams."""
_HOST_NAME = re.compile(r"[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?")
_LONGEST_SECRET = 4_096
_ON, _OFF = frozenset({"on", "true", "yes", "1"}), frozenset({"off", "false", "no", "0"})


@dataclass(frozen=True, slots=True)
class _Rule:
    """A parser of a setting. `read` raises ValueError or TypeError, or InvalidInput with its own message."""

    read: Callable[[Any], object]
    wanted: str
    """The expected kind of value, for error messages."""


def _text(given: object) -> str:
    if not isinstance(given, str) or "\0" in given:
        raise TypeError
    return given


def _path(given: object) -> Path:
    if not isinstance(given, str | Path) or not str(given) or "\0" in str(given):
        raise TypeError
    return Path(given).expanduser()


def _store(given: object) -> "Path | StoreUrl":
    # Refuse a URL with a missing slash, instead of taking it for a file name.
    if not isinstance(given, str) or not ("://" in given or given.startswith(("postgresql:", "postgres:"))):
        return _path(given)
    from recollect.stores.url import parse_store_url  # noqa: PLC0415  # few stores are on a server

    return parse_store_url(given)


def _number(kind: type[float], is_allowed: Callable[[float], bool], wanted: str, most: int) -> _Rule:
    def read(given: object) -> float:
        number = kind(str(given))
        if not is_allowed(number):
            raise ValueError
        if number > most:
            raise InvalidInput(f"it is at most {most:,}, not {str(given)[:40]}.")
        return number

    return _Rule(read, wanted)


def _switch(given: object) -> bool:
    word = str(given).strip().lower()
    if word not in _ON | _OFF:
        raise ValueError
    return word in _ON


def _reranker(given: object) -> str:
    if str(given).strip().lower() in _ON | _OFF:
        return "on" if _switch(given) else "off"
    return _text(given).strip()


def _one_of(*words: str, wanted: str) -> _Rule:
    def read(given: object) -> str:
        word = "off" if given is False else str(given).strip().lower()
        if word not in words:
            raise ValueError
        return word

    return _Rule(read, wanted)


def _names(given: object) -> list[str]:
    """Parse a list, or names separated by commas."""
    if isinstance(given, str):
        return [name.strip() for name in given.split(",") if name.strip()]
    if not isinstance(given, list | tuple) or not all(isinstance(name, str) for name in given):
        raise TypeError
    return [name.strip() for name in given]


def checked_hosts(given: object) -> tuple[str, ...]:
    """Check that names are host names or addresses, without scheme, port or path."""
    from ipaddress import ip_address  # noqa: PLC0415  # few settings name a host

    hosts = []
    for name in _names(given):
        host = name.removeprefix("[").removesuffix("]").lower()
        try:
            host = str(ip_address(host))
        except ValueError:
            if not _HOST_NAME.fullmatch(host):
                raise InvalidInput(
                    f"{name!r} is not a host name; write it without scheme and port, such as box.local"
                ) from None
        hosts.append(host)
    return tuple(hosts)


def checked_token(given: object) -> str:
    """Check that a token fits into an HTTP header: printable ASCII without spaces."""
    if not isinstance(given, str) or not given or not all("!" <= sign <= "~" for sign in given):
        raise InvalidInput(
            "A token is one word of ASCII letters, digits and symbols, without spaces. "
            "Without the setting, a token is generated and kept."
        )
    return given


def _zone(given: object) -> str:
    name = _text(given)
    if name:
        try:
            ZoneInfo(name)
        except (ZoneInfoNotFoundError, OSError) as error:
            raise ValueError from error
    return name


def _phases(given: object) -> tuple[Phase, ...]:
    names = _names(given)
    unknown = [name for name in names if name not in set(Phase)]
    if unknown:
        raise InvalidInput(f"there is no phase {unknown[0]!r}; the phases are: {', '.join(Phase)}.")
    return tuple(phase for phase in Phase if phase in names)


def _knobs(given: object) -> Knobs:
    if not isinstance(given, dict):
        raise TypeError
    return knobs_from_mapping(given)


def _profiles(given: object) -> "tuple[Profile, ...]":
    if not isinstance(given, list) or not all(isinstance(plain, dict) for plain in given):
        raise TypeError
    from recollect.ranking.profiles import from_plain  # noqa: PLC0415  # loads NumPy, which few settings need

    profiles = tuple(from_plain(plain) for plain in given)
    names = [profile.name for profile in profiles]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InvalidInput(f"Several profiles are named {', '.join(map(repr, twice))}; rename all but one.")
    return profiles


_TEXT = _Rule(_text, "text")
_PATH = _Rule(_path, "the path of a file")
_STORE = _Rule(_store, "the path of a file or a URL")
_SWITCH = _Rule(_switch, "on or off")
# Larger numbers would overflow.
_SECONDS = _number(float, lambda number: number > 0, "a number above 0", 86_400)
_MEGABYTES = _number(float, lambda number: number > 0, "a number above 0", 1_000_000)
_DAYS = _number(float, lambda number: number > 0, "a number above 0", 36_500)
_MINUTES = _number(float, lambda number: number >= 30, "a number of at least 30", 525_600)
_SHARE = _number(float, lambda number: 0 <= number <= 1, "a number from 0 to 1", 1)
_MILLISECONDS = _number(int, lambda number: number > 0, "a whole number above 0", 60_000)
_IDLE_MINUTES = _number(float, lambda number: number > 0, "a number above 0", 10_080)
_WHOLE = _number(int, lambda number: number > 0, "a whole number above 0", 10**9)
_THREADS = _number(int, lambda number: number > 0, "a whole number above 0", 1_024)
_COUNT = _number(int, lambda number: number >= 0, "a whole number of at least 0", 10**6)
_HOSTS = _Rule(checked_hosts, "a list of names")
_TOKEN = _Rule(checked_token, "a word")
_ZONE = _Rule(_zone, "a time zone such as Europe/Madrid")
_PHASES = _Rule(_phases, "a list of phases")
_KNOBS = _Rule(_knobs, "parameters in the table [dream] of the settings file")
_USUAL_KNOBS = Knobs()
_LOG = _one_of("full", "no-text", wanted="full or no-text; the setting shadow switches the log off")
_DESIGN = _one_of("off", "split", wanted="off or split")
_PROFILES = _Rule(_profiles, "a list of profiles")
_RERANKER = _Rule(_reranker, "on, off or the name of a re-ranker")


@dataclass(frozen=True, slots=True)
class Settings:
    """The user's settings, by these names in the file. A variable is RECOLLECT_ and the name in capitals."""

    store: Annotated["Path | StoreUrl", _STORE, "file of the store, or URL of a PostgreSQL database"]
    model: Annotated[
        str, _TEXT, "embedding model: auto, none, arctic-memory, e5-memory, potion, openai:NAME, …"
    ] = AUTO
    owner: Annotated[str, _TEXT, "owner of the memories"] = ""
    agent: Annotated[
        str,
        _TEXT,
        "agent of the owner; if empty, memories of all agents are read, and new ones belong to no agent",
    ] = ""
    busy_seconds: Annotated[float, _SECONDS, "seconds to wait while another program writes"] = 10.0
    model_threads: Annotated[int, _THREADS, "threads of a local model"] = 1
    model_url: Annotated[str | None, _TEXT, "URL of the server of a hosted model"] = None
    model_key: Annotated[str | None, _TEXT, "API key of a hosted model"] = field(default=None, repr=False)
    model_dims: Annotated[int | None, _WHOLE, "dimensions of the vectors of a hosted model"] = None
    model_timeout_seconds: Annotated[float, _SECONDS, "seconds to wait for a hosted model"] = 30.0
    tools: Annotated[
        str, _TEXT, "tools of `recollect serve`: default, recall-only, all, or names separated by commas"
    ] = "default"
    token: Annotated[
        str | None,
        _TOKEN,
        "token for clients of `recollect serve --http`; if empty, one is generated and kept",
    ] = field(default=None, repr=False)
    allow_hosts: Annotated[
        tuple[str, ...],
        _HOSTS,
        "host names by which other machines reach `recollect serve --http`, separated by commas",
    ] = ()
    tls_cert: Annotated[
        Path | None, _PATH, "certificate of `recollect serve --http`: a PEM file with the whole chain"
    ] = None
    tls_key: Annotated[Path | None, _PATH, "key of that certificate: a PEM file"] = None
    import_from: Annotated[
        Path | None,
        _PATH,
        "file of the official memory server that `recollect serve` imports at its first start; "
        "the value MEMORY_FILE_PATH means the file that this environment variable names",
    ] = None
    time_zone: Annotated[str, _ZONE, "your time zone, such as Europe/Madrid; if empty, this machine's"] = ""
    extractor: Annotated[str, _TEXT, "how notes are made from messages: rules, none, openai:MODEL"] = "rules"
    extractor_url: Annotated[str | None, _TEXT, "URL of the server of a hosted extractor"] = None
    extractor_key: Annotated[str | None, _TEXT, "API key of a hosted extractor"] = field(
        default=None, repr=False
    )
    extractor_timeout_seconds: Annotated[float, _SECONDS, "seconds to wait for a hosted extractor"] = 60.0
    dream: Annotated[
        bool, _SWITCH, "on: servers and the Python library dream automatically; off: only `recollect dream`"
    ] = False
    dream_every_minutes: Annotated[float, _MINUTES, "minutes between automatic dreams, 30 or more"] = 360.0
    dream_backups: Annotated[
        int, _COUNT, "backups to keep; one is made before the first automatic dream of a day; 0: none"
    ] = 3
    dream_without: Annotated[
        tuple[Phase, ...], _PHASES, f"phases that dreams leave out, separated by commas: {', '.join(Phase)}"
    ] = ()
    dream_knobs: Annotated[
        Knobs, _KNOBS, "parameters of dreams, in the table [dream] of the file; see docs/guides/dreams.md"
    ] = _USUAL_KNOBS
    shadow: Annotated[
        bool,
        _SWITCH,
        "answer log: on (the store records each answer and its use, for `recollect tune`) or off",
    ] = True
    log: Annotated[
        Literal["full", "no-text"], _LOG, "content of the answer log: full, or no-text (without the queries)"
    ] = "full"
    shadow_events: Annotated[int, _WHOLE, "maximum number of logged answers per scope"] = 10_000
    shadow_megabytes: Annotated[
        float,
        _MEGABYTES,
        "maximum megabytes of the answer log per scope; "
        "all scopes together: a tenth of the store, but at least 16 MB",
    ] = 64.0
    shadow_days: Annotated[float, _DAYS, "days that the answer log keeps an answer"] = 90.0
    ab: Annotated[
        Literal["off", "split"],
        _DESIGN,
        "A/B test: off, or split (a share of the queries gets the profile, the rest the baseline)",
    ] = "off"
    ab_share: Annotated[
        float, _SHARE, "share of the queries that gets the profile in an A/B test, from 0 to 1"
    ] = 0.5
    ab_against: Annotated[str, _TEXT, "baseline of an A/B test: similarity, or another profile"] = (
        "similarity"
    )
    profiles: Annotated[
        tuple["Profile", ...],
        _PROFILES,
        "your own profiles, as [[profiles]] tables; see `recollect profile NAME --toml`",
    ] = ()
    rerank: Annotated[
        str, _RERANKER, "re-ranking of the first hits: off, on (minilm), or the name of a model"
    ] = "off"
    hook_deadline_ms: Annotated[int, _MILLISECONDS, "maximum milliseconds that a prompt waits for a hook"] = (
        300
    )
    hook_budget_tokens: Annotated[int, _WHOLE, "maximum tokens of memories that a hook adds to a prompt"] = (
        400
    )
    hook_idle_minutes: Annotated[
        float, _IDLE_MINUTES, "minutes without hooks after which the process that answers them ends"
    ] = 60.0
    hook_secrets: Annotated[
        bool,
        _SWITCH,
        "on: hooks also store apparent keys and passwords; off: they store a placeholder instead",
    ] = False


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting, with its value and origin."""

    name: str
    value: object = field(repr=False)
    origin: str
    """`default`, the file, or the variable that set it."""
    meaning: str
    is_secret: bool = False

    @property
    def shown(self) -> str:
        """The value as text: a secret as `(hidden)`, profiles as their names."""
        match self.value:
            case None:
                return ""
            case bool():
                return "on" if self.value else "off"
            case tuple() if self.name == "profiles":
                return ", ".join(each.name for each in self.value)
            case tuple():
                return ",".join(self.value)
            case Knobs():
                return ", ".join(changed_knobs(self.value))
            case _:
                return "(hidden)" if self.is_secret else str(self.value)


def load(
    overrides: Mapping[str, object] | None = None, environ: Mapping[str, str] | None = None
) -> tuple[Settings, tuple[Setting, ...]]:
    """Load the settings and their origins: options win over the environment, which wins over the file."""
    environ = os.environ if environ is None else environ
    path = config_path(environ)
    content = _file_content(path, required=bool(environ.get("RECOLLECT_CONFIG")))
    values: dict[str, Any] = {}
    rows = []
    for each in fields(Settings):
        annotated: Any = each.type
        rule, meaning = annotated.__metadata__
        variable = f"RECOLLECT_{each.name.upper()}"
        layers = (
            ("option", (overrides or {}).get(each.name)),
            (variable, environ.get(variable) or None),
            (f"{variable}_FILE", None if each.repr else _secret(f"{variable}_FILE", environ)),
            (str(path), content.get(each.name)),
        )
        origin, given = next((layer for layer in layers if layer[1] is not None), ("default", None))
        if given is not None:
            value = _read_setting(rule, each, given, origin)
        else:
            value = program_folder("data") / "memory.db" if each.name == "store" else each.default
        values[each.name] = value
        rows.append(Setting(each.name, value, origin, meaning, not each.repr))
    return Settings(**values), tuple(rows)


def _secret(variable: str, environ: Mapping[str, str]) -> str | None:
    """Read the secret from the file that the variable names, as container platforms provide it."""
    named = environ.get(variable)
    if not named:
        return None
    try:
        with Path(named).open(encoding="utf-8") as file:
            given = file.read(_LONGEST_SECRET + 1).strip()
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{variable} names {named}, which cannot be read: {error}.") from error
    if not given or len(given) > _LONGEST_SECRET:
        raise InvalidInput(
            f"{variable} names {named}, which must contain only the secret: "
            f"1 to {_LONGEST_SECRET:,} characters."
        )
    return given


def _read_setting(rule: _Rule, of: Field[Any], given: object, origin: str) -> object:
    try:
        return rule.read(given)
    except InvalidInput as error:
        raise InvalidInput(f"The setting {of.name} ({origin}): {error}") from error
    except RecursionError:
        raise InvalidInput(f"The setting {of.name} ({origin}) is nested too deeply.") from None
    except (TypeError, ValueError, OverflowError):
        shown = "the given value" if not of.repr else repr(given)
        raise InvalidInput(
            f"The setting {of.name} ({origin}) must be {rule.wanted}, not {shown[:200]}."
        ) from None


def _file_content(path: Path, *, required: bool) -> dict[str, object]:
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        if required:
            raise InvalidInput(f"RECOLLECT_CONFIG names {path}, which does not exist.") from None
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise InvalidInput(f"The settings file {path} cannot be read: {error}.") from error
    except RecursionError:
        raise InvalidInput(f"The settings file {path} cannot be read: it is nested too deeply.") from None
    table = content.get("dream")
    if isinstance(table, dict):
        # `[dream]` holds settings and parameters of dreams.
        del content["dream"]
        content |= {name: table[key] for key, name in _DREAM_KEYS.items() if key in table}
        numbers = {key: value for key, value in table.items() if key not in _DREAM_KEYS}
        content |= {"dream_knobs": numbers} if numbers else {}
    known = {each.name for each in fields(Settings)}
    unknown = sorted(set(content) - known)
    if unknown:
        raise InvalidInput(
            f"{path} has unknown settings: {', '.join(map(repr, unknown))}. "
            f"The settings are: {', '.join(sorted(known))}."
        )
    return content


def config_path(environ: Mapping[str, str] | None = None) -> Path:
    """The path of the settings file: RECOLLECT_CONFIG, or config.toml in the user's folder."""
    environ = os.environ if environ is None else environ
    given = environ.get("RECOLLECT_CONFIG")
    return Path(given).expanduser() if given else program_folder("config") / "config.toml"


def official_file(environ: Mapping[str, str] | None = None) -> Path | None:
    """The file of the official memory server, if its variable names one."""
    environ = os.environ if environ is None else environ
    given = environ.get(OFFICIAL_VARIABLE)
    return Path(given).expanduser() if given else None


def program_folder(kind: Literal["data", "config", "cache"]) -> Path:
    import platformdirs  # noqa: PLC0415  # only where no path is given

    folders = platformdirs.PlatformDirs("recollect")
    return Path(getattr(folders, f"user_{kind}_path"))
