"""Filling a store in bulk, importing the official server's file, and what all of it takes on the disk."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from by_hand import ByHand
from recalling import spent_embedding
from stand_in import opened, stand_in
from timing import Figures, Time, rate, tell, timed

from recollect.transfer import import_file
from stores import OBSERVATIONS, Filled

_BATCH = 1_000


def loading(store: Filled) -> Figures:
    """As the store was filled: in batches, each durable."""
    return {"part": "bulk", "way": "recollect"} | _known(store) | store.loading


def loaded_by_hand(store: Filled, path: Path) -> tuple[ByHand, Figures]:
    """The same texts with the same vectors, in batches of a transaction each."""
    tell(f"bulk: {store.world.size:,} by hand")
    hand, texts = ByHand(path), store.world.texts
    spent = Time()
    for start in range(0, len(texts), _BATCH):
        some = texts[start : start + _BATCH]
        vectors = stand_in().documents(some)
        with timed() as batch:
            hand.add(some, vectors)
        spent.cpu, spent.wall = spent.cpu + batch.cpu, spent.wall + batch.wall
    return hand, {"part": "bulk", "way": "by hand"} | _known(store) | rate(spent, len(texts))


def disk(store: Filled) -> Figures:
    """Bytes for each text with everything in the folder, and without what is made anew if it is lost."""
    sizes = {file.name: file.stat().st_size for file in store.folder.iterdir()}
    whole = sum(sizes.values())
    vectors = sum(size for name, size in sizes.items() if "-vectors" in name)
    return (
        {"part": "disk", "way": "recollect"}
        | _known(store)
        | {
            "bytes_each": round(whole / store.world.size),
            "bytes_each_without_cache": round((whole - vectors) / store.world.size),
            "files": sizes,
        }
    )


def disk_by_hand(store: Filled, path: Path) -> Figures:
    size = sum(file.stat().st_size for file in path.parent.glob(f"{path.name}*"))
    return {"part": "disk", "way": "by hand"} | _known(store) | {"bytes_each": round(size / store.world.size)}


def importing(store: Filled) -> Iterator[Figures]:
    """The official memory server's file, of the graph's entities and relations, by its lines."""
    made, folder = store.world, store.folder.parent
    path, lines = folder / "official.jsonl", 0
    with path.open("w", encoding="utf-8") as file:
        for place, name in enumerate(made.names):
            seen = made.texts[OBSERVATIONS * place : OBSERVATIONS * (place + 1)]
            entity = {"type": "entity", "name": name, "entityType": "thing", "observations": seen}
            file.write(json.dumps(entity) + "\n")
            if place % 2:
                ends = {"from": name, "to": made.names[place * 7919 % len(made.names)]}
                file.write(json.dumps({"type": "relation", **ends, "relationType": "leads_to"}) + "\n")
            lines += 1 + place % 2
    tell(f"import: {lines:,} lines")
    with opened(folder / "imported.db") as engine:
        aside = spent_embedding()
        with timed() as whole:
            report = import_file(engine, path)
        assert report.lines == lines
        spent = Time(
            *(all_ - (now - before) for all_, now, before in _apart(whole, spent_embedding(), aside))
        )
    yield {"part": "import", "way": "recollect"} | _known(store) | rate(spent, lines)
    hand, spent = ByHand(folder / "imported-by-hand.db"), Time()
    entities = list(map(json.loads, path.read_text(encoding="utf-8").splitlines()))
    for start in range(0, len(entities), _BATCH):
        texts = [
            text
            for line in entities[start : start + _BATCH]
            for text in (
                [line["name"], *line["observations"]]
                if line["type"] == "entity"
                else [f"{line['from']} {line['relationType']} {line['to']}"]
            )
        ]
        vectors = stand_in().documents(texts)
        with timed() as batch:
            hand.add(texts, vectors)
        spent.cpu, spent.wall = spent.cpu + batch.cpu, spent.wall + batch.wall
    hand.close()
    yield {"part": "import", "way": "by hand"} | _known(store) | rate(spent, lines)


def _apart(
    whole: Time, now: tuple[float, float], before: tuple[float, float]
) -> Iterator[tuple[float, float, float]]:
    yield whole.cpu, now[0], before[0]
    yield whole.wall, now[1], before[1]


def _known(store: Filled) -> Figures:
    return {"kind": store.world.kind, "size": store.world.size}
