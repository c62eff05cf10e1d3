"""The extractor that goes by rules: whose words it reads, and when they happened."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from recollect.domain.records import Kind, Memory, Scope, Statement
from recollect.models.extractors import Rules

if TYPE_CHECKING:
    from recollect.stores.port import Extractor

# A Wednesday.
SAID_AT = datetime(2026, 3, 4, 15, 30, tzinfo=UTC)


def message(text: str, number: int = 1, *, role: str | None = "user", **others: Any) -> Memory:
    said = {"text": text, "session": "s", "position": number, "role": role, **others}
    return Memory(number, Kind.MESSAGE, Scope(), SAID_AT, SAID_AT, **said)


def test_each_statement_points_to_its_message_in_their_order() -> None:
    extractor: Extractor = Rules()
    assert extractor.name == "rules"
    # Each statement points to its message in their order.
    found = Rules().statements(
        [message("Hi! I'm vegan. I have a cat.", 7), message("What else?", 8), message("We chose Oslo.", 9)]
    )
    assert found == [
        Statement(7, "I'm vegan.", "wellness", 0.9),
        Statement(7, "I have a cat.", "relationships"),
        Statement(9, "We chose Oslo.", "plans_goals", 0.7),
    ]
    # No messages leave nothing.
    assert list(Rules().statements([])) == []


def test_turns_before_tell_whom_a_message_means_whether_they_come_with_it_or_as_context() -> None:
    turns = [
        message("My sister Laura called.", 1),
        message("How is she?", 2, role="assistant"),
        message("She moved to Oslo in May.", 3),
    ]
    expected = "My sister Laura moved to Oslo in May."
    assert [found.text for found in Rules().statements(turns)][-1] == expected
    (found,) = Rules().statements(turns[2:], turns[:2])
    assert (found.message, found.text) == (3, expected)
    assert list(Rules().statements(turns[2:])) == []
    # Only the three turns before are in reach.
    turns = [message("My sister Laura called.", 1), *(message("Ok.", n) for n in (2, 3, 4))]
    assert list(Rules().statements([message("She moved to Oslo in May.", 5)], turns)) == []
    assert len(Rules().statements([message("She moved to Oslo in May.", 5)], turns[:3])) == 1


def test_people_are_read_and_machines_are_not() -> None:
    # Two people's talk is often stored as user and assistant, so who has a name is a person.
    people = [*((role, None) for role in ("user", "human", "", None)), ("assistant", "Ana")]
    roles = ("assistant", "Assistant", "system", "tool", "developer", "function")
    named = [("assistant", "ChatGPT"), ("user", "Assistant"), ("tool", "search")]
    for role, speaker in (*people, *((role, None) for role in roles), *named):
        found = Rules().statements([message("I live in Rome.", role=role, speaker=speaker)])
        texts = ["I live in Rome."] if (role, speaker) in people else []
        assert [each.text for each in found] == texts, (role, speaker)


@pytest.mark.parametrize(
    ("text", "happened_at"),
    [
        ("I moved to Oslo yesterday.", datetime(2026, 3, 3, tzinfo=UTC)),
        ("I was born in 1989.", datetime(1989, 1, 1, tzinfo=UTC)),
        ("Ayer fui al museo.", datetime(2026, 3, 3, tzinfo=UTC)),
        ("I'm going to move to Oslo tomorrow.", datetime(2026, 3, 5, tzinfo=UTC)),
        # Of no other time than its own.
        ("I live in Oslo.", None),
        # The same words of another day are of another event.
        ("I moved to Oslo today.", datetime(2026, 3, 4, 15, 30, tzinfo=UTC)),
        # The time is vague.
        ("I moved to Oslo recently.", None),
        ("I will move to Oslo on Friday.", None),
    ],
)
def test_a_statement_of_another_time_is_dated_from_the_day_it_was_said(
    text: str, happened_at: datetime | None
) -> None:
    (found,) = Rules().statements([message(text)])
    assert found.happened_at == happened_at
    # A message without a known day gives no date.
    (undated,) = Rules().statements([message(text, undated=True)])
    assert undated.happened_at is None
