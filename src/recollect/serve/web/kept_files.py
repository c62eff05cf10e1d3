"""Files that a reader sent or is to fetch: only the last few, and none after the server has ended."""

from __future__ import annotations

import re
import secrets
import threading
from collections import OrderedDict
from functools import cached_property
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from recollect.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from recollect.records import Scope

_MOST_FILES = 8
_LONGEST_NAME = 100
_NOT_IN_NAMES = re.compile(r"[^\w.-]", re.ASCII)


@dataclass(frozen=True, slots=True)
class KeptFile:
    path: Path
    name: str
    """As the reader knows it."""
    scope: Scope
    """Only who sees this may have it."""

    def remove(self) -> None:
        rmtree(self.path.parent, ignore_errors=True)


class KeptFiles:
    """Under names that nobody guesses, in a folder that only this user can read."""

    def __init__(self) -> None:
        self._files: OrderedDict[str, KeptFile] = OrderedDict()
        self._lock = threading.Lock()

    @cached_property
    def _folder(self) -> TemporaryDirectory[str]:
        return TemporaryDirectory(prefix="recollect-")

    def new_path(self, name: str) -> Path:
        """A file that is not there yet, named as far as every file system takes it: talks keep the name."""
        folder = Path(self._folder.name) / secrets.token_hex(8)
        folder.mkdir()
        return folder / (_NOT_IN_NAMES.sub("_", name)[-_LONGEST_NAME:].lstrip(".") or "file")

    def keep(self, file: KeptFile) -> str:
        """Its key; the oldest one goes where there are too many."""
        key = secrets.token_urlsafe(12)
        with self._lock:
            self._files[key] = file
            while len(self._files) > _MOST_FILES:
                self._files.popitem(last=False)[1].remove()
        return key

    def get(self, key: str, scope: Scope) -> KeptFile | None:
        with self._lock:
            found = self._files.get(key)
        return found if found is not None and found.scope == scope and found.path.exists() else None

    def drop(self, key: str) -> None:
        with self._lock:
            found = self._files.pop(key, None)
        if found is not None:
            found.remove()
