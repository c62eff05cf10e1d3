"""Asking as of a time before much changed, beside asking now."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from functools import partial

import numpy as np
from recalling import spent_embedding
from sentences import SEED
from stand_in import NOW, opened, settle
from timing import Figures, Way, in_turn, tell

from recollect import Engine, Kind
from recollect.domain.changes import Amend, Change, Forget, NewText, Supersede
from stores import Filled

SHARES = (0.01, 0.1)
_BATCH = 1_000


def past(store: Filled, queries: int) -> Iterator[Figures]:
    made = store.world
    with store.copy() as path, opened(path, NOW + timedelta(days=1)) as engine:
        shuffled = np.random.default_rng(SEED).permutation(made.size) + 1
        changed = 0
        for share in SHARES:
            tell(f"the past: {share:.0%} of {made.size:,} changed since")
            upto = round(share * made.size)
            _change(engine, shuffled[changed:upto].tolist(), made.texts)
            changed = upto
            ways: dict[str, Way] = {
                "recall now": partial(engine.recall, record=False),
                "recall as of before": partial(engine.recall, as_of=NOW),
            }
            samples = in_turn(ways, made.queries[:queries], partial(settle, engine), spent_embedding)
            for way, sample in samples.items():
                yield {
                    "part": "past",
                    "way": way,
                    "kind": made.kind,
                    "size": made.size,
                    "changed": share,
                } | sample.figures()


def _change(engine: Engine, picked: Sequence[int], texts: Sequence[str]) -> None:
    """A third is rewritten, a third superseded, a third forgotten."""
    scope = engine.scope
    for start in range(0, len(picked), _BATCH):
        changes: list[Change] = []
        for place, id_ in enumerate(picked[start : start + _BATCH]):
            text = f"{texts[id_ - 1][:-1]}, or so it was."
            changes.append(
                (
                    Amend(scope, id_, text=text),
                    Supersede(scope, (id_,), NewText(Kind.NOTE, text)),
                    Forget(scope, (id_,)),
                )[place % 3]
            )
        engine._services.write(changes)
    engine.reindex()
