"""What a hook must know of the settings, kept in a file: to load them takes longer than all the rest.

The file's name stands for the hook's options and variables, and it says which settings file it was made of
and when that was last changed: whatever changes, the settings are loaded anew.
"""

from __future__ import annotations

import json
import os
from _blake2 import blake2b  # as hashlib has it, without loading OpenSSL

from recollect.errors import InvalidInput
from recollect.hooks.places import removed, write_privately

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from recollect.settings import Settings

_VERSION = 1
_MOST_FILES = 20
_OPTIONS = ("--store", "--owner", "--agent", "--model", "--folder")
_ALLOW_SECRETS = "--allow-secrets"


class Known:
    """The few settings that a hook needs."""

    __slots__ = (
        "agent",
        "allows_secrets",
        "budget_tokens",
        "deadline_ms",
        "folder",
        "key",
        "owner",
        "resident",
    )

    def __init__(self, folder: str, found: Mapping[str, Any]) -> None:
        self.folder = folder
        self.key = str(found["key"])
        """One name for the store, whichever program opened it."""
        self.deadline_ms = int(found["deadline_ms"])
        self.owner = str(found["owner"])
        self.agent = str(found["agent"])
        self.budget_tokens = int(found["budget_tokens"])
        self.allows_secrets = bool(found["allows_secrets"])
        self.resident = [str(word) for word in found["resident"]]
        """Options that start a resident for the same store."""


def known_settings(options: Sequence[str], environ: Mapping[str, str]) -> Known:
    """From the file, or made anew."""
    given = options_of(options)
    folder = given.get("--folder") or hooks_folder()
    store = given.get("--store") or environ.get("RECOLLECT_STORE") or "/"
    relative = "" if os.path.isabs(store) or "://" in store else os.getcwd()
    variables = sorted(
        (name, value)
        for name, value in environ.items()
        if name.startswith(("RECOLLECT_", "XDG_")) or name in {"HOME", "APPDATA", "LOCALAPPDATA"}
    )
    inputs = json.dumps([_VERSION, list(options), relative, variables])
    path = os.path.join(folder, f"settings-{blake2b(inputs.encode(), digest_size=8).hexdigest()}.json")
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
        if found["stamp"] == _stamp(found["config"]):
            return Known(folder, found)
    except (OSError, ValueError, KeyError, TypeError):
        pass
    made = _made(options, given)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    write_privately(path, json.dumps(made))
    for old in _oldest(folder):
        removed(old)
    return Known(folder, made)


def options_of(words: Sequence[str]) -> dict[str, str]:
    """Options with their values, as a hook's command has them."""
    rest = [word for word in words if word != _ALLOW_SECRETS]
    if len(rest) % 2 or any(option not in _OPTIONS for option in rest[::2]):
        raise InvalidInput(
            f"A hook takes the options {', '.join(_OPTIONS)}, each with a value, and {_ALLOW_SECRETS}."
        )
    return dict(zip(rest[::2], rest[1::2], strict=True))


def settings_from(options: Mapping[str, str]) -> Settings:
    from recollect.settings import load  # noqa: PLC0415  # slow, and most hooks need none

    return load({name.removeprefix("--"): value for name, value in options.items() if name != "--folder"})[0]


def hooks_folder() -> str:
    """Where hooks keep their files, where their command does not say so."""
    from recollect.settings import program_folder  # noqa: PLC0415  # the same

    return str(program_folder("data") / "hooks")


def store_key(settings: Settings) -> str:
    return blake2b(_store_name(settings).encode(), digest_size=8).hexdigest()


def _store_name(settings: Settings) -> str:
    store: Any = settings.store
    if hasattr(store, "server"):  # not by its class, which would have to be loaded
        return f"{store.server} {store.schema}"
    return os.path.abspath(os.path.expanduser(str(store)))


def _made(options: Sequence[str], given: Mapping[str, str]) -> dict[str, Any]:
    from recollect.settings import config_path  # noqa: PLC0415  # the same

    settings = settings_from(given)
    config = str(config_path())
    # A URL may have a password in it: it stays where it was given, in the options or the environment.
    store = [] if "://" in str(settings.store) else ["--store", _store_name(settings)]
    rest = [word for name, value in given.items() if name != "--store" or not store for word in (name, value)]
    return {
        "key": store_key(settings),
        "deadline_ms": settings.hook_deadline_ms,
        "owner": settings.owner,
        "agent": settings.agent,
        "budget_tokens": settings.hook_budget_tokens,
        "allows_secrets": settings.hook_secrets or _ALLOW_SECRETS in options,
        "resident": [*store, *rest],
        "config": config,
        "stamp": _stamp(config),
    }


def _oldest(folder: str) -> list[str]:
    """Of files like this, those beyond the newest few: each combination of variables makes one."""
    names = [name for name in os.listdir(folder) if name.startswith("settings-") and name.endswith(".json")]
    paths = [os.path.join(folder, name) for name in names]
    return sorted(paths, key=_stamp)[:-_MOST_FILES]


def _stamp(path: str) -> list[int]:
    """When a file was last changed, and its size; nothing where there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return []
    return [found.st_mtime_ns, found.st_size]
