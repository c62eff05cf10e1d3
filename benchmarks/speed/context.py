"""The cost of heeding what stands around a message: `by_neighbours`, and a whole recall with it and without.

    python benchmarks/speed/context.py --sizes 10k,100k --json results.json

All memories are turns of talks of thirty between two people; every fourth turn asks something. Texts are made
with a fixed seed. Vectors as in `asking.py`: filled by potion, asked with the time of the model in use.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC
from functools import partial
from pathlib import Path
from typing import Any

from asking import BATCH, FIRST, NOW, QUERIES, StandIn, embed
from facts import facts, write_json
from sentences import Sentences
from timing import in_turn, number, tell

from recollect.changes import NewText, PutText
from recollect.engine.engine import Engine
from recollect.engine.repository import Repository
from recollect.engine.services import Services
from recollect.engine.usage import UsageRecorder
from recollect.ports import Embedder, Snapshot
from recollect.query import Filter
from recollect.ranking.pipeline import ByContext
from recollect.ranking.profiles import RECOLLECT
from recollect.ranking.steps.evidence import ConversationScore
from recollect.records import Kind, Scope
from recollect.retrieval.search import Search
from recollect.stores.sqlite.store import SqliteStore

TURNS = 30
"""In each talk."""
ASKS_EACH = 4
PEOPLE = 300
WITHIN = 2
ALONE = replace(
    RECOLLECT,
    name="alone",
    about="our profile without what stands around a message",
    retrieve=tuple(each for each in RECOLLECT.retrieve if not isinstance(each, ByContext)),
    steps=tuple(step for step in RECOLLECT.steps if not isinstance(step, ConversationScore)),
)
# Adjectives and nouns of which every talk is full.
COMMON = ("old new red", "the broken bicycle in the garden", "prefers decided meeting plan problem")


def main() -> None:
    options = _options()
    results: list[dict[str, Any]] = []
    for size in map(number, options.sizes.split(",")):
        with tempfile.TemporaryDirectory(prefix="recollect-bench-", dir=options.folder) as folder:
            for row in _rows(size, Path(folder)):
                results.append(row)
                print(json.dumps(row), flush=True)
                if options.json:
                    write_json(Path(options.json), {"facts": facts("onnxruntime"), "results": results})


def _rows(size: int, folder: Path) -> Iterator[dict[str, Any]]:
    embedder, made = StandIn(), Sentences(PEOPLE)
    store = Repository(SqliteStore(folder / "memory.db"))
    tell(f"context: filling {size:,}")
    _fill(store, embedder, made, size)
    parts = Services(
        store,
        lambda: NOW,
        lambda _: embedder,
        embedder.model.name,
        Scope(),
        UsageRecorder(store, "bench"),
        zone=UTC,
    )
    queries = made.queries(QUERIES)
    common = [COMMON[place % len(COMMON)] for place in range(QUERIES // 2)]
    with Engine(parts) as engine, ExitStack() as open_:
        view = open_.enter_context(store.read())
        for what, asked in (("usual words", queries), ("common words", common)):
            tell(f"context: {size:,}, {what}")
            yield {"what": f"around, {what}", "size": size} | in_turn(_searches(view), asked)
            yield {"what": f"recall, {what}", "size": size} | in_turn(_recalls(engine), asked)


def _searches(view: Snapshot) -> dict[str, Callable[[str], object]]:
    """The search by words is what the others are compared with: it reads the same index."""
    where = Filter()
    return {
        "by words": lambda query: Search(view, where).by_words(query, 100, "stemmed"),
        "around": lambda query: Search(view, where).by_neighbours(query, 100, WITHIN),
        "around, nobody let through": lambda query: Search(
            view, replace(where, speaker="nobody")
        ).by_neighbours(query, 100, WITHIN),
    }


def _recalls(engine: Engine) -> dict[str, Callable[[str], object]]:
    return {
        "without": partial(engine.recall, record=False, profile=ALONE),
        "with": partial(engine.recall, record=False, profile=RECOLLECT),
    }


def _fill(store: Repository, embedder: Embedder, made: Sentences, size: int) -> None:
    texts = made.notes(size)
    asked = made.queries(size // ASKS_EACH + 1)
    step = (NOW - FIRST) / size
    changes = [
        PutText(
            Scope(),
            NewText(
                Kind.MESSAGE,
                asked[place // ASKS_EACH] if place % ASKS_EACH == 0 else text,
                session=f"talk {place // TURNS}",
                speaker=made.people[(place // TURNS + place % 2) % PEOPLE],
                created_at=FIRST + place * step,
            ),
        )
        for place, text in enumerate(texts)
    ]
    for start in range(0, size, BATCH):
        store.apply(changes[start : start + BATCH], at=NOW)
        embed(store, embedder)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sizes", default="10k,100k", help="how many messages")
    parser.add_argument("--json", help="where to write the results")
    parser.add_argument("--folder", help="where to put the stores; the disk that is measured")
    return parser.parse_args()


if __name__ == "__main__":
    main()
