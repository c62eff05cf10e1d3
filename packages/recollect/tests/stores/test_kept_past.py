"""A cached past state gives the same answers as a new one, whatever changed in between."""

from __future__ import annotations

import tempfile
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis_profiles import tries

from recollect.domain.changes import (
    AddObservations,
    Amend,
    Change,
    Forget,
    NewEntity,
    NewObservation,
    NewText,
    Purge,
    PutEntity,
    PutText,
    PutVectors,
    RemoveObservations,
    Restore,
    Supersede,
)
from recollect.domain.errors import RecollectError
from recollect.domain.numbers import pack_vector
from recollect.domain.records import Filter, Found, Kind, Scope
from recollect.models.hashing import HashingEmbedder
from recollect.search import as_of
from recollect.search.as_of import PastTexts
from recollect.search.candidates import Search
from recollect.search.texts import pending_passages
from recollect.stores.sqlite.store import SqliteStore
from recollect.write.repository import Repository

ME = Scope()
START = datetime(2026, 3, 1, tzinfo=UTC)
EMBEDDER = HashingEmbedder(16)
WORDS = ("tea", "kettle", "garden", "кот")
QUERY = "tea кот"
WORD = st.sampled_from(WORDS)
ID = st.integers(1, 6)
EMBED = "embed"
_STATES = 4
"""The states that `answers` queries."""
CHANGES = st.one_of(
    st.builds(lambda text: PutText(ME, NewText(Kind.NOTE, text)), WORD),
    st.builds(lambda text: PutText(ME, NewText(Kind.MESSAGE, text, session="s", speaker="Ada")), WORD),
    st.builds(lambda seen: PutEntity(ME, NewEntity("Ada", "person", (NewObservation(seen),))), WORD),
    st.builds(lambda seen: PutEntity(ME, NewEntity("Ada", "unknown", (NewObservation(seen),))), WORD),
    st.builds(lambda seen: AddObservations(ME, "Ada", (NewObservation(seen),)), WORD),
    st.builds(lambda seen: RemoveObservations(ME, "Ada", (seen,)), WORD),
    st.builds(lambda id_, text: Amend(ME, id_, text=text), ID, WORD),
    st.builds(lambda id_, text: Supersede(ME, (id_,), NewText(Kind.NOTE, text)), ID, WORD),
    st.builds(lambda id_: Forget(ME, (id_,)), ID),
    st.builds(lambda id_: Restore(ME, id_), ID),
    st.just(EMBED),
    st.builds(lambda second: Purge(START + timedelta(seconds=second)), st.integers(0, 8)),
)


def answers(store: Repository) -> list[list[Found]]:
    """Return the answers about some states, before and during the changes."""
    vector = EMBEDDER.query(QUERY)
    found = []
    for where in (
        Filter(superseded=True),
        *(Filter(as_of=START + timedelta(seconds=second)) for second in (2, 5)),
        Filter(as_of=START + timedelta(seconds=3), kinds=frozenset({Kind.NOTE})),
        Filter(as_of=START + timedelta(seconds=3), speaker="Ada"),
    ):
        with store.read() as view:
            search = Search(view, where)
            found += [search.by_words(QUERY, 99, "stemmed"), search.by_meaning(vector, 99)]
            found.append(search.by_neighbours(QUERY, 99, 2)[0])
    return found


def embed(store: Repository, at: datetime) -> None:
    with store.read() as view:
        waiting = pending_passages(view, EMBEDDER.model, 0, 100)
    rows = EMBEDDER.documents([passage.text for passage in waiting])
    vectors = [(passage.id, pack_vector(row)) for passage, row in zip(waiting, rows, strict=True)]
    store.apply([PutVectors(EMBEDDER.model, tuple(vectors))], at=at)


@given(changes=st.lists(CHANGES, max_size=12))
@settings(max_examples=tries(40))
def test_what_is_kept_of_the_past_is_what_is_read_anew(changes: list[Change | str]) -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(Repository(SqliteStore(Path(folder) / "memory.db"))) as store,
        # Room for all queried states, so that they are cached at the next change.
        patch.object(as_of, "_KEPT_STATES", 16),
    ):
        for second, change in enumerate([EMBED, *changes]):
            at = START + timedelta(seconds=second)
            if isinstance(change, str):
                embed(store, at)
            else:
                with suppress(RecollectError):
                    store.apply([change], at=at)
            kept = answers(store)
            assert len(as_of._cached) >= _STATES
            with pytest.MonkeyPatch.context() as monkeypatch:
                monkeypatch.setattr(as_of, "past_texts", PastTexts)
                assert answers(store) == kept


def test_a_vector_of_a_name_that_comes_later_is_found_of_the_past(tmp_path: Path) -> None:
    with closing(Repository(SqliteStore(tmp_path / "memory.db"))) as store:
        store.apply([PutText(ME, NewText(Kind.NOTE, "garden"))], at=START)
        embed(store, START)
        store.apply([PutEntity(ME, NewEntity("tea", "thing", (NewObservation("kettle"),)))], at=START)
        store.apply([RemoveObservations(ME, "tea", ("kettle",))], at=START + timedelta(seconds=9))
        before = answers(store)
        embed(store, START + timedelta(seconds=9))
        assert answers(store) != before
        with pytest.MonkeyPatch.context() as monkeypatch:
            kept = answers(store)
            monkeypatch.setattr(as_of, "past_texts", PastTexts)
            assert answers(store) == kept


def test_a_new_note_leaves_what_is_kept_and_a_forgotten_one_does_not(tmp_path: Path) -> None:
    with closing(Repository(SqliteStore(tmp_path / "memory.db"))) as store:
        stamps = []
        tea, garden = (PutText(ME, NewText(Kind.NOTE, text)) for text in ("tea", "garden"))
        for change in (tea, garden, EMBED, Forget(ME, (1,))):
            if isinstance(change, str):
                embed(store, START)
            else:
                store.apply([change], at=START)
            with store.read() as view:
                stamps.append(view.rows("history_stamp", ("stamp",)))
    assert stamps[0] == stamps[1] == stamps[2] != stamps[3]
