"""Models behind HTTP: OpenAI and its many likes, Gemini, Ollama."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from recollect.embedders.services import SERVICES
from recollect.embedders.windows import PiecewiseEmbedder, Role, as_one, halves
from recollect.errors import ModelUnavailable
from recollect.remote import Remote, Unreachable, http_library
from recollect.vectors import normalised

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from recollect.embedders.choose import ModelOptions
    from recollect.ports import Vectors


class HostedEmbedder(PiecewiseEmbedder):
    """Asks a server; what that finds too long is asked for in halves."""

    def __init__(
        self, kind: str, name: str, options: ModelOptions, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        # A narrower vector of the same model is another model, so the asked width is in the name.
        super().__init__(f"{kind}:{name}" + (f"@{options.dims}" if options.dims else ""))
        self._service = SERVICES[kind]
        self._kind, self._name, self._options = kind, name, options
        if self._service.needs_key and not options.key and not options.base_url:
            raise ModelUnavailable(f"{kind}:{name} needs a key; give one in the settings")
        address = options.base_url or self._service.address
        self._remote = Remote(address, self._service.headers(options.key), options.timeout_seconds, sleep)
        try:
            http_library()
        except Unreachable as error:
            raise self._failed(str(error)) from error

    def _fits(self, text: str) -> bool:
        return len(text) <= self._service.characters

    def _vectors(self, texts: Sequence[str], role: Role) -> Vectors:
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
        answer = self._posted(*self._service.request(self._name, sent, role, self._options.dims))
        try:
            rows = np.array(self._service.vectors(json.loads(answer)), dtype=np.float32)
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

    def _posted(self, path: str, body: Mapping[str, Any]) -> str:
        try:
            answer = self._remote.post(path, body)
        except Unreachable as error:
            raise self._failed(str(error)) from error
        if answer.accepted:
            return answer.text
        if answer.status in {400, 413} and _speaks_of_length(answer.text):
            raise _TooLong(f"{self._kind}:{self._name} finds even a short text too long")
        raise self._failed(answer.refusal(self._service.advice(answer.status, self._name)))

    def _failed(self, what: str) -> ModelUnavailable:
        return ModelUnavailable(f"{self._kind}:{self._name} at {self._remote.address} {what}")


class _TooLong(ModelUnavailable):
    """The server refuses to read so much at once."""


def _speaks_of_length(message: str) -> bool:
    plain = message.lower()
    return any(words in plain for words in ("context length", "too long", "too large", "maximum", "tokens"))
