"""From a name to an extractor. Nothing is loaded and no server is asked before the first message."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from recollect.errors import InvalidInput
from recollect.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from recollect.ports import Extractor

NAMES = ("none", "rules", "openai:MODEL")
"""What may be asked for; MODEL is the server's name of a model."""


@dataclass(frozen=True, slots=True)
class Options:
    """What settings may say about an extractor that is a language model."""

    base_url: str | None = None
    """Of any server that speaks the protocol of OpenAI. None: OpenAI's own."""
    key: str | None = field(default=None, repr=False)
    timeout_seconds: float = 60.0


def extractor_named(name: str, options: Options | None = None) -> Extractor | None:
    """The extractor of a name; None for the name `none`."""
    kind, colon, model = name.strip().partition(":")
    match kind, colon, model.strip():
        case "none", "", _:
            return None
        case "rules", "", _:
            from recollect.extractors.rules import Rules  # noqa: PLC0415  # only when asked for

            return Rules()
        case "openai", ":", "":
            raise InvalidInput("Which model of openai? Write its name after the colon: 'openai:gpt-4o-mini'.")
        case "openai", ":", wanted:
            from recollect.extractors.llm import LanguageModel  # noqa: PLC0415  # only when asked for

            return LanguageModel(wanted, options or Options())
        case _:
            raise InvalidInput(f"No extractor named {name!r}; there are: {', '.join(NAMES)}.")
