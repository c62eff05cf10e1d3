"""Recollect and the hand-made store as peers. Both run in the environment of the benchmark."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from peer import Vectors

_BATCH = 500


class Recollect:
    """Recollect as `recollect.open` returns it. It embeds texts itself, with a stand-in for the model."""

    def __init__(self, folder: Path, *, own_model: bool = False) -> None:
        os.environ["RECOLLECT_DREAM"] = "off"
        from stand_in import MODEL, opened

        import recollect

        path = folder / "memory.db"
        self._memory = recollect.open(path, model=MODEL) if own_model else opened(path)
        self._ids: dict[int, int] = {}

    @classmethod
    def with_own_model(cls, folder: Path) -> Recollect:
        """Open a store as users do, with the default model, which also returns token vectors."""
        return cls(folder, own_model=True)

    def add(self, ids: Sequence[int], texts: Sequence[str], vectors: Vectors) -> None:
        del vectors
        if len(ids) == 1:
            self._ids[self._memory.remember(texts[0]).id] = ids[0]
            return
        for start in range(0, len(ids), _BATCH):
            batch = self._memory.remember_many(texts[start : start + _BATCH])
            for id_, note in zip(ids[start : start + _BATCH], batch.notes, strict=True):
                self._ids.setdefault(note.id, id_)

    def search(self, text: str, vector: Vectors, limit: int) -> Sequence[int]:
        del vector
        return [self._ids[hit.memory.id] for hit in self._memory.recall(text, limit=limit).hits]

    def close(self) -> None:
        self._memory.close()


class ByHandPeer:
    def __init__(self, folder: Path) -> None:
        from by_hand import ByHand

        self._store = ByHand(folder / "by-hand.db")
        self._ids: list[int] = []

    def add(self, ids: Sequence[int], texts: Sequence[str], vectors: Vectors) -> None:
        self._ids.extend(ids)  # the store numbers its rows from one
        self._store.add(texts, vectors)

    def search(self, text: str, vector: Vectors, limit: int) -> Sequence[int]:
        return [self._ids[id_ - 1] for id_, _ in self._store.search(text, vector, limit)]

    def close(self) -> None:
        self._store.close()
