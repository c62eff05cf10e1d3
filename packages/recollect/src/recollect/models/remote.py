"""Post JSON to a server: retry while it is busy, and turn its refusals into messages."""

from __future__ import annotations

import re
import time
from contextlib import suppress
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

from recollect.domain.errors import RecollectError
from recollect.domain.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_ATTEMPTS = 4
_FIRST_PAUSE_SECONDS = 0.5
_LONGEST_PAUSE_SECONDS = 20.0
_RETRYABLE = frozenset({408, 429, 500, 502, 503, 504})
"""Statuses that are worth a retry."""


class Unreachable(RecollectError):
    """The server did not answer. The message continues after the server's name."""


@dataclass(frozen=True, slots=True)
class RemoteAnswer:
    status: int
    text: str

    @property
    def is_ok(self) -> bool:
        return self.status == 200

    def refusal(self, advice: str) -> str:
        # The refusal of a key may repeat the key.
        reply = "" if self.status in {401, 403} else " ".join(self.text[:1000].split())[:200]
        return "; ".join(part for part in (f"answered {self.status}", reply, advice) if part)


class Remote:
    """A server's address and the headers of every request. Keys are only in headers."""

    def __init__(
        self,
        address: str,
        headers: Mapping[str, str],
        timeout_seconds: float,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._address, self._headers = address.rstrip("/"), dict(headers)
        self._timeout_seconds, self._sleep = timeout_seconds, sleep

    @property
    def address(self) -> str:
        """The address for messages, without user and password."""
        return re.sub(r"//[^/@]*@", "//", self._address)

    def post(self, path: str, body: Mapping[str, Any]) -> RemoteAnswer:
        client, http = self._client, http_library()
        pause = _FIRST_PAUSE_SECONDS
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                answer = client.post(self._address + path, json=body)
            except (http.HTTPError, http.InvalidURL) as error:
                if attempt == _ATTEMPTS:
                    raise Unreachable(f"cannot be reached ({error}); is it running?") from error
            else:
                if answer.status_code not in _RETRYABLE or attempt == _ATTEMPTS:
                    return RemoteAnswer(answer.status_code, self._without_keys(answer))
                # Only a number of seconds is read, not a date.
                with suppress(ValueError):
                    pause = max(pause, float(answer.headers.get("retry-after", 0)))
            self._sleep(min(pause, _LONGEST_PAUSE_SECONDS))
            pause *= 2
        raise AssertionError("the last attempt returns or raises")

    def _without_keys(self, answer: Any) -> str:
        """Remove keys from a refusal, which may repeat them and is shown and logged."""
        text: str = answer.text
        keys = [value.split()[-1] for value in self._headers.values() if value.split()]
        for key in keys if answer.status_code != 200 else ():
            text = text.replace(key, "…")
        return text

    @cached_property
    def _client(self) -> Any:
        http = http_library()
        # The library's own error would show the key.
        if not all(value.isascii() and value.isprintable() for value in self._headers.values()):
            raise Unreachable("cannot be used: the key has unusable characters; check it in the settings")
        return http.Client(headers=self._headers, timeout=self._timeout_seconds)


def http_library() -> Any:
    """Import the optional HTTP library."""
    try:
        return import_module("httpx")
    except ImportError as error:
        needs = f"needs the library 'httpx', which cannot be imported ({error})"
        raise Unreachable(f"{needs}; run: pip install httpx") from error
