"""Notes by a language model behind any URL that speaks the protocol of OpenAI's chat completions."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from recollect.errors import ExtractionFailed
from recollect.extractors.llm_prompt import Unreadable, message_batches, read_notes, request
from recollect.remote import Remote, Unreachable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recollect.extractors.choose import Options
    from recollect.extractors.llm_prompt import Piece
    from recollect.records import Memory, Statement

_PUBLIC = "https://api.openai.com/v1"
_STORED = "The messages are stored and can be found."


class LanguageModel:
    """All or nothing: where one batch fails, no notes come of any."""

    def __init__(self, model: str, options: Options, sleep: Callable[[float], None] = time.sleep) -> None:
        self._model = model
        self._lacks_key = not options.key and not options.base_url
        headers = {"Authorization": f"Bearer {options.key}"} if options.key else {}
        self._remote = Remote(options.base_url or _PUBLIC, headers, options.timeout_seconds, sleep)
        self._refused: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        return f"openai:{self._model}"

    def __repr__(self) -> str:
        return f"LanguageModel({self._model!r} at {self._remote.address})"

    def statements(self, messages: Sequence[Memory]) -> Sequence[Statement]:
        if self._lacks_key:
            raise self._failed("needs a key, or the base URL of a server that needs none; see the settings")
        return [statement for batch in message_batches(messages) for statement in self._statements_of(batch)]

    def _statements_of(self, batch: Sequence[Piece]) -> list[Statement]:
        answer = self._answer(request(self._model, batch))
        try:
            return read_notes(answer, batch)
        except Unreadable as error:
            raise self._failed(f"answered, but {error}") from error

    def _answer(self, body: dict[str, Any]) -> str:
        """Ask; where the server does not know one of the two finer options, ask without it from then on."""
        while True:
            sent = {name: value for name, value in body.items() if name not in self._refused}
            try:
                answer = self._remote.post("/chat/completions", sent)
            except Unreachable as error:
                raise self._failed(str(error)) from error
            if answer.accepted:
                return answer.text
            named = {
                name for name in ("response_format", "temperature") if name in sent and name in answer.text
            }
            if answer.status not in {400, 422} or not named:
                raise self._failed(answer.refusal(self._advice(answer.status)))
            self._refused |= named

    def _advice(self, status: int) -> str:
        match status:
            case 401 | 403:
                return "check the key in the settings"
            case 404:
                return f"check the base URL and that it serves a model named {self._model!r}"
            case _:
                return "try again later, or use the extractor 'rules'"

    def _failed(self, what: str) -> ExtractionFailed:
        return ExtractionFailed(f"{self.name} at {self._remote.address} {what.rstrip('.')}. {_STORED}")
