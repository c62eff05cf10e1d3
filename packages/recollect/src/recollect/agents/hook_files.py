"""The files of hooks: the listener's address and lock, queued messages, a log, and cached settings.

Every hook loads this module, so it does not import slow modules such as pathlib. docs/guides/hooks.md has the
figures.
"""

from __future__ import annotations

import json
import os
import sys
import time
from _blake2 import blake2b  # the function of hashlib, without loading OpenSSL

from recollect.domain.errors import InvalidInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from recollect.settings import Settings

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_KEEP_DAYS = 14
_LONGEST_DETAIL = 300
_MAX_WAITING = 500
"""Maximum number of queued messages. Older ones are dropped, and the log says so."""


def address_path(folder: str, key: str) -> str:
    return os.path.join(folder, f"{key}.json")


def lock_path(folder: str, key: str) -> str:
    return os.path.join(folder, f"{key}.lock")


def take_lock(handle: int) -> bool:
    """Try to lock an open file. The lock ends when the file is closed or the process ends."""
    try:
        if sys.platform == "win32":
            os.lseek(handle, 0, os.SEEK_SET)
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def is_claimed(folder: str, key: str) -> bool:
    """Whether a process answers the hooks of this store, or is starting to.

    This tests the lock, which ends with its process. An address file may be left over, and another program
    may listen on its port by now.
    """
    try:
        handle = os.open(lock_path(folder, key), os.O_RDWR)
    except OSError:
        return False
    try:
        return not take_lock(handle)
    finally:
        os.close(handle)


def write_privately(path: str, text: str) -> None:
    """Write a file atomically, so that only its owner can read it."""
    draft = f"{path}.{os.getpid()}.{os.urandom(4).hex()}"
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(draft, path)


def put_waiting(folder: str, key: str, text: str) -> int:
    """Queue a message for the process that has the store open. Return the number of dropped messages."""
    waiting = _waiting_folder(folder, key)
    os.makedirs(waiting, mode=0o700, exist_ok=True)
    write_privately(os.path.join(waiting, f"{time.time_ns():020d}-{os.getpid()}.json"), text)
    return sum(map(removed, all_waiting(folder, key)[:-_MAX_WAITING]))


def removed(path: str) -> bool:
    """Remove a file. Return whether it still existed."""
    try:
        os.remove(path)
    except FileNotFoundError:
        return False
    return True


def all_waiting(folder: str, key: str) -> list[str]:
    """Return the paths of the queued messages, oldest first."""
    waiting = _waiting_folder(folder, key)
    try:
        names = os.listdir(waiting)
    except FileNotFoundError:
        return []
    return [os.path.join(waiting, name) for name in sorted(names) if name.endswith(".json")]


def _waiting_folder(folder: str, key: str) -> str:
    return os.path.join(folder, f"{key}.waiting")


def note_event(folder: str, client: str, event: str, outcome: str, **more: Any) -> None:
    """Add a line to the day's log, without the text of messages. Errors are ignored."""
    at = time.strftime("%Y-%m-%dT%H:%M:%S")
    line = {"at": at, "client": client, "event": event, "outcome": outcome}
    line |= {key: value[:_LONGEST_DETAIL] if isinstance(value, str) else value for key, value in more.items()}
    try:
        os.makedirs(_logs(folder), mode=0o700, exist_ok=True)
        path = os.path.join(_logs(folder), f"{at[:10]}.jsonl")
        # One append per line, so that lines of several processes do not mix.
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(handle, f"{json.dumps(line)}\n".encode())
        finally:
            os.close(handle)
    except OSError:
        return


def logged_events(folder: str, day: str) -> Iterator[dict[str, Any]]:
    """Yield the log lines of a day such as 2026-11-17; skip unreadable lines."""
    try:
        with open(os.path.join(_logs(folder), f"{day}.jsonl"), encoding="utf-8", errors="replace") as file:
            lines = file.readlines()
    except OSError:
        return
    for line in lines:
        try:
            found = json.loads(line)
        except ValueError:
            continue
        if isinstance(found, dict):
            yield found


