"""Models behind HTTP: OpenAI and its many likes, Gemini, Ollama."""

from __future__ import annotations

import time
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from recollect.embedders.optional import imported
from recollect.embedders.services import SERVICES, Role
from recollect.embedders.windows import as_one, halves, read_whole
from recollect.errors import ModelUnavailable
from recollect.records import Model
from recollect.vectors import normalised

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recollect.embedders.choose import Options
    from recollect.ports import Vector, Vectors

_COMMAND = "pip install httpx"
_ATTEMPTS = 4
_FIRST_PAUSE_SECONDS = 0.5
_LONGEST_PAUSE_SECONDS = 20.0
_PASSING = frozenset({408, 429, 500, 502, 503, 504})
"""Statuses that may be gone a moment later."""


class HostedEmbedder:
    """Its width is learned from the first answer, so asking for `model` may ask the server once."""

    def __init__(
        self, kind: str, name: str, options: Options, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._service = SERVICES[kind]
        self._kind, self._name, self._options, self._sleep = kind, name, options, sleep
        if self._service.needs_key and not options.key and not options.base_url:
            raise ModelUnavailable(f"{kind}:{name} needs a key; give one in the settings")
        self._http = imported("httpx", command=_COMMAND)
        self._address = (options.base_url or self._service.address).rstrip("/")
        self._lock = Lock()
        self._client: Any = None
        self._dims: int | None = None

    @property
    def model(self) -> Model:
        if self._dims is None:
            self.query("width")
        # A narrower vector of the same model is another model, so the asked width is in the name.
        asked = f"@{self._options.dims}" if self._options.dims else ""
        return Model(name=f"{self._kind}:{self._name}{asked}", dims=self._dims or 0)

    def documents(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.zeros((0, self.model.dims), dtype=np.float32)
        return self._whole(texts, Role.DOCUMENT)

    def query(self, text: str) -> Vector:
        row: Vector = self._whole([text], Role.QUERY)[0]
        return row

    def _whole(self, texts: Sequence[str], role: Role) -> Vectors:
        longest = self._service.characters
        return read_whole(
            lambda pieces: self._batches(pieces, role), texts, lambda piece: len(piece) <= longest
        )

    def _batches(self, texts: Sequence[str], role: Role) -> Vectors:
        size = self._service.batch
        parts = [self._halving(texts[start : start + size], role) for start in range(0, len(texts), size)]
        return np.concatenate(parts)

    def _halving(self, texts: Sequence[str], role: Role) -> Vectors:
        """Ask; where the server finds this too long, ask for less."""
        try:
            return self._asked(texts, role)
        except _TooLong:
            if len(texts) > 1:
                return np.concatenate([self._halving([text], role) for text in texts])
            if len(texts[0]) < 64:
                raise
            return as_one(self._halving(halves(texts[0]), role))[np.newaxis]

    def _asked(self, texts: Sequence[str], role: Role) -> Vectors:
        # A service may refuse an empty text, but not a space.
        sent = [text or " " for text in texts]
        answer = self._posted(self._service.request(self._name, sent, role, self._options.dims))
        try:
            rows = np.array(self._service.vectors(answer.json()), dtype=np.float32)
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise self._failed("answered, but not with vectors; check the base URL") from error
        self._check(rows, len(texts))
        return normalised(rows)

    def _check(self, rows: Vectors, count: int) -> None:
        if rows.ndim != 2 or len(rows) != count:
            raise self._failed(f"answered {len(rows)} vectors for {count} texts")
        if not np.isfinite(rows).all():
            raise self._failed("answered a vector that is not made of finite numbers")
        expected = self._options.dims or self._dims
        if expected not in {None, rows.shape[1]}:
            raise self._failed(f"answered vectors of {rows.shape[1]} dimensions instead of {expected}")
        self._dims = rows.shape[1]

    def _posted(self, request: Any) -> Any:
        pause = _FIRST_PAUSE_SECONDS
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                answer = self._connected().post(self._address + request.path, json=request.body)
            except self._http.HTTPError as error:
                if attempt == _ATTEMPTS:
                    raise self._failed(f"cannot be reached ({error}); is it running?") from error
            else:
                if answer.status_code not in _PASSING or attempt == _ATTEMPTS:
                    return self._accepted(answer)
                pause = max(pause, _asked_to_wait(answer))
            self._sleep(min(pause, _LONGEST_PAUSE_SECONDS))
            pause *= 2
        raise AssertionError("the last attempt returns or raises")

    def _accepted(self, answer: Any) -> Any:
        status = answer.status_code
        if status == 200:
            return answer
        if status in {400, 413} and _speaks_of_length(answer.text):
            raise _TooLong(f"{self._kind}:{self._name} finds even a short text too long")
        advice = self._service.advice(status, self._name)
        # What a refusal of a key says may repeat the key.
        said = "" if status in {401, 403} else " ".join(answer.text.split())[:200]
        raise self._failed("; ".join(part for part in (f"answered {status}", said, advice) if part))

    def _connected(self) -> Any:
        with self._lock:
            if self._client is None:
                headers = dict(self._service.headers(self._options.key))
                self._client = self._http.Client(headers=headers, timeout=self._options.timeout_seconds)
            return self._client

    def _failed(self, what: str) -> ModelUnavailable:
        return ModelUnavailable(f"{self._kind}:{self._name} at {self._address} {what}")


class _TooLong(ModelUnavailable):
    """The server refuses to read so much at once."""


def _speaks_of_length(message: str) -> bool:
    plain = message.lower()
    return any(words in plain for words in ("context length", "too long", "too large", "maximum", "tokens"))


def _asked_to_wait(answer: Any) -> float:
    """Seconds, where the server named them; it may also name a date, which we pass over."""
    try:
        return float(answer.headers.get("retry-after", 0))
    except ValueError:
        return 0.0
