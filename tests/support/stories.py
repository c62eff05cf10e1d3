"""A random sequence of writes for a store, and for a model of it in Python."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis.stateful import RuleBasedStateMachine

from recollect.domain.changes import PutVectors
from recollect.domain.numbers import pack_signs, pack_vector
from recollect.models.hashing import HashingEmbedder
from recollect.search.texts import pending_passages
from recollect.stores.sqlite.store import SqliteStore
from recollect.write.repository import Repository

if TYPE_CHECKING:
    from recollect.domain.errors import RecollectError

EMBEDDER = HashingEmbedder(16)


class Story(RuleBasedStateMachine):
    """A store in a temporary folder, which is checked when the story ends."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.store = Repository(SqliteStore(self.folder / "memory.db"))

    def teardown(self) -> None:
        try:
            self.check_end()
            assert list(self.store.verify()) == []
        finally:
            self.store.close()
            shutil.rmtree(self.folder)

    def check_end(self) -> None:
        """Compare the store and the model once more."""

    def pending_vectors(self) -> PutVectors:
        """The vectors that the store waits for."""
        with self.store.read() as view:
            waiting = pending_passages(view, EMBEDDER.model, 0, 1_000)
        rows = EMBEDDER.documents([passage.text for passage in waiting])
        vectors = tuple((passage.id, pack_vector(row)) for passage, row in zip(waiting, rows, strict=True))
        tokens = [(passage.id, pack_signs(EMBEDDER.documents(passage.text.split()))) for passage in waiting]
        return PutVectors(EMBEDDER.model, vectors, tokens=tuple(tokens))


def refused(error: type[RecollectError], expected: bool) -> AbstractContextManager[object]:
    return pytest.raises(error) if expected else nullcontext()
