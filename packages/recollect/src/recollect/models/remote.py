"""Posts JSON to a server: asks again while it is busy, and puts its refusals into words."""

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
_PASSING = frozenset({408, 429, 500, 502, 503, 504})
"""Statuses that may be gone a moment later."""


class Unreachable(RecollectError):
    """No answer came. The message goes on from the name of who was asked."""


@dataclass(frozen=True, slots=True)
class RemoteAnswer:
    status: int
    text: str

    @property
    def is_ok(self) -> bool:
        return self.status == 200

    def refusal(self, advice: str) -> str:
        # The refusal of a key may repeat the key.
        said = "" if self.status in {401, 403} else " ".join(self.text[:1000].split())[:200]
        return "; ".join(part for part in (f"answered {self.status}", said, advice) if part)


class Remote:
    """One address, with the headers that every request to it carries. Keys are in headers alone."""

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
        """For messages: without a user and password that it may hold."""
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
                if answer.status_code not in _PASSING or attempt == _ATTEMPTS:
                    return RemoteAnswer(answer.status_code, self._without_keys(answer))
                # The server may name seconds; a date is passed over.
                with suppress(ValueError):
                    pause = max(pause, float(answer.headers.get("retry-after", 0)))
            self._sleep(min(pause, _LONGEST_PAUSE_SECONDS))
            pause *= 2
        raise AssertionError("the last attempt returns or raises")

    def _without_keys(self, answer: Any) -> str:
        """A refusal may repeat what it was sent, and ends up in messages and logs."""
        text: str = answer.text
        keys = [value.split()[-1] for value in self._headers.values() if value.split()]
        for key in keys if answer.status_code != 200 else ():
            text = text.replace(key, "…")
        return text

    @cached_property
    def _client(self) -> Any:
        http = http_library()
        # An error of the library's would repeat what it cannot send.
        if not all(value.isascii() and value.isprintable() for value in self._headers.values()):
            raise Unreachable("cannot be asked with a key of such characters; check it in the settings")
        return http.Client(headers=self._headers, timeout=self._timeout_seconds)


def http_library() -> Any:
    """The optional library that speaks HTTP."""
    try:
        return import_module("httpx")
    except ImportError as error:
        needs = f"needs the library 'httpx', which cannot be imported ({error})"
        raise Unreachable(f"{needs}; run: pip install httpx") from error
