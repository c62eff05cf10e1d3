"""The texts that this process embedded last, so that none is embedded twice in short order."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from threading import Lock
from typing import NamedTuple

# Some two kilobytes each.
_MOST = 512


class EmbeddedText(NamedTuple):
    """What a model made of a text, as stores keep it."""

    vector: bytes
    signs: bytes | None
    """Of its tokens' vectors; None: the model gives none."""


class RecentTexts:
    """Safe between threads. Of two models, one text has two entries."""

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._lock = Lock()
        self._entries: OrderedDict[tuple[str, str], EmbeddedText] = OrderedDict()

    def known(self, model: str, texts: Iterable[str]) -> dict[str, EmbeddedText]:
        """Those of the texts that are still there."""
        found: dict[str, EmbeddedText] = {}
        with self._lock:
            for text in texts:
                entry = self._entries.get((model, text))
                if entry is not None:
                    self._entries.move_to_end((model, text))
                    found[text] = entry
        return found

    def keep(self, model: str, embedded: Mapping[str, EmbeddedText]) -> None:
        """Keep these, and forget those that were not asked for the longest."""
        with self._lock:
            for text, entry in embedded.items():
                self._entries[model, text] = entry
                self._entries.move_to_end((model, text))
            while len(self._entries) > self._most:
                self._entries.popitem(last=False)