def remove_old_logs(folder: str) -> None:
    for name in sorted(os.listdir(_logs(folder)))[:-_KEEP_DAYS]:
        os.remove(os.path.join(_logs(folder), name))


def _logs(folder: str) -> str:
    return os.path.join(folder, "log")


# A file caches the settings that a hook needs, because loading them is the slowest part of a hook.
#
# The file's name is a digest of the hook's options and variables. The file also names the settings
# file and the time of its last change. If that time differs, the settings are loaded again.

_VERSION = 1
_MAX_FILES = 20
_OPTIONS = ("--store", "--owner", "--agent", "--model", "--folder")
_ALLOW_SECRETS = "--allow-secrets"


class HookSettings:
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
        self.folder: str = folder
        self.key: str = str(found["key"])
        """A name for the store that is the same in every program."""
        self.deadline_ms: int = int(found["deadline_ms"])
        self.owner: str = str(found["owner"])
        self.agent: str = str(found["agent"])
        self.budget_tokens: int = int(found["budget_tokens"])
        self.allows_secrets: bool = bool(found["allows_secrets"])
        self.resident: list[str] = [str(word) for word in found["resident"]]
        """The options that start a listener for the same store."""


def hook_settings(options: Sequence[str], environ: Mapping[str, str]) -> HookSettings:
    """Read the settings from the cache file, or load them and write that file."""
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
            return HookSettings(folder, found)
    except (OSError, ValueError, KeyError, TypeError):
        pass
    loaded = _load_settings(options, given)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    write_privately(path, json.dumps(loaded))
    # Each combination of options and variables has its own file; only the newest files are kept.
    names = [name for name in os.listdir(folder) if name.startswith("settings-") and name.endswith(".json")]
    for old in sorted((os.path.join(folder, name) for name in names), key=_stamp)[:-_MAX_FILES]:
        removed(old)
    return HookSettings(folder, loaded)


def options_of(words: Sequence[str]) -> dict[str, str]:
    """Parse the options of a hook's command."""
    rest = [word for word in words if word != _ALLOW_SECRETS]
    if len(rest) % 2 or any(option not in _OPTIONS for option in rest[::2]):
        raise InvalidInput(
            f"A hook takes the options {', '.join(_OPTIONS)}, each with a value, and {_ALLOW_SECRETS}."
        )
    return dict(zip(rest[::2], rest[1::2], strict=True))


def settings_from(options: Mapping[str, str]) -> Settings:
    from recollect.settings import load  # noqa: PLC0415  # slow to load, and few hooks need it

    return load({name.removeprefix("--"): value for name, value in options.items() if name != "--folder"})[0]


def hooks_folder() -> str:
    """Return the default folder of the hooks' files."""
    from recollect.settings import program_folder  # noqa: PLC0415  # slow to load

    return str(program_folder("data") / "hooks")


def store_key(settings: Settings) -> str:
    return blake2b(_store_name(settings).encode(), digest_size=8).hexdigest()


def _store_name(settings: Settings) -> str:
    store: Any = settings.store
    if hasattr(store, "server"):  # checking its class would load it
        return f"{store.server} {store.schema}"
    return os.path.abspath(os.path.expanduser(str(store)))


def _load_settings(options: Sequence[str], given: Mapping[str, str]) -> dict[str, Any]:
    from recollect.settings import config_path  # noqa: PLC0415  # slow to load

    settings = settings_from(given)
    config = str(config_path())
    # A URL may contain a password, so it is not written to the file.
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


def _stamp(path: str) -> list[int]:
    """Return the time of a file's last change and its size, or an empty list if there is no file."""
    try:
        found = os.stat(path)
    except OSError:
        return []
    return [found.st_mtime_ns, found.st_size]
