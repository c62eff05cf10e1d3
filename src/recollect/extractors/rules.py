"""Notes by plain rules: no model, no network, the same answer every time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.lazy_dataclass import dataclass
from recollect.records import Statement
from recollect.text.limits import CONTEXT_TURNS
from recollect.text.statements import statements_in
from recollect.text.statements.categories import Category
from recollect.text.statements.referents import EarlierTurn
from recollect.text.time_phrases import time_of
from recollect.text.tokens import fold

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from recollect.records import Memory
    from recollect.text.statements import FoundStatement

SURE = 0.7
"""How sure a time phrase must be to date a note."""
SETTLED = 0.9
"""How sure it must be where the note is a plan."""

_MACHINES = frozenset({"system", "developer", "tool", "function"})
_ASSISTANTS = frozenset({"assistant", "ai", "bot", "chatbot", "model", "gpt", "chatgpt", "claude", "gemini"})


@dataclass(frozen=True, slots=True)
class Rules:
    """The extractor that needs nothing. A statement is a part of its message, with names for pronouns."""

    name: str = "rules"

    def statements(self, messages: Sequence[Memory], context: Sequence[Memory] = ()) -> Sequence[Statement]:
        turns = [*context, *messages]
        return [
            Statement(message.id, found.text, found.category.value, found.importance, when)
            for place, message in enumerate(messages, start=len(context))
            if _is_by_person(message)
            for found in statements_in(message.text, _turns_before(turns, place))
            for when in [_happened_at(found, message)]
        ]


def _turns_before(turns: Sequence[Memory], place: int) -> list[EarlierTurn]:
    """The turns of the same session just before one of them."""
    message = turns[place]
    return [
        EarlierTurn(turn.text, turn.speaker, (turn.speaker, turn.role) == (message.speaker, message.role))
        for turn in turns[max(0, place - CONTEXT_TURNS) : place]
        if turn.session == message.session
    ]


def _is_by_person(message: Memory) -> bool:
    """Whether a person spoke; an assistant with a name of its own counts as one."""
    role = fold(message.role or "")
    if role in _MACHINES:
        return False
    speaker = fold(message.speaker or "")
    return speaker not in _ASSISTANTS and (role not in _ASSISTANTS or bool(speaker))


def _happened_at(found: FoundStatement, message: Memory) -> datetime | None:
    """When a statement speaks of a time, the start of that time; the message's own, where it lies in it."""
    if message.undated:
        return None  # "yesterday" of an unknown day
    phrase = time_of(found.text, message.created_at)
    # A Friday without a date is read as the last one, but plans are made for the next.
    sure = SETTLED if found.category is Category.PLANS_GOALS else SURE
    if phrase is None or phrase.confidence < sure or phrase.start is None:
        return None
    now = phrase.start <= message.created_at and (phrase.stop is None or message.created_at < phrase.stop)
    # `today` of another day is another event.
    return message.created_at if now else phrase.start
