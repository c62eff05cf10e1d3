"""How many rows one call of the Python library takes."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from recollect.admin import Internals
from recollect.domain.errors import InvalidInput
from recollect.domain.limits import MOST_ROWS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from recollect.engine import Engine


def _as_many_and_one() -> Iterator[str]:
    return (f"n{each}" for each in range(MOST_ROWS + 1))


def test_a_batch_of_any_kind_has_a_limit_that_its_refusal_states(engine: Engine) -> None:
    many: dict[str, Callable[[Iterable[Any]], object]] = {
        "notes": engine.remember_many,
        "entities": engine.create_entities,
        "relations": engine.graph.create_relations,
        "messages": lambda given: engine.add_messages("today", given),
    }
    for name, write in many.items():
        with pytest.raises(InvalidInput, match="at most 100,000") as refused:
            write(list(_as_many_and_one()))
        assert "Nothing was written" in str(refused.value), name
    # One that does not know its own length is read no further than that.
    endless = (str(each) for each in count())
    with pytest.raises(InvalidInput, match="at most 100,000 rows"):
        engine.remember_many(endless)
    assert next(endless) == str(MOST_ROWS + 1)
    for names in (engine.forget, engine.get_many):
        with pytest.raises(InvalidInput, match="at most 100,000"):
            names(range(1, MOST_ROWS + 2))
    with pytest.raises(InvalidInput, match="Tags: a call takes at most 100,000"):
        engine.remember("tea", tags=list(_as_many_and_one()))
    assert Internals(engine).how_many() == {}
