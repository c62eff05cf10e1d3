"""Names in texts are found as by a slow and simple search, however many there are."""

from __future__ import annotations

import re
import tempfile
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis_profiles import tries

from recollect.domain.changes import NewEntity, NewText, PutEntity, PutText
from recollect.domain.records import Kind, Scope
from recollect.search.rows import memories_by_id
from recollect.stores.sqlite.store import SqliteStore
from recollect.text.tokens import fold
from recollect.write.repository import Repository

if TYPE_CHECKING:
    from collections.abc import Sequence

ME = Scope()
AT = datetime(2026, 3, 1, tzinfo=UTC)


def expected(text: str, names: Sequence[str]) -> set[str]:
    """Find every name as whole words; then keep the longest first, without overlaps."""
    folded = " ".join(fold(text).split())
    stretches = [
        (found.start(), found.start() + len(fold(name)), name)
        for name in names
        for found in re.finditer(rf"(?=(?<!\w){re.escape(fold(name))}{_end(name)})", folded)
    ]
    taken: list[tuple[int, int, str]] = []
    for start, stop, name in sorted(stretches, key=lambda one: (one[0] - one[1], one[0])):
        if all(stop <= first or last <= start for first, last, _ in taken):
            taken.append((start, stop, name))
    return {name for _, _, name in taken}


def _end(name: str) -> str:
    """Return what must not follow a name: a letter after a letter, a plus or a sharp (`C` and `C++`)."""
    return r"(?![+#])" if name[-1] in "+#" else r"(?!\w)(?![+#])"


def found(earlier: Sequence[str], texts: Sequence[str], later: Sequence[str]) -> list[set[str]]:
    """Return the links of a store, with names stored before the texts, and after them.

    The entities are tools, since a person would also be linked by the first name alone.
    """
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(Repository(SqliteStore(Path(folder) / "memory.db"))) as store,
    ):
        store.apply([PutEntity(ME, NewEntity(name, "tool")) for name in earlier], at=AT)
        written = store.apply(
            [PutText(ME, NewText(Kind.MESSAGE, text, session="s")) for text in texts], at=AT
        )
        store.apply([PutEntity(ME, NewEntity(name, "tool")) for name in later], at=AT)
        assert list(store.verify()) == []
        with store.read() as view:
            memories = memories_by_id(view, [outcome.ids[0] for outcome in written.outcomes])
            return [
                {entity.name for entity in memories_by_id(view, memory.mentions).values()}
                for memory in memories.values()
            ]


WORD = st.sampled_from(["Ana", "An", "Nan", "New", "York", "Ñu", "x", "X1", "Zoë", "C++", "C", "F#"])
NAME = st.lists(WORD, min_size=1, max_size=3).map(" ".join)
GAP = st.sampled_from([" ", ", ", "  ", "\n", ". ", "-", "/", "'s ", "_", ""])
TEXT = st.lists(
    st.tuples(WORD | st.sampled_from(["ana", "NEW", "zoe", "ñU", "ñandú", "tea"]), GAP),
    min_size=1,
    max_size=12,
).map(lambda pieces: "".join(word + gap for word, gap in pieces))


@given(
    names=st.lists(NAME, min_size=1, max_size=12, unique_by=fold),
    texts=st.lists(TEXT, min_size=1, max_size=6),
    share=st.integers(0, 12),
)
@settings(max_examples=tries(30))
def test_names_are_found_as_a_plain_reading_finds_them(
    names: list[str], texts: list[str], share: int
) -> None:
    assert found(names[:share], texts, names[share:]) == [expected(text, names) for text in texts]


@pytest.mark.slow
def test_thousands_of_names_are_found_as_a_few_are() -> None:
    chance = np.random.default_rng(7)
    syllables = ["ka", "lo", "mi", "ru", "se", "tá", "vo", "ñe"]
    vocabulary = sorted({"".join(chance.choice(syllables, 3)).title() for _ in range(600)})
    names = list(
        dict.fromkeys(" ".join(chance.choice(vocabulary, chance.integers(1, 4))) for _ in range(2_500))
    )
    texts = [" ".join(chance.choice(vocabulary, 40)).lower() for _ in range(8)]
    linked = found(names[::2], texts, names[1::2])
    assert linked == [expected(text, names) for text in texts]
    assert sum(map(len, linked)) > 80
